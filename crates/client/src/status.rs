//! The state of a program with torrents.

use hashlane_api::Status;

use crate::snapshot::{Activity, Snapshot, TorrentSnapshot};

/// Returns the state of a program with torrents: of each, its state and whether it waits because of an error. What only a daemon
/// knows is empty.
pub fn status_of<'s>(
    snapshot: &Snapshot,
    torrents: impl Iterator<Item = (&'s TorrentSnapshot, Activity, bool)>,
) -> Status {
    let mut status = Status {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        process: std::process::id(),
        max_down: snapshot.max_down,
        max_up: snapshot.max_up,
        problems: snapshot.network_problem.iter().cloned().collect(),
        ..Status::default()
    };
    for (torrent, activity, has_error) in torrents {
        status.torrents += 1;
        *match activity {
            Activity::Waiting if has_error => &mut status.failed,
            Activity::Waiting | Activity::Verifying | Activity::Confirming => &mut status.verifying,
            Activity::Metadata | Activity::Downloading => &mut status.downloading,
            Activity::Serving | Activity::Moving => &mut status.serving,
            Activity::Queued => &mut status.queued,
            Activity::Paused => &mut status.paused,
            Activity::Absent | Activity::Ended | Activity::Failed => &mut status.failed,
        } += 1;
        status.down_bytes_per_second += torrent.down_bytes_per_second;
        status.up_bytes_per_second += torrent.up_bytes_per_second;
    }
    status
}
