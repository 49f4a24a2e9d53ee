// Connections to web seeds, watched from inside libtorrent.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <libtorrent/extensions.hpp>
#include <libtorrent/peer_connection_handle.hpp>
#include <libtorrent/socket.hpp>
#include <libtorrent/torrent_handle.hpp>

namespace hashlane {

// The server of a web seed of a torrent.
struct WebSeed {
    std::uint32_t torrent = 0;
    // The name or address in the URL.
    std::string host;
    lt::tcp::endpoint endpoint;

    // `host:port`
    std::string name() const;

    // Returns true if the URL is at a server `host:port`.
    static bool is_at(std::string const& url, std::string const& server);
};

// A plugin of the session and of all its torrents. libtorrent names a web seed by the answer of its server, so each
// connection is recorded with its endpoint and its host before the first answer.
class WebSeedWatch final : public lt::plugin,
                           public lt::torrent_plugin,
                           public std::enable_shared_from_this<WebSeedWatch> {
public:
    // Returns the web seeds that were disconnected since the last call because they sent too much of a header.
    std::vector<WebSeed> take_greedy();

    // Returns true, and the web seed, if the last data that libtorrent received came from a web seed. Needs the alerts of
    // `peer_log`. Does not wait for libtorrent's thread.
    bool last_received(WebSeed& found) const;

    lt::feature_flags_t implemented_features() override { return tick_feature | alert_feature; }
    std::shared_ptr<lt::torrent_plugin> new_torrent(lt::torrent_handle const&, lt::client_data_t) override;
    std::shared_ptr<lt::peer_plugin> new_connection(lt::peer_connection_handle const& peer) override;
    void on_tick() override;
    void on_alert(lt::alert const* alert) override;

private:
    struct Connection {
        lt::peer_connection_handle peer;
        WebSeed web_seed;
    };

    mutable std::mutex mutex_;
    std::vector<Connection> connections_;
    std::vector<WebSeed> greedy_;
    // The torrent and the endpoint of the last line of libtorrent's log about a peer.
    std::uint32_t last_torrent_ = 0;
    lt::tcp::endpoint last_endpoint_;
};

} // namespace hashlane
