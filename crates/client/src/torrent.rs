//! The state machine of one torrent.
//!
//! ```text
//! Waiting ──────────────► Verifying ──► Active: Downloading ─► Rechecking ─► Serving ─► Over
//!   └─► Metadata ─► Leaving ─┘ │  ▲                └──────────────────────────┘
//!                              ▼  │
//!                           Confirming
//! ```
//!
//! Content to serve that is not present leads from `Verifying` to `Absent`, and back when its files change.
//! `Over` can follow every stage. A complete download that is moved leaves the session: `Moving` is followed by `Over`, or by
//! `Verifying` if it is served.
//!
//! | file | content |
//! |---|---|
//! | `state` | the stages and their data |
//! | `open` | from a source to the verification of the content |
//! | `join` | from the verification into the session |
//! | `events` | events of the session, results of other threads, commands |
//! | `absent` | content that is not present yet when it shall be served |
//! | `priorities` | priorities of files that change during a download |
//! | `relocate` | moves a complete download to another folder |
//! | `status` | progress and the steps that follow from it |
//! | `watch` | files that change while they are served |
//! | `end` | the end: a limit, a command, an error |

mod absent;
mod end;
mod events;
mod join;
mod open;
mod priorities;
mod relocate;
mod state;
mod status;
mod watch;

pub(crate) use state::{Shared, Torrent};
