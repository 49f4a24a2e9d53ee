//! The compression function of an algorithm, and the states that kernels work on.

#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
use crate::simd::Schedule;
use crate::simd::Simd;
use crate::types::{Block, MAX_LANES, State};

/// The token of the CPU's own SHA instructions.
#[cfg(target_arch = "aarch64")]
pub(crate) use crate::simd::ArmSha as ShaToken;
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
pub(crate) use crate::simd::ShaNi as ShaToken;

/// Proof that the caller is this crate: no other crate can make or get one.
#[derive(Clone, Copy, Debug)]
pub struct Seal(pub(crate) ());

/// The compression function of an algorithm, for every kind of kernel.
///
/// Every method takes an argument that only this crate can make, a [`Seal`] or a token: see
/// `algorithm::sealed`.
pub trait Compression {
    /// The initial hash value, FIPS 180-4 section 5.3.
    fn iv(seal: Seal) -> State;

    /// Words of the state in use: 5 or 8.
    fn n_words(seal: Seal) -> usize;

    /// The rounds of one block in every lane of `s`: `state` += compress(`state`, `w`).
    /// `w` holds the block's sixteen words and is used up.
    fn rounds<S: Simd>(s: S, state: &mut [S::V; 8], w: &mut [S::V; 16]);

    /// W(t) + K(t) of a block for each round, in as many words as there are rounds.
    fn schedule(seal: Seal, block: &Block) -> [u32; 80];

    /// Like [`Self::rounds`], of one block for all lanes, with a schedule that is already computed.
    fn scheduled_rounds<S: Simd>(s: S, state: &mut [S::V; 8], w_k: &[u32; 80]);

    /// The blocks of one message, with the schedule in the vectors of `s`.
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    fn compress_scheduled<S: Schedule>(s: S, state: &mut State, blocks: &[Block]);

    /// `n_blocks` blocks of `N` messages with the CPU's own SHA instructions.
    #[cfg(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64"))]
    fn compress_streams<const N: usize>(
        token: ShaToken,
        states: &mut [State; N],
        inputs: [&[Block]; N],
        n_blocks: usize,
    );
}

/// The chaining values of up to [`MAX_LANES`] messages, word-major, so that one vector load takes
/// one word of every lane.
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

    /// The same state in every lane.
    pub(crate) fn all(state: &State) -> Self {
        Self(state.map(|word| [word; MAX_LANES]))
    }

    pub(crate) fn move_lane(&mut self, from: usize, to: usize) {
        for lanes in &mut self.0 {
            lanes[to] = lanes[from];
        }
    }
}

/// A block that ends several messages alike, with its schedule.
pub(crate) struct Padding {
    pub(crate) block: Block,
    /// W(t) + K(t) for each round: 80 or 64.
    pub(crate) w_k: [u32; 80],
}

impl Padding {
    pub(crate) fn new<A: Compression>(block: &Block) -> Self {
        Self {
            block: *block,
            w_k: A::schedule(Seal(()), block),
        }
    }
}
