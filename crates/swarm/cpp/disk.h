// The disk of the session: hands what libtorrent wants read, written and hashed to the storages of
// the Rust half, one thing after the other for each torrent.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <libtorrent/disk_interface.hpp>
#include <libtorrent/session_params.hpp>

namespace hashlane {

struct StorageHandle;

// Where the disk finds the storage of a torrent that is added: libtorrent hands on nothing of our
// own but the folder, so that is a number here.
class StorageRegistry {
public:
    std::string put(std::shared_ptr<StorageHandle const> storage);
    std::shared_ptr<StorageHandle const> take(std::string const& ticket);

private:
    std::mutex mutex_;
    std::uint64_t next_ = 1;
    std::map<std::string, std::shared_ptr<StorageHandle const>> storages_;
};

lt::disk_io_constructor_type disk_of(std::shared_ptr<StorageRegistry> registry);

} // namespace hashlane
