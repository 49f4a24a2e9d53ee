//! The fields of a torrent.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::Arc;

use data_encoding::BASE64;
use hashlane_api::{Priority, Target};
use hashlane_client::{TorrentFile, TorrentSnapshot};
use hashlane_metainfo::host_and_port;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::labels;
use crate::model::{Control, Tracker, minutes, now};
use crate::torrent::{Shown as _, State, part, seconds};

/// Ratio of a torrent that has received and sent nothing (`TR_RATIO_NA`).
const NO_RATIO: f64 = -1.0;

/// Time that is not known (`TR_ETA_NOT_AVAIL`).
const NO_TIME: i64 = -1;

/// Number of peers that a tracker did not say.
const UNKNOWN: i64 = -1;

/// A field: its name, and the function that returns its value.
pub(super) type Field = (&'static str, fn(&mut View<'_>) -> Value);

/// The fields of `torrent-get` (rpc-spec.md of Transmission 4.0), in the order of its table.
const FIELDS: &[Field] = &[
    ("activityDate", |view| json!(view.torrent.last_active())),
    // The time of edits is not recorded.
    ("editDate", |view| json!(view.torrent.added_at)),
    ("addedDate", |view| json!(view.torrent.added_at)),
    ("availability", |view| json!(view.availability())),
    ("bandwidthPriority", |_| json!(0)),
    ("comment", |view| json!(view.torrent.comment())),
    ("corruptEver", |view| json!(view.torrent.wasted_bytes)),
    ("creator", |view| json!(view.torrent.creator())),
    ("dateCreated", |view| {
        json!(view.torrent.created().unwrap_or(0))
    }),
    ("desiredAvailable", |view| {
        let is_available = view.torrent.seeds > 0;
        json!(if is_available { view.torrent.left() } else { 0 })
    }),
    ("doneDate", |view| {
        json!(view.torrent.completed_at.unwrap_or(0))
    }),
    ("downloadDir", |view| json!(view.torrent.content_folder())),
    ("downloadedEver", |view| {
        json!(view.torrent.downloaded_bytes)
    }),
    ("downloadLimit", |view| {
        json!(kilobytes(view.torrent.rates().down.map(NonZeroU32::get)))
    }),
    ("downloadLimited", |view| {
        json!(view.torrent.rates().down.is_some())
    }),
    // 3 is TR_STAT_LOCAL_ERROR.
    ("error", |view| {
        json!(if view.torrent.failure().is_some() {
            3
        } else {
            0
        })
    }),
    ("errorString", |view| {
        json!(view.torrent.failure().unwrap_or(""))
    }),
    ("eta", |view| {
        let left = view.torrent.whole_seconds_left();
        json!(left.map_or(NO_TIME, |left| i64::try_from(left).unwrap_or(i64::MAX)))
    }),
    ("etaIdle", |_| json!(NO_TIME)),
    ("file-count", |view| json!(view.torrent.files)),
    ("fileCount", |view| json!(view.torrent.files)),
    ("files", |view| view.files().iter().map(file).collect()),
    ("fileStats", |view| {
        view.files().iter().map(file_stats).collect()
    }),
    ("group", |_| json!("")),
    ("hashString", |view| json!(view.torrent.short_hash())),
    ("haveUnchecked", |_| json!(0)),
    ("haveValid", |view| json!(view.torrent.done_bytes)),
    ("honorsSessionLimits", |_| json!(true)),
    ("id", |view| json!(view.torrent.identity.number)),
    ("isFinished", |view| json!(is_finished(view.torrent))),
    ("isPrivate", |view| json!(view.torrent.is_private)),
    ("isStalled", |view| json!(is_stalled(view.torrent))),
    ("labels", |view| json!(labels::shown(view.torrent))),
    ("leftUntilDone", |view| json!(view.torrent.left())),
    ("magnetLink", |view| json!(view.torrent.magnet())),
    ("manualAnnounceTime", |_| json!(NO_TIME)),
    ("maxConnectedPeers", |view| {
        json!(view.control.session().max_peers.unwrap_or(0))
    }),
    ("peer-limit", |view| {
        json!(view.control.session().max_peers.unwrap_or(0))
    }),
    ("metadataPercentComplete", |view| {
        json!(if view.torrent.has_metadata() {
            1.0
        } else {
            0.0
        })
    }),
    ("name", |view| json!(view.torrent.torrent)),
    ("peers", |view| {
        view.control
            .peers(view.torrent.identity.number)
            .iter()
            .map(peer)
            .collect()
    }),
    ("peersConnected", |view| json!(view.torrent.peers)),
    ("peersFrom", |view| peers_from(view.torrent)),
    ("peersGettingFromUs", |view| {
        json!(view.count_peers(|peer| peer.up_rate > 0))
    }),
    ("peersSendingToUs", |view| {
        json!(view.count_peers(|peer| peer.down_rate > 0))
    }),
    ("percentComplete", |view| {
        json!(part(view.torrent.done_bytes, view.torrent.total_bytes))
    }),
    ("percentDone", |view| json!(view.torrent.progress())),
    ("pieceCount", |view| json!(view.torrent.pieces)),
    ("pieces", |view| {
        json!(bitfield(&view.control.pieces(view.torrent.identity.number)))
    }),
    ("pieceSize", |view| json!(view.torrent.piece_length)),
    ("primary-mime-type", |_| json!("application/octet-stream")),
    ("priorities", |view| {
        let files = view.files().iter();
        files.map(|file| priority(file.priority)).collect()
    }),
    ("queuePosition", |view| json!(view.torrent.position())),
    ("rateDownload", |view| {
        json!(view.torrent.down_bytes_per_second)
    }),
    ("rateUpload", |view| json!(view.torrent.up_bytes_per_second)),
    ("recheckProgress", |view| {
        let is_checked = view.torrent.state() == State::Verifies;
        json!(if is_checked {
            part(view.torrent.verified_bytes, view.torrent.total_bytes)
        } else {
            0.0
        })
    }),
    ("secondsDownloading", |view| {
        json!(seconds(view.torrent.downloading_seconds))
    }),
    ("secondsSeeding", |view| {
        json!(seconds(view.torrent.serving_seconds))
    }),
    ("seedIdleLimit", |view| {
        json!(goal(view.torrent.goal_in_force().idle.map(minutes)))
    }),
    ("seedIdleMode", |view| {
        json!(mode(&view.torrent.goal_in_force().idle.map(minutes)))
    }),
    ("seedRatioLimit", |view| {
        json!(goal(view.torrent.goal_in_force().ratio))
    }),
    ("seedRatioMode", |view| {
        json!(mode(&view.torrent.goal_in_force().ratio))
    }),
    ("sequentialDownload", |view| {
        json!(view.torrent.is_sequential)
    }),
    ("sizeWhenDone", |view| json!(view.torrent.wanted_bytes)),
    ("startDate", |view| json!(view.torrent.added_at)),
    ("status", |view| json!(status(view.torrent.state()))),
    ("torrentFile", |_| json!("")),
    ("totalSize", |view| json!(view.torrent.total_bytes)),
    ("trackerList", |view| json!(tracker_list(view.trackers()))),
    ("trackers", |view| {
        view.trackers().iter().enumerate().map(tracker).collect()
    }),
    ("trackerStats", |view| {
        view.trackers()
            .iter()
            .enumerate()
            .map(tracker_stats)
            .collect()
    }),
    ("uploadedEver", |view| json!(view.torrent.uploaded_bytes)),
    ("uploadLimit", |view| {
        json!(kilobytes(view.torrent.rates().up.map(NonZeroU32::get)))
    }),
    ("uploadLimited", |view| {
        json!(view.torrent.rates().up.is_some())
    }),
    ("uploadRatio", |view| {
        json!(view.torrent.ratio().unwrap_or(NO_RATIO))
    }),
    ("wanted", |view| {
        let files = view.files().iter();
        files
            .map(|file| i32::from(file.priority.is_selected()))
            .collect()
    }),
    ("webseeds", |_| json!([])),
    ("webseedsSendingToUs", |_| json!(0)),
];

/// Returns the field with a name; `None` for a name that the specification does not have.
pub(super) fn field(name: &str) -> Option<&'static Field> {
    FIELDS.iter().find(|field| field.0 == name)
}

/// A row of a list of torrents. Its values are asked for when it is written, so that those of one torrent are in memory.
pub(super) enum Row<'a> {
    /// The first row of a table: the names of the fields.
    Head(Arc<[&'static Field]>),
    Torrent {
        control: &'a dyn Control,
        torrent: &'a TorrentSnapshot,
        fields: Arc<[&'static Field]>,
        /// Whether the row is a list of values, and not an object.
        is_table: bool,
    },
}

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Head(fields) => serializer.collect_seq(fields.iter().map(|(name, _)| name)),
            Self::Torrent {
                control,
                torrent,
                fields,
                is_table,
            } => {
                let view = &mut View::new(*control, torrent);
                let pairs = fields.iter().map(|(name, value)| (*name, value(view)));
                if *is_table {
                    return serializer.collect_seq(pairs.map(|(_, value)| value));
                }
                // A field that was asked for twice is there once.
                pairs.collect::<BTreeMap<_, _>>().serialize(serializer)
            }
        }
    }
}

/// A torrent in an answer. Its files, peers, trackers and pieces are asked for once, and only if a field needs them.
pub(super) struct View<'a> {
    control: &'a dyn Control,
    torrent: &'a TorrentSnapshot,
    files: Option<Vec<TorrentFile>>,
    trackers: Option<Vec<Tracker>>,
}

impl<'a> View<'a> {
    fn new(control: &'a dyn Control, torrent: &'a TorrentSnapshot) -> Self {
        Self {
            control,
            torrent,
            files: None,
            trackers: None,
        }
    }

    fn files(&mut self) -> &[TorrentFile] {
        let (control, number) = (self.control, self.torrent.identity.number);
        self.files.get_or_insert_with(|| {
            let files = control.files(number).into_iter();
            files.map(|(file, _)| file).collect()
        })
    }

    fn trackers(&mut self) -> &[Tracker] {
        let (control, number) = (self.control, self.torrent.identity.number);
        self.trackers
            .get_or_insert_with(|| control.trackers(number))
    }

    fn count_peers(&self, is_counted: impl Fn(&crate::model::Peer) -> bool) -> usize {
        if self.torrent.peers == 0 {
            return 0;
        }
        let peers = self.control.peers(self.torrent.identity.number);
        peers.iter().filter(|peer| is_counted(peer)).count()
    }

    /// Returns -1 for each present piece, and otherwise the number of peers that have all pieces.
    fn availability(&self) -> Vec<i64> {
        let n_seeds = i64::from(self.torrent.seeds);
        let pieces = self.control.pieces(self.torrent.identity.number);
        pieces
            .iter()
            .map(|is_present| if *is_present { -1 } else { n_seeds })
            .collect()
    }
}

fn kilobytes(bytes: Option<u32>) -> u32 {
    bytes.unwrap_or(0) / 1000
}

fn status(state: State) -> u8 {
    match state {
        State::Stopped => 0,
        State::WaitsToVerify => 1,
        State::Verifies => 2,
        State::WaitsToDownload => 3,
        // Transmission has no state for a move.
        State::Downloads | State::Moves => 4,
        State::WaitsToSeed => 5,
        State::Seeds => 6,
    }
}

/// Returns whether seeding has ended because its goal is reached.
fn is_finished(torrent: &TorrentSnapshot) -> bool {
    torrent.state() == State::Stopped && torrent.failure().is_none() && {
        let Target::At(ratio) = torrent.goal_in_force().ratio else {
            return false;
        };
        torrent.has_selected() && torrent.ratio().is_some_and(|reached| reached >= ratio)
    }
}

/// Returns whether an active torrent transfers nothing.
fn is_stalled(torrent: &TorrentSnapshot) -> bool {
    matches!(torrent.state(), State::Downloads | State::Seeds)
        && torrent.down_bytes_per_second + torrent.up_bytes_per_second == 0
}

fn goal<T: Default>(goal: Target<T>) -> T {
    match goal {
        Target::At(value) => value,
        Target::Inherited | Target::Never => T::default(),
    }
}

fn mode<T>(goal: &Target<T>) -> u8 {
    match goal {
        Target::Inherited => 0,
        Target::At(_) => 1,
        Target::Never => 2,
    }
}

fn priority(priority: Priority) -> i32 {
    match priority {
        Priority::Low => -1,
        Priority::Skip | Priority::Normal => 0,
        Priority::High => 1,
    }
}

fn file(file: &TorrentFile) -> Value {
    let done = file.done_bytes.unwrap_or(0);
    json!({ "name": file.path, "length": file.length_bytes, "bytesCompleted": done })
}

fn file_stats(file: &TorrentFile) -> Value {
    json!({
        "bytesCompleted": file.done_bytes.unwrap_or(0),
        "wanted": file.priority.is_selected(),
        "priority": priority(file.priority),
    })
}

fn peer(peer: &crate::model::Peer) -> Value {
    let mut flags = String::new();
    for (flag, is_set) in [
        ('T', peer.is_utp),
        ('D', peer.down_rate > 0),
        ('U', peer.up_rate > 0),
        ('E', peer.is_encrypted),
        ('I', peer.is_incoming),
    ] {
        flags.extend(is_set.then_some(flag));
    }
    json!({
        "address": peer.address.ip().to_string(),
        "port": peer.address.port(),
        "clientName": peer.client,
        "clientIsChoked": peer.down_rate == 0,
        "clientIsInterested": peer.down_rate > 0,
        "flagStr": flags,
        "isDownloadingFrom": peer.down_rate > 0,
        "isEncrypted": peer.is_encrypted,
        "isIncoming": peer.is_incoming,
        "isUploadingTo": peer.up_rate > 0,
        "isUTP": peer.is_utp,
        "peerIsChoked": peer.up_rate == 0,
        "peerIsInterested": peer.up_rate > 0,
        "progress": peer.progress,
        "rateToClient": peer.down_rate,
        "rateToPeer": peer.up_rate,
    })
}

/// Returns where peers come from. The session does not say it, so the tracker stands for all.
fn peers_from(torrent: &TorrentSnapshot) -> Value {
    json!({
        "fromCache": 0,
        "fromDht": 0,
        "fromIncoming": 0,
        "fromLpd": 0,
        "fromLtep": 0,
        "fromPex": 0,
        "fromTracker": torrent.peers,
    })
}

/// Returns a bit for each piece, from the highest bit of the first byte on, in Base64.
fn bitfield(pieces: &[bool]) -> String {
    let bytes: Vec<u8> = pieces
        .chunks(8)
        .map(|bits| {
            let bits = bits.iter().zip((0..8).rev());
            bits.fold(0, |byte, (is_present, shift)| {
                byte | u8::from(*is_present) << shift
            })
        })
        .collect();
    BASE64.encode(&bytes)
}

/// Returns the URLs, a line each, with an empty line between tiers.
fn tracker_list(trackers: &[Tracker]) -> String {
    let mut list = String::new();
    let mut tier = trackers.first().map_or(0, |tracker| tracker.tier);
    for tracker in trackers {
        if tracker.tier != tier {
            tier = tracker.tier;
            list.push('\n');
        }
        list.push_str(&tracker.url);
        list.push('\n');
    }
    list
}

/// Returns the scrape URL of a tracker, by the convention that replaces `announce` in the last part of the path.
fn scrape_url(url: &str) -> String {
    match url.rsplit_once('/') {
        Some((start, last)) if last.starts_with("announce") => {
            format!("{start}/scrape{}", &last["announce".len()..])
        }
        _ => String::new(),
    }
}

/// Returns the name of a site: the part before the last dot of its host, as Transmission groups trackers.
fn site(url: &str) -> String {
    let host = host_and_port(url);
    let host = host.rsplit_once(':').map_or(host, |(name, _)| name);
    let is_address = host.starts_with('[') || host.parse::<std::net::IpAddr>().is_ok();
    if is_address {
        return host.to_owned();
    }
    let mut parts = host.rsplit('.');
    let last = parts.next().unwrap_or(host);
    parts.next().unwrap_or(last).to_owned()
}

fn tracker((id, tracker): (usize, &Tracker)) -> Value {
    json!({
        "announce": tracker.url,
        "id": id,
        "scrape": scrape_url(&tracker.url),
        "sitename": site(&tracker.url),
        "tier": tracker.tier,
    })
}

fn tracker_stats((id, tracker): (usize, &Tracker)) -> Value {
    let (is_right, message) = match &tracker.announced {
        None => (false, ""),
        Some(Ok(())) => (true, "Success"),
        Some(Err(reason)) => (false, reason.as_str()),
    };
    // Of a tracker: 0 inactive, 1 waiting, 3 active.
    let announce_state = match (tracker.is_announcing, tracker.next_seconds) {
        (true, _) => 3,
        (false, Some(_)) => 1,
        (false, None) => 0,
    };
    let now = now();
    let next = tracker
        .next_seconds
        .map_or(0, |seconds| now + u64::from(seconds));
    // Programs show how long ago that was. The numbers of peers come with the answer to an announce.
    let answered = tracker.answered.unwrap_or(0);
    // An announce lasts for seconds, so that it started about now.
    let started = if tracker.is_announcing { now } else { answered };
    let has_counts = tracker.seeds.is_some() && tracker.answered.is_some();
    let count = |peers: Option<u32>| peers.map_or(UNKNOWN, i64::from);
    json!({
        "announce": tracker.url,
        "announceState": announce_state,
        "downloadCount": UNKNOWN,
        "hasAnnounced": tracker.announced.is_some() && tracker.answered.is_some(),
        "hasScraped": has_counts,
        "host": host_and_port(&tracker.url),
        "id": id,
        "isBackup": false,
        "lastAnnouncePeerCount": 0,
        "lastAnnounceResult": message,
        "lastAnnounceStartTime": started,
        "lastAnnounceSucceeded": is_right,
        "lastAnnounceTime": answered,
        "lastAnnounceTimedOut": false,
        "lastScrapeResult": "",
        "lastScrapeStartTime": answered,
        "lastScrapeSucceeded": has_counts,
        "lastScrapeTime": answered,
        "lastScrapeTimedOut": false,
        "leecherCount": count(tracker.leeches),
        "nextAnnounceTime": next,
        "nextScrapeTime": 0,
        "scrape": scrape_url(&tracker.url),
        "scrapeState": 0,
        "seederCount": count(tracker.seeds),
        "sitename": site(&tracker.url),
        "tier": tracker.tier,
    })
}
