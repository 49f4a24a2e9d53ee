//! The limits of all torrents together.
//!
//! A limit that a request set wins over that of the configuration, until a request gives it back. A rate limit of the
//! schedule replaces both.

use hashlane_client::{Command, Limits};
use hashlane_store::{Goal, Session, Target};

use super::queue::QueueLimits;
use super::rates::Rates;
use super::schedule::{self, Moment};
use super::torrents::Torrents;

/// Returns what a request set, or else what is configured.
fn chosen<T>(set: Target<T>, configured: Option<T>) -> Option<T> {
    match set {
        Target::Inherited => configured,
        set => set.limit(),
    }
}

/// Returns the setting of a request: a limit, or none.
pub(super) fn target<T>(limit: Option<T>) -> Target<T> {
    limit.map_or(Target::Never, Target::At)
}

impl Torrents {
    /// Returns the rate limits without those of the schedule.
    pub(super) fn rates(&self) -> Rates {
        let (session, configured) = (self.store.session(), self.configured.rates);
        Rates {
            down: chosen(session.max_down, configured.down),
            up: chosen(session.max_up, configured.up),
        }
    }

    /// Returns the limits of the queue.
    pub(super) fn queue(&self) -> QueueLimits {
        let (session, configured) = (self.store.session(), self.configured.queue);
        QueueLimits {
            downloads: chosen(session.max_active_downloads, configured.downloads),
            uploads: chosen(session.max_active_uploads, configured.uploads),
            ..configured
        }
    }

    /// Returns the goal of torrents that have no other.
    pub(super) fn session_goal(&self) -> Goal {
        self.store.session().goal.or(self.configured.goal)
    }

    /// Changes what requests have set.
    pub(super) fn change_session(
        &mut self,
        change: impl FnOnce(&mut Session),
    ) -> Result<(), String> {
        self.check_running()?;
        let mut session = *self.store.session();
        change(&mut session);
        let changed = self.store.set_session(session);
        changed.map_err(|error| error.to_string())?;
        self.send_limits();
        Ok(())
    }

    /// Changes the rate limits of the session.
    pub(super) fn limit(&mut self, limits: Limits) -> Result<(), String> {
        self.change_session(|session| {
            if let Some(limit) = limits.max_down {
                session.max_down = target(limit);
            }
            if let Some(limit) = limits.max_up {
                session.max_up = target(limit);
            }
        })
    }

    /// Applies the limits of the schedule at a time.
    pub(super) fn follow_schedule(&mut self, moment: Moment) {
        let scheduled = schedule::limits_at(&self.configured.tables.schedule, moment);
        if scheduled != self.scheduled {
            tracing::info!(?scheduled, "the schedule changes the rate limits");
            self.scheduled = scheduled;
            self.send_limits();
        }
    }

    /// Sends the rate limits in force to the client.
    pub(super) fn send_limits(&self) {
        let Rates { down, up } = self.scheduled.or(self.rates());
        if let Some(client) = &self.client {
            client.send(Command::Limit(Limits {
                max_down: Some(down),
                max_up: Some(up),
            }));
        }
    }
}
