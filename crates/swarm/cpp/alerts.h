// libtorrent's alerts as events for the Rust half.
#pragma once

#include <vector>

#include <libtorrent/alert.hpp>

#include "rust/cxx.h"

namespace hashlane {

struct SessionEvent;

// Returns the events of these alerts, in order. TCP and uTP listen on the same ports, so only one protocol is reported:
// TCP if `has_tcp` is set.
rust::Vec<SessionEvent> read_alerts(std::vector<lt::alert*> const& alerts, bool has_tcp, bool has_log);

} // namespace hashlane
