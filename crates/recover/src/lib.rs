#![doc = include_str!("../README.md")]
//!
//! # Modules
//!
//! | module | contents |
//! |---|---|
//! | `kind` | the model: what a kind of text answers |
//! | `answer` | recognizes a text, and asks the kinds that it can be of |
//! | `bech32` | Bech32 and Bech32m with any prefix: solved |
//! | `codex32` | codex32: solved |
//! | `slip39` | shares of SLIP-39: solved |
//! | `linear` | the solver of codex32 and SLIP-39 |
//! | `eip55` | addresses of Ethereum: searched for |
//! | `search` | the search for texts of a layout: the kinds below, each in one file |
//! | `monero`, `stellar`, `algorand`, `filecoin`, `ss58`, `eos` | their addresses and keys |
//! | `base32`, `base58` | Base32 and Base58, for these |
//! | `places` | damaged texts of the kinds that are searched for, and their edits |
//! | `keccak` | Keccak-256 in lanes |
#![forbid(unsafe_code)]
#![allow(
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    reason = "estimates of small counts"
)]

mod algorand;
mod answer;
mod base32;
mod base58;
mod bech32;
mod codex32;
mod eip55;
mod eos;
mod filecoin;
mod keccak;
mod kind;
mod linear;
mod monero;
mod places;
mod search;
mod slip39;
mod ss58;
mod stellar;

pub use answer::{KINDS, estimate, recover};
pub use bech32::{
    RepairError, is_like_witness_address, is_witness_address, repair, starts_like_witness_address,
};
pub use kind::{Answer, Count, Kind, Likeness, Refusal, Repaired, with_article};
pub use slip39::is_words;
