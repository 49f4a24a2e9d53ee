// A libtorrent session for the Rust half: torrents by number, and events.
#pragma once

#include <chrono>
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
struct TrackerStatus;
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
    void use_utp(bool is_on, bool retry) const;
    rust::Vec<PeerStatus> peers(std::uint32_t torrent) const;
    rust::Vec<TrackerStatus> trackers(std::uint32_t torrent) const;
    rust::Vec<std::uint64_t> file_progress(std::uint32_t torrent) const;
    void prioritize(std::uint32_t torrent, rust::Slice<std::uint8_t const> priorities) const;
    rust::Vec<TorrentStatus> statuses() const;
    rust::Vec<std::uint8_t> have(std::uint32_t torrent) const;
    rust::Vec<std::uint8_t> metadata(std::uint32_t torrent) const;
    rust::Vec<SessionEvent> wait(std::uint32_t milliseconds) const;
    void wake() const;

private:
    void announce_end() const;
    std::uint32_t add_params(lt::add_torrent_params params) const;
    lt::torrent_handle handle(std::uint32_t torrent) const;
    void remove_greedy_web_seeds(rust::Vec<SessionEvent>& events) const;

    bool has_tcp_;
    bool has_web_seeds_;
    std::shared_ptr<StorageRegistry> registry_;
    // Held while alerts are read, because the next `pop_alerts` invalidates them.
    mutable std::mutex alerts_mutex_;
    mutable std::mutex mutex_;
    // Torrent numbers, from 1. libtorrent keeps a pointer to each; a deque does not move its elements.
    mutable std::deque<std::uint32_t> numbers_;
    mutable std::unordered_map<std::uint32_t, lt::torrent_handle> handles_;
    // The torrents with web seeds.
    mutable std::unordered_map<std::uint32_t, lt::torrent_handle> web_seeded_;
    mutable std::chrono::steady_clock::time_point web_seeds_checked_;
    // Declared last, so that it is destroyed first.
    mutable std::unique_ptr<lt::session> session_;
};

std::unique_ptr<Session> open_session(SessionSettings const& settings);

} // namespace hashlane
