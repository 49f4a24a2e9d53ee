// libtorrent as the Rust half sees it: a session, torrents by number, and what happens.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <unordered_map>

#include <libtorrent/fwd.hpp>
#include <libtorrent/session.hpp>
#include <libtorrent/torrent_handle.hpp>

#include "hashlane-swarm/cpp/disk.h"
#include "rust/cxx.h"

namespace hashlane {

struct SessionSettings;
struct TorrentParams;
struct TorrentStatus;
struct PeerStatus;
struct SessionEvent;

class Session {
public:
    explicit Session(SessionSettings const& settings);
    ~Session();

    std::uint32_t add(TorrentParams const& params, rust::Box<StorageHandle> storage) const;
    std::uint32_t add_magnet(TorrentParams const& params) const;
    void remove(std::uint32_t torrent) const;
    void pause(std::uint32_t torrent) const;
    void resume(std::uint32_t torrent) const;
    void limit(std::int32_t max_down, std::int32_t max_up) const;
    rust::Vec<PeerStatus> peers(std::uint32_t torrent) const;
    rust::Vec<TorrentStatus> statuses() const;
    rust::Vec<std::uint8_t> have(std::uint32_t torrent) const;
    rust::Vec<std::uint8_t> metadata(std::uint32_t torrent) const;
    rust::Vec<SessionEvent> wait(std::uint32_t milliseconds) const;

private:
    void tell_trackers() const;
    std::uint32_t add_params(lt::add_torrent_params params) const;
    lt::torrent_handle handle(std::uint32_t torrent) const;

    bool has_tcp_;
    std::shared_ptr<StorageRegistry> registry_;
    // Alerts are there until the next ones are asked for.
    mutable std::mutex alerts_mutex_;
    mutable std::mutex mutex_;
    // What libtorrent hands back with a torrent, from 1 on: a deque's elements stay where they are.
    mutable std::deque<std::uint32_t> numbers_;
    mutable std::unordered_map<std::uint32_t, lt::torrent_handle> handles_;
    // Last, so that it ends first.
    mutable std::unique_ptr<lt::session> session_;
};

std::unique_ptr<Session> open_session(SessionSettings const& settings);

} // namespace hashlane
