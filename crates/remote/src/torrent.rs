//! What the protocols show of a torrent, as far as it is not a field of a snapshot.

use std::num::NonZeroU32;
use std::path::Path;
use std::time::Duration;

use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};
use hashlane_api::{Goal, Rates};
use hashlane_client::{Activity, Metainfo, SecretTiers, Stopwatch, TorrentSnapshot};
use hashlane_metainfo::{InfoHashes, Magnet, MetadataRef, Text};

/// The info-hash by which programs know a torrent: that of version 1, or that of version 2 cut to its length.
pub(crate) type ShortHash = [u8; 20];

/// What a torrent does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Paused, ended or failed.
    Stopped,
    /// Waits for its verification.
    WaitsToVerify,
    /// Verifies its content.
    Verifies,
    /// Waits for its turn to download.
    WaitsToDownload,
    /// Downloads its content or its metadata.
    Downloads,
    /// Moves its content to another folder.
    Moves,
    /// Waits for its turn to seed.
    WaitsToSeed,
    /// Seeds its complete content.
    Seeds,
}

/// A torrent as the protocols see it.
pub(crate) trait Shown {
    fn state(&self) -> State;

    /// Returns the reason why the torrent failed or waits. Programs take any error for a failed download, but damaged content is
    /// served.
    fn failure(&self) -> Option<&str>;

    fn has_metadata(&self) -> bool;

    fn content_folder(&self) -> &str;

    /// Returns the path of the content: a file in the folder, or the folder of the files. Empty before it is known.
    fn content_path(&self) -> &str;

    /// Returns the comment in the metadata.
    fn comment(&self) -> String;

    /// Returns the program that made the torrent.
    fn creator(&self) -> String;

    /// Returns the time of creation in the metadata.
    fn created(&self) -> Option<u64>;

    /// Returns the URL of the first tracker, with its secrets.
    fn first_tracker(&self) -> Option<String>;

    /// Returns the number of trackers in all tiers.
    fn n_trackers(&self) -> usize;

    /// Returns the time at which content was last sent or received, or that of the addition if it never was.
    fn last_active(&self) -> u64;

    /// Returns the seconds until the download is complete at this rate.
    fn whole_seconds_left(&self) -> Option<u64>;

    /// Returns the position in the queue, from 0.
    fn position(&self) -> u64;

    /// Returns the rate limits that a person chose.
    fn rates(&self) -> Rates;

    /// Returns the goal that applies: that of the torrent, or else that of its category and labels. The goal of the client applies
    /// where there is none of either.
    fn goal_in_force(&self) -> Goal;

    /// Returns the magnet link: both info-hashes and the name, without trackers.
    fn magnet(&self) -> String;

    /// Returns the info-hash by which programs know the torrent; zeros before any is known.
    fn hash(&self) -> ShortHash;

    /// Returns [`Self::hash`] as text.
    fn short_hash(&self) -> String {
        HEXLOWER.encode(&self.hash())
    }

    /// Returns the present part of the selected files, from 0 to 1.
    fn progress(&self) -> f64;

    /// Returns the bytes of selected files that are missing.
    fn left(&self) -> u64;

    /// Returns whether the selected files are complete.
    fn has_selected(&self) -> bool {
        self.has_metadata() && self.left() == 0
    }

    /// Returns the sent bytes as a multiple of the received bytes, or of the length of the selected files if fewer bytes were
    /// received; `None` while neither is known. Goals count the same ratio.
    fn ratio(&self) -> Option<f64>;
}

impl Shown for TorrentSnapshot {
    fn state(&self) -> State {
        match self.activity {
            // For space, or another condition of the system.
            Activity::Waiting if self.failure().is_some() => State::WaitsToDownload,
            Activity::Waiting => State::WaitsToVerify,
            Activity::Verifying => State::Verifies,
            Activity::Metadata | Activity::Downloading => State::Downloads,
            Activity::Moving => State::Moves,
            Activity::Queued if self.is_complete => State::WaitsToSeed,
            Activity::Queued => State::WaitsToDownload,
            Activity::Serving => State::Seeds,
            Activity::Confirming
            | Activity::Paused
            | Activity::Absent
            | Activity::Ended
            | Activity::Failed => State::Stopped,
        }
    }

    fn failure(&self) -> Option<&str> {
        let is_damaged = self.activity == Activity::Serving && !self.is_complete;
        self.error.as_deref().filter(|_| !is_damaged)
    }

    fn has_metadata(&self) -> bool {
        // Every torrent has a file.
        self.files > 0
    }

    fn content_folder(&self) -> &str {
        self.folder.as_deref().unwrap_or_else(|| {
            let parent = Path::new(self.content_path()).parent();
            parent.and_then(Path::to_str).unwrap_or("")
        })
    }

    fn content_path(&self) -> &str {
        self.content.as_deref().unwrap_or("")
    }

    fn comment(&self) -> String {
        text(keys(self).and_then(|keys| keys.comment))
    }

    fn creator(&self) -> String {
        text(keys(self).and_then(|keys| keys.created_by))
    }

    fn created(&self) -> Option<u64> {
        u64::try_from(keys(self)?.creation_date?).ok()
    }

    fn first_tracker(&self) -> Option<String> {
        if let Some(SecretTiers(tiers)) = &self.trackers {
            return tiers.iter().flatten().next().cloned();
        }
        let keys = keys(self)?;
        let mut urls = keys.trackers().flat_map(|tier| tier.urls());
        urls.next().map(|url| url.to_string())
    }

    fn n_trackers(&self) -> usize {
        if let Some(SecretTiers(tiers)) = &self.trackers {
            return tiers.iter().map(Vec::len).sum();
        }
        let keys = keys(self);
        let tiers = keys.iter().flat_map(MetadataRef::trackers);
        tiers.flat_map(|tier| tier.urls()).count()
    }

    fn last_active(&self) -> u64 {
        self.active_at.unwrap_or(self.added_at)
    }

    fn whole_seconds_left(&self) -> Option<u64> {
        self.seconds_left.map(whole)
    }

    fn position(&self) -> u64 {
        self.queue_position.unwrap_or(0)
    }

    fn rates(&self) -> Rates {
        Rates {
            down: self.max_down.and_then(NonZeroU32::new),
            up: self.max_up.and_then(NonZeroU32::new),
        }
    }

    fn goal_in_force(&self) -> Goal {
        self.goal.or(self.inherited)
    }

    fn magnet(&self) -> String {
        let Some(info_hashes) = self.identity.info_hashes else {
            return String::new();
        };
        let mut magnet = Magnet::new(info_hashes);
        magnet.name = Some(self.torrent.clone());
        magnet.to_string()
    }

    fn hash(&self) -> ShortHash {
        short_hash_of(self.identity.info_hashes)
    }

    fn progress(&self) -> f64 {
        if self.has_metadata() {
            part(self.done_bytes, self.wanted_bytes)
        } else {
            0.0
        }
    }

    fn left(&self) -> u64 {
        self.wanted_bytes.saturating_sub(self.done_bytes)
    }

    #[expect(clippy::cast_precision_loss, reason = "programs show few digits")]
    fn ratio(&self) -> Option<f64> {
        let base = self.downloaded_bytes.max(self.wanted_bytes);
        (base > 0).then(|| self.uploaded_bytes as f64 / base as f64)
    }
}

fn keys(torrent: &TorrentSnapshot) -> Option<MetadataRef<'_>> {
    torrent.metainfo().map(Metainfo::metadata_ref)
}

fn text(text: Option<Text<'_>>) -> String {
    text.map_or_else(String::new, |text| text.to_string())
}

/// Returns the info-hash by which programs know a torrent; zeros if there is none.
pub(crate) fn short_hash_of(info_hashes: Option<InfoHashes>) -> ShortHash {
    let Some(info_hashes) = info_hashes else {
        return ShortHash::default();
    };
    match (info_hashes.v1(), info_hashes.v2()) {
        (Some(v1), _) => v1.into(),
        (None, v2) => {
            let long: [u8; 32] = v2.map_or([0; 32], Into::into);
            std::array::from_fn(|position| long[position])
        }
    }
}

/// Returns the info-hash by which a program names a torrent.
pub(crate) fn parse_hash(text: &str) -> Option<ShortHash> {
    let bytes = HEXLOWER_PERMISSIVE.decode(text.as_bytes());
    bytes.ok()?.try_into().ok()
}

/// Returns whole seconds.
pub(crate) fn seconds(time: Stopwatch) -> u64 {
    whole(time.seconds())
}

fn whole(seconds: f64) -> u64 {
    Duration::try_from_secs_f64(seconds).map_or(0, |time| time.as_secs())
}

/// Returns the part of all bytes, from 0 to 1. Nothing is complete.
#[expect(clippy::cast_precision_loss, reason = "programs show few digits")]
pub(crate) fn part(bytes: u64, all: u64) -> f64 {
    if all == 0 {
        1.0
    } else {
        bytes.min(all) as f64 / all as f64
    }
}
