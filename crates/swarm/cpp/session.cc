#include "hashlane-swarm/cpp/session.h"

#include <chrono>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <libtorrent/add_torrent_params.hpp>
#include <libtorrent/alert_types.hpp>
#include <libtorrent/bitfield.hpp>
#include <libtorrent/ip_filter.hpp>
#include <libtorrent/load_torrent.hpp>
#include <libtorrent/magnet_uri.hpp>
#include <libtorrent/peer_info.hpp>
#include <libtorrent/session_params.hpp>
#include <libtorrent/settings_pack.hpp>
#include <libtorrent/torrent_flags.hpp>
#include <libtorrent/torrent_info.hpp>
#include <libtorrent/torrent_status.hpp>

#include "hashlane-swarm/src/ffi.rs.h"

namespace hashlane {

namespace {

// As much as crates/metainfo reads, and more.
constexpr int max_metainfo_len = 64 * 1024 * 1024;

// How long trackers are waited for in the end.
constexpr std::chrono::milliseconds most_parting(1000);

std::string text(rust::String const& string) { return {string.data(), string.size()}; }

// What trackers and peers say can be any bytes.
rust::String said(std::string const& bytes) { return rust::String::lossy(bytes); }

lt::settings_pack pack_of(SessionSettings const& settings)
{
    using lt::settings_pack;
    settings_pack pack = lt::default_settings();
    pack.set_str(settings_pack::listen_interfaces, text(settings.listen_interfaces));
    pack.set_str(settings_pack::outgoing_interfaces, text(settings.outgoing_interfaces));
    pack.set_str(settings_pack::user_agent, text(settings.user_agent));
    pack.set_str(settings_pack::peer_fingerprint, lt::generate_fingerprint("HA", 0, 1, 0, 0));
    pack.set_bool(settings_pack::enable_dht, settings.dht);
    if (!settings.dht_nodes.empty()) {
        // Those are only asked for others, and never told of anything: these are nodes like any other.
        pack.set_str(settings_pack::dht_bootstrap_nodes, "");
        // Whoever names nodes may name some that share an address or are of this machine.
        pack.set_bool(settings_pack::dht_restrict_routing_ips, false);
        pack.set_bool(settings_pack::dht_restrict_search_ips, false);
        pack.set_bool(settings_pack::dht_ignore_dark_internet, false);
    }
    pack.set_bool(settings_pack::enable_lsd, settings.local_discovery);
    pack.set_bool(settings_pack::enable_upnp, settings.port_mapping);
    pack.set_bool(settings_pack::enable_natpmp, settings.port_mapping);
    pack.set_int(settings_pack::download_rate_limit, settings.max_down);
    pack.set_int(settings_pack::upload_rate_limit, settings.max_up);
    if (settings.max_peers > 0) pack.set_int(settings_pack::connections_limit, settings.max_peers);
    if (settings.max_uploads > 0) pack.set_int(settings_pack::unchoke_slots_limit, settings.max_uploads);
    int const policy = settings.encryption == 0 ? settings_pack::pe_enabled
        : settings.encryption == 1              ? settings_pack::pe_forced
                                                : settings_pack::pe_disabled;
    pack.set_int(settings_pack::in_enc_policy, policy);
    pack.set_int(settings_pack::out_enc_policy, policy);
    if (settings.encryption == 1) {
        pack.set_int(settings_pack::allowed_enc_level, settings_pack::pe_rc4);
        pack.set_bool(settings_pack::prefer_rc4, true);
    }
    if (settings.proxy_type != 0) {
        pack.set_int(settings_pack::proxy_type, settings.proxy_type);
        pack.set_str(settings_pack::proxy_hostname, text(settings.proxy_host));
        pack.set_int(settings_pack::proxy_port, settings.proxy_port);
        pack.set_str(settings_pack::proxy_username, text(settings.proxy_user));
        pack.set_str(settings_pack::proxy_password, text(settings.proxy_password));
    }
    pack.set_bool(settings_pack::enable_outgoing_utp, settings.utp);
    pack.set_bool(settings_pack::enable_incoming_utp, settings.utp);
    pack.set_bool(settings_pack::enable_outgoing_tcp, settings.tcp);
    pack.set_bool(settings_pack::enable_incoming_tcp, settings.tcp);
    // Nothing is told to be there before it is with the kernel.
    pack.set_int(settings_pack::predictive_piece_announce, 0);
    // A port that is taken is an error, and no reason to take another one.
    pack.set_int(settings_pack::max_retry_port_bind, 0);
    pack.set_bool(settings_pack::listen_system_port_fallback, false);
    // What one machine has, it may have twice.
    pack.set_bool(settings_pack::allow_multiple_connections_per_ip, true);
    // Peers are connected to at a tick: the default is twice a second.
    pack.set_int(settings_pack::tick_interval, 100);
    // A torrent that was paused goes on, and a peer that was lost comes back, sooner than after a minute; who
    // fails is asked less and less often all the same.
    pack.set_int(settings_pack::min_reconnect_time, 10);
    // Whoever has nothing for us now can have something in a moment, such as a super-seed its last piece.
    pack.set_bool(settings_pack::close_redundant_connections, settings.close_redundant);
    // Trackers are told of the end, and are not waited for long.
    pack.set_int(settings_pack::stop_tracker_timeout, 1);
    pack.set_int(settings_pack::auto_manage_startup, 0);
    pack.set_int(settings_pack::active_downloads, -1);
    pack.set_int(settings_pack::active_seeds, -1);
    pack.set_int(settings_pack::active_limit, -1);
    pack.set_int(settings_pack::alert_queue_size, 100'000);
    lt::alert_category_t mask = lt::alert_category::error | lt::alert_category::status
        | lt::alert_category::storage | lt::alert_category::tracker | lt::alert_category::connect;
    if (settings.pieces) mask |= lt::alert_category::piece_progress;
    if (settings.log) {
        mask |= lt::alert_category::upload | lt::alert_category::session_log
            | lt::alert_category::torrent_log | lt::alert_category::peer_log
            | lt::alert_category::dht_log;
    }
    pack.set_int(settings_pack::alert_mask, static_cast<int>(static_cast<std::uint32_t>(mask)));
    return pack;
}

void add_sources(lt::add_torrent_params& params, TorrentParams const& from)
{
    for (auto const& tracker : from.trackers) params.trackers.push_back(text(tracker));
    for (auto const& seed : from.web_seeds) params.url_seeds.push_back(text(seed));
    // Nothing is queued, paused or started by anything but the user.
    params.flags &= ~(lt::torrent_flags::auto_managed | lt::torrent_flags::paused);
    params.flags |= lt::torrent_flags::duplicate_is_error | lt::torrent_flags::update_subscribe;
}

lt::tcp::endpoint endpoint_of(std::string const& peer)
{
    auto const colon = peer.rfind(':');
    if (colon == std::string::npos) throw std::invalid_argument(peer + ": has no port");
    std::string host = peer.substr(0, colon);
    if (host.size() > 2 && host.front() == '[') host = host.substr(1, host.size() - 2);
    return {lt::make_address(host), static_cast<std::uint16_t>(std::stoul(peer.substr(colon + 1)))};
}

std::string text_of(lt::tcp::endpoint const& endpoint)
{
    auto const address = endpoint.address().to_string();
    bool const is_v6 = endpoint.address().is_v6();
    return (is_v6 ? "[" + address + "]" : address) + ":" + std::to_string(endpoint.port());
}

// The info dictionary; nothing if it is not there yet.
rust::Vec<std::uint8_t> info_of(lt::torrent_handle const& handle)
{
    rust::Vec<std::uint8_t> bytes;
    auto const info = handle.torrent_file();
    if (!info) return bytes;
    auto const section = info->info_section();
    bytes.reserve(static_cast<std::size_t>(section.size()));
    for (char const c : section) bytes.push_back(static_cast<std::uint8_t>(c));
    return bytes;
}

struct Reader {
    rust::Vec<SessionEvent>& events;
    // Both are at the same ports: one of them is told.
    bool has_tcp;

    SessionEvent& push(EventKind kind, lt::torrent_handle const& handle)
    {
        return push(kind, handle.userdata());
    }

    SessionEvent& push(EventKind kind, lt::client_data_t torrent)
    {
        SessionEvent event{};
        event.kind = kind;
        auto const* const number = torrent.get<std::uint32_t>();
        event.torrent = number ? *number : 0;
        events.push_back(std::move(event));
        return events.back();
    }

    void read(lt::alert const* alert)
    {
        using namespace lt;
        if (auto const* a = alert_cast<piece_finished_alert>(alert)) {
            push(EventKind::PieceFinished, a->handle).number
                = static_cast<std::uint32_t>(static_cast<int>(a->piece_index));
        } else if (auto const* a = alert_cast<hash_failed_alert>(alert)) {
            push(EventKind::PieceFailed, a->handle).number
                = static_cast<std::uint32_t>(static_cast<int>(a->piece_index));
        } else if (auto const* a = alert_cast<metadata_received_alert>(alert)) {
            auto info = info_of(a->handle);
            push(EventKind::Metadata, a->handle).bytes = std::move(info);
        } else if (auto const* a = alert_cast<torrent_finished_alert>(alert)) {
            push(EventKind::Finished, a->handle);
        } else if (auto const* a = alert_cast<torrent_error_alert>(alert)) {
            push(EventKind::Failed, a->handle).text = said(a->error.message());
        } else if (auto const* a = alert_cast<file_error_alert>(alert)) {
            auto& event = push(EventKind::FileFailed, a->handle);
            event.text = said(a->error.message());
            event.error = a->error.value();
        } else if (auto const* a = alert_cast<listen_succeeded_alert>(alert)) {
            if (a->socket_type == (has_tcp ? socket_type_t::tcp : socket_type_t::utp)) {
                auto& event = push(EventKind::Listening, lt::client_data_t());
                event.number = static_cast<std::uint32_t>(a->port);
                event.text = said(a->address.to_string());
            }
        } else if (auto const* a = alert_cast<listen_failed_alert>(alert)) {
            auto& event = push(EventKind::ListenFailed, lt::client_data_t());
            event.number = static_cast<std::uint32_t>(a->port);
            event.error = a->error.value();
            event.text = said(a->error.message());
        } else if (auto const* a = alert_cast<tracker_reply_alert>(alert)) {
            auto& event = push(EventKind::TrackerReplied, a->handle);
            event.number = static_cast<std::uint32_t>(a->num_peers);
            event.text = said(a->tracker_url());
        } else if (auto const* a = alert_cast<tracker_error_alert>(alert)) {
            auto& event = push(EventKind::TrackerFailed, a->handle);
            std::string const reason = a->failure_reason();
            event.text = said(std::string(a->tracker_url()) + ": "
                + (reason.empty() ? a->error.message() : reason));
        } else if (auto const* a = alert_cast<url_seed_alert>(alert)) {
            auto& event = push(EventKind::WebSeedFailed, a->handle);
            std::string const reason = a->error_message();
            event.text = said(std::string(a->server_url()) + ": "
                + (reason.empty() ? a->error.message() : reason));
        } else if (auto const* a = alert_cast<peer_connect_alert>(alert)) {
            push(EventKind::PeerConnected, a->handle).text = text_of(a->endpoint);
        } else if (auto const* a = alert_cast<peer_disconnected_alert>(alert)) {
            auto& event = push(EventKind::PeerGone, a->handle);
            event.text = said(text_of(a->endpoint) + ": " + a->error.message());
        } else if (auto const* a = alert_cast<peer_ban_alert>(alert)) {
            push(EventKind::Banned, a->handle).text = text_of(a->endpoint);
        } else if (auto const* a = alert_cast<torrent_removed_alert>(alert)) {
            push(EventKind::Removed, a->userdata);
        } else if (alert_cast<alerts_dropped_alert>(alert)) {
            push(EventKind::Dropped, lt::client_data_t());
        } else if (auto const* a = alert_cast<block_uploaded_alert>(alert)) {
            push(EventKind::BlockSent, a->handle).number
                = static_cast<std::uint32_t>(static_cast<int>(a->piece_index));
        } else if (auto const* a = alert_cast<peer_log_alert>(alert)) {
            push(EventKind::Log, a->handle).text = said(a->message());
        } else if (auto const* a = alert_cast<torrent_log_alert>(alert)) {
            push(EventKind::Log, a->handle).text = said(a->message());
        } else if (auto const* a = alert_cast<dht_log_alert>(alert)) {
            push(EventKind::Log, lt::client_data_t()).text = said(a->message());
        } else if (auto const* a = alert_cast<log_alert>(alert)) {
            push(EventKind::Log, lt::client_data_t()).text = said(a->message());
        }
    }
};

} // namespace

Session::Session(SessionSettings const& settings)
    : has_tcp_(settings.tcp), registry_(std::make_shared<StorageRegistry>())
{
    lt::session_params params(pack_of(settings));
    params.disk_io_constructor = disk_of(registry_);
    session_ = std::make_unique<lt::session>(std::move(params));
    for (auto const& node : settings.dht_nodes)
        session_->add_dht_node({text(node.host), node.port});
    // Limits are of all peers: by default those of the local network are free of them.
    constexpr std::uint32_t everybody
        = 1U << static_cast<std::uint32_t>(lt::session::global_peer_class_id);
    lt::ip_filter classes;
    classes.add_rule(lt::make_address("0.0.0.0"), lt::make_address("255.255.255.255"), everybody);
    classes.add_rule(lt::make_address("::"),
        lt::make_address("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"), everybody);
    session_->set_peer_class_filter(classes);
}

Session::~Session()
{
    // The end of a session closes the sockets at once by which UDP trackers are told: so they are told before.
    try {
        tell_trackers();
    } catch (std::exception const&) {
        // They will find out.
    }
}

void Session::tell_trackers() const
{
    using Clock = std::chrono::steady_clock;
    std::lock_guard<std::mutex> const lock(alerts_mutex_);
    session_->pause();
    // It waits for the network thread, which by then has asked all trackers.
    session_->is_paused();
    auto const end = Clock::now() + most_parting;
    // Announcements of the end whose answers are waited for: of which torrent, to whom.
    std::set<std::pair<void const*, std::string>> waiting;
    for (auto left = most_parting;;) {
        std::vector<lt::alert*> alerts;
        session_->pop_alerts(&alerts);
        for (auto const* alert : alerts) {
            auto const* const a = dynamic_cast<lt::tracker_alert const*>(alert);
            if (a == nullptr) continue;
            std::pair<void const*, std::string> const key(
                a->handle.userdata().get<std::uint32_t>(), a->tracker_url());
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

std::uint32_t Session::add_params(lt::add_torrent_params params) const
{
    std::lock_guard<std::mutex> const lock(mutex_);
    numbers_.push_back(static_cast<std::uint32_t>(numbers_.size() + 1));
    auto& number = numbers_.back();
    params.userdata = lt::client_data_t(&number);
    handles_[number] = session_->add_torrent(std::move(params));
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
    // An empty one is no word about the pieces.
    if (!has_any) params.have_pieces.clear();
    // libtorrent counts padding as files, which a torrent of version 2 alone does not list.
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
    add_sources(params, from);
    params.flags |= lt::torrent_flags::no_verify_files;
    if (from.only_serve) params.flags |= lt::torrent_flags::upload_mode;
    if (from.sequential) params.flags |= lt::torrent_flags::sequential_download;
    if (from.super_seeding) params.flags |= lt::torrent_flags::super_seeding;
    for (auto const& peer : from.peers) params.peers.push_back(endpoint_of(text(peer)));
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
    lt::add_torrent_params params = lt::parse_magnet_uri(text(from.magnet));
    add_sources(params, from);
    params.save_path = "magnet";
    // Metadata, and no pieces. In upload mode it would not even ask for that.
    params.flags |= lt::torrent_flags::default_dont_download;
    std::vector<lt::tcp::endpoint> peers;
    for (auto const& peer : from.peers) peers.push_back(endpoint_of(text(peer)));
    auto const id = add_params(std::move(params));
    // Without metadata it takes no notice of the peers among its parameters.
    for (auto const& peer : peers) handle(id).connect_peer(peer);
    return id;
}

rust::Vec<std::uint8_t> Session::metadata(std::uint32_t torrent) const
{
    return info_of(handle(torrent));
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

void Session::limit(std::int32_t max_down, std::int32_t max_up) const
{
    lt::settings_pack pack;
    pack.set_int(lt::settings_pack::download_rate_limit, max_down);
    pack.set_int(lt::settings_pack::upload_rate_limit, max_up);
    session_->apply_settings(std::move(pack));
}

rust::Vec<PeerStatus> Session::peers(std::uint32_t torrent) const
{
    std::vector<lt::peer_info> infos;
    handle(torrent).get_peer_info(infos);
    rust::Vec<PeerStatus> peers;
    for (auto const& from : infos) {
        PeerStatus to{};
        to.address = text_of(from.ip);
        to.client = said(from.client);
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

rust::Vec<TorrentStatus> Session::statuses() const
{
    auto const all = session_->get_torrent_status(
        [](lt::torrent_status const&) { return true; }, lt::status_flags_t{});
    rust::Vec<TorrentStatus> statuses;
    for (auto const& from : all) {
        TorrentStatus to{};
        auto const* const number = from.handle.userdata().get<std::uint32_t>();
        to.torrent = number ? *number : 0;
        using State = lt::torrent_status::state_t;
        to.state = bool(from.flags & lt::torrent_flags::paused) ? 4
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

rust::Vec<SessionEvent> Session::wait(std::uint32_t milliseconds) const
{
    std::lock_guard<std::mutex> const lock(alerts_mutex_);
    session_->wait_for_alert(std::chrono::milliseconds(milliseconds));
    std::vector<lt::alert*> alerts;
    session_->pop_alerts(&alerts);
    rust::Vec<SessionEvent> events;
    Reader reader{events, has_tcp_};
    for (auto const* alert : alerts) {
        try {
            reader.read(alert);
        } catch (lt::system_error const&) {
            // Of a torrent that is gone meanwhile.
        }
    }
    return events;
}

std::unique_ptr<Session> open_session(SessionSettings const& settings)
{
    return std::make_unique<Session>(settings);
}

} // namespace hashlane
