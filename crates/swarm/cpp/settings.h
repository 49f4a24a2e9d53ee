// libtorrent's settings for a session.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <libtorrent/settings_pack.hpp>

namespace hashlane {

struct SessionSettings;

// How a session finds peers that no tracker names, and asks routers to open its port.
struct Discovery {
    explicit Discovery(SessionSettings const& settings);

    bool dht;
    bool local;
    bool port_mapping;
    // The nodes of the DHT that the user named: host and port.
    std::vector<std::pair<std::string, int>> nodes;
};

// Returns the settings of a session without discovery.
lt::settings_pack make_settings_pack(SessionSettings const& settings);

lt::settings_pack with_discovery(lt::settings_pack pack, Discovery const& discovery);

// Returns these settings with those of a session that has no connections.
lt::settings_pack without_connections(lt::settings_pack pack);

} // namespace hashlane
