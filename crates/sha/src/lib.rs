#![doc = include_str!("../README.md")]
#![cfg_attr(feature = "digest", doc = "", doc = include_str!("rustcrypto.md"))]
//!
//! # Modules
//!
//! Listed from the bottom to the top. Each module imports only modules above it in this list.
//!
//! | file | contents |
//! |---|---|
//! | `types.rs` | blocks, states, constants and other plain types |
//! | `digests.rs` | `Sha1Digest` and `Sha256Digest`, read and written |
//! | `kernels/rounds.rs` | the trait of the algorithms, one block in lanes from its rounds and schedule, and padding |
//! | `kernels/lanes.rs` | several messages in the lanes of vectors |
//! | `kernels/one_message.rs` | one message, its schedule in vectors |
//! | `kernels/{sha1,sha256}.rs` | the algorithms: constants, round, schedule in words and in vectors |
//! | `kernels/sha1_vectors.rs` | the disturbance vectors of attacks on SHA-1, and their differences |
//! | `kernels/sha1_conditions.rs` | the conditions on the schedule that blocks of attacks meet |
//! | `kernels/sha1_one_block.rs` | the test of these conditions for one block |
//! | `kernels/sha1_checked.rs` | SHA-1 in lanes with the detection of attacks |
//! | `kernels/x86_sha1_checked.rs` | SHA-1 of one message with the SHA instructions, and the detection of attacks |
//! | `kernels/{md5,sha512}.rs` | several messages of MD5 or SHA-512 in the lanes of vectors |
//! | `kernels/aarch64_sha512.rs` | one message of SHA-512 with the instructions of 64-bit ARM |
//! | `kernels/{x86_sha,aarch64_sha,sha_streams}.rs` | one, two or four messages with the SHA instructions |
//! | `backend.rs` | backends by name, and whether this CPU can run them |
//! | `table/mod.rs` | kernels, the calls to their bodies, and the kernels of WebAssembly and other architectures |
//! | `table/{x86,aarch64}.rs` | the kernels of these architectures, with their rates |
//! | `table/checked.rs` | the kernels that detect attacks |
//! | `table/groups.rs` | the numbers of groups of lanes that pay |
//! | `scheduler.rs` | assigns messages to lanes and runs the lanes |
//! | `context.rs` | the state and the buffer of one message |
//! | `in_lanes.rs` | messages that arrive in parts side by side, for the algorithms without plans |
//! | `{md5,sha512}.rs` | MD5, SHA-384 and SHA-512, for one message and for many that arrive in parts |
//! | `engine.rs` | the choice of kernels |
//! | `algorithm.rs` | the trait `Algorithm`, and `Entries`, its private half |
//! | `kernel_name.rs` | kernels by name, for tests and benchmarks |
//! | `jobs.rs` | the loops over many messages, not yet compiled for an algorithm |
//! | `hasher.rs` | `Sha1` and `Sha256`: one message, in parts |
//! | `many.rs` | many messages that are all available |
//! | `sha224.rs` | SHA-224 on the kernels of SHA-256 |
//! | `hmac.rs` | HMAC with either algorithm, for one message and for many |
//! | `lane_hash.rs` | the trait of MD5, SHA-224 and the SHA-512 family, and their HMACs |
//! | `queue.rs` | many messages that come one by one, whole or in parts |
//! | `rows.rs` | many messages in rows, by offsets, or after a common prefix |
//! | `readers.rs` | messages from readers (feature `std`) |
//! | `suspects.rs` | blocks that meet the conditions of attacks, collected and recomputed in lanes |
//! | `sha1_checked.rs` | SHA-1 with the detection of attacks, for one message and for many |
//! | `hazmat.rs` | the compression function and other steps of the algorithms, for callers |
//! | `rustcrypto.rs` | the traits of the `digest` crate (feature `digest`) |
//! | `entries.rs` | the entry points, compiled once for each algorithm |
//!
//! # Words
//!
//! | word | meaning |
//! |---|---|
//! | message | the whole input of one digest |
//! | part | consecutive bytes of a message that does not arrive at once |
//! | block, word | 64 bytes of a message, 32 bits of a block (FIPS 180-4) |
//! | lane | one of the messages that a kernel compresses at once: a word of each vector, or a stream |
//! | stream | the instructions for one message where a kernel interleaves those of several |
//! | job | the blocks of a message, or of a part, that run in one lane |
//! | tail | the last one or two blocks of a message, with the padding |
//! | row | a message in a buffer whose messages start at equal distances, as in a matrix |
//! | plan | the kernel for each number of messages |
//!
//! `hashlane-simd` defines *quad*, *quarter*, *group* and *fragment*, which only kernels use.
//!
//! # The way of a block
//!
//! ```text
//! Engine::digest_many             messages in any form become sets of slices
//! Entries::digest_many_after      compiled once for each algorithm; slices become jobs
//! scheduler::run_lanes            the sets of lanes that the plan needs
//! scheduler::run_sets             jobs fill the lanes; results become digests
//! Lanes::step                     the kernel for the number of jobs, as far as the shortest goes
//! Kernel::compress_lanes          from the kernel in the table to its function
//! lanes::compress_lanes           for each block: words of all lanes, one vector each
//! Vectorize::vectorize            enables the instructions for the code inside
//! rounds::compress_block          all rounds of a block, unrolled
//! Rounds::round                   FIPS 180-4, on one vector for each variable
//! ```
#![cfg_attr(not(any(feature = "std", test)), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![cfg_attr(
    not(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64")),
    allow(
        dead_code,
        reason = "without a vector unit there are no lanes of vectors"
    )
)]
#![allow(
    clippy::inline_always,
    reason = "what is not inlined into a #[target_feature] entry is compiled without the feature"
)]
#![allow(
    clippy::needless_range_loop,
    reason = "loops over lanes and words index several arrays, with constants once unrolled"
)]

mod algorithm;
mod backend;
mod context;
mod digests;
mod engine;
mod entries;
mod hasher;
pub mod hazmat;
mod hmac;
mod in_lanes;
mod jobs;
mod kernel_name;
mod kernels;
mod lane_hash;
mod many;
mod md5;
#[cfg(test)]
#[path = "../tests/it/not_run.rs"]
mod not_run;
mod queue;
#[cfg(feature = "std")]
mod readers;
mod rows;
#[cfg(feature = "digest")]
mod rustcrypto;
mod scheduler;
pub mod sha1_checked;
mod sha224;
mod sha512;
mod suspects;
mod table;
mod types;

#[cfg(feature = "digest")]
pub use ::digest;
pub use algorithm::Algorithm;
pub use backend::{Backend, BackendUnavailable, ParseBackendError};
pub use digests::{ParseDigestError, Sha1Digest, Sha256Digest};
#[cfg(feature = "std")]
pub use engine::AlreadyDetected;
pub use engine::{Engine, cpu_features};
pub use hasher::{Sha1, Sha256, digest};
pub use hmac::{Hmac, HmacKey, Mac, TagError, hmac};
pub use kernel_name::{KernelName, KernelUnavailable};
pub use lane_hash::{LaneHash, LaneHmac, LaneHmacKey};
pub use many::digest_many;
pub use md5::{Md5, Md5Kernel};
pub use queue::{Hashed, LaneQueue, Outcome};
pub use rows::OffsetsError;
pub use sha224::Sha224;
pub use sha512::{Sha384, Sha512, Sha512_256, Sha512Kernel};
pub use types::{BLOCK_LEN, CpuFeature, MAX_LANES};
