#![doc = include_str!("../README.md")]
//!
//! # Modules
//!
//! | file | content |
//! |---|---|
//! | `session` | a session, and the thread that moves it on |
//! | `config` | its settings |
//! | `error` | what ends a session, and what a person should know |
//! | `torrents` | the torrents: those of the state folder, in the client; `choices`: what a person chose; `given`: those whose metadata is read later; `memory`: what another process continues from; `naming`: names of their content; `trackers`: their trackers; `totals`: what they sent and received, and goals; `turns`: turns in the queue |
//! | `shown` | a torrent as users see it |
//! | `add` | torrents that are added |
//! | `apply` | what commands ask of torrents |
//! | `categories` | categories, and the goals that torrents inherit |
//! | `goal` | what the client does for a torrent, from what a person chose |
//! | `limits` | the limits of all torrents together |
//! | `rules` | what torrents with certain properties get; `torrents/ruled`: its use |
//! | `schedule` | limits at times of the week |
//! | `queue` | the torrents that run now, and those that wait for their turn |
//! | `priorities` | priorities of files |
//! | `trackers` | trackers in metadata and links |
//! | `hooks`, `shell` | shell commands that run when something happens to a torrent |
//! | `watch` | folders whose files are added |
//! | `port_file` | the file with the port that a VPN forwards |
//! | `fetches` | .torrent files from servers |
//! | `space` | the guard of free space |
//! | `threads` | threads that log as the one that starts them |
#![forbid(unsafe_code)]
#![cfg(all(unix, feature = "libtorrent"))]

mod add;
mod apply;
mod categories;
mod config;
mod error;
mod fetches;
mod goal;
mod hooks;
mod limits;
mod port_file;
mod priorities;
mod queue;
mod rules;
mod schedule;
mod session;
mod shell;
mod shown;
mod space;
mod threads;
mod torrents;
mod trackers;
mod watch;

pub use config::{AddedFiles, Config, Given, HookCommands, QueueLimits, Watched};
pub use error::{Error, Problem};
pub use rules::{Conditions, TorrentRule};
pub use session::{Kept, Limits, Session, Totals};
pub use shell::{CONTINUED, shell};
pub use torrents::{Memory, is_of_system, remedy};
