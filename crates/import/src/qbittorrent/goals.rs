//! The goals of torrents and categories.

use std::time::Duration;

use hashlane_api::{Goal, Target};

/// Translates goals in thousandths and minutes.
pub(super) fn goal_of(
    thousandths: Option<i64>,
    minutes: Option<i64>,
    idle_minutes: Option<i64>,
) -> Goal {
    #[expect(clippy::cast_precision_loss, reason = "ratios are small")]
    let of_thousandths = |thousandths: u64| thousandths as f64 / 1000.0;
    let of_minutes = |minutes: u64| Duration::from_secs(minutes.saturating_mul(60));
    Goal {
        ratio: goal(thousandths, 1000).map(of_thousandths),
        time: goal(minutes, 1).map(of_minutes),
        idle: goal(idle_minutes, 1).map(of_minutes),
    }
}

/// Translates a goal, which has this unit. -1 is none, and other negative numbers are that of all torrents.
fn goal(value: Option<i64>, unit: i64) -> Target<u64> {
    match value {
        Some(value @ 0..) => Target::At(value.unsigned_abs()),
        Some(value) if value / unit == -1 => Target::Never,
        _ => Target::Inherited,
    }
}

/// Returns what is not carried over of the action at a goal: the daemon pauses a torrent.
pub(super) fn note_of_action(action: &str) -> Option<String> {
    let is_pause = ["", "Default", "Stop"].contains(&action);
    (!is_pause).then(|| format!("what happens at the goal: {action}"))
}
