#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
//!
//! # Modules
//!
//! Each module uses only modules above it.
//!
//! | file | contents |
//! |---|---|
//! | `cancel.rs` | a request to stop |
//! | `error.rs` | errors that stop the whole run |
//! | `options.rs` | threads, input mode and kernels |
//! | `messages.rs` | messages as byte ranges of files |
//! | `read_speed.rs` | measured speed of reading |
//! | `schedule.rs` | messages for each worker, bytes for each batch |
//! | `open_files.rs` | the open files of a worker |
//! | `reader/` | reads or maps bytes of files |
//! | `hasher.rs` | hashing of several messages at once |
//! | `results.rs` | results of workers, sent at intervals |
//! | `plan.rs` | state that all workers share |
//! | `lanes.rs` | running messages: reads and hashes their windows |
//! | `worker.rs` | one thread: takes messages, decides how to read each |
//! | `run.rs` | starts the workers and receives their results |

mod cancel;
mod error;
mod hasher;
mod lanes;
mod messages;
mod open_files;
mod options;
mod plan;
mod read_speed;
mod reader;
mod results;
mod run;
mod schedule;
mod worker;

pub use cancel::CancelToken;
pub use error::Error;
pub use hasher::{MessageDigest, MessageHasher};
pub use messages::{Extent, FileIndex, MessageLen, Messages, WholeFiles};
pub use open_files::{Fault, FileFact, FileSet, Found, inspect};
pub use options::{IoMode, Options};
pub use results::{MessageResult, Results};
pub use run::hash_messages;
