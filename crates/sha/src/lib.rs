#![doc = include_str!("../README.md")]
#![cfg_attr(feature = "digest", doc = "", doc = include_str!("rustcrypto.md"))]
//!
//! # Modules
//!
//! | file | contents |
//! |---|---|
//! | `algorithm.rs` | the trait `Algorithm`, digests, blocks and states |
//! | `hasher.rs` | `Sha1` and `Sha256`: one message, in parts |
//! | `hmac.rs` | HMAC with either algorithm, of one message and of many |
//! | `rustcrypto.rs` | the traits of the `digest` crate (feature `digest`) |
//! | `many.rs` | many messages that are all available |
//! | `queue.rs` | many messages that come one by one, whole or in parts |
//! | `sha256d.rs` | the search for Base58Check strings |
//! | `scheduler.rs` | which message sits in which lane, and for how long |
//! | `backend.rs` | backends by name, and the choice of kernels |
//! | `kernels/mod.rs` | kernels by name, the table macro, and the entry points of each algorithm |
//! | `kernels/{x86,aarch64,other}.rs` | the kernels of each architecture, with their rates |
//! | `kernels/rounds.rs` | the rounds, once for lanes and for single messages |
//! | `kernels/lanes.rs` | several messages in the lanes of vectors |
//! | `kernels/schedule.rs` | one message, its schedule in vectors |
//! | `kernels/{sha_streams,x86_sha,aarch64_sha}.rs` | one or two messages with the SHA instructions |
//! | `kernels/sha256d.rs` | the search in lanes and with the SHA instructions |
//! | `simd/` | vector instruction sets as tokens; nearly all unsafe code |
#![cfg_attr(not(any(feature = "std", test)), no_std)]
#![deny(unsafe_code)]
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
mod hasher;
mod hmac;
mod kernels;
mod many;
mod queue;
#[cfg(feature = "digest")]
mod rustcrypto;
mod scheduler;
mod sha256d;
mod simd;

pub use algorithm::{Algorithm, BLOCK_LEN, Sha1Digest, Sha256Digest};
#[cfg(feature = "std")]
pub use backend::OverrideError;
pub use backend::{
    Backend, BackendUnavailable, CpuFeature, Engine, KernelName, KernelUnavailable, MAX_LANES,
    ParseBackendError, cpu_features,
};
pub use hasher::{Sha1, Sha256, digest};
pub use hmac::{Hmac, HmacKey, TagError, hmac, verify_tag};
pub use many::{LengthMismatch, digest_many};
pub use queue::{Hashed, LaneQueue, Outcome};
pub use sha256d::{Addends, MAX_MESSAGE_WORDS, Match, Query, Sha256dKernel, Shape};
