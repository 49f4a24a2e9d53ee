#include "hashlane-swarm/cpp/web_seeds.h"

#include <algorithm>
#include <utility>

#include <libtorrent/alert_types.hpp>
#include <libtorrent/error_code.hpp>
#include <libtorrent/operations.hpp>
#include <libtorrent/peer_info.hpp>

#include "hashlane-swarm/cpp/user_data.h"

namespace hashlane {

namespace {

// A web seed's buffer holds at most some blocks of a correct answer.
constexpr int max_web_seed_buffer = 8 * 1024 * 1024;

} // namespace

std::string WebSeed::name() const
{
    bool const is_bare_v6 = host.find(':') != std::string::npos && host.front() != '[';
    return (is_bare_v6 ? "[" + host + "]" : host) + ":" + std::to_string(endpoint.port());
}

bool WebSeed::is_at(std::string const& url, std::string const& server)
{
    auto const scheme = url.find("://");
    if (scheme == std::string::npos) return false;
    std::string authority = url.substr(scheme + 3);
    authority = authority.substr(0, authority.find_first_of("/?#"));
    authority = authority.substr(authority.rfind('@') + 1);
    auto const end_of_host = authority.rfind(':');
    bool const has_port = end_of_host != std::string::npos && authority.find(']', end_of_host) == std::string::npos;
    if (!has_port) authority += scheme == 5 ? ":443" : ":80";
    return authority == server;
}

std::vector<WebSeed> WebSeedWatch::take_greedy()
{
    std::lock_guard<std::mutex> const lock(mutex_);
    return std::exchange(greedy_, {});
}

bool WebSeedWatch::last_received(WebSeed& found) const
{
    std::lock_guard<std::mutex> const lock(mutex_);
    for (auto const& connection : connections_) {
        auto const& web_seed = connection.web_seed;
        if (web_seed.torrent != last_torrent_ || web_seed.endpoint != last_endpoint_) continue;
        found = web_seed;
        return true;
    }
    return false;
}

std::shared_ptr<lt::torrent_plugin> WebSeedWatch::new_torrent(lt::torrent_handle const&, lt::client_data_t)
{
    return shared_from_this();
}

std::shared_ptr<lt::peer_plugin> WebSeedWatch::new_connection(lt::peer_connection_handle const& peer)
{
    if (peer.type() == lt::connection_type::bittorrent) return nullptr;
    lt::peer_info info;
    peer.get_peer_info(info);
    WebSeed web_seed{number_of(peer.associated_torrent().userdata()), info.client, info.ip};
    std::lock_guard<std::mutex> const lock(mutex_);
    connections_.push_back({peer, std::move(web_seed)});
    return nullptr;
}

// libtorrent buffers the headers of a web seed's answer without a limit (2.0.14 too).
void WebSeedWatch::on_tick()
{
    std::vector<Connection> connections;
    {
        std::lock_guard<std::mutex> const lock(mutex_);
        auto const is_over = [](Connection const& connection) { return !connection.peer.native_handle(); };
        connections_.erase(std::remove_if(connections_.begin(), connections_.end(), is_over), connections_.end());
        connections = connections_;
    }
    for (auto& connection : connections) {
        if (connection.peer.is_disconnecting()) continue;
        lt::peer_info info;
        connection.peer.get_peer_info(info);
        if (info.receive_buffer_size <= max_web_seed_buffer) continue;
        // Posts alerts, and must not run under the mutex that `on_alert` takes.
        connection.peer.disconnect(lt::errors::http_parse_error, lt::operation_t::bittorrent);
        std::lock_guard<std::mutex> const lock(mutex_);
        greedy_.push_back(connection.web_seed);
    }
}

void WebSeedWatch::on_alert(lt::alert const* alert)
{
    auto const* const log = lt::alert_cast<lt::peer_log_alert>(alert);
    if (log == nullptr) return;
    auto const torrent = number_of(log->handle.userdata());
    std::lock_guard<std::mutex> const lock(mutex_);
    last_torrent_ = torrent;
    last_endpoint_ = log->endpoint;
}

} // namespace hashlane
