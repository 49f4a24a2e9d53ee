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
//! | `packet.rs` | packets, read and written |
//! | `name.rs` | names of files in a set |
//! | `error.rs` | reasons why a set cannot be made, read or repaired |
//! | `run.rs` | the resources of a job |
//! | `source.rs` | files as sources of slices, hashed side by side |
//! | `space.rs` | the space of disks |
//! | `kept.rs` | damaged files that are kept |
//! | `scan.rs` | finds packets in damaged files |
//! | `set.rs` | a set, as its packets describe it |
//! | `plan.rs` | the sizes of a new set |
//! | `create.rs` | creates a set |
//! | `rolling.rs` | the CRC-32 of a window that moves |
//! | `verify.rs` | finds slices in files |
//! | `repair.rs` | restores files |
//!
//! # Words
//!
//! | word | meaning |
//! |---|---|
//! | slice | a part of a file; all slices of a set have the same length, and the last one of a file is filled with zeros |
//! | recovery slice | a sum of products of all slices and factors, which restores one slice |
//! | column | the bytes at the same offset of all slices |
//! | volume | a file with recovery slices |

mod create;
mod error;
mod gf;
mod kept;
mod kernels;
mod matrix;
mod name;
mod packet;
mod plan;
mod repair;
mod rolling;
mod run;
mod scan;
mod set;
mod source;
mod space;
mod sums;
mod verify;

#[cfg(test)]
#[path = "../tests/it/not_run.rs"]
mod not_run;

pub use create::{Created, NewSet, create};
pub use error::Error;
pub use kept::{Kept, kept_names, put_beside};
pub use kernels::Kernel;
pub use packet::{
    FileId, Header, MAX_RECOVERY_SLICES, MAX_SLICES, Md5, Packet, SetId, Sha256, SliceChecksum,
};
pub use plan::{Redundancy, Slices, Volumes};
pub use repair::{Repaired, RepairedFile, Restored, repair, restore};
pub use run::{Progress, Run};
pub use scan::{Found, ReadAt, scan};
pub use set::{ProtectedFile, RecoverySet, RecoverySlice, volumes_of};
pub use space::check_space;
pub use verify::{FileReport, State, Verification, verify};
