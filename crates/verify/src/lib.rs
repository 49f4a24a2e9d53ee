#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod cancel;
mod content;
mod create;
mod error;
mod families;
mod files;
mod hashing;
mod layout;
mod links;
mod news;
mod pace;
mod payload;
mod piece;
mod report;
mod scan;
mod schedule;
mod source;
mod verify;
mod worker;
mod zeros;

pub use cancel::CancelToken;
pub use content::Content;
pub use create::{CreateError, HashProgress, hash_payload};
pub use error::Error;
pub use families::Families;
pub use layout::{Extent, FileIndex, Layout};
pub use payload::{LeftOut, Links, Payload, PayloadError, Selection};
pub use piece::PieceState;
pub use report::{FileError, FileReport, FileState, PieceCounts, Report};
pub use scan::{IoMode, Options};
pub use verify::{Progress, verify};
