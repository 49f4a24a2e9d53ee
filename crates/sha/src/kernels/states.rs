//! The states of several messages, and the padding of messages of equal length.

use crate::types::{Block, MAX_LANES, State};

use super::rounds::{Rounds, schedule};

/// The chaining values of up to [`MAX_LANES`] messages, word-major: one vector load reads one word
/// of every lane.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub(crate) struct LaneStates(pub(crate) [[u32; MAX_LANES]; 8]);

impl LaneStates {
    pub(crate) fn lane(&self, lane: usize) -> State {
        let mut state = [0; 8];
        for (word, lanes) in state.iter_mut().zip(&self.0) {
            *word = lanes[lane];
        }
        state
    }

    pub(crate) fn set_lane(&mut self, lane: usize, state: &State) {
        for (lanes, word) in self.0.iter_mut().zip(state) {
            lanes[lane] = *word;
        }
    }

    /// Returns the same state in every lane.
    pub(crate) fn all(state: &State) -> Self {
        Self(state.map(|word| [word; MAX_LANES]))
    }

    pub(crate) fn move_lane(&mut self, from: usize, to: usize) {
        for lanes in &mut self.0 {
            lanes[to] = lanes[from];
        }
    }
}

/// The last block of several messages of equal length, with its schedule.
pub(crate) struct Padding {
    pub(crate) block: Block,
    /// W(t) + K(t) for each round. SHA-256 uses the first 64 words.
    pub(crate) w_k: [u32; 80],
}

impl Padding {
    pub(crate) fn new<A: Rounds>(block: &Block) -> Self {
        Self {
            block: *block,
            w_k: schedule::<A>(block),
        }
    }
}
