// libtorrent's disk interface: passes reads, writes and hashes to the storages of the Rust half, in the
// order of their requests for each torrent.
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

// The storages of torrents that are being added. libtorrent passes only a folder to the disk, so a ticket takes the
// folder's place.
class StorageRegistry {
public:
    std::string put(std::shared_ptr<StorageHandle const> storage);
    std::shared_ptr<StorageHandle const> take(std::string const& ticket);

private:
    std::mutex mutex_;
    std::uint64_t next_ = 1;
    std::map<std::string, std::shared_ptr<StorageHandle const>> storages_;
};

lt::disk_io_constructor_type make_disk(std::shared_ptr<StorageRegistry> registry);

} // namespace hashlane
