#![doc = include_str!("../README.md")]
//!
//! # Modules
//!
//! Each module imports only modules above it in this list.
//!
//! | file | contents |
//! |---|---|
//! | `error.rs` | error codes, their messages, and the version |
//! | `border.rs` | handles, messages, paths, and buffers for texts |
//! | `algorithm.rs` | the numbers of the algorithms, and the choice of a type by number |
//! | `engine.rs` | backends by name, and engines |
//! | `digest.rs` | digests of one message that is available as a whole, or in a file |
//! | `tree.rs` | tree hashes of files and folders |
//! | `verity.rs` | the check of data against a hash device of dm-verity, and its report |
//! | `hasher.rs` | digests of a message that arrives in parts |
//! | `hmac.rs` | HMAC of one message, whole or in parts |
//! | `many.rs` | digests and MACs of many messages that are all available |
//! | `queue.rs` | digests of many messages that arrive one by one |
//! | `torrent.rs` | torrents: .torrent files, the files that they list, and their info-hashes |
//! | `verify.rs` | verification of a torrent's content, and its report |
//! | `base58.rs` | Base58Check: encoding, decoding, and recovery of damaged strings |
#![deny(unsafe_code)]

pub mod algorithm;
pub mod base58;
mod border;
pub mod digest;
pub mod engine;
pub mod error;
pub mod hasher;
pub mod hmac;
pub mod many;
pub mod queue;
pub mod torrent;
pub mod tree;
pub mod verify;
pub mod verity;
