// libtorrent's settings of a session.
#pragma once

#include <libtorrent/settings_pack.hpp>

namespace hashlane {

struct SessionSettings;

lt::settings_pack make_settings_pack(SessionSettings const& settings);

} // namespace hashlane
