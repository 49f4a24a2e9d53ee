#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod cancel;
mod content;
mod error;
mod files;
mod hashing;
mod layout;
mod news;
mod pace;
mod piece;
mod report;
mod schedule;
mod source;
mod verify;
mod worker;
mod zeros;

pub use cancel::CancelToken;
pub use content::Content;
pub use error::Error;
pub use layout::{Extent, FileIndex, Layout};
pub use piece::PieceState;
pub use report::{FileError, FileReport, FileState, PieceCounts, Report};
pub use verify::{IoMode, Options, Progress, verify};
