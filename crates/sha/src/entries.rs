//! The entry points, compiled once for each algorithm.
//!
//! The loops of `jobs.rs` and the calls to all kernels are inlined into each entry point. A macro
//! implements the entry points instead of provided methods of the trait. Provided methods would be
//! generic, and a generic function is compiled in the crate that calls it, at that crate's
//! optimisation level. Other modules call the entry points only through the trait.

use crate::algorithm::sealed::Entries;
use crate::algorithm::{Pairs, kernel_alone};
use crate::context::Context;
use crate::digests::{Sha1Digest, Sha256Digest};
use crate::engine::Engine;
use crate::hasher::{Sha1, Sha256};
use crate::jobs;
use crate::kernels::rounds::Rounds as _;
use crate::kernels::sha1::Sha1Compression;
use crate::kernels::sha256::Sha256Compression;
use crate::scheduler::{Bodies, Finished, Lanes};
use crate::simd::Family;
use crate::table::Kernel;
use crate::types::{Block, Part, Seal, State};

macro_rules! entries {
    ($algorithm:ident, $digest:ident, $compression:ident, rate: $rate:ident, plan: $plan:ident) => {
        impl Entries for $algorithm {
            type Compression = $compression;

            #[inline(always)]
            fn iv(_: Seal) -> State {
                $compression::IV
            }

            fn rate(kernel: Kernel) -> f32 {
                kernel.rates(Family::default()).$rate
            }

            fn plan(_: Seal, engine: &Engine) -> &[Kernel] {
                engine.$plan()
            }

            #[inline(never)]
            fn digest_one(_: Seal, message: &[u8]) -> $digest {
                jobs::digest_one_on::<Self>(kernel_alone::<Self>(), &$compression::IV, 0, message)
            }

            #[inline(never)]
            fn absorb(_: Seal, context: &mut Context, bytes: &[u8]) {
                context.update_blocks::<Self>(bytes);
            }

            #[inline(never)]
            fn finish(_: Seal, context: &mut Context) -> $digest {
                context.finalize::<Self>()
            }

            #[inline(never)]
            fn compress(kernel: Kernel, state: &mut State, blocks: &[Block]) {
                kernel.compress::<$compression>(state, blocks);
            }

            #[inline(never)]
            fn compress_many(_: Seal, engine: &Engine, parts: &mut [Part<'_>]) {
                jobs::compress_many_on::<Self>(engine.$plan(), parts);
            }

            #[inline(never)]
            fn digest_many(_: Seal, engine: &Engine, messages: &[&[u8]], digests: &mut [$digest]) {
                let plan = engine.$plan();
                jobs::digest_many_after_on::<Self>(plan, &$compression::IV, 0, messages, digests);
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

entries!(Sha1, Sha1Digest, Sha1Compression, rate: sha1, plan: sha1_plan);
entries!(Sha256, Sha256Digest, Sha256Compression, rate: sha256, plan: sha256_plan);
