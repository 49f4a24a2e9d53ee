//! Tries TCP before uTP. libtorrent tries uTP first if both are allowed, and never replaces a connection. uTP yields to
//! other traffic and takes much more time per byte, so it would slow a fast peer down. Therefore outgoing connections
//! use TCP until a download has known peers for a while without a connection to any of them. Incoming connections use
//! either protocol.

use std::time::{Duration, Instant};

use hashlane_swarm::{OutgoingUtp, State, Status};

/// Time for a peer to accept a TCP connection: it includes a second attempt of the system, after 1 s.
const PATIENCE: Duration = Duration::from_secs(3);

/// Time in which libtorrent tries known peers by uTP without delay.
const RETRY: Duration = Duration::from_secs(1);

/// Decides when outgoing connections may use uTP.
#[derive(Debug, Default)]
pub(crate) struct UtpFallback {
    /// The time since which a download has known peers without a connection to any of them.
    lonely_since: Option<Instant>,
    used: OutgoingUtp,
}

impl UtpFallback {
    /// Returns the new protocol of outgoing connections, if it changes.
    pub(crate) fn update<'s>(
        &mut self,
        now: Instant,
        mut statuses: impl Iterator<Item = &'s Status>,
    ) -> Option<OutgoingUtp> {
        self.lonely_since = match self.lonely_since {
            _ if !statuses.any(is_lonely) => None,
            None => Some(now),
            since => since,
        };
        let lonely = self.lonely_since.map(|since| now.duration_since(since));
        let used = match lonely {
            Some(time) if time >= PATIENCE + RETRY => OutgoingUtp::On,
            Some(time) if time >= PATIENCE => OutgoingUtp::Retry,
            _ => OutgoingUtp::Off,
        };
        (std::mem::replace(&mut self.used, used) != used).then_some(used)
    }
}

/// Returns `true` if a download knows peers and is connected to none.
fn is_lonely(status: &Status) -> bool {
    matches!(status.state, State::Metadata | State::Downloading)
        && status.known_peers > 0
        && status.peers == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(state: State, known_peers: u32, peers: u32) -> Status {
        Status {
            state,
            wanted: 1,
            wanted_done: 0,
            downloaded: 0,
            uploaded: 0,
            wasted: 0,
            peers,
            known_peers,
            seeds: 0,
        }
    }

    #[test]
    fn utp_is_used_when_tcp_reaches_no_peer() {
        let start = Instant::now();
        let mut fallback = UtpFallback::default();
        let mut after = |milliseconds, status: &Status| {
            let now = start + Duration::from_millis(milliseconds);
            fallback.update(now, [status].into_iter())
        };
        let lonely = status(State::Downloading, 1, 0);
        let connected = status(State::Downloading, 1, 1);
        // No peer is known yet.
        assert_eq!(after(0, &status(State::Metadata, 0, 0)), None);
        assert_eq!(after(10_000, &lonely), None);
        assert_eq!(after(12_999, &lonely), None);
        assert_eq!(after(13_000, &lonely), Some(OutgoingUtp::Retry));
        assert_eq!(after(13_500, &lonely), None);
        assert_eq!(after(14_000, &lonely), Some(OutgoingUtp::On));
        assert_eq!(after(15_000, &connected), Some(OutgoingUtp::Off));
        // The time starts again.
        assert_eq!(after(16_000, &lonely), None);
        assert_eq!(after(18_999, &lonely), None);
        assert_eq!(after(19_000, &connected), None);
        // A seed and a paused torrent need no peers.
        for state in [State::Seeding, State::Finished, State::Stopped] {
            assert_eq!(after(20_000, &status(state, 1, 0)), None);
            assert_eq!(after(30_000, &status(state, 1, 0)), None);
        }
    }
}
