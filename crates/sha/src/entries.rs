//! The entry points, compiled once for each algorithm: the top of the engine.
//!
//! Each entry point is a function of its own, into which the loops of `jobs.rs` and the calls of all
//! kernels are inlined. A macro implements the entry points, because provided methods of the trait
//! would be generic: a generic function is compiled in the crate that calls it, with that crate's
//! optimisation level. Other modules call the entry points only through the trait.

use crate::algorithm::Pairs;
use crate::algorithm::sealed::Entries;
use crate::digests::{Sha1Digest, Sha256Digest};
use crate::engine::Engine;
use crate::hasher::{Sha1, Sha256};
use crate::jobs;
#[cfg(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64"))]
use crate::kernels::compression::ShaToken;
use crate::kernels::compression::{Compression, Seal};
use crate::kernels::constants::{SHA1_IV, SHA256_IV};
use crate::kernels::lanes;
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
use crate::kernels::schedule;
#[cfg(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64"))]
use crate::kernels::sha;
use crate::scheduler::{Bodies, Finished, Lanes};
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
use crate::simd::Schedule;
use crate::simd::Simd;
use crate::table::Kernel;
use crate::types::{Block, State};

macro_rules! entries {
    ($algorithm:ident, $digest:ident, words: $n_words:literal, iv: $iv:expr, rounds: $rounds:ident $scheduled:ident $expand:ident,
     schedule: $schedule:ident, sha: $sha:ident, rate: $rate:ident, plan: $plan:ident) => {
        impl Compression for $algorithm {
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
        }

        impl Entries for $algorithm {
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
                jobs::digest_many_after_on::<Self>(plan, start, prefix_len, messages, digests);
            }

            #[inline(never)]
            fn digest_chunks(
                _: Seal,
                engine: &Engine,
                bytes: &[u8],
                message_len: usize,
                digests: &mut [$digest],
            ) {
                jobs::digest_chunks_on::<Self>(engine.$plan(), bytes, message_len, digests);
            }

            #[inline(never)]
            fn step(
                engine: &Engine,
                lanes: &mut Lanes,
                bodies: &mut Bodies<'_>,
                finished: &mut Finished,
            ) {
                jobs::step_on::<Self>(engine.$plan(), lanes, bodies, finished);
            }

            #[inline(never)]
            fn update_many(_: Seal, engine: &Engine, pairs: Pairs<'_, '_, Self>) {
                jobs::update_many_on(engine.$plan(), pairs);
            }

            #[inline(never)]
            fn finalize_many(
                _: Seal,
                engine: &Engine,
                hashers: &mut [Self],
                digests: &mut [$digest],
            ) {
                jobs::finalize_many_on(engine.$plan(), hashers, digests);
            }
        }
    };
}

entries!(
    Sha1, Sha1Digest,
    words: 5,
    iv: SHA1_IV,
    rounds: sha1_rounds sha1_scheduled_rounds sha1_schedule,
    schedule: sha1,
    sha: sha1,
    rate: sha1,
    plan: sha1_plan
);

entries!(
    Sha256, Sha256Digest,
    words: 8,
    iv: SHA256_IV,
    rounds: sha256_rounds sha256_scheduled_rounds sha256_schedule,
    schedule: sha256,
    sha: sha256,
    rate: sha256,
    plan: sha256_plan
);
