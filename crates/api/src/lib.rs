#![doc = include_str!("../README.md")]
//!
//! # Modules
//!
//! | file | content |
//! |---|---|
//! | `identity` | the number, info-hashes and name of a torrent |
//! | `command` | what can be asked of torrents, and changes of what a person chose for one |
//! | `groups` | categories and labels |
//! | `fields` | how fields are read and written |
//! | `goal` | when a torrent has been served for long enough |
//! | `link` | links to content for players |
//! | `new` | torrents that are added |
//! | `place` | where content is |
//! | `rates` | rate limits |
//! | `priority` | priorities of files |
//! | `queue` | moves in the queue |
//! | `rules` | what the rules of the configuration set |
//! | `schedule` | limits at times of the week |
//! | `session` | changes of the settings of all torrents together |
//! | `answer` | requests for many torrents, and answers that name torrents |
//! | `detail` | files, peers and trackers of a torrent |
//! | `status` | answers about all torrents together |
//! | `refusal` | the reasons for which nothing changes |
//! | `size` | lengths as people read them |
//! | `trackers` | changes of the trackers of a torrent |
//!
//! Types are exhaustive: each program that shows or stores them has to say what becomes of a new field.
#![forbid(unsafe_code)]

/// The name of the Unix socket in the state folder of a daemon, at which it serves its HTTP API to its user.
pub const SOCKET: &str = "socket";

mod answer;
mod command;
mod detail;
mod fields;
mod goal;
mod groups;
mod identity;
mod link;
mod new;
mod place;
mod priority;
mod queue;
mod rates;
mod refusal;
mod rules;
mod schedule;
mod session;
mod size;
mod status;
mod trackers;

pub use answer::{
    Addressed, Batch, BatchKey, BatchResult, BatchResults, Job, JobState, Progress, Reloaded,
};
pub use command::{Command, Content, Patch, check_labels};
pub use detail::{File, Files, Peer, Peers, Tracker, TrackerState, Trackers};
pub use fields::present;
pub use goal::{Goal, Target};
pub use groups::{Category, CategoryPatch, GroupChange, Groups};
pub use identity::{Added, Identity, InfoHash, InvalidKey, Named, TorrentKey};
pub use link::{Link, LinkRequest};
pub use new::{Addition, NewTorrent, Source};
pub use place::Place;
pub use priority::Priority;
pub use queue::{InvalidQueueMove, QueueMove};
pub use rates::{Rates, RatesPatch};
pub use refusal::Refusal;
pub use rules::{RuleEffect, Rules, TorrentRules};
pub use schedule::{Day, Rule, TimeOfDay};
pub use session::SessionPatch;
pub use size::Size;
pub use status::{Limit, LimitValue, Status};
pub use trackers::Tiers;
