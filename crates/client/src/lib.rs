#![doc = include_str!("../README.md")]
//!
//! # Design
//!
//! One thread owns the torrents. It waits for events of libtorrent's session and for messages, and moves each torrent through
//! the stages of its state machine (`torrent/STATE.md`). Work that takes long runs on threads with queues, and its result is
//! a message. So every method of [`Client`] and [`TorrentHandle`] returns at once, except those that wait for an end.
//!
//! - **Identity.** A torrent gets its number when it is sent to the loop, and keeps it. Its info-hashes are known later, if
//!   its source must be read or fetched first. [`Identity`] has both; [`TorrentKey`] is either of them, as a caller names it.
//! - **State** flows out as [`Snapshot`]s, which replace each other, so that a slow reader sees the latest one.
//! - **Events** flow out through a queue for each [`Subscription`]. Its memory is bounded by the number of torrents: a full
//!   queue keeps the last event of each kind and torrent, and drops pieces and warnings.
//! - **Commands** flow in as messages. A [`TorrentHandle`] compares with the latest snapshot first, and returns a
//!   [`HandleError`] if the torrent or the client has ended. A command that arrives after the end has no effect.
//!
//! # Modules
//!
//! | file | content |
//! |---|---|
//! | `config` | settings, and a sign that the loop is running |
//! | `source` | origins of torrents, and tasks |
//! | `client` | a client, and the start of its threads |
//! | `running` | its event loop |
//! | `builder`, `control`, `handle` | the start of a client, and the control of its torrents, by a program |
//! | `torrent` | the state machine of one torrent |
//! | `stored` | a torrent and its files: opened, checked for a download, verified; `download_check`: the files of a download; `record`: content that was verified earlier; `selection`: selected files; `moved`: content in another folder; `naming`: content under other names |
//! | `places` | the files that torrents have on the disk, and which of them they may share |
//! | `worker` | the threads that read .torrent files and verify |
//! | `comparison` | the files of served torrents are compared with their state at the last verification |
//! | `inbox` | messages to the loop from other threads |
//! | `command`, `event`, `snapshot`, `error` | the input and output of a client |
//! | `subscription` | the queues of events, one for each subscriber |
//! | `announces` | the trackers that a torrent has asked, and their last answers |
//! | `unreached` | the peers that the user named and that were not reached |
//! | `utp` | outgoing connections: TCP first, then uTP if TCP reaches no peer |
//! | `rates` | download and upload rates |
//! | `reader` | the content of a file, read while it is downloaded |
//! | `rights` | what requests of other programs may do |
//! | `space` | the space of file systems |
//! | `status` | the state of a program with torrents |
//! | `stopwatch` | times of downloading and serving |
//! | `network` | the network interface that a client uses alone |
//! | `ledger` | numbers and identities of torrents, for other threads than the loop's |
//! | `observer` | the web seed because of which libtorrent does not respond |
//! | `fetch` | .torrent files from URLs |
//! | `file` | the files of a torrent |
//! | `limits` | limits of rates and of serving |
//! | `live` | what a running verification has found so far |
//! | `log` | events of the session in the log |
//!
//! What the client reports can get new fields. Commands and configurations are exhaustive: a program makes them, and a new one
//! needs its decision.
#![forbid(unsafe_code)]
#![cfg(all(unix, feature = "libtorrent"))]

mod announces;
mod builder;
mod client;
mod command;
mod comparison;
mod config;
mod control;
mod error;
mod event;
mod fetch;
mod file;
mod handle;
mod inbox;
mod ledger;
mod limits;
mod live;
mod log;
mod network;
mod observer;
mod places;
mod rates;
mod reader;
mod rights;
mod running;
mod snapshot;
mod source;
mod space;
mod status;
mod stopwatch;
mod stored;
mod subscription;
mod torrent;
mod unreached;
mod utp;
mod worker;

pub use announces::Announce;
pub use builder::Builder;
pub use client::Client;
pub use command::{Command, Remove, TorrentCommand};
pub use config::{
    AddError, AddOptions, Additions, Config, Download, Earlier, Existing, Mode, Naming, Pulse, Seed,
};
pub use control::Control;
pub use error::{Absence, Error, NetworkError, TorrentError};
pub use event::{
    ChangedContent, CompleteContent, Deletion, Event, FinishedDownload, ForeignName, KeptFile,
    NearbyContent, Outcome, RemovedTorrent, Replacement, VerifiedContent,
};
pub use fetch::Fetch;
pub use file::TorrentFile;
pub use handle::{HandleError, TorrentHandle};
pub use limits::{SeedLimits, sent_ratio};
pub use live::LivePieces;
pub use network::Link;
pub use observer::{Observer, StuckWebSeed};
pub use rates::RateHistory;
pub use reader::{FileReader, ReadError};
pub use rights::Rights;
pub use snapshot::{Activity, Reach, SecretTiers, Snapshot, TorrentSnapshot, unix_seconds};
pub use source::{Over, ReadMetainfo, Source, Task};
pub use space::Space;
pub use status::status_of;
pub use stopwatch::Stopwatch;
pub use subscription::{Events, Subscribers, Subscription};

// Types of other crates that settings, events and handles contain.
pub use hashlane_api::{
    Added, Identity, InfoHash, InvalidKey, Named, Patch, Peer, Place, Priority, RatesPatch,
    TorrentKey, Tracker, TrackerState,
};
pub use hashlane_files::Globs;
pub use hashlane_find::OtherRoot;
pub use hashlane_metainfo::{
    ContentMap, InfoHashV1, InfoHashV2, InfoHashes, Magnet, MapError, Names, NamesError,
    PeerAddress, Top, Torrent as Metainfo,
};
pub use hashlane_swarm::{
    Bind, Encryption, EventDetail, Network, Proxy, ProxyKind, Settings, Transport, WebSeeds,
};
pub use hashlane_verify::{CancelToken, Options};
