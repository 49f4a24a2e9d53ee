#include "hashlane-swarm/cpp/session.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <libtorrent/add_torrent_params.hpp>
#include <libtorrent/announce_entry.hpp>
#include <libtorrent/alert_types.hpp>
#include <libtorrent/bitfield.hpp>
#include <libtorrent/download_priority.hpp>
#include <libtorrent/file_storage.hpp>
#include <libtorrent/ip_filter.hpp>
#include <libtorrent/load_torrent.hpp>
#include <libtorrent/magnet_uri.hpp>
#include <libtorrent/peer_info.hpp>
#include <libtorrent/session_params.hpp>
#include <libtorrent/settings_pack.hpp>
#include <libtorrent/torrent_flags.hpp>
#include <libtorrent/torrent_info.hpp>
#include <libtorrent/torrent_status.hpp>
#include <libtorrent/version.hpp>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "hashlane-swarm/cpp/alerts.h"
#include "hashlane-swarm/cpp/settings.h"
#include "hashlane-swarm/cpp/text.h"
#include "hashlane-swarm/cpp/user_data.h"
#include "hashlane-swarm/src/ffi.rs.h"

namespace hashlane {

namespace {

// Larger than the limit of crates/metainfo.
constexpr int max_metainfo_len = 64 * 1024 * 1024;

// Maximum time to wait for trackers when the session ends.
constexpr std::chrono::milliseconds max_tracker_wait(1000);

// The largest limit of open files whose descriptors are all looked at.
constexpr rlim_t max_descriptors = 1 << 20;

void add_sources(lt::add_torrent_params& params, TorrentParams const& from)
{
    for (auto const& tracker : from.trackers) params.trackers.push_back(to_std(tracker));
    for (auto const& seed : from.web_seeds) params.url_seeds.push_back(to_std(seed));
    // Only the user pauses and resumes torrents.
    params.flags &= ~(lt::torrent_flags::auto_managed | lt::torrent_flags::paused);
    params.flags |= lt::torrent_flags::duplicate_is_error | lt::torrent_flags::update_subscribe;
}

// Marks the pieces that are present.
void set_pieces(lt::add_torrent_params& params, TorrentParams const& from)
{
    auto const n_pieces = static_cast<std::size_t>(params.ti->num_pieces());
    if (from.have.size() != n_pieces) {
        throw std::runtime_error("libtorrent sees " + std::to_string(n_pieces) + " pieces, and there are "
            + std::to_string(from.have.size()));
    }
    params.have_pieces.resize(static_cast<int>(n_pieces), false);
    bool has_any = false;
    for (std::size_t i = 0; i < n_pieces; ++i) {
        if (from.have[i] == 0) continue;
        has_any = true;
        params.have_pieces.set_bit(lt::piece_index_t(static_cast<int>(i)));
    }
    // libtorrent expects an empty list if no piece is present.
    if (!has_any) params.have_pieces.clear();
}

// Deselects the files that are not wanted. libtorrent counts padding as files. A torrent of version 2 alone lists no
// padding.
void set_priorities(lt::add_torrent_params& params, TorrentParams const& from)
{
    std::size_t n_files = 0;
    auto wanted = from.wanted.begin();
    auto const& files = params.ti->files();
    for (auto const index : files.file_range()) {
        bool const is_padding = files.pad_file_at(index);
        bool const is_left_out = !is_padding && wanted != from.wanted.end() && *wanted++ == 0;
        params.file_priorities.push_back(is_left_out ? lt::dont_download : lt::default_priority);
        n_files += is_padding ? 0 : 1;
    }
    if (!from.wanted.empty() && from.wanted.size() != n_files) {
        throw std::runtime_error("libtorrent sees " + std::to_string(n_files) + " files, and there are "
            + std::to_string(from.wanted.size()));
    }
}

// Removes the URLs of these servers.
template <typename Urls>
void avoid(Urls& urls, std::set<std::string> const& servers)
{
    auto const is_avoided = [&](std::string const& url) {
        return std::any_of(servers.begin(), servers.end(),
            [&](std::string const& server) { return WebSeed::is_at(url, server); });
    };
    urls.erase(std::remove_if(urls.begin(), urls.end(), is_avoided), urls.end());
}

// Adds what one listen socket reports about a tracker. A tracker works if any socket reaches it. A socket that cannot reach its
// address knows nothing of it, if another one does.
void add_announce(TrackerStatus& to, lt::announce_infohash const& from, bool is_verified)
{
    auto const now = lt::time_point_cast<lt::seconds32>(lt::clock_type::now());
    std::uint8_t const state = from.updating ? 2 : from.fails > 0 ? 1 : from.start_sent && is_verified ? 3 : 0;
    to.seeds = std::max(to.seeds, from.scrape_complete);
    to.leeches = std::max(to.leeches, from.scrape_incomplete);
    bool const is_skipped = from.last_error == lt::errors::announce_skipped;
    if (state == 0 || state < to.state || (is_skipped && to.state != 0)) return;
    to.state = state;
    to.failures = from.fails;
    to.next_seconds = from.next_announce > now
        ? static_cast<std::int32_t>(lt::total_seconds(from.next_announce - now))
        : -1;
    to.message = to_rust(!from.message.empty() ? from.message
            : from.last_error                  ? describe(from.last_error)
                                               : std::string());
}

// The layout of libtorrent's types changes between versions, also where the name of the library does not (2.0.8 to 2.0.11).
void check_version()
{
    std::string const loaded = lt::version();
    if (loaded == LIBTORRENT_VERSION) return;
    throw std::runtime_error(
        "libtorrent " + loaded + " is installed, and this program was built for " LIBTORRENT_VERSION
        ": install the package for this release of the system, or build Hashlane on it");
}

} // namespace

Session::Session(SessionSettings const& settings)
    : has_tcp_(settings.tcp)
    , has_log_(settings.log)
    , min_reconnect_seconds_(settings.min_reconnect_seconds)
    , discovery_(settings)
    , is_suspended_(settings.is_suspended)
    , registry_(std::make_shared<StorageRegistry>())
{
    lt::session_params params(make_settings_pack(settings));
    if (settings.web_seeds) {
        web_seeds_ = std::make_shared<WebSeedWatch>();
        params.extensions.push_back(web_seeds_);
    }
    for (auto const& server : settings.avoided_web_seeds) avoided_web_seeds_.insert(to_std(server));
    params.disk_io_constructor = make_disk(registry_);
    session_ = std::make_unique<lt::session>(std::move(params));
    if (settings.is_suspended) session_->pause();
    // Rate limits apply to all peers. By default, peers of the local network are exempt.
    constexpr std::uint32_t all_peers
        = 1U << static_cast<std::uint32_t>(lt::session::global_peer_class_id);
    lt::ip_filter classes;
    classes.add_rule(lt::make_address("0.0.0.0"), lt::make_address("255.255.255.255"), all_peers);
    classes.add_rule(lt::make_address("::"),
        lt::make_address("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"), all_peers);
    session_->set_peer_class_filter(classes);
}

Session::~Session()
{
    // libtorrent closes the sockets of UDP trackers when its session ends, so the end is announced before.
    try {
        announce_end();
    } catch (std::exception const&) {
        // A failure is harmless: trackers forget a peer that stops announcing itself.
    }
}

void Session::announce_end() const
{
    using Clock = std::chrono::steady_clock;
    std::lock_guard<std::mutex> const lock(alerts_mutex_);
    session_->pause();
    // Waits for the network thread, which has then contacted all trackers.
    session_->is_paused();
    auto const end = Clock::now() + max_tracker_wait;
    // The announcements without an answer so far: torrent and tracker.
    std::set<std::pair<std::uint32_t, std::string>> waiting;
    for (auto left = max_tracker_wait;;) {
        std::vector<lt::alert*> alerts;
        session_->pop_alerts(&alerts);
        for (auto const* alert : alerts) {
            auto const* const a = dynamic_cast<lt::tracker_alert const*>(alert);
            if (a == nullptr) continue;
            std::pair<std::uint32_t, std::string> const key(
                number_of(a->handle.userdata()), a->tracker_url());
            if (auto const* announced = lt::alert_cast<lt::tracker_announce_alert>(alert)) {
                if (announced->event == lt::event_t::stopped) waiting.insert(key);
            } else if (lt::alert_cast<lt::tracker_reply_alert>(alert)
                || lt::alert_cast<lt::tracker_error_alert>(alert)) {
                waiting.erase(key);
            }
        }
        left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
        if (waiting.empty() || left.count() <= 0) return;
        session_->wait_for_alert(left);
    }
}

void Session::apply(lt::settings_pack pack) const
{
    if (is_suspended_ || !has_torrent_) {
        session_->apply_settings(std::move(pack));
        return;
    }
    session_->apply_settings(with_discovery(std::move(pack), discovery_));
    if (!discovery_.dht) return;
    for (auto const& node : discovery_.nodes) session_->add_dht_node(node);
}

std::uint32_t Session::add_params(lt::add_torrent_params params) const
{
    if (!has_torrent_.exchange(true)) apply(lt::settings_pack());
    std::lock_guard<std::mutex> const lock(mutex_);
    auto const number = ++last_number_;
    params.userdata = to_user_data(number);
    if (!web_seeds_) {
        params.url_seeds.clear();
        params.http_seeds.clear();
    }
    avoid(params.url_seeds, avoided_web_seeds_);
    avoid(params.http_seeds, avoided_web_seeds_);
    lt::error_code error;
    auto const added = session_->add_torrent(std::move(params), error);
    if (error) throw std::runtime_error(describe(error));
    handles_[number] = added;
    return number;
}

std::uint32_t Session::add(TorrentParams const& from, rust::Box<StorageHandle> storage) const
{
    lt::load_torrent_limits limits;
    limits.max_buffer_size = max_metainfo_len;
    limits.max_pieces = 0x7fffffff;
    lt::span<char const> const metainfo(
        reinterpret_cast<char const*>(from.metainfo.data()), static_cast<long>(from.metainfo.size()));
    lt::add_torrent_params params = lt::load_torrent_buffer(metainfo, limits);
    set_pieces(params, from);
    set_priorities(params, from);
    add_sources(params, from);
    params.flags |= lt::torrent_flags::no_verify_files;
    if (from.only_serve) params.flags |= lt::torrent_flags::upload_mode;
    if (from.paused) params.flags |= lt::torrent_flags::paused;
    if (from.sequential) params.flags |= lt::torrent_flags::sequential_download;
    if (from.super_seeding) params.flags |= lt::torrent_flags::super_seeding;
    for (auto const& peer : from.peers) params.peers.push_back(parse_endpoint(to_std(peer)));
    auto* const raw = storage.into_raw();
    auto const ticket = registry_->put(std::shared_ptr<StorageHandle const>(
        raw, [](StorageHandle* handle) { rust::Box<StorageHandle>::from_raw(handle); }));
    params.save_path = ticket;
    try {
        return add_params(std::move(params));
    } catch (...) {
        registry_->take(ticket);
        throw;
    }
}

std::uint32_t Session::add_magnet(TorrentParams const& from) const
{
    lt::add_torrent_params params = lt::parse_magnet_uri(to_std(from.magnet));
    add_sources(params, from);
    params.save_path = "magnet";
    // Fetches metadata, and no pieces. Upload mode would not fetch metadata either. The files that a link selects (BEP 53) have
    // priorities of their own, and no storage: the first block of one would fail the torrent.
    params.flags |= lt::torrent_flags::default_dont_download;
    params.file_priorities.clear();
    std::vector<lt::tcp::endpoint> peers;
    for (auto const& peer : from.peers) peers.push_back(parse_endpoint(to_std(peer)));
    auto const id = add_params(std::move(params));
    // libtorrent ignores the peers of the parameters while it has no metadata.
    for (auto const& peer : peers) handle(id).connect_peer(peer);
    return id;
}

rust::Vec<std::uint8_t> Session::metadata(std::uint32_t torrent) const
{
    return info_dictionary(handle(torrent));
}

lt::torrent_handle Session::handle(std::uint32_t torrent) const
{
    std::lock_guard<std::mutex> const lock(mutex_);
    auto const found = handles_.find(torrent);
    if (found == handles_.end()) throw std::out_of_range("no such torrent");
    return found->second;
}

void Session::remove(std::uint32_t torrent) const
{
    session_->remove_torrent(handle(torrent));
    std::lock_guard<std::mutex> const lock(mutex_);
    handles_.erase(torrent);
}

void Session::pause(std::uint32_t torrent) const { handle(torrent).pause(); }

void Session::resume(std::uint32_t torrent) const { handle(torrent).resume(); }

void Session::add_peer(std::uint32_t torrent, rust::Str address) const
{
    handle(torrent).connect_peer(parse_endpoint(std::string(address)));
}

// The tracker gets a tier of its own, after the others.
void Session::add_tracker(std::uint32_t torrent, rust::Str url) const
{
    auto const torrent_handle = handle(torrent);
    int tier = 0;
    for (auto const& tracker : torrent_handle.trackers()) tier = std::max(tier, tracker.tier + 1);
    lt::announce_entry entry{std::string(url)};
    // libtorrent stores a tier in eight bits.
    entry.tier = static_cast<std::uint8_t>(std::min(tier, 255));
    torrent_handle.add_tracker(entry);
}

void Session::replace_trackers(std::uint32_t torrent, rust::Vec<TrackerUrl> urls) const
{
    std::vector<lt::announce_entry> entries;
    entries.reserve(urls.size());
    for (auto const& url : urls) {
        entries.emplace_back(to_std(url.url));
        entries.back().tier = url.tier;
    }
    handle(torrent).replace_trackers(entries);
}

void Session::reannounce(std::uint32_t torrent) const { handle(torrent).force_reannounce(); }

void Session::set_sequential(std::uint32_t torrent, bool sequential) const
{
    auto const flag = lt::torrent_flags::sequential_download;
    handle(torrent).set_flags(sequential ? flag : lt::torrent_flags_t{}, flag);
}

void Session::set_super_seeding(std::uint32_t torrent, bool super_seeding) const
{
    auto const flag = lt::torrent_flags::super_seeding;
    handle(torrent).set_flags(super_seeding ? flag : lt::torrent_flags_t{}, flag);
}

void Session::limit_torrent(std::uint32_t torrent, std::int32_t max_down, std::int32_t max_up) const
{
    auto const torrent_handle = handle(torrent);
    torrent_handle.set_download_limit(max_down);
    torrent_handle.set_upload_limit(max_up);
}

void Session::limit(std::int32_t max_down, std::int32_t max_up) const
{
    lt::settings_pack pack;
    pack.set_int(lt::settings_pack::download_rate_limit, max_down);
    pack.set_int(lt::settings_pack::upload_rate_limit, max_up);
    session_->apply_settings(std::move(pack));
}

void Session::connect(rust::Str listen, rust::Str outgoing) const
{
    lt::settings_pack pack;
    pack.set_str(lt::settings_pack::listen_interfaces, std::string(listen));
    pack.set_str(lt::settings_pack::outgoing_interfaces, std::string(outgoing));
    bool const was_suspended = is_suspended_.exchange(false);
    apply(std::move(pack));
    if (was_suspended) session_->resume();
}

// libtorrent resolves the names of bootstrap nodes as soon as the hash table is enabled. A torrent that is paused without a
// listening socket contacts no tracker.
void Session::suspend() const
{
    is_suspended_ = true;
    session_->apply_settings(without_connections(lt::settings_pack()));
    session_->pause();
}

void Session::listen_again() const { session_->reopen_network_sockets(); }

void Session::use_utp(bool is_on, bool retry) const
{
    lt::settings_pack pack;
    pack.set_bool(lt::settings_pack::enable_outgoing_utp, is_on);
    pack.set_int(lt::settings_pack::min_reconnect_time, retry ? 1 : min_reconnect_seconds_);
    session_->apply_settings(std::move(pack));
}

rust::Vec<PeerStatus> Session::peers(std::uint32_t torrent) const
{
    std::vector<lt::peer_info> infos;
    handle(torrent).get_peer_info(infos);
    rust::Vec<PeerStatus> peers;
    for (auto const& from : infos) {
        PeerStatus to{};
        to.address = format_endpoint(from.ip);
        to.client = to_rust(from.client);
        to.down_rate = static_cast<std::uint64_t>(from.payload_down_speed);
        to.up_rate = static_cast<std::uint64_t>(from.payload_up_speed);
        to.downloaded = static_cast<std::uint64_t>(from.total_download);
        to.uploaded = static_cast<std::uint64_t>(from.total_upload);
        to.progress = static_cast<std::uint32_t>(from.progress_ppm);
        to.is_outgoing = bool(from.flags & lt::peer_info::local_connection);
        to.is_encrypted
            = bool(from.flags & (lt::peer_info::rc4_encrypted | lt::peer_info::plaintext_encrypted));
        to.is_utp = bool(from.flags & lt::peer_info::utp_socket);
        to.is_web_seed = from.connection_type != lt::peer_info::standard_bittorrent;
        peers.push_back(std::move(to));
    }
    return peers;
}

rust::Vec<TrackerStatus> Session::trackers(std::uint32_t torrent) const
{
    rust::Vec<TrackerStatus> trackers;
    for (auto const& from : handle(torrent).trackers()) {
        TrackerStatus to{};
        to.url = to_rust(from.url);
        to.tier = from.tier;
        to.seeds = to.leeches = to.next_seconds = -1;
        for (auto const& endpoint : from.endpoints) {
            // A torrent of one version announces one info-hash.
            for (auto const& announce : endpoint.info_hashes) add_announce(to, announce, from.verified);
        }
        trackers.push_back(std::move(to));
    }
    return trackers;
}

rust::Vec<std::uint64_t> Session::file_progress(std::uint32_t torrent) const
{
    rust::Vec<std::uint64_t> progress;
    auto const torrent_handle = handle(torrent);
    auto const info = torrent_handle.torrent_file();
    if (!info) return progress;
    std::vector<std::int64_t> bytes;
    torrent_handle.file_progress(bytes);
    for (auto const index : info->files().file_range()) {
        auto const i = static_cast<std::size_t>(static_cast<int>(index));
        if (info->files().pad_file_at(index) || i >= bytes.size()) continue;
        progress.push_back(static_cast<std::uint64_t>(bytes[i]));
    }
    return progress;
}

void Session::prioritize(std::uint32_t torrent, rust::Slice<std::uint8_t const> priorities) const
{
    auto const torrent_handle = handle(torrent);
    auto const info = torrent_handle.torrent_file();
    if (!info) throw std::runtime_error("the metadata is not known");
    std::vector<lt::download_priority_t> all;
    std::size_t n_files = 0;
    for (auto const index : info->files().file_range()) {
        bool const is_padding = info->files().pad_file_at(index);
        bool const is_known = !is_padding && n_files < priorities.size();
        all.push_back(is_known ? lt::download_priority_t(priorities[n_files]) : lt::default_priority);
        n_files += is_padding ? 0 : 1;
    }
    if (n_files != priorities.size()) {
        throw std::runtime_error("libtorrent sees " + std::to_string(n_files) + " files, and there are "
            + std::to_string(priorities.size()));
    }
    torrent_handle.prioritize_files(all);
}

rust::Vec<TorrentStatus> Session::statuses(rust::Slice<std::uint32_t const> torrents) const
{
    std::vector<lt::torrent_status> all;
    all.reserve(torrents.size());
    {
        std::lock_guard<std::mutex> const lock(mutex_);
        for (auto const torrent : torrents) {
            auto const found = handles_.find(torrent);
            if (found == handles_.end()) continue;
            all.emplace_back();
            all.back().handle = found->second;
        }
    }
    session_->refresh_torrent_status(&all, lt::status_flags_t{});
    rust::Vec<TorrentStatus> statuses;
    for (auto const& from : all) {
        // libtorrent may have removed the torrent.
        if (!from.handle.is_valid()) continue;
        TorrentStatus to{};
        to.torrent = number_of(from.handle.userdata());
        using State = lt::torrent_status::state_t;
        to.state = is_suspended_ || bool(from.flags & lt::torrent_flags::paused) ? 4
            : from.state == State::downloading_metadata          ? 0
            : from.state == State::finished                      ? 2
            : from.state == State::seeding                       ? 3
                                                                 : 1;
        to.wanted = static_cast<std::uint64_t>(from.total_wanted);
        to.wanted_done = static_cast<std::uint64_t>(from.total_wanted_done);
        to.downloaded = static_cast<std::uint64_t>(from.total_payload_download);
        to.uploaded = static_cast<std::uint64_t>(from.total_payload_upload);
        to.wasted = static_cast<std::uint64_t>(from.total_failed_bytes + from.total_redundant_bytes);
        to.peers = static_cast<std::uint32_t>(from.num_peers);
        to.known_peers = static_cast<std::uint32_t>(from.list_peers);
        to.seeds = static_cast<std::uint32_t>(from.num_seeds);
        statuses.push_back(to);
    }
    return statuses;
}

rust::Vec<std::uint8_t> Session::have(std::uint32_t torrent) const
{
    auto const status = handle(torrent).status(lt::torrent_handle::query_pieces);
    rust::Vec<std::uint8_t> have;
    have.reserve(static_cast<std::size_t>(status.pieces.size()));
    for (auto const i : status.pieces.range()) have.push_back(status.pieces[i] ? 1 : 0);
    return have;
}

bool Session::has_piece(std::uint32_t torrent, std::uint32_t piece) const
{
    return handle(torrent).have_piece(lt::piece_index_t(static_cast<int>(piece)));
}

void Session::hurry(std::uint32_t torrent, std::uint32_t first, std::uint32_t end) const
{
    auto const torrent_handle = handle(torrent);
    int milliseconds = 0;
    for (auto piece = first; piece < end; ++piece, milliseconds += 100)
        torrent_handle.set_piece_deadline(lt::piece_index_t(static_cast<int>(piece)), milliseconds);
}

rust::Vec<SessionEvent> Session::wait(std::uint32_t milliseconds) const
{
    std::lock_guard<std::mutex> const lock(alerts_mutex_);
    session_->wait_for_alert(std::chrono::milliseconds(milliseconds));
    std::vector<lt::alert*> alerts;
    session_->pop_alerts(&alerts);
    auto events = read_alerts(alerts, has_tcp_, has_log_);
    remove_greedy_web_seeds(events);
    return events;
}

// Removes the web seeds that were disconnected. If no URL names the server, another web seed of the torrent redirected to
// it.
void Session::remove_greedy_web_seeds(rust::Vec<SessionEvent>& events) const
{
    if (!web_seeds_) return;
    for (auto const& web_seed : web_seeds_->take_greedy()) {
        SessionEvent event{};
        event.kind = EventKind::WebSeedFailed;
        event.torrent = web_seed.torrent;
        try {
            auto const torrent = handle(web_seed.torrent);
            auto const urls = torrent.url_seeds();
            auto const older_urls = torrent.http_seeds();
            auto const is_named = [&](std::string const& url) { return WebSeed::is_at(url, web_seed.name()); };
            bool const is_any_named = std::any_of(urls.begin(), urls.end(), is_named)
                || std::any_of(older_urls.begin(), older_urls.end(), is_named);
            for (auto const& url : urls) {
                if (!is_any_named || is_named(url)) torrent.remove_url_seed(url);
            }
            for (auto const& url : older_urls) {
                if (!is_any_named || is_named(url)) torrent.remove_http_seed(url);
            }
        } catch (std::exception const&) {
            // The torrent has been removed meanwhile.
            continue;
        }
        event.text = to_rust(web_seed.name() + ": too much data without the end of a header; no longer used");
        events.push_back(std::move(event));
    }
}

// Any alert ends a wait. This alert is posted regardless of the alert mask, and has the counters of the session.
void Session::wake() const { session_->post_session_stats(); }

// Never waits for libtorrent's thread, because that thread is stuck.
SuspectWebSeed Session::stuck_web_seed() const
{
    SuspectWebSeed suspect{};
    WebSeed found;
    if (web_seeds_ && web_seeds_->last_received(found)) {
        suspect.torrent = found.torrent;
        suspect.server = to_rust(found.name());
    }
    return suspect;
}

rust::String libtorrent_version() { return to_rust(lt::version()); }

void close_sockets_on_exec()
{
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    int const end = static_cast<int>(std::min<rlim_t>(limit.rlim_cur, max_descriptors));
    for (int fd = 3; fd < end; ++fd) {
        struct stat status{};
        if (fstat(fd, &status) == 0 && S_ISSOCK(status.st_mode)) fcntl(fd, F_SETFD, FD_CLOEXEC);
    }
}

std::unique_ptr<Session> open_session(SessionSettings const& settings)
{
    check_version();
    return std::make_unique<Session>(settings);
}

} // namespace hashlane
