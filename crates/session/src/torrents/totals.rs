//! Totals of torrents, and goals, which look at them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hashlane_api::Goal;
use hashlane_client::{Activity, Snapshot, TorrentHandle, TorrentSnapshot, sent_ratio};
use hashlane_store::{Choices, Entry, Name, StoreError, TorrentTotals};

use super::{Running, Torrents};
use crate::rules::Decision;

impl Running {
    /// Notes since when a served torrent has sent nothing.
    pub(super) fn note_upload(&mut self, snapshot: &TorrentSnapshot) {
        let is_served = snapshot.activity == Activity::Serving && !snapshot.is_paused;
        let sent = snapshot.uploaded_bytes;
        if !is_served {
            self.idle = None;
        } else if self.idle.is_none_or(|(before, _)| before != sent) {
            self.idle = Some((sent, Instant::now()));
        }
    }

    /// Returns the time for which the torrent has been served without sending anything.
    pub(super) fn idle_time(&self) -> Duration {
        self.idle
            .map_or(Duration::ZERO, |(_, since)| since.elapsed())
    }

    /// Returns the totals with what the client counted.
    pub(super) fn counted(&self, snapshot: &TorrentSnapshot) -> TorrentTotals {
        counted(&self.base, snapshot)
    }
}

/// Returns totals with what the client counted.
pub(crate) fn counted(base: &TorrentTotals, snapshot: &TorrentSnapshot) -> TorrentTotals {
    let seconds_served = seconds(snapshot.serving_seconds.seconds());
    TorrentTotals {
        sent: base.sent + snapshot.uploaded_bytes,
        received: base.received + snapshot.downloaded_bytes,
        seeding_seconds: base.seeding_seconds + seconds_served,
        active: snapshot.active_at.or(base.active),
        ..*base
    }
}

/// Returns totals without what the client counted.
pub(crate) fn without(totals: &TorrentTotals, snapshot: &TorrentSnapshot) -> TorrentTotals {
    let seconds = seconds(snapshot.serving_seconds.seconds());
    TorrentTotals {
        sent: totals.sent.saturating_sub(snapshot.uploaded_bytes),
        received: totals.received.saturating_sub(snapshot.downloaded_bytes),
        seeding_seconds: totals.seeding_seconds.saturating_sub(seconds),
        ..*totals
    }
}

impl Torrents {
    /// Returns the totals of a torrent up to now, with what the client counted in this snapshot.
    pub(crate) fn totals(&self, name: Name, snapshot: Option<&TorrentSnapshot>) -> TorrentTotals {
        match (self.running.get(&name), snapshot) {
            (Some(running), Some(snapshot)) => running.counted(snapshot),
            _ => self.kept_totals(name),
        }
    }

    /// Returns the totals of a torrent at the last count.
    pub(crate) fn kept_totals(&self, name: Name) -> TorrentTotals {
        let totals = self.store.totals().torrents.get(&name);
        totals.copied().unwrap_or_default()
    }

    /// Returns the seconds for which the session has run, in all its starts.
    pub(crate) fn seconds(&self) -> u64 {
        let (started, before) = self.started;
        before + started.elapsed().as_secs()
    }

    /// Adds what the client counted to the totals of all torrents.
    pub(super) fn count(&mut self) {
        self.counted = Arc::default();
        self.count_changed();
        self.store.totals_mut().all.seconds = self.seconds();
    }

    /// Adds what the client counted to the totals of the torrents that changed since the last count. Those of the others
    /// lack seconds of serving until [`Self::count`].
    pub(crate) fn count_changed(&mut self) {
        let all = self.all();
        let before = std::mem::replace(&mut self.counted, Arc::clone(&all));
        if Arc::ptr_eq(&before, &all) {
            return;
        }
        let mut has_first = false;
        let mut old = before.torrents.iter().peekable();
        for snapshot in &all.torrents {
            let number = snapshot.identity.number;
            while old.next_if(|old| old.identity.number < number).is_some() {}
            if old.next_if(|old| Arc::ptr_eq(old, snapshot)).is_some() {
                continue;
            }
            let Some(name) = self.names.get(&number) else {
                continue;
            };
            let Some(running) = self.running.get_mut(name) else {
                continue;
            };
            // The counts of an earlier start are in the totals already.
            if running.snapshot(&all).is_none() {
                continue;
            }
            running.note_upload(snapshot);
            let counted = running.counted(snapshot);
            let totals = self.store.totals_mut();
            let before = totals.torrents.entry(*name).or_default();
            // From its first bytes on, a download must find its content again.
            has_first |= before.received == 0 && counted.received > 0;
            totals.all.sent += counted.sent.saturating_sub(before.sent);
            totals.all.received += counted.received.saturating_sub(before.received);
            *before = counted;
        }
        self.is_save_due |= has_first;
    }

    pub(super) fn save(&mut self) -> Result<(), StoreError> {
        // A failure is tried again after the same time.
        self.saved = Instant::now();
        self.is_save_due = false;
        self.store.save_totals()
    }

    /// Returns `true` if a complete torrent has been served for as long, or as much, as a person or a rule chose.
    pub(super) fn has_reached_goal(
        &self,
        entry: &Entry,
        running: &Running,
        all: &Snapshot,
    ) -> bool {
        self.has_reached(entry, &running.decision, running, all)
    }

    /// Returns `true` if this is so by another decision of rules.
    pub(super) fn has_reached(
        &self,
        entry: &Entry,
        decision: &Decision,
        running: &Running,
        all: &Snapshot,
    ) -> bool {
        let goal = self.goal_with(entry, decision);
        let (ratio, time, idle) = (goal.ratio.limit(), goal.time.limit(), goal.idle.limit());
        // Thousands of torrents without a goal must not cost a search each.
        if ratio.is_none() && time.is_none() && idle.is_none() {
            return false;
        }
        let snapshot = running.snapshot(all).filter(|it| self.counts_for_goal(it));
        let Some(snapshot) = snapshot else {
            return false;
        };
        let seeders = snapshot.tracker_seeds.unwrap_or(0);
        if decision.keep_seeders.is_some_and(|least| seeders < least) {
            return false;
        }
        let totals = running.counted(snapshot);
        meets(goal, &totals, snapshot.wanted_bytes, running.idle_time())
    }

    /// Returns `true` if a torrent is served, or was. A daemon serves content that is not complete until a person repairs it.
    fn counts_for_goal(&self, snapshot: &TorrentSnapshot) -> bool {
        let is_part_served = self.config.mode.is_some()
            && !snapshot.is_download
            && matches!(snapshot.activity, Activity::Serving | Activity::Ended);
        // A torrent that the client ends when it is complete is not served.
        snapshot.is_served && (snapshot.is_complete || is_part_served)
    }

    /// Ends a torrent that has reached its goal, unless its content is being verified or moved.
    pub(super) fn end_at_goal(&self, name: Name, all: &Snapshot) {
        let is_in_session =
            |it: &Arc<TorrentSnapshot>| matches!(it.activity, Activity::Serving | Activity::Paused);
        if self.find(name, all).is_some_and(is_in_session) {
            // It may have ended.
            let _ = self.handle(name).map(TorrentHandle::end);
        }
    }

    /// Pauses a torrent that has reached its goal. It stays paused after a restart.
    pub(super) fn pause_at_goal(&mut self, name: Name) -> Result<(), StoreError> {
        // Otherwise a kill would leave a torrent that is paused before its goal.
        self.save()?;
        let entry = self.store.get(name).ok_or(StoreError::Absent(name))?;
        let choices = Choices {
            paused: true,
            ..entry.choices.clone()
        };
        self.store.update(name, choices)?;
        self.apply(name);
        Ok(())
    }
}

/// Returns `true` if a torrent with these totals has reached its goal. No clock but that of the totals counts, and they grow only
/// while it is served.
fn meets(goal: Goal, totals: &TorrentTotals, wanted_bytes: u64, idle_time: Duration) -> bool {
    let Goal { ratio, time, idle } = goal;
    let reached = sent_ratio(totals.sent, totals.received, wanted_bytes);
    ratio.limit().is_some_and(|ratio| reached >= ratio)
        || time
            .limit()
            .is_some_and(|time| totals.seeding_seconds >= time.as_secs())
        || idle.limit().is_some_and(|idle| idle_time >= idle)
}

/// Returns whole seconds. Negative numbers, which do not occur, and fractions become 0.
#[expect(clippy::cast_sign_loss, reason = "a time is not negative")]
fn seconds(seconds: f64) -> u64 {
    seconds as u64
}

#[cfg(test)]
mod tests {
    use hashlane_api::Target;

    use super::*;

    const HOUR: u64 = 3600;
    const YEAR: u64 = 365 * 24 * HOUR;

    /// A torrent is served for a part of each day of a simulated year, with restarts, kills and pauses between. Its goal is
    /// reached after the time for which it was served, and not before: whatever the clock of the system shows, because
    /// nothing asks it.
    #[test]
    fn time_of_serving_adds_up_over_a_simulated_year() {
        // 100 days.
        let goal = Goal {
            time: Target::At(Duration::from_secs(100 * 24 * HOUR)),
            ..Goal::default()
        };
        let mut snapshot = TorrentSnapshot::new(0, "");
        let mut kept = TorrentTotals::default();
        let mut base = kept;
        let (mut served, mut reached) = (0, None);
        for hour in 0..YEAR / HOUR {
            // Eight hours per day; a machine that is suspended runs no period on.
            let is_served = hour % 24 < 8;
            if is_served {
                let seconds = snapshot.serving_seconds.seconds() + 3600.0;
                snapshot.serving_seconds = seconds.into();
                served += HOUR;
            }
            let totals = counted(&base, &snapshot);
            if meets(goal, &totals, 1, Duration::ZERO) {
                reached.get_or_insert(served);
            }
            kept = totals;
            // A restart each 37 hours continues with what was written.
            if hour % 37 == 36 {
                base = kept;
                snapshot.serving_seconds = 0.0.into();
            }
        }
        assert_eq!(kept.seeding_seconds, served);
        assert_eq!(reached, Some(100 * 24 * HOUR));
    }

    #[test]
    fn each_target_ends_the_serving() {
        let totals = TorrentTotals {
            sent: 200,
            received: 100,
            seeding_seconds: 60,
            ..TorrentTotals::default()
        };
        let at = |seconds| Target::At(Duration::from_secs(seconds));
        let none = Goal::default();
        for (goal, expected) in [
            (none, false),
            (Goal::NEVER, false),
            (
                Goal {
                    ratio: Target::At(2.0),
                    ..none
                },
                true,
            ),
            (
                Goal {
                    ratio: Target::At(2.1),
                    ..none
                },
                false,
            ),
            (
                Goal {
                    time: at(60),
                    ..none
                },
                true,
            ),
            (
                Goal {
                    time: at(61),
                    ..none
                },
                false,
            ),
            (
                Goal {
                    idle: at(30),
                    ..none
                },
                true,
            ),
            (
                Goal {
                    idle: at(31),
                    ..none
                },
                false,
            ),
            (
                Goal {
                    time: at(61),
                    idle: at(30),
                    ..none
                },
                true,
            ),
        ] {
            let idle = Duration::from_secs(30);
            assert_eq!(meets(goal, &totals, 100, idle), expected, "{goal:?}");
        }
    }
}
