#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![allow(
    clippy::inline_always,
    reason = "what is not inlined into a #[target_feature] entry is compiled without the feature"
)]
#![allow(
    clippy::needless_range_loop,
    reason = "loops over vectors index several arrays, with constants once unrolled"
)]
//!
//! # Modules
//!
//! Each module uses only modules above it.
//!
//! | file | contents |
//! |---|---|
//! | `gf.rs` | the field GF(2¹⁶) |
//! | `kernels.rs` | products of many words and a constant, in vectors |
//! | `sums.rs` | columns of recovery slices, computed by several threads |
//! | `matrix.rs` | the equations of missing slices |

mod gf;
mod kernels;
mod matrix;
mod sums;

pub use kernels::Kernel;
