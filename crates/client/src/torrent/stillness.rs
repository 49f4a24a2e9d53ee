//! Whether the counters of a torrent are complete.

use hashlane_swarm::State;

/// Number of statuses in a row, one for each tick of the loop, after which libtorrent's counters have all bytes. libtorrent adds
/// up bytes once per second, by a timer of the thread that also answers for statuses. So the timer has run in between, however
/// slow the machine is.
const SETTLED: u32 = 15;

/// Whether the counters of a torrent have the bytes of its last transfer.
#[derive(Debug)]
pub(super) struct Stillness {
    /// Number of statuses in a row without peers and without a change of the state.
    n_still: u32,
    state: Option<State>,
}

impl Default for Stillness {
    /// A torrent that has just joined the session has transferred nothing.
    fn default() -> Self {
        Self {
            n_still: SETTLED,
            state: None,
        }
    }
}

impl Stillness {
    /// Notes a status in which bytes can be transferred, unless `is_still` is set. Returns `true` if the counters have all
    /// bytes.
    pub(super) fn note(&mut self, state: State, is_still: bool) -> bool {
        let has_changed = self
            .state
            .replace(state)
            .is_some_and(|before| before != state);
        self.n_still = if is_still && !has_changed {
            SETTLED.min(self.n_still + 1)
        } else {
            0
        };
        self.n_still == SETTLED
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the number of the status with which a torrent is settled again.
    fn settles(stillness: &mut Stillness, state: State) -> usize {
        let statuses = (1..100).map(|n| (n, stillness.note(state, true)));
        let settled = statuses.filter(|(_, is_settled)| *is_settled);
        settled.map(|(n, _)| n).next().unwrap()
    }

    #[test]
    fn the_last_bytes_are_counted_before_a_torrent_is_settled() {
        let mut stillness = Stillness::default();
        // A torrent that only waits for peers costs nothing.
        assert_eq!(settles(&mut stillness, State::Seeding), 1);
        // A peer was there.
        assert!(!stillness.note(State::Seeding, false));
        assert_eq!(settles(&mut stillness, State::Seeding), SETTLED as usize);
        // A download was complete, or was resumed and complete, between two statuses.
        assert!(!stillness.note(State::Finished, true));
        assert_eq!(settles(&mut stillness, State::Finished), SETTLED as usize);
        assert!(!stillness.note(State::Stopped, true));
    }
}
