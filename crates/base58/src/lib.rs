#![doc = include_str!("../README.md")]
//!
//! # Modules
//!
//! A module imports only modules above it in this list:
//!
//! | module | contents |
//! |---|---|
//! | `check` | Base58 and Base58Check: alphabets, encoding and decoding |
//! | `value` | integers of 384 bits |
//! | `kind` | kinds of strings: payload length, version, suffix |
//! | `damage` | the damage that a search covers |
//! | `pattern` | a damaged text as one set of digits per position |
//! | `space` | the strings of one pattern and kind, numbered and counted by their prefixes |
//! | `mismatch` | the reason why a text fits no string of a kind |
//! | `sha256d` | double hashes of many messages, compared with a checksum: the kernels of the search |
//! | `message` | the layout of a payload in the words of a SHA-256 block |
//! | `tables` | a space prepared for a device: prefixes, table of inner sums, tail |
//! | `backend` | the trait of a device that searches tables for candidates, and several devices as one |
//! | `cpu` | the CPU backend: kernels, their measurement, and the search loop |
//! | `hit` | a candidate decoded and checked again, independently of the search |
//! | `addresses` | the addresses that belong to a hit, and the hashes in them |
//! | `filter` | facts about the original that rule out hits |
//! | `error` | errors of a search |
//! | `extract` | the string in a longer text |
//! | `shard` | parts of a search for several machines |
//! | `units` | the prefixes of all spaces, cut into work units |
//! | `workers` | threads that take work units and report hits and progress |
//! | `lookup` | addresses of known hashes among the strings of a search |
//! | `cost` | the expected time of a search |
//! | `patience` | when the preparation of a search ends early |
//! | `search` | a search: estimate, remaining work, execution |
//! | `widening` | searches for more and more damage |
//! | `hits` | a search as an iterator |
#![forbid(unsafe_code)]
#![allow(
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    reason = "estimates and rates are shown with three digits, and exponents are small"
)]
#![allow(
    clippy::needless_range_loop,
    reason = "loops over limbs index several arrays"
)]

mod addresses;
mod backend;
mod check;
mod cost;
mod cpu;
mod damage;
mod error;
mod extract;
mod filter;
mod hit;
mod hits;
mod kind;
mod lookup;
mod message;
mod mismatch;
#[cfg(test)]
#[path = "../tests/it/not_run.rs"]
mod not_run;
mod patience;
mod pattern;
mod search;
mod sha256d;
mod shard;
mod space;
mod tables;
mod units;
mod value;
mod widening;
mod workers;

pub use addresses::{Address, AddressHash};
pub use backend::{SearchBackend, Searched, SeveralBackends, TableSearch};
pub use check::{
    Alphabet, BASE, CHECKSUM_LEN, DecodeError, decode, decode_check, encode, encode_check,
};
pub use cpu::CpuBackend;
pub use damage::{Damage, Gap, MAX_ERRORS, MAX_GAP};
pub use error::SearchError;
pub use extract::extract;
pub use filter::{Filter, Known};
pub use hit::Hit;
pub use hits::Hits;
pub use kind::{ADDRESS_HASH_LEN, Kind, MAX_PAYLOAD_LEN, MAX_SUFFIX_LEN};
pub use mismatch::{Mismatch, Reason};
pub use pattern::{MAX_PATTERN_LEN, PatternError};
pub use search::{Estimate, Event, MAX_HITS, Options, Outcome, Search};
pub use sha256d::{Addends, MAX_MESSAGE_WORDS, Match, Query, Sha256dKernel, Shape};
pub use shard::Shard;
pub use tables::{Candidate, Tables};
pub use widening::{Least, Step, Subject, Widening};
pub use workers::Progress;
