//! The trackers of a torrent.

use hashlane_swarm::{Tracker, TrackerState};
use serde::Serialize;

/// Maximum number of trackers in an answer.
const MAX_TRACKERS: usize = 200;

/// The trackers of a torrent, without passwords and passkeys.
#[derive(Serialize)]
pub(super) struct TrackersView {
    /// Number of all trackers.
    total: usize,
    trackers: Vec<TrackerView>,
}

#[derive(Serialize)]
struct TrackerView {
    url: String,
    tier: u32,
    state: &'static str,
    message: String,
    failures: u32,
    seeds: Option<u32>,
    leeches: Option<u32>,
    next_seconds: Option<u32>,
}

impl TrackersView {
    pub(super) fn of(trackers: Vec<Tracker>) -> Self {
        Self {
            total: trackers.len(),
            trackers: trackers
                .into_iter()
                .take(MAX_TRACKERS)
                .map(TrackerView::of)
                .collect(),
        }
    }
}

impl TrackerView {
    fn of(tracker: Tracker) -> Self {
        Self {
            url: tracker.url,
            tier: tracker.tier,
            state: match tracker.state {
                TrackerState::Unused => "unused",
                TrackerState::Failed => "failed",
                TrackerState::Updating => "updating",
                TrackerState::Working => "working",
            },
            message: tracker.message,
            failures: tracker.failures,
            seeds: tracker.seeds,
            leeches: tracker.leeches,
            next_seconds: tracker.next_seconds,
        }
    }
}
