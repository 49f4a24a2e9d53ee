#![doc = include_str!("../README.md")]
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

mod alphabet;
mod calibrate;
mod check;
mod contradiction;
mod hits;
mod kind;
mod owner;
mod pattern;
mod search;
mod space;
mod tables;
mod value;

pub use alphabet::{Alphabet, BASE};
pub use calibrate::{Rate, measure};
pub use check::{CHECKSUM_LEN, DecodeError, decode, decode_check, encode, encode_check};
pub use contradiction::{Contradiction, Reason};
pub use hits::Hits;
pub use kind::{Kind, MAX_PAYLOAD_LEN};
pub use owner::{ADDRESS_HASH_LEN, AddressHash};
pub use pattern::{Damage, MAX_ERRORS, MAX_PATTERN_LEN, PatternError};
pub use search::{
    Estimate, Event, Hit, MAX_HITS, MAX_SUFFIX_LEN, Options, Outcome, Progress, Search, SearchError,
};
