//! The kernels by name, and the one place that calls them.
//!
//! Each architecture has a table of its kernels (`x86.rs`, `aarch64.rs`): a row is a kernel, the
//! token that proves that the CPU can run it, its rates, and the function that it is.

#[cfg(target_arch = "aarch64")]
mod aarch64_sha;
mod lanes;
mod rounds;
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
mod schedule;
mod sha256d;
#[cfg(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64"))]
mod sha_streams;
#[cfg(test)]
mod tests;
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
mod x86_sha;

#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
#[path = "x86.rs"]
mod table;
#[cfg(target_arch = "aarch64")]
#[path = "aarch64.rs"]
mod table;
#[cfg(not(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64")))]
#[path = "other.rs"]
mod table;

pub(crate) use table::{Kernel, Search};

use crate::algorithm::{Algorithm, Block, Sha1Digest, Sha256Digest, State};
use crate::backend::{Engine, MAX_LANES};
use crate::hasher::{Sha1, Sha256};
use crate::many;
use crate::queue::{self, Finished};
use crate::scheduler::{Bodies, Lanes, Tail};

#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
use crate::simd::Schedule;
use crate::simd::Simd;
/// The kernels that use the CPU's own SHA instructions, and the token that proves them.
#[cfg(target_arch = "aarch64")]
use {crate::simd::ArmSha as ShaToken, aarch64_sha as sha};
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
use {crate::simd::ShaNi as ShaToken, x86_sha as sha};

/// The chaining values of up to [`MAX_LANES`] messages, word-major, so that one vector load takes
/// one word of every lane.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub(crate) struct LaneStates([[u32; MAX_LANES]; 8]);

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
    block: Block,
    /// W(t) + K(t) for each round: 80 or 64.
    w_k: [u32; 80],
}

impl Padding {
    /// # Panics
    /// If `tail` is not one block.
    pub(crate) fn new<A: Algorithm>(tail: &Tail) -> Self {
        let [block] = tail.blocks() else {
            panic!("messages of whole blocks end in one more block");
        };
        Self {
            block: *block,
            w_k: A::schedule(Seal(()), block),
        }
    }
}

/// Hashing rates in GB/s with all lanes busy. Only their ratios matter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rates {
    pub(crate) sha1: f32,
    pub(crate) sha256: f32,
}

/// Defines [`Kernel`] from a table: kernels of one message first, then kernels of several.
macro_rules! kernel_table {
    (
        one { $($one:ident($one_token:ident) of $one_backend:ident,
            sha1: $one_sha1:literal, sha256: $one_sha256:literal, $compress:expr;)* }
        lanes { $($many:ident($token:ident) of $backend:ident x $lanes:literal,
            sha1: $sha1:literal, sha256: $sha256:literal, $family:ident<$parameter:tt>;)* }
    ) => {
        /// One way to run a compression function. Each variant holds the token that proves that
        /// this CPU has what the kernel needs, so that to run it is safe.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Kernel {
            $($one($one_token),)*
            $($many($token),)*
        }

        impl Kernel {
            /// The kernels that this CPU can run.
            pub(crate) fn available() -> impl Iterator<Item = Self> {
                [
                    $($one_token::detect().map(Self::$one),)*
                    $($token::detect().map(Self::$many),)*
                ]
                .into_iter()
                .flatten()
            }

            pub(crate) fn backend(self) -> Backend {
                match self {
                    $(Self::$one(_) => Backend::$one_backend,)*
                    $(Self::$many(_) => Backend::$backend,)*
                }
            }

            /// How many messages it compresses at once.
            pub(crate) fn lanes(self) -> usize {
                match self {
                    $(Self::$one(_) => 1,)*
                    $(Self::$many(_) => $lanes,)*
                }
            }

            pub(crate) fn rates(self) -> Rates {
                match self {
                    $(Self::$one(_) => Rates { sha1: $one_sha1, sha256: $one_sha256 },)*
                    $(Self::$many(_) => Rates { sha1: $sha1, sha256: $sha256 },)*
                }
            }

            /// Compresses the first `n_blocks` blocks of `inputs[i]` into lane `i`, for each of
            /// the first [`Self::lanes`] lanes.
            ///
            /// # Panics
            /// If one of these inputs is shorter than `n_blocks`.
            #[inline(always)]
            pub(crate) fn compress_lanes<A: Algorithm>(
                self,
                states: &mut LaneStates,
                inputs: &[&[Block]; MAX_LANES],
                n_blocks: usize,
            ) {
                match self {
                    $(Self::$one(_) => {
                        let mut state = states.lane(0);
                        self.compress::<A>(&mut state, &inputs[0][..n_blocks]);
                        states.set_lane(0, &state);
                    })*
                    $(Self::$many(token) => {
                        #[cfg(test)]
                        super::tests::note_run::<A>(self);
                        $family::compress_lanes::<A, $parameter>(token, states, inputs, n_blocks);
                    })*
                }
            }

            /// Compresses the same block into each of the first [`Self::lanes`] lanes.
            #[inline(always)]
            pub(crate) fn compress_padding<A: Algorithm>(
                self,
                states: &mut LaneStates,
                padding: &Padding,
            ) {
                match self {
                    $(Self::$one(_) => {
                        let blocks = core::slice::from_ref(&padding.block);
                        self.compress_lanes::<A>(states, &[blocks; MAX_LANES], 1);
                    })*
                    $(Self::$many(token) => {
                        $family::compress_padding::<A, $parameter>(token, states, padding);
                    })*
                }
            }

            /// Compresses `blocks` of one message into `state`.
            #[inline(always)]
            pub(crate) fn compress<A: Algorithm>(self, state: &mut State, blocks: &[Block]) {
                match self {
                    $(Self::$one(token) => {
                        #[cfg(test)]
                        super::tests::note_run::<A>(self);
                        $compress(token, state, blocks);
                    })*
                    $(Self::$many(_) => {
                        // The plan never gives one message to these; tests and benchmarks do.
                        let mut states = LaneStates::default();
                        states.set_lane(0, state);
                        self.compress_lanes::<A>(&mut states, &[blocks; MAX_LANES], blocks.len());
                        *state = states.lane(0);
                    })*
                }
            }
        }
    };
}
use kernel_table;

pub(crate) use sealed::Seal;

/// The kernels of an algorithm: what makes [`Algorithm`] a sealed trait.
///
/// Methods of a supertrait can be called through a generic bound, even where the trait cannot be
/// named. So every method here takes an argument that only this crate can make: a [`Seal`], a token,
/// a [`Kernel`] or [`Lanes`].
///
/// ```compile_fail,E0061
/// # use hashlane_sha::Algorithm;
/// fn initial_state<A: Algorithm>() -> [u32; 8] {
///     A::iv()
/// }
/// ```
///
/// ```compile_fail,E0061
/// # use hashlane_sha::{Algorithm, Engine};
/// fn kernels<A: Algorithm>(engine: &Engine) -> usize {
///     A::plan(engine).len()
/// }
/// ```
///
/// ```compile_fail,E0061
/// # use hashlane_sha::Algorithm;
/// fn schedule<A: Algorithm>(block: &[u8; 64]) -> [u32; 80] {
///     A::schedule(block)
/// }
/// ```
///
/// ```compile_fail,E0061
/// # use hashlane_sha::{Algorithm, Engine};
/// fn unchecked_lengths<A: Algorithm>(engine: &Engine, digests: &mut [A::Digest]) {
///     A::digest_many_after(engine, &[0; 8], 0, &[b"abc"], digests);
/// }
/// ```
///
/// ```compile_fail,E0061
/// # use hashlane_sha::Algorithm;
/// fn state_of<A: Algorithm>(hasher: &mut A) {
///     hasher.context_mut();
/// }
/// ```
///
/// ```compile_fail,E0425
/// let seal = hashlane_sha::Seal(());
/// ```
pub(crate) mod sealed {
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    use crate::simd::Schedule;
    use crate::simd::Simd;

    #[cfg(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64"))]
    use super::ShaToken;
    use super::{Algorithm, Block, Bodies, Engine, Finished, Kernel, Lanes, State};

    /// Proof that the caller is this crate: no other crate can make or get one.
    #[derive(Clone, Copy, Debug)]
    pub struct Seal(pub(crate) ());

    /// The compression functions of an algorithm, and the engine's entry points compiled for it.
    ///
    /// The entry points are implemented for each algorithm by a macro rather than once as
    /// provided methods, so that they are compiled in this crate, with this crate's optimisation
    /// level: a generic function is compiled where it is called, in a debug build without any.
    pub trait Kernels {
        /// The initial hash value, FIPS 180-4 section 5.3.
        fn iv(seal: Seal) -> State;

        /// Words of the state in use: 5 or 8.
        fn n_words(seal: Seal) -> usize;

        /// The rounds of one block in every lane of `s`: `state` += compress(`state`, `w`).
        /// `w` holds the block's sixteen words and is used up.
        fn rounds<S: Simd>(s: S, state: &mut [S::V; 8], w: &mut [S::V; 16]);

        /// W(t) + K(t) of a block for each round, in as many words as there are rounds.
        fn schedule(seal: Seal, block: &Block) -> [u32; 80];

        /// Like [`Self::rounds`], of one block for all lanes, with its schedule at hand.
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

        /// How fast `kernel` runs this algorithm, as in [`Kernel::rates`].
        fn rate(kernel: Kernel) -> f32;

        /// `[n]` is the kernel for `n` messages at hand.
        fn plan(seal: Seal, engine: &Engine) -> &[Kernel];

        /// Compresses `blocks` of one message into `state`.
        fn compress(kernel: Kernel, state: &mut State, blocks: &[Block]);

        fn digest_chunks(
            seal: Seal,
            engine: &Engine,
            bytes: &[u8],
            message_len: usize,
            digests: &mut [Self::Digest],
        ) where
            Self: Algorithm;

        /// One step of a queue, whose jobs have these bodies left.
        fn step(
            engine: &Engine,
            lanes: &mut Lanes,
            bodies: &mut Bodies<'_>,
            finished: &mut Finished,
        );

        /// Digests of messages that come after a common prefix: `prefix_len` bytes, whole blocks,
        /// that led to `start`.
        fn digest_many_after(
            seal: Seal,
            engine: &Engine,
            start: &State,
            prefix_len: u64,
            messages: &[&[u8]],
            digests: &mut [Self::Digest],
        ) where
            Self: Algorithm;

        fn update_many(seal: Seal, engine: &Engine, hashers: &mut [Self], inputs: &[&[u8]])
        where
            Self: Algorithm;

        fn finalize_many(
            seal: Seal,
            engine: &Engine,
            hashers: &mut [Self],
            digests: &mut [Self::Digest],
        ) where
            Self: Algorithm;
    }
}

macro_rules! kernels {
    ($algorithm:ident, $digest:ident, words: $n_words:literal, iv: $iv:expr, rounds: $rounds:ident $scheduled:ident $expand:ident,
     schedule: $schedule:ident, sha: $sha:ident, rate: $rate:ident, plan: $plan:ident) => {
        impl sealed::Kernels for $algorithm {
            #[inline(always)]
            fn iv(_: Seal) -> State {
                $iv
            }

            #[inline(always)]
            fn n_words(_: Seal) -> usize {
                $n_words
            }

            #[inline(always)]
            fn rounds<S: Simd>(s: S, state: &mut [S::V; 8], w: &mut [S::V; 16]) {
                lanes::$rounds(s, state, w);
            }

            #[inline(never)]
            fn schedule(_: Seal, block: &Block) -> [u32; 80] {
                lanes::$expand(block)
            }

            #[inline(always)]
            fn scheduled_rounds<S: Simd>(s: S, state: &mut [S::V; 8], w_k: &[u32; 80]) {
                lanes::$scheduled(s, state, w_k);
            }

            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            #[inline(always)]
            fn compress_scheduled<S: Schedule>(s: S, state: &mut State, blocks: &[Block]) {
                schedule::$schedule(s, state, blocks);
            }

            #[cfg(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64"))]
            #[inline(always)]
            fn compress_streams<const N: usize>(
                token: ShaToken,
                states: &mut [State; N],
                inputs: [&[Block]; N],
                n_blocks: usize,
            ) {
                sha::$sha(token, states, inputs, n_blocks);
            }

            fn rate(kernel: Kernel) -> f32 {
                kernel.rates().$rate
            }

            fn plan(_: Seal, engine: &Engine) -> &[Kernel] {
                engine.$plan()
            }

            #[inline(never)]
            fn compress(kernel: Kernel, state: &mut State, blocks: &[Block]) {
                kernel.compress::<Self>(state, blocks);
            }

            #[inline(never)]
            fn digest_many_after(
                _: Seal,
                engine: &Engine,
                start: &State,
                prefix_len: u64,
                messages: &[&[u8]],
                digests: &mut [$digest],
            ) {
                let plan = engine.$plan();
                many::digest_many_after_on::<Self>(plan, start, prefix_len, messages, digests);
            }

            #[inline(never)]
            fn digest_chunks(
                _: Seal,
                engine: &Engine,
                bytes: &[u8],
                message_len: usize,
                digests: &mut [$digest],
            ) {
                many::digest_chunks_on::<Self>(engine.$plan(), bytes, message_len, digests);
            }

            #[inline(never)]
            fn step(
                engine: &Engine,
                lanes: &mut Lanes,
                bodies: &mut Bodies<'_>,
                finished: &mut Finished,
            ) {
                queue::step_on::<Self>(engine.$plan(), lanes, bodies, finished);
            }

            #[inline(never)]
            fn update_many(_: Seal, engine: &Engine, hashers: &mut [Self], inputs: &[&[u8]]) {
                many::update_many_on(engine.$plan(), hashers, inputs);
            }

            #[inline(never)]
            fn finalize_many(
                _: Seal,
                engine: &Engine,
                hashers: &mut [Self],
                digests: &mut [$digest],
            ) {
                many::finalize_many_on(engine.$plan(), hashers, digests);
            }
        }
    };
}

kernels!(
    Sha1, Sha1Digest,
    words: 5,
    // FIPS 180-4 section 5.3.1.
    iv: [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0, 0, 0, 0],
    rounds: sha1_rounds sha1_scheduled_rounds sha1_schedule,
    schedule: sha1,
    sha: sha1,
    rate: sha1,
    plan: sha1_plan
);

kernels!(
    Sha256, Sha256Digest,
    words: 8,
    iv: SHA256_IV,
    rounds: sha256_rounds sha256_scheduled_rounds sha256_schedule,
    schedule: sha256,
    sha: sha256,
    rate: sha256,
    plan: sha256_plan
);

/// The initial hash value of SHA-256, FIPS 180-4 section 5.3.3.
const SHA256_IV: State = [
    0x6a09_e667,
    0xbb67_ae85,
    0x3c6e_f372,
    0xa54f_f53a,
    0x510e_527f,
    0x9b05_688c,
    0x1f83_d9ab,
    0x5be0_cd19,
];

/// The round constants of SHA-256, FIPS 180-4 section 4.2.2.
#[rustfmt::skip]
pub(crate) static SHA256_K: [u32; 64] = [
    0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
    0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
    0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
    0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
    0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
    0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
    0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
    0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
];
