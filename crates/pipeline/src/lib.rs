#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]
//!
//! # The way of a file
//!
//! 1. `run.rs`: [`hash_messages`] chooses the number of threads and starts a worker on each.
//! 2. `schedule.rs`: the worker takes the numbers of the next messages. Workers share no other state for every
//!    message; files that they open count in a common budget.
//! 3. `worker.rs`: `take` reports a message at once if its file is absent or it lies in a hole. All others wait.
//! 4. `worker.rs`: `start_waiting` gives each message a slot of the mapped or of the buffered reader. When the slots are
//!    full, it runs them.
//! 5. `running.rs`: `run` loads a window of each message, hashes all windows, and retires the messages that have ended.
//! 6. `reader/`: `load` maps the windows, or reads them into a buffer. `open_files.rs` has the files.
//! 7. `hasher.rs`: [`MessageHasher::update`] gets all windows in one call; digests of messages pass them to
//!    `Engine::update_many`. The bytes of up to sixteen messages then pass through the lanes of a vector register.
//! 8. `running.rs`: `retire` finishes the digests and frees the slots. A message whose file has changed goes back to 4.
//! 9. `results.rs`: the worker sends its results to the calling thread, about fifty times per second.
//! 10. `run.rs`: the calling thread passes them to `receive`.
//!
//! # Words
//!
//! | word | meaning |
//! |---|---|
//! | message | bytes that are hashed to one digest: a list of extents, or a whole file |
//! | extent | consecutive bytes of one file, or zeros |
//! | run | consecutive messages that one worker takes |
//! | slot | the place of a message that a worker is hashing; a hasher keeps state for each slot |
//! | window | the next bytes of a message, loaded at once |
//! | batch | the windows of all slots that are loaded together |
//! | chunk | 16 KiB of a message that have a digest of their own, such as a leaf of BEP 52 |
//! | lane | one of the up to sixteen messages or chunks in a vector: see `hashlane-sha` |
//!
//! # Modules
//!
//! Each module uses only modules above it.
//!
//! | file | contents |
//! |---|---|
//! | `reading.rs` | reads for which the system takes very long |
//! | `read_speed.rs` | the order of reading, by the measured speed |
//! | `options.rs` | threads, input mode and kernels; errors that stop the whole run |
//! | `messages.rs` | messages as byte ranges of files |
//! | `hasher.rs` | hashing of several messages at once |
//! | `lane_hash.rs` | MD5 and SHA-512 of several messages at once |
//! | `chunks.rs` | hashing of messages in chunks |
//! | `schedule.rs` | messages for each worker, bytes for each batch |
//! | `open_files.rs` | the open files of a worker |
//! | `choice.rs` | the choice of reads past the page cache |
//! | `reader/` | reads or maps bytes of files |
//! | `results.rs` | results of workers, sent at intervals |
//! | `running.rs` | state that all workers share; running messages: reads and hashes their windows |
//! | `worker.rs` | one thread: takes messages, decides how to read each |
//! | `run.rs` | starts the workers and receives their results |
//! | `ordered.rs` | outcomes of items in order, from results of messages |

mod choice;
mod chunks;
mod hasher;
mod lane_hash;
mod messages;
mod open_files;
mod options;
mod ordered;
mod read_speed;
mod reader;
mod reading;
mod results;
mod run;
mod running;
mod schedule;
mod worker;

pub use hashlane_files::{CancelGuard, CancelToken};

pub use chunks::{CHUNK_LEN, ChunkDigests, ChunkHasher};
pub use hasher::{Chosen, Frame, FramedDigest, Maps, MessageDigest, MessageHasher};
pub use lane_hash::LaneDigest;
pub use messages::{Extent, FileIndex, MessageLen, Messages, WholeFiles};
pub use open_files::{Fault, FileFact, FileSet, Found, ReadAt, Readers, inspect};
pub use options::{Error, IoMode, Options};
pub use ordered::{Event, Events, Failure, Ordered, Outcome, Progress, Turn};
pub use read_speed::ReadOrder;
pub use results::{MessageResult, Results};
pub use run::{hash_messages, hash_messages_on};
