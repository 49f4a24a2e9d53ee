//! Times that tests shorten by variables of the environment. CONTRIBUTING.md describes the variables. Users need none of
//! them.

use std::str::FromStr;
use std::time::Duration;

/// Returns the minimum time before a peer is contacted again: two clients that connect to each other at once can end up
/// without a connection.
pub(crate) fn min_reconnect_seconds() -> Option<u16> {
    number("HASHLANE_TEST_RECONNECT_SECONDS")
}

/// Returns the time after which libtorrent is given up.
pub(crate) fn libtorrent_patience() -> Option<Duration> {
    number("HASHLANE_TEST_PATIENCE_SECONDS").map(Duration::from_secs)
}

fn number<T: FromStr>(variable: &str) -> Option<T> {
    std::env::var(variable).ok()?.parse().ok()
}
