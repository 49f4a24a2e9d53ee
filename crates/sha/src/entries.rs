//! The entry points, compiled once for each algorithm.
//!
//! The loops of `jobs.rs` and the calls to all kernels are inlined into each entry point. A macro
//! repeats the entry points for each algorithm `A` instead of provided methods of the trait.
//! Provided methods would be generic, and a generic function is compiled in the crate that calls
//! it, at that crate's optimisation level. Other modules call the entry points only through the
//! trait.

use crate::algorithm::sealed::Entries;
use crate::algorithm::{Algorithm, Messages, Pairs};
use crate::context::Context;
use crate::engine::Engine;
use crate::hasher::{Sha1, Sha256};
use crate::jobs::{self, DigestJobs};
use crate::kernels::rounds::Rounds as _;
use crate::kernels::sha1::Sha1Compression;
use crate::kernels::sha256::Sha256Compression;
use crate::scheduler::{Bodies, Finished, Lanes, run_lanes};
use crate::table::Kernel;
use crate::types::{Block, N_SETS, Part, State};

/// Implements [`Entries`] with the same functions for each algorithm, which they call `A`.
macro_rules! for_each_algorithm {
    ($($functions:tt)*) => {
        const _: () = {
            type A = Sha1;
            impl Entries<A> for Sha1Compression { $($functions)* }
        };
        const _: () = {
            type A = Sha256;
            impl Entries<A> for Sha256Compression { $($functions)* }
        };
    };
}

/// The digest of the algorithm that is compiled.
type Digest<A> = <A as Algorithm>::Digest;

for_each_algorithm! {
    fn context_mut(hasher: &mut A) -> &mut Context {
        &mut hasher.0
    }

    #[inline(never)]
    fn digest_one(kernel: Kernel, message: &[u8]) -> Digest<A> {
        jobs::digest_one::<A>(kernel, &Self::IV, 0, message)
    }

    #[inline(never)]
    fn absorb(context: &mut Context, bytes: &[u8]) {
        context.update_blocks::<A>(bytes);
    }

    #[inline(never)]
    fn finish(context: &mut Context) -> Digest<A> {
        context.finalize::<A>()
    }

    #[inline(never)]
    fn compress(kernel: Kernel, state: &mut State, blocks: &[Block]) {
        kernel.compress::<Self>(state, blocks);
    }

    #[inline(never)]
    fn compress_many(engine: &Engine, parts: &mut [Part<'_>]) {
        jobs::compress_many::<Self>(engine, parts);
    }

    #[inline(never)]
    fn digest_many_after(
        engine: &Engine,
        start: &State,
        prefix_len: u64,
        messages: Messages<'_, '_>,
        digests: &mut [Digest<A>],
    ) {
        let plan = engine.plan::<Self>();
        let mut jobs = DigestJobs::<A>::new(start, prefix_len, messages, digests);
        jobs.fill();
        if jobs.are_faster_one_by_one(plan) {
            jobs.run_one_by_one(plan[1]);
        } else {
            run_lanes::<Self>(plan, &mut jobs);
        }
    }

    #[inline(never)]
    fn digest_chunks(
        engine: &Engine,
        bytes: &[u8],
        message_len: usize,
        digests: &mut [Digest<A>],
    ) {
        jobs::digest_chunks::<A>(engine, bytes, message_len, digests);
    }

    #[inline(never)]
    fn step(
        engine: &Engine,
        lanes: &mut Lanes<N_SETS>,
        bodies: &mut Bodies<'_, N_SETS>,
        finished: &mut Finished,
    ) {
        lanes.step::<Self>(
            engine.plan::<Self>(),
            bodies,
            #[inline(always)]
            |place, state| finished.push(place, state),
        );
    }

    #[inline(never)]
    fn update_many(engine: &Engine, pairs: Pairs<'_, '_, A>) {
        jobs::update_many(engine, pairs);
    }

    #[inline(never)]
    fn finalize_many(engine: &Engine, hashers: &mut [A], digests: &mut [Digest<A>]) {
        jobs::finalize_many(engine, hashers, digests);
    }
}
