//! The state machine of one torrent.
//!
//! ```text
//! Waiting ──────────────► Verifying ──► Active: Downloading ─► Rechecking ─► Serving ─► Over
//!   └─► Metadata ─► Leaving ─┘ │  ▲                └──────────────────────────┘
//!                              ▼  │
//!                           Confirming
//! ```
//!
//! `Over` can follow every stage.
//!
//! | file | content |
//! |---|---|
//! | `state` | the stages and what each holds |
//! | `open` | from a source to the verification of the content |
//! | `join` | from the verification into the session |
//! | `events` | events of the session, results of other threads, commands |
//! | `priorities` | priorities of files that change during a download |
//! | `status` | progress and the steps that follow from it |
//! | `watch` | files that change while they are served |
//! | `end` | the end: a limit, a command, an error |

mod end;
mod events;
mod join;
mod open;
mod priorities;
mod state;
mod status;
mod watch;

pub(crate) use state::{Shared, Torrent};
