//! What there is to see, at one moment.

use std::collections::VecDeque;
use std::path::Path;
use std::time::{Duration, Instant};

use hashlane_swarm::{State, Status, TorrentId};
use serde::Serialize;

use super::local::Local;
use crate::swarm_args::Network;

/// All torrents of a session.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Snapshot {
    pub(super) torrents: Vec<TorrentView>,
    /// The most bytes a second; none for no limit.
    pub(super) max_down: Option<u32>,
    pub(super) max_up: Option<u32>,
}

impl Snapshot {
    pub(super) fn new<'v>(views: impl Iterator<Item = &'v TorrentView>, network: &Network) -> Self {
        Self {
            torrents: views.cloned().collect(),
            max_down: network.max_down,
            max_up: network.max_up,
        }
    }
}

/// One torrent.
#[derive(Clone, Debug, Serialize)]
pub(super) struct TorrentView {
    /// Its place on the command line, from 0 on.
    pub(super) number: usize,
    /// As it was given.
    pub(super) torrent: String,
    /// Not known of a magnet link without metadata.
    pub(super) name: Option<String>,
    /// Where its content is.
    pub(super) content: Option<String>,
    pub(super) activity: Activity,
    /// Why it cannot be gone on with.
    pub(super) error: Option<String>,
    pub(super) pieces: u32,
    /// Of all files, whether wanted or not.
    pub(super) total_bytes: u64,
    pub(super) wanted_bytes: u64,
    pub(super) done_bytes: u64,
    pub(super) downloaded_bytes: u64,
    pub(super) uploaded_bytes: u64,
    pub(super) wasted_bytes: u64,
    pub(super) down_bytes_per_second: u64,
    pub(super) up_bytes_per_second: u64,
    pub(super) peers: u32,
    /// Those of them that have everything.
    pub(super) seeds: u32,
    /// What the rest takes at this rate.
    pub(super) seconds_left: Option<f64>,
    /// What the session calls it.
    #[serde(skip)]
    pub(super) id: Option<TorrentId>,
    /// When how much had been received and sent, the oldest first.
    #[serde(skip)]
    samples: VecDeque<(Instant, u64, u64)>,
}

/// Over how long rates are taken.
const WINDOW: Duration = Duration::from_secs(4);

/// What a torrent does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Activity {
    /// Nothing yet.
    Waiting,
    /// Looks for its metadata.
    Metadata,
    Downloading,
    Serving,
    Paused,
    /// It is done with.
    Ended,
    /// It cannot be gone on with.
    Failed,
}

impl Activity {
    pub(super) const ALL: [Self; 7] = [
        Self::Waiting,
        Self::Metadata,
        Self::Downloading,
        Self::Serving,
        Self::Paused,
        Self::Ended,
        Self::Failed,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Metadata => "metadata",
            Self::Downloading => "downloading",
            Self::Serving => "serving",
            Self::Paused => "paused",
            Self::Ended => "ended",
            Self::Failed => "failed",
        }
    }
}

impl TorrentView {
    pub(super) fn new(number: usize, torrent: &str) -> Self {
        Self {
            number,
            torrent: torrent.to_owned(),
            name: None,
            content: None,
            activity: Activity::Waiting,
            error: None,
            pieces: 0,
            total_bytes: 0,
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
            id: None,
            samples: VecDeque::new(),
        }
    }

    /// Its metadata is known.
    pub(super) fn is_local(&mut self, local: &Local) {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        self.name = Some(local.name.clone());
        self.content = Some(text(&local.root));
        self.pieces = local.n_pieces;
        self.total_bytes = local.length;
    }

    /// It is in the session.
    pub(super) fn joins(&mut self, id: TorrentId, activity: Activity) {
        (self.id, self.activity) = (Some(id), activity);
    }

    /// It is not in the session any more.
    pub(super) fn leaves(&mut self, activity: Activity) {
        (self.id, self.activity) = (None, activity);
        (self.down_bytes_per_second, self.up_bytes_per_second) = (0, 0);
        self.samples.clear();
        (self.peers, self.seeds, self.seconds_left) = (0, 0, None);
    }

    /// It cannot be gone on with.
    pub(super) fn fails(&mut self, error: String) {
        self.leaves(Activity::Failed);
        self.error = Some(error);
    }

    /// How far it is now.
    pub(super) fn update(&mut self, status: &Status) {
        self.activity = match status.state {
            State::Metadata => Activity::Metadata,
            State::Downloading => Activity::Downloading,
            State::Finished | State::Seeding => Activity::Serving,
            State::Stopped => Activity::Paused,
        };
        self.wanted_bytes = status.wanted;
        self.done_bytes = status.wanted_done;
        self.downloaded_bytes = status.downloaded;
        self.uploaded_bytes = status.uploaded;
        self.wasted_bytes = status.wasted;
        (self.down_bytes_per_second, self.up_bytes_per_second) = self.rates(Instant::now());
        self.peers = status.peers;
        self.seeds = status.seeds;
        let left = status.wanted.saturating_sub(status.wanted_done);
        #[expect(clippy::cast_precision_loss, reason = "nobody knows it so exactly")]
        let seconds = left as f64 / self.down_bytes_per_second as f64;
        self.seconds_left = (left > 0 && self.down_bytes_per_second > 0).then_some(seconds);
    }

    /// Bytes a second received and sent, of late: libtorrent's own figures take long to settle.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "nobody knows it so exactly, and it is not negative"
    )]
    fn rates(&mut self, now: Instant) -> (u64, u64) {
        let (down, up) = (self.downloaded_bytes, self.uploaded_bytes);
        self.samples.push_back((now, down, up));
        // One that is older than the window is its beginning.
        while self
            .samples
            .get(1)
            .is_some_and(|(when, ..)| now - *when >= WINDOW)
        {
            self.samples.pop_front();
        }
        let (since, down_then, up_then) = self.samples[0];
        let seconds = (now - since).as_secs_f64();
        let rate = |bytes: u64| {
            if seconds > 0.0 {
                (bytes as f64 / seconds) as u64
            } else {
                0
            }
        };
        (
            rate(down.saturating_sub(down_then)),
            rate(up.saturating_sub(up_then)),
        )
    }

    /// What people call it.
    pub(super) fn title(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.torrent)
    }
}
