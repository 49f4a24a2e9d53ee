// libtorrent's settings for a session.
#pragma once

#include <libtorrent/settings_pack.hpp>

namespace hashlane {

struct SessionSettings;

// Minimum time before libtorrent contacts a failing peer again. The time grows with each failure. libtorrent's default
// of a minute is too long for a resumed torrent or a lost peer.
constexpr int min_reconnect_seconds = 10;

lt::settings_pack make_settings_pack(SessionSettings const& settings);

// Returns these settings with those of a session that has no connections.
lt::settings_pack without_connections(lt::settings_pack pack);

} // namespace hashlane
