// A libtorrent session for the Rust half: torrents by number, and events.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <libtorrent/fwd.hpp>
#include <libtorrent/session.hpp>
#include <libtorrent/torrent_handle.hpp>

#include "hashlane-swarm/cpp/disk.h"
#include "hashlane-swarm/cpp/settings.h"
#include "hashlane-swarm/cpp/web_seeds.h"
#include "rust/cxx.h"

namespace hashlane {

struct SessionSettings;
struct TorrentParams;
struct TorrentStatus;
struct PeerStatus;
struct TrackerStatus;
struct TrackerUrl;
struct SessionEvent;
struct SuspectWebSeed;

class Session {
public:
    explicit Session(SessionSettings const& settings);
    ~Session();

    std::uint32_t add(TorrentParams const& params, rust::Box<StorageHandle> storage) const;
    std::uint32_t add_magnet(TorrentParams const& params) const;
    void remove(std::uint32_t torrent) const;
    void pause(std::uint32_t torrent) const;
    void add_peer(std::uint32_t torrent, rust::Str address) const;
    void resume(std::uint32_t torrent) const;
    void add_tracker(std::uint32_t torrent, rust::Str url) const;
    void replace_trackers(std::uint32_t torrent, rust::Vec<TrackerUrl> urls) const;
    void reannounce(std::uint32_t torrent) const;
    void set_sequential(std::uint32_t torrent, bool sequential) const;
    void set_super_seeding(std::uint32_t torrent, bool super_seeding) const;
    void limit_torrent(std::uint32_t torrent, std::int32_t max_down, std::int32_t max_up) const;
    void limit(std::int32_t max_down, std::int32_t max_up) const;
    void listen_again() const;
    void connect(rust::Str listen, rust::Str outgoing) const;
    void suspend() const;
    void use_utp(bool is_on, bool retry) const;
    rust::Vec<PeerStatus> peers(std::uint32_t torrent) const;
    rust::Vec<TrackerStatus> trackers(std::uint32_t torrent) const;
    rust::Vec<std::uint64_t> file_progress(std::uint32_t torrent) const;
    void prioritize(std::uint32_t torrent, rust::Slice<std::uint8_t const> priorities) const;
    rust::Vec<TorrentStatus> statuses(rust::Slice<std::uint32_t const> torrents) const;
    rust::Vec<std::uint8_t> have(std::uint32_t torrent) const;
    bool has_piece(std::uint32_t torrent, std::uint32_t piece) const;
    void hurry(std::uint32_t torrent, std::uint32_t first, std::uint32_t end) const;
    rust::Vec<std::uint8_t> metadata(std::uint32_t torrent) const;
    rust::Vec<SessionEvent> wait(std::uint32_t milliseconds) const;
    void wake() const;
    SuspectWebSeed stuck_web_seed() const;

private:
    void announce_end() const;
    // Applies settings, and begins to look for peers if the session has connections and a torrent.
    void apply(lt::settings_pack pack) const;
    std::uint32_t add_params(lt::add_torrent_params params) const;
    lt::torrent_handle handle(std::uint32_t torrent) const;
    void remove_greedy_web_seeds(rust::Vec<SessionEvent>& events) const;

    bool has_tcp_;
    bool has_log_;
    int const min_reconnect_seconds_;
    // A session without a torrent sends nothing.
    Discovery discovery_;
    mutable std::atomic<bool> has_torrent_ = false;
    // Whether the session has no connections.
    mutable std::atomic<bool> is_suspended_;
    // Null if web seeds are not used.
    std::shared_ptr<WebSeedWatch> web_seeds_;
    // Servers that are not used as web seeds: `host:port`.
    std::set<std::string> avoided_web_seeds_;
    std::shared_ptr<StorageRegistry> registry_;
    // Held while alerts are read, because the next `pop_alerts` invalidates them.
    mutable std::mutex alerts_mutex_;
    mutable std::mutex mutex_;
    // The number of the last torrent; the first one has 1.
    mutable std::uint32_t last_number_ = 0;
    mutable std::unordered_map<std::uint32_t, lt::torrent_handle> handles_;
    // Declared last, so that it is destroyed first.
    mutable std::unique_ptr<lt::session> session_;
};

std::unique_ptr<Session> open_session(SessionSettings const& settings);

// Returns the version of the libtorrent that is loaded, which can be newer than its headers.
rust::String libtorrent_version();

// Closes the sockets of this process when it executes another program. libtorrent leaves its sockets open.
void close_sockets_on_exec();

} // namespace hashlane
