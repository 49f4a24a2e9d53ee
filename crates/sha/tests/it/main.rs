//! Tests of the public interface.

mod engines;
mod hasher;
mod hazmat;
mod hmac;
mod not_run;
mod queue;
#[cfg(feature = "std")]
mod rows;
mod rqbit;
#[cfg(feature = "digest")]
mod rustcrypto;
#[cfg(feature = "serde")]
mod serde;
mod sha1_checked;
