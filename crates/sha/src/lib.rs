#![doc = include_str!("../README.md")]
#![cfg_attr(feature = "digest", doc = "", doc = include_str!("rustcrypto.md"))]
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
    Backend, BackendUnavailable, CpuFeature, Engine, KernelName, MAX_LANES, ParseBackendError,
    cpu_features,
};
pub use hasher::{Sha1, Sha256, digest};
pub use hmac::{Hmac, HmacKey, TagError, hmac, verify_tag};
pub use many::{LengthMismatch, digest_many};
pub use queue::LaneQueue;
pub use sha256d::{Addends, MAX_MESSAGE_WORDS, Match, Query, Sha256dKernel, Shape};
