//! The plain types and constants that every other module uses.

pub(crate) use hashlane_simd::Block;
pub use hashlane_simd::{BLOCK_LEN, CpuFeature, MAX_LANES};

/// The largest number of groups of lanes that a kernel runs side by side. Each group has a set of
/// [`MAX_LANES`] lanes, of which it uses as many as its vectors have.
pub(crate) const MAX_GROUPS: usize = 3;

/// Number of sets that the lanes of SHA-1 and SHA-256 can fill: kernels of one set have up to
/// [`MAX_LANES`] lanes, and kernels with groups of so many take a set for each group.
pub(crate) const N_SETS: usize = if cfg!(any(target_arch = "x86", target_arch = "x86_64")) {
    2
} else {
    1
};

/// The largest number of messages of SHA-1 or SHA-256 that are compressed at once.
pub(crate) const MAX_MESSAGES: usize = N_SETS * MAX_LANES;

/// The chaining value between blocks. SHA-1 uses the first five words.
pub(crate) type State = [u32; 8];

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
}

/// A part of a message, for callers that keep the state of the message themselves.
/// Callers make parts, so a new field is a breaking change.
#[derive(Clone, Copy, Debug)]
pub struct Part<'m> {
    /// The state before this part, and after [`compress_many`](crate::hazmat::compress_many) the
    /// state after it.
    pub state: [u32; 8],
    /// Bytes of the message before this part: whole blocks. Lengths count modulo 2^64.
    pub prefix_len: u64,
    /// The bytes of this part: whole blocks, unless the message ends here.
    pub bytes: &'m [u8],
    /// Whether the message ends here, so that the padding follows (FIPS 180-4 section 5.1.1).
    pub is_last: bool,
}
