//! A torrent as programs see it.

use std::num::NonZeroU32;
use std::path::Path;
use std::time::Duration;

use hashlane_api::Rates;
use hashlane_client::{Activity, Metainfo, SecretTiers, TorrentSnapshot};
use hashlane_metainfo::{MetadataRef, Text};
use hashlane_remote::model::{State, Torrent};
use hashlane_session::DAMAGED;

fn state(activity: Activity) -> State {
    match activity {
        Activity::Waiting => State::WaitsToVerify,
        Activity::Verifying => State::Verifies,
        Activity::Metadata | Activity::Downloading => State::Downloads,
        Activity::Moving => State::Moves,
        Activity::Queued => State::WaitsToDownload,
        Activity::Serving => State::Seeds,
        Activity::Confirming
        | Activity::Paused
        | Activity::Absent
        | Activity::Ended
        | Activity::Failed => State::Stopped,
    }
}

/// Returns a torrent as programs see it; `None` if its number is too large for them.
#[expect(clippy::too_many_lines, reason = "one field after the other")]
pub(super) fn torrent(it: &TorrentSnapshot) -> Option<Torrent> {
    let keys = it.metainfo().map(Metainfo::metadata_ref);
    let text = |text: Option<Text<'_>>| text.map_or_else(String::new, |text| text.to_string());
    let of_metainfo = || {
        let tiers = keys.iter().flat_map(MetadataRef::trackers);
        let mut urls = tiers.flat_map(|tier| tier.urls());
        let first = urls.next().map(|url| url.to_string());
        let n_urls = first.iter().count() + urls.count();
        (first, n_urls)
    };
    let (tracker, n_trackers) = match &it.trackers {
        Some(SecretTiers(tiers)) => (
            tiers.iter().flatten().next().cloned(),
            tiers.iter().map(Vec::len).sum(),
        ),
        None => of_metainfo(),
    };
    let error = it.error.as_ref().filter(|error| *error != DAMAGED);
    let content = it.content.clone().unwrap_or_default();
    let seconds = |seconds| Duration::try_from_secs_f64(seconds).map_or(0, |time| time.as_secs());
    let active = it.active_at.unwrap_or(it.added_at);
    Some(Torrent {
        id: u32::try_from(it.identity.number).ok()?,
        info_hashes: it.identity.info_hashes?,
        name: it.torrent.clone(),
        folder: it.folder.clone().unwrap_or_else(|| {
            let parent = Path::new(&content).parent();
            parent.map_or_else(String::new, |parent| parent.to_string_lossy().into_owned())
        }),
        state: match it.activity {
            Activity::Queued if it.is_complete => State::WaitsToSeed,
            // For space, or another condition of the system.
            Activity::Waiting if error.is_some() => State::WaitsToDownload,
            activity => state(activity),
        },
        // Programs take any error for a failed download. The torrent is served.
        error: error.cloned(),
        has_metadata: it.metainfo().is_some(),
        is_private: it.is_private,
        comment: text(keys.as_ref().and_then(|keys| keys.comment)),
        creator: text(keys.as_ref().and_then(|keys| keys.created_by)),
        created: keys
            .as_ref()
            .and_then(|keys| keys.creation_date)
            .and_then(|date| u64::try_from(date).ok()),
        n_files: it.files,
        is_folder: it.is_folder,
        n_pieces: it.pieces,
        piece_len: u64::from(it.piece_length),
        total_len: it.total_bytes,
        wanted_len: it.wanted_bytes,
        done_len: it.done_bytes,
        checked_len: it.verified_bytes,
        down_rate: it.down_bytes_per_second,
        up_rate: it.up_bytes_per_second,
        downloaded: it.downloaded_bytes,
        uploaded: it.uploaded_bytes,
        corrupt: it.wasted_bytes,
        seconds_left: it.seconds_left.map(seconds),
        n_peers: it.peers,
        n_seeds: it.seeds,
        added: it.added_at,
        completed: it.completed_at,
        active,
        changed: active,
        seconds_downloading: seconds(it.downloading_seconds.seconds()),
        seconds_seeding: seconds(it.serving_seconds.seconds()),
        category: it.category.clone(),
        labels: it.labels.clone(),
        tracker,
        n_trackers: u32::try_from(n_trackers).unwrap_or(u32::MAX),
        queue_position: u32::try_from(it.queue_position?).unwrap_or(u32::MAX),
        is_forced: it.is_forced,
        is_sequential: it.is_sequential,
        is_super_seeding: it.is_super_seeding,
        rates: Rates {
            down: it.max_down.and_then(NonZeroU32::new),
            up: it.max_up.and_then(NonZeroU32::new),
        },
        goal: it.goal,
        inherited: it.inherited,
        content,
    })
}
