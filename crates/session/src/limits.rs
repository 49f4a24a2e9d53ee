//! The limits of all torrents together.
//!
//! A limit that a request set wins over that of the configuration, until a request gives it back. A rate limit of the
//! schedule replaces both. While the alternative limits are on, they replace all of these.

use std::num::NonZeroU32;
use std::time::Duration;

use hashlane_api::{Goal, Limit, LimitValue, Rates, Refusal, SessionPatch, Target};
use hashlane_client::Command;

use super::config::QueueLimits;
use super::goal::chosen;
use super::schedule::{self, Moment};
use super::torrents::Torrents;

/// Returns a limit as requests see it.
fn reply<T: Copy>(
    limit: &str,
    set: Target<T>,
    configured: Option<T>,
    value: fn(T) -> LimitValue,
) -> Limit {
    Limit {
        limit: limit.to_owned(),
        value: chosen(set, configured).map(value),
        configured: configured.map(value),
        requested: !set.is_inherited(),
    }
}

impl Torrents {
    /// Returns the rate limits without those of the schedule.
    pub(super) fn rates(&self) -> Rates {
        let (session, configured) = (self.store.session(), self.config.rates);
        Rates {
            down: chosen(session.max_down, configured.down),
            up: chosen(session.max_up, configured.up),
        }
    }

    /// Returns the alternative rate limits. They are in force if [`hashlane_store::Session::alternative`] is set.
    pub(super) fn alternative(&self) -> Rates {
        let (session, configured) = (self.store.session(), self.config.alternative);
        Rates {
            down: chosen(session.alt_max_down, configured.down),
            up: chosen(session.alt_max_up, configured.up),
        }
    }

    /// Returns the limits of the queue.
    pub(super) fn queue(&self) -> QueueLimits {
        let (session, configured) = (self.store.session(), self.config.queue);
        QueueLimits {
            downloads: chosen(session.max_active_downloads, configured.downloads),
            uploads: chosen(session.max_active_uploads, configured.uploads),
            ..configured
        }
    }

    /// Returns the goal of torrents that have no other.
    pub(super) fn session_goal(&self) -> Goal {
        self.store.session().goal.or(self.config.goal)
    }

    /// Changes what requests have set.
    pub(super) fn change_session(&mut self, patch: &SessionPatch) -> Result<(), Refusal> {
        patch.check()?;
        self.check_running().map_err(Refusal::Unavailable)?;
        let mut session = *self.store.session();
        session.alternative = patch.alternative.unwrap_or(session.alternative);
        session.adds_paused = patch.adds_paused.unwrap_or(session.adds_paused);
        for (limit, new) in [
            (&mut session.max_down, patch.max_down),
            (&mut session.max_up, patch.max_up),
            (&mut session.alt_max_down, patch.alt_max_down),
            (&mut session.alt_max_up, patch.alt_max_up),
            (
                &mut session.max_active_downloads,
                patch.max_active_downloads,
            ),
            (&mut session.max_active_uploads, patch.max_active_uploads),
        ] {
            *limit = new.unwrap_or(*limit);
        }
        session.goal = patch.goal(session.goal);
        let changed = self.store.set_session(session);
        changed.map_err(|error| Refusal::Conflict(error.to_string()))?;
        self.send_limits();
        self.send_goals();
        Ok(())
    }

    /// Returns the limits, each with its origin.
    pub(super) fn limits(&self) -> Vec<Limit> {
        let (set, configured) = (self.store.session(), &self.config);
        let whole = |limit: NonZeroU32| LimitValue::Whole(limit.get().into());
        let (rates, alternative, queue) =
            (configured.rates, configured.alternative, configured.queue);
        let (ratio, time) = (configured.goal.ratio.limit(), configured.goal.time.limit());
        let seconds = |time: Duration| LimitValue::Whole(time.as_secs());
        vec![
            reply("max-down", set.max_down, rates.down, whole),
            reply("max-up", set.max_up, rates.up, whole),
            reply("alt-max-down", set.alt_max_down, alternative.down, whole),
            reply("alt-max-up", set.alt_max_up, alternative.up, whole),
            reply(
                "max-active-downloads",
                set.max_active_downloads,
                queue.downloads,
                whole,
            ),
            reply(
                "max-active-uploads",
                set.max_active_uploads,
                queue.uploads,
                whole,
            ),
            reply("seed-ratio", set.goal.ratio, ratio, LimitValue::Ratio),
            reply("seed-time", set.goal.time, time, seconds),
            reply("idle-time", set.goal.idle, None, seconds),
        ]
    }

    /// Applies the limits of the schedule at a time.
    pub(super) fn follow_schedule(&mut self, moment: Moment) {
        let scheduled = schedule::limits_at(&self.config.schedule, moment);
        if scheduled != self.scheduled {
            tracing::info!(?scheduled, "the schedule changes the rate limits");
            self.scheduled = scheduled;
            self.send_limits();
        }
    }

    /// Sends the rate limits in force to the client.
    pub(super) fn send_limits(&self) {
        let usual = self.scheduled.or(self.rates());
        let rates = if self.store.session().alternative {
            self.alternative().or(usual)
        } else {
            usual
        };
        if let Some(control) = &self.control {
            control.send(Command::Limit(rates.into()));
        }
    }
}
