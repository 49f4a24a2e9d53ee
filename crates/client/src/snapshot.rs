//! Snapshots: the state of a client at one moment.

use std::fmt;
use std::net::SocketAddr;
use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use hashlane_api::{Goal, Identity, Named, Priority, TorrentKey};
use hashlane_metainfo::Torrent as Metainfo;
use hashlane_swarm::{Counters, Network, TorrentId};
use serde::{Deserialize, Serialize};

use crate::announces::Announce;
use crate::event::Outcome;
use crate::live::{LivePieces, LiveVerification};
use crate::rates::RateHistory;
use crate::stopwatch::Stopwatch;
use crate::stored::StoredTorrent;

/// The state of all torrents of a client.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(rename = "Torrents")
)]
pub struct Snapshot {
    /// The torrents in the order of their numbers. Numbers of torrents that were removed are missing.
    ///
    /// Two snapshots share a torrent that did not change between them, unless `network_problem` pauses it.
    pub torrents: Vec<Arc<TorrentSnapshot>>,
    /// The number of the next torrent. A smaller number that no torrent has is that of a torrent that was removed.
    #[serde(skip)]
    pub next_number: usize,
    /// Download limit in bytes per second; `None` for no limit.
    pub max_down: Option<u32>,
    /// Upload limit in bytes per second; `None` for no limit.
    pub max_up: Option<u32>,
    /// Whether torrents can be added.
    pub accepts_torrents: bool,
    /// The local end of all connections.
    #[serde(skip)]
    pub network: Network,
    /// Whether peers can connect, and how many nodes of the DHT are known.
    #[serde(skip)]
    pub reach: Arc<Reach>,
    /// The reason why there are no connections: the interface of `network` cannot be used. Torrents wait for it.
    #[serde(skip)]
    pub network_problem: Option<String>,
}

/// How the client can be reached, and whom it knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// The addresses on which the client listens.
    pub listening: Vec<SocketAddr>,
    /// Figures of the session, at most some seconds old.
    pub counters: Counters,
}

impl Snapshot {
    /// Returns the bytes of content received and sent by these torrents since they were added to the client.
    pub fn exchanged(&self) -> (u64, u64) {
        self.torrents
            .iter()
            .fold((0, 0), |(received, sent), torrent| {
                (
                    received + torrent.downloaded_bytes,
                    sent + torrent.uploaded_bytes,
                )
            })
    }

    /// Returns the torrent of a key. Several torrents have the same info-hash if all but the last have ended; then
    /// returns the last one.
    pub fn find(&self, key: TorrentKey) -> Option<&Arc<TorrentSnapshot>> {
        match key {
            TorrentKey::Number(number) => {
                let found = self
                    .torrents
                    .binary_search_by_key(&number, |torrent| torrent.identity.number);
                found.ok().map(|position| &self.torrents[position])
            }
            TorrentKey::InfoHash(_) => {
                let mut found = self
                    .torrents
                    .iter()
                    .filter(|torrent| torrent.identity.has(key));
                let last = found.clone().next_back();
                found.find(|torrent| !torrent.activity.is_over()).or(last)
            }
        }
    }
}

/// The state of one torrent.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(rename = "Torrent")
)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct TorrentSnapshot {
    /// The number of the torrent, and its info-hashes.
    #[serde(flatten)]
    pub identity: Identity,
    /// The torrent as the user named it, as in the JSON lines. A magnet link is reduced to its info-hash.
    pub torrent: String,
    /// The name that a person chose, or that of the metadata, unescaped; `None` while it is unknown.
    pub name: Option<String>,
    /// Path of the content; `None` while the metadata is unknown.
    pub content: Option<String>,
    /// Folder for the content, under the torrent's name; `None` for content that is only served under any name.
    pub folder: Option<String>,
    /// Whether the content is a folder, which can have a single file; `false` while the metadata is unknown.
    pub is_folder: bool,
    /// The folder that the content is being moved to, or is moved to when it is complete; `None` if there is none.
    pub move_to: Option<String>,
    /// The current activity.
    pub activity: Activity,
    /// Whether the torrent is downloaded, rather than only served.
    #[serde(rename = "download")]
    pub is_download: bool,
    /// Whether everything that is wanted is present and was verified.
    #[serde(rename = "complete")]
    pub is_complete: bool,
    /// The reason why the torrent failed, or waits for its content; `None` if neither is the case.
    pub error: Option<String>,
    /// Labels that were given to the torrent.
    ///
    /// The client does not interpret them.
    pub labels: Vec<String>,
    /// The category.
    pub category: Option<String>,
    /// Whether the user paused the torrent, perhaps before its verification.
    #[serde(rename = "paused")]
    pub is_paused: bool,
    /// Whether the torrent runs without a place in the queue, which only a daemon has.
    #[serde(rename = "forced")]
    pub is_forced: bool,
    /// The position in the queue of a daemon, from 0; `None` in other programs.
    pub queue_position: Option<u64>,
    /// Whether pieces are requested in order.
    #[serde(rename = "sequential")]
    pub is_sequential: bool,
    /// Whether a piece of complete content is offered only after the previous piece has spread (BEP 16).
    #[serde(rename = "super_seeding")]
    pub is_super_seeding: bool,
    /// Whether the torrent finds peers only by its trackers (BEP 27).
    #[serde(rename = "private")]
    pub is_private: bool,
    /// Download limit of the torrent in bytes per second; `None` for no limit.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub max_down: Option<u32>,
    /// Upload limit of the torrent in bytes per second; `None` for no limit.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub max_up: Option<u32>,
    /// Whether the content is served when it is complete.
    #[serde(rename = "serve")]
    pub is_served: bool,
    /// The torrent is served until this ratio: sent bytes as a multiple of the received bytes, or of the selected files if fewer
    /// bytes were received; `None` for no limit.
    ///
    /// [`sent_ratio`](crate::sent_ratio) counts it.
    pub seed_ratio: Option<f64>,
    /// The torrent is served for this time, in whole seconds; `None` for no limit.
    pub seed_seconds: Option<u64>,
    /// The torrent is served for this time without an upload; `None` for no limit.
    ///
    /// Only a session counts it.
    pub idle_seconds: Option<u64>,
    /// The goal that a person chose for the torrent itself. Only a program that keeps torrents sets it.
    #[serde(skip)]
    pub goal: Goal,
    /// The goal of the category and the labels, which applies where a person chose none for the torrent.
    #[serde(skip)]
    pub inherited: Goal,
    /// The trackers by tiers, with their secrets, if they are not those of the metadata.
    #[serde(skip)]
    pub trackers: Option<SecretTiers>,
    /// The time when the torrent was added, in seconds since 1970.
    pub added_at: u64,
    /// The time when the selected content was first found complete, in seconds since 1970; `None` before.
    pub completed_at: Option<u64>,
    /// The time when content was last received or sent, in seconds since 1970; `None` before.
    pub active_at: Option<u64>,
    /// The time when anything changed that this structure shows, in seconds since 1970. Only a program that keeps torrents notes it.
    #[serde(skip)]
    pub changed_at: u64,
    /// Seconds of downloading in this process, without pauses and verifications.
    pub downloading_seconds: Stopwatch,
    /// Seconds of serving in this process, without pauses and verifications.
    pub serving_seconds: Stopwatch,
    /// Number of files without padding; 0 while the metadata is unknown.
    pub files: u32,
    /// Length of a piece in bytes; 0 while the metadata is unknown.
    pub piece_length: u32,
    /// Number of pieces of the whole torrent, selected or not.
    pub pieces: u32,
    /// Number of present pieces that were trusted, not verified (`seed --trust`).
    ///
    /// See [`Seed::records`](crate::Seed::records).
    pub trusted_pieces: u32,
    /// Length of all files, selected or not.
    pub total_bytes: u64,
    /// Bytes that the running verification has read.
    pub verified_bytes: u64,
    /// Length of the selected files.
    pub wanted_bytes: u64,
    /// Bytes of the selected files that are present and right.
    pub done_bytes: u64,
    /// Bytes of content received.
    pub downloaded_bytes: u64,
    /// Bytes of content sent.
    pub uploaded_bytes: u64,
    /// Received bytes that were wrong or already present.
    pub wasted_bytes: u64,
    /// Download rate.
    pub down_bytes_per_second: u64,
    /// Upload rate.
    pub up_bytes_per_second: u64,
    /// Number of connected peers.
    pub peers: u32,
    /// Number of connected peers that have all pieces.
    pub seeds: u32,
    /// Seconds until the download is complete at this rate; `None` if that is unknown.
    pub seconds_left: Option<f64>,
    /// The trackers that were asked, by host, with their last answers.
    pub announces: Vec<Announce>,
    /// The greatest number of peers with all content that a tracker has reported; `None` before an answer with a number.
    #[serde(skip)]
    pub tracker_seeds: Option<u32>,
    /// Number of times that the torrent was started again. All but its number began anew then.
    #[serde(skip)]
    pub(crate) n_restarts: u64,
    /// The torrent in the session.
    #[serde(skip)]
    pub(crate) id: Option<TorrentId>,
    #[serde(skip)]
    pub(crate) detail: Detail,
}

/// State that only requests for one torrent need. Copies of a snapshot share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Detail {
    /// The files; `None` while the metadata is unknown.
    pub(crate) stored: Option<Arc<StoredTorrent>>,
    /// The metadata of a torrent that a program knows without a client.
    pub(crate) metainfo: Option<Metainfo>,
    /// The priority of each file except padding.
    pub(crate) priorities: Arc<[Priority]>,
    /// An entry for each piece: whether it was present at the last verification.
    pub(crate) have: Arc<[bool]>,
    /// An entry for each piece: whether its content was wrong at the last verification or on arrival.
    pub(crate) wrong: Arc<[bool]>,
    /// What the running verification has found; `None` for a torrent that the client does not have.
    pub(crate) live: Option<Arc<LiveVerification>>,
    pub(crate) history: Arc<RateHistory>,
    /// The outcome, if the torrent is over.
    pub(crate) outcome: Option<Outcome>,
    /// The folder for the content, or of the content.
    pub(crate) folder: Option<Arc<Path>>,
}

/// Trackers by tiers, with their secrets.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretTiers(pub Arc<[Vec<String>]>);

/// Without fields: URLs have tokens and passkeys.
impl fmt::Debug for SecretTiers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecretTiers").finish_non_exhaustive()
    }
}

impl TorrentSnapshot {
    /// Returns the torrent as answers name it.
    pub fn named(&self) -> Named {
        Named {
            identity: self.identity,
            title: self.title().to_owned(),
        }
    }

    /// Returns the snapshot of a torrent whose metadata is unknown.
    pub fn new(number: usize, torrent: &str) -> Self {
        Self {
            identity: Identity::new(number),
            torrent: torrent.to_owned(),
            name: None,
            content: None,
            folder: None,
            is_folder: false,
            move_to: None,
            activity: Activity::Waiting,
            is_download: false,
            is_complete: false,
            error: None,
            labels: Vec::new(),
            category: None,
            is_paused: false,
            is_forced: false,
            queue_position: None,
            is_sequential: false,
            is_super_seeding: false,
            is_private: false,
            max_down: None,
            max_up: None,
            is_served: false,
            seed_ratio: None,
            seed_seconds: None,
            idle_seconds: None,
            goal: Goal::default(),
            inherited: Goal::default(),
            trackers: None,
            added_at: unix_seconds(),
            completed_at: None,
            active_at: None,
            changed_at: 0,
            downloading_seconds: Stopwatch::default(),
            serving_seconds: Stopwatch::default(),
            files: 0,
            piece_length: 0,
            pieces: 0,
            trusted_pieces: 0,
            total_bytes: 0,
            verified_bytes: 0,
            wanted_bytes: 0,
            done_bytes: 0,
            downloaded_bytes: 0,
            uploaded_bytes: 0,
            wasted_bytes: 0,
            down_bytes_per_second: 0,
            up_bytes_per_second: 0,
            peers: 0,
            seeds: 0,
            seconds_left: None,
            announces: Vec::new(),
            tracker_seeds: None,
            n_restarts: 0,
            id: None,
            detail: Detail::default(),
        }
    }

    /// Returns `true` if another state of the torrent shows the same, except for times that only run on.
    #[expect(clippy::too_many_lines, reason = "one field after the other")]
    pub fn is_same(&self, other: &Self) -> bool {
        // All fields are named, so that a new one is not forgotten.
        let Self {
            identity,
            torrent,
            name,
            content,
            folder,
            is_folder,
            move_to,
            activity,
            is_download,
            is_complete,
            error,
            labels,
            category,
            is_paused,
            is_forced,
            queue_position,
            is_sequential,
            is_super_seeding,
            is_private,
            max_down,
            max_up,
            is_served,
            seed_ratio,
            seed_seconds,
            idle_seconds,
            goal,
            inherited,
            trackers,
            added_at,
            completed_at,
            active_at,
            changed_at: _,
            downloading_seconds: _,
            serving_seconds: _,
            files,
            piece_length,
            pieces,
            trusted_pieces,
            total_bytes,
            verified_bytes,
            wanted_bytes,
            done_bytes,
            downloaded_bytes,
            uploaded_bytes,
            wasted_bytes,
            down_bytes_per_second,
            up_bytes_per_second,
            peers,
            seeds,
            seconds_left,
            announces,
            tracker_seeds: _,
            n_restarts: _,
            id: _,
            detail: _,
        } = self;
        *identity == other.identity
            && *torrent == other.torrent
            && *name == other.name
            && *content == other.content
            && *folder == other.folder
            && *is_folder == other.is_folder
            && *move_to == other.move_to
            && *activity == other.activity
            && *is_download == other.is_download
            && *is_complete == other.is_complete
            && *error == other.error
            && *labels == other.labels
            && *category == other.category
            && *is_paused == other.is_paused
            && *is_forced == other.is_forced
            && *queue_position == other.queue_position
            && *is_sequential == other.is_sequential
            && *is_super_seeding == other.is_super_seeding
            && *is_private == other.is_private
            && *max_down == other.max_down
            && *max_up == other.max_up
            && *is_served == other.is_served
            && *seed_ratio == other.seed_ratio
            && *seed_seconds == other.seed_seconds
            && *idle_seconds == other.idle_seconds
            && *goal == other.goal
            && *inherited == other.inherited
            && *trackers == other.trackers
            && *added_at == other.added_at
            && *completed_at == other.completed_at
            && *active_at == other.active_at
            && *files == other.files
            && *piece_length == other.piece_length
            && *pieces == other.pieces
            && *trusted_pieces == other.trusted_pieces
            && *total_bytes == other.total_bytes
            && *verified_bytes == other.verified_bytes
            && *wanted_bytes == other.wanted_bytes
            && *done_bytes == other.done_bytes
            && *downloaded_bytes == other.downloaded_bytes
            && *uploaded_bytes == other.uploaded_bytes
            && *wasted_bytes == other.wasted_bytes
            && *down_bytes_per_second == other.down_bytes_per_second
            && *up_bytes_per_second == other.up_bytes_per_second
            && *peers == other.peers
            && *seeds == other.seeds
            && *seconds_left == other.seconds_left
            && *announces == other.announces
    }

    /// Returns `true` if the torrent is in the session with complete content, in its final place.
    pub(crate) fn is_in_place(&self) -> bool {
        self.is_complete && matches!(self.activity, Activity::Serving | Activity::Paused)
    }

    /// Returns an entry for each piece: whether it was present at the last verification.
    pub fn have(&self) -> &[bool] {
        &self.detail.have
    }

    /// Returns an entry for each piece: whether its content was wrong at the last verification or on arrival.
    pub fn wrong(&self) -> &[bool] {
        &self.detail.wrong
    }

    /// Returns the priority of each file except padding.
    pub fn priorities(&self) -> &[Priority] {
        &self.detail.priorities
    }

    /// Returns what the running verification has found.
    pub fn live_pieces(&self) -> Option<LivePieces> {
        let live = self.detail.live.as_ref()?.pieces();
        live.filter(|_| self.activity == Activity::Verifying)
    }

    /// Returns the result, if the torrent is over.
    pub fn outcome(&self) -> Option<Outcome> {
        self.detail.outcome
    }

    /// Returns the rates of the last minutes.
    pub fn rate_history(&self) -> &RateHistory {
        &self.detail.history
    }

    /// Returns the metadata, as [`TorrentHandle::metainfo`](crate::TorrentHandle::metainfo) does.
    pub fn metainfo(&self) -> Option<&Metainfo> {
        let of_files = self.detail.stored.as_ref().map(|stored| stored.torrent());
        of_files.or(self.detail.metainfo.as_ref())
    }

    /// Returns this state with the metadata of the torrent, for a program that has it without a client.
    #[must_use]
    pub fn with_metainfo(mut self, metainfo: Metainfo) -> Self {
        self.detail.metainfo = Some(metainfo);
        self
    }

    /// Returns the name in the metadata, or the torrent as the user named it.
    pub fn title(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.torrent)
    }
}

/// The snapshot of a torrent that its state machine changes. A change copies a snapshot that others still share.
#[derive(Debug)]
pub(crate) struct LiveSnapshot(Arc<TorrentSnapshot>);

impl LiveSnapshot {
    /// Returns the current state, which later changes do not affect.
    pub(crate) fn share(&self) -> Arc<TorrentSnapshot> {
        Arc::clone(&self.0)
    }

    /// Returns the current state while there are no connections for this reason: a torrent of the session is paused.
    pub(crate) fn without_network(&self, problem: &str) -> Arc<TorrentSnapshot> {
        let mut shared = self.share();
        if shared.id.is_some() {
            let copy = Arc::make_mut(&mut shared);
            copy.activity = Activity::Paused;
            copy.error = Some(problem.to_owned());
        }
        shared
    }
}

impl From<TorrentSnapshot> for LiveSnapshot {
    fn from(snapshot: TorrentSnapshot) -> Self {
        Self(Arc::new(snapshot))
    }
}

impl Deref for LiveSnapshot {
    type Target = TorrentSnapshot;

    fn deref(&self) -> &TorrentSnapshot {
        &self.0
    }
}

impl DerefMut for LiveSnapshot {
    fn deref_mut(&mut self) -> &mut TorrentSnapshot {
        Arc::make_mut(&mut self.0)
    }
}

/// Returns the current time in seconds since 1970.
pub fn unix_seconds() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

/// The activity of a torrent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Activity {
    /// Waits for its .torrent file or its verification.
    Waiting,
    /// Requests its metadata from peers.
    Metadata,
    /// Verifies its content.
    Verifying,
    /// Waits for the answer whether wrong files may be replaced.
    ///
    /// [`Event::Confirm`](crate::Event::Confirm) asks for it.
    Confirming,
    /// Requests missing pieces from peers and web seeds.
    Downloading,
    /// Moves its complete content to another folder.
    Moving,
    /// Serves its content.
    Serving,
    /// Transfers nothing until it is resumed.
    Paused,
    /// Waits for its turn in the queue, which only a daemon has.
    Queued,
    /// Waits for content that is not present.
    Absent,
    /// Has ended.
    Ended,
    /// Has failed.
    Failed,
}

impl Activity {
    /// All activities.
    pub const ALL: [Self; 12] = [
        Self::Waiting,
        Self::Metadata,
        Self::Verifying,
        Self::Confirming,
        Self::Downloading,
        Self::Moving,
        Self::Serving,
        Self::Paused,
        Self::Queued,
        Self::Absent,
        Self::Ended,
        Self::Failed,
    ];

    /// Returns the name in lower case, as in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Metadata => "metadata",
            Self::Verifying => "verifying",
            Self::Confirming => "confirming",
            Self::Downloading => "downloading",
            Self::Moving => "moving",
            Self::Serving => "serving",
            Self::Paused => "paused",
            Self::Queued => "queued",
            Self::Absent => "absent",
            Self::Ended => "ended",
            Self::Failed => "failed",
        }
    }

    /// Returns `true` if the torrent has ended or failed.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Ended | Self::Failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Activity::{Ended, Failed, Serving, Waiting};
    use hashlane_api::InfoHash;
    use hashlane_metainfo::InfoHashes;

    #[test]
    fn an_info_hash_names_the_torrent_that_runs_or_the_last_one() {
        let v1 = [0xA5; 20].into();
        let torrent = |number, activity| TorrentSnapshot {
            identity: Identity {
                number,
                info_hashes: (number > 0).then_some(InfoHashes::V1(v1)),
            },
            activity,
            ..TorrentSnapshot::new(number, "torrent")
        };
        let find = |activities: &[Activity]| {
            let torrents = (0..).zip(activities);
            let torrents = torrents.map(|(number, activity)| torrent(number, *activity));
            let snapshot = Snapshot {
                torrents: torrents.map(Arc::new).collect(),
                ..Snapshot::default()
            };
            let found = snapshot.find(TorrentKey::InfoHash(InfoHash::V1(v1)));
            found.map(|found| found.identity.number)
        };
        assert_eq!(find(&[Waiting]), None);
        assert_eq!(find(&[Waiting, Ended, Serving, Failed]), Some(2));
        assert_eq!(find(&[Waiting, Ended, Failed]), Some(2));
    }
}
