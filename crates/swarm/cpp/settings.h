// libtorrent's settings of a session.
#pragma once

#include <libtorrent/settings_pack.hpp>

namespace hashlane {

struct SessionSettings;

// Time before libtorrent contacts a failing peer again, less and less often. Its default is a minute, too long for a resumed
// torrent or a lost peer.
constexpr int min_reconnect_seconds = 10;

lt::settings_pack make_settings_pack(SessionSettings const& settings);

} // namespace hashlane
