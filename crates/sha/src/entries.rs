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
use crate::table::Kernel;
use crate::types::{Block, Part, State};

macro_rules! entries {
    ($compression:ident of $algorithm:ident -> $digest:ident) => {
        impl Entries<$algorithm> for $compression {
            fn context_mut(hasher: &mut $algorithm) -> &mut Context {
                &mut hasher.0
            }

            #[inline(never)]
            fn digest_one(message: &[u8]) -> $digest {
                let kernel = kernel_alone::<$algorithm>();
                jobs::digest_one::<$algorithm>(kernel, &Self::IV, 0, message)
            }

            #[inline(never)]
            fn absorb(context: &mut Context, bytes: &[u8]) {
                context.update_blocks::<$algorithm>(bytes);
            }

            #[inline(never)]
            fn finish(context: &mut Context) -> $digest {
                context.finalize::<$algorithm>()
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
                messages: &[&[u8]],
                digests: &mut [$digest],
            ) {
                let messages = messages.iter().copied();
                jobs::digest_each::<$algorithm, _>(engine, start, prefix_len, messages, digests);
            }

            #[inline(never)]
            fn digest_chunks(
                engine: &Engine,
                bytes: &[u8],
                message_len: usize,
                digests: &mut [$digest],
            ) {
                jobs::digest_chunks::<$algorithm>(engine, bytes, message_len, digests);
            }

            #[inline(never)]
            fn step(
                engine: &Engine,
                lanes: &mut Lanes,
                bodies: &mut Bodies<'_>,
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
            fn update_many(engine: &Engine, pairs: Pairs<'_, '_, $algorithm>) {
                jobs::update_many(engine, pairs);
            }

            #[inline(never)]
            fn finalize_many(engine: &Engine, hashers: &mut [$algorithm], digests: &mut [$digest]) {
                jobs::finalize_many(engine, hashers, digests);
            }
        }
    };
}

entries!(Sha1Compression of Sha1 -> Sha1Digest);
entries!(Sha256Compression of Sha256 -> Sha256Digest);
