#![doc = include_str!("../README.md")]
//!
//! # Modules
//!
//! Each module uses only modules above it.
//!
//! | file | contents |
//! |---|---|
//! | `algorithm.rs` | the names and lengths of the algorithms |
//! | `digest.rs` | digests of any length |
//! | `hasher.rs` | the digest of one message that arrives in parts |
//! | `mac.rs` | HMAC: keys, messages that arrive in parts, and the comparison of tags |
//! | `message.rs` | a message that is hashed with or without a key |
#![forbid(unsafe_code)]

mod algorithm;
mod digest;
mod hasher;
mod mac;
mod message;

#[cfg(feature = "blake")]
pub use algorithm::Blake2bLen;
pub use algorithm::{Algorithm, UnknownAlgorithm};
pub use digest::{Digest, MAX_DIGEST_LEN};
pub use hasher::Hasher;
pub use mac::{Hmac, HmacKey, Mac};
pub use message::Message;
