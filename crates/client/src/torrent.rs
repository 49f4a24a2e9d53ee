//! The state machine of one torrent.
//!
//! `torrent/STATE.md` describes the stages and the changes between them.
//!
//! | file | content |
//! |---|---|
//! | `stage` | the stages, their data, and the function that changes them |
//! | `state` | the state of a torrent beside its stage |
//! | `open` | from a source to the verification of the content |
//! | `join` | from the verification into the session |
//! | `events` | events of the session, results of other threads, commands |
//! | `change` | changes by commands: verification, trackers, limits |
//! | `absent` | content that is not present yet when it shall be served, or that a download has lost |
//! | `priorities` | priorities of files that change during a download |
//! | `relocate` | moves content to another folder |
//! | `status` | progress and the steps that follow from it |
//! | `stillness` | whether the counters of a torrent are complete |
//! | `watch` | files that change while they are served |
//! | `end` | the end: a limit, a command, an error |
//! | `remove` | the removal from the client |

mod absent;
mod change;
mod end;
mod events;
mod join;
mod open;
mod priorities;
mod relocate;
mod remove;
mod stage;
mod state;
mod status;
mod stillness;
mod watch;

pub(crate) use remove::Removal;
pub(crate) use state::{Machine, Shared};
