#include "hashlane-swarm/cpp/settings.h"

#include <limits>
#include <utility>

#include <libtorrent/alert.hpp>
#include <libtorrent/fingerprint.hpp>
#include <libtorrent/session.hpp>

#include "hashlane-swarm/cpp/text.h"
#include "hashlane-swarm/src/ffi.rs.h"

namespace hashlane {

namespace {

using lt::settings_pack;

// A session begins without discovery.
void set_discovery(settings_pack& pack, SessionSettings const& settings)
{
    if (!settings.dht_nodes.empty()) {
        // The user's nodes may share an address or run on this machine.
        pack.set_bool(settings_pack::dht_restrict_routing_ips, false);
        pack.set_bool(settings_pack::dht_restrict_search_ips, false);
        pack.set_bool(settings_pack::dht_ignore_dark_internet, false);
    }
    pack.set_bool(settings_pack::enable_dht, false);
    pack.set_str(settings_pack::dht_bootstrap_nodes, "");
    pack.set_bool(settings_pack::enable_lsd, false);
    pack.set_bool(settings_pack::enable_upnp, false);
    pack.set_bool(settings_pack::enable_natpmp, false);
}

void set_limits(settings_pack& pack, SessionSettings const& settings)
{
    pack.set_int(settings_pack::download_rate_limit, settings.max_down);
    pack.set_int(settings_pack::upload_rate_limit, settings.max_up);
    if (settings.max_peers > 0) pack.set_int(settings_pack::connections_limit, settings.max_peers);
    // If a receive buffer is longer than this, libtorrent (2.1.0 too) replaces it by one of this length, and later reads beyond its
    // end (`receive_buffer::grow`). The head of a web seed's answer can be as long as `WebSeedWatch` allows.
    pack.set_int(settings_pack::max_peer_recv_buffer_size, std::numeric_limits<int>::max());
    if (settings.max_uploads > 0) pack.set_int(settings_pack::unchoke_slots_limit, settings.max_uploads);
    // Hashlane starts and stops torrents itself.
    pack.set_int(settings_pack::auto_manage_startup, 0);
    pack.set_int(settings_pack::active_downloads, -1);
    pack.set_int(settings_pack::active_seeds, -1);
    pack.set_int(settings_pack::active_limit, -1);
}

void set_encryption(settings_pack& pack, SessionSettings const& settings)
{
    int const policy = settings.encryption == 0 ? settings_pack::pe_enabled
        : settings.encryption == 1              ? settings_pack::pe_forced
                                                : settings_pack::pe_disabled;
    pack.set_int(settings_pack::in_enc_policy, policy);
    pack.set_int(settings_pack::out_enc_policy, policy);
    if (settings.encryption == 1) {
        pack.set_int(settings_pack::allowed_enc_level, settings_pack::pe_rc4);
        pack.set_bool(settings_pack::prefer_rc4, true);
    }
}

void set_connections(settings_pack& pack, SessionSettings const& settings)
{
    pack.set_str(settings_pack::listen_interfaces, to_std(settings.listen_interfaces));
    pack.set_str(settings_pack::outgoing_interfaces, to_std(settings.outgoing_interfaces));
    if (settings.proxy_type != 0) {
        pack.set_int(settings_pack::proxy_type, settings.proxy_type);
        pack.set_str(settings_pack::proxy_hostname, to_std(settings.proxy_host));
        pack.set_int(settings_pack::proxy_port, settings.proxy_port);
        pack.set_str(settings_pack::proxy_username, to_std(settings.proxy_user));
        pack.set_str(settings_pack::proxy_password, to_std(settings.proxy_password));
    }
    // libtorrent would try uTP first. The client allows it when TCP reaches no peer.
    pack.set_bool(settings_pack::enable_outgoing_utp, settings.utp && !settings.tcp);
    pack.set_bool(settings_pack::enable_incoming_utp, settings.utp);
    pack.set_bool(settings_pack::enable_outgoing_tcp, settings.tcp);
    pack.set_bool(settings_pack::enable_incoming_tcp, settings.tcp);
    // A port that is in use is an error. libtorrent must not choose another one.
    pack.set_int(settings_pack::max_retry_port_bind, 0);
    pack.set_bool(settings_pack::listen_system_port_fallback, false);
    // Two clients of one machine can be peers.
    pack.set_bool(settings_pack::allow_multiple_connections_per_ip, true);
    // libtorrent connects to peers at a tick. Its default is two ticks per second.
    pack.set_int(settings_pack::tick_interval, 100);
    pack.set_int(settings_pack::min_reconnect_time, settings.min_reconnect_seconds);
    // A peer without useful pieces can soon have one: a super-seed, for example, its last piece.
    pack.set_bool(settings_pack::close_redundant_connections, settings.close_redundant);
    // The end is announced to trackers, with a short wait for their answers.
    pack.set_int(settings_pack::stop_tracker_timeout, 1);
}

void set_alerts(settings_pack& pack, SessionSettings const& settings)
{
    pack.set_int(settings_pack::alert_queue_size, 100'000);
    lt::alert_category_t mask = lt::alert_category::error | lt::alert_category::status
        | lt::alert_category::storage | lt::alert_category::tracker | lt::alert_category::connect
        | lt::alert_category::peer;
    if (settings.pieces) mask |= lt::alert_category::piece_progress;
    if (settings.log) {
        mask |= lt::alert_category::upload | lt::alert_category::session_log
            | lt::alert_category::torrent_log | lt::alert_category::peer_log
            | lt::alert_category::dht_log;
    }
    // If libtorrent does not respond, its log names the peer that it is busy with.
    if (settings.web_seeds && settings.watch_web_seeds) mask |= lt::alert_category::peer_log;
    pack.set_int(settings_pack::alert_mask, static_cast<int>(static_cast<std::uint32_t>(mask)));
}

} // namespace

Discovery::Discovery(SessionSettings const& settings)
    : dht(settings.dht)
    , local(settings.local_discovery)
    , port_mapping(settings.port_mapping)
{
    for (auto const& node : settings.dht_nodes) nodes.emplace_back(to_std(node.host), node.port);
}

settings_pack make_settings_pack(SessionSettings const& settings)
{
    settings_pack pack = lt::default_settings();
    pack.set_str(settings_pack::user_agent, to_std(settings.user_agent));
    pack.set_str(settings_pack::peer_fingerprint, 
        lt::generate_fingerprint("HA", settings.version[0], settings.version[1], settings.version[2], 0));
    // A piece is announced only after all of its bytes are written.
    pack.set_int(settings_pack::predictive_piece_announce, 0);
    set_discovery(pack, settings);
    set_limits(pack, settings);
    set_encryption(pack, settings);
    set_connections(pack, settings);
    set_alerts(pack, settings);
    return settings.is_suspended ? without_connections(std::move(pack)) : pack;
}

settings_pack with_discovery(settings_pack pack, Discovery const& discovery)
{
    pack.set_bool(settings_pack::enable_dht, discovery.dht);
    // Bootstrap nodes only answer queries. The nodes that the user names are full members of the table, added after the start.
    if (discovery.dht && discovery.nodes.empty()) {
        pack.set_str(settings_pack::dht_bootstrap_nodes,
            lt::default_settings().get_str(settings_pack::dht_bootstrap_nodes));
    }
    pack.set_bool(settings_pack::enable_lsd, discovery.local);
    pack.set_bool(settings_pack::enable_upnp, discovery.port_mapping);
    pack.set_bool(settings_pack::enable_natpmp, discovery.port_mapping);
    return pack;
}

settings_pack without_connections(settings_pack pack)
{
    pack.set_str(settings_pack::listen_interfaces, "");
    pack.set_bool(settings_pack::enable_dht, false);
    pack.set_str(settings_pack::dht_bootstrap_nodes, "");
    return pack;
}

} // namespace hashlane
