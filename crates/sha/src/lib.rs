#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]
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
mod kernels;
mod many;
mod queue;
mod scheduler;
mod simd;

pub use algorithm::{Algorithm, BLOCK_LEN, Sha1, Sha1Digest, Sha256, Sha256Digest};
pub use backend::{
    Backend, BackendUnavailable, CpuFeature, Engine, KernelName, MAX_LANES, OverrideError,
    ParseBackendError, cpu_features,
};
pub use hasher::{Hasher, digest};
pub use many::{LengthMismatch, digest_many};
pub use queue::LaneQueue;
