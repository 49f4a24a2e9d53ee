//! Prints outcomes, and counts them.

use hashlane_import::{Failure, Imported};

use super::outcome::{Outcome, Totals, content_bytes};
use super::{human, json};
use crate::Env;

/// Prints outcomes, and counts them.
pub(super) struct Report {
    pub(super) is_json: bool,
    pub(super) is_dry_run: bool,
    pub(super) totals: Totals,
}

impl Report {
    pub(super) fn torrent(
        &mut self,
        env: &mut Env,
        torrent: &Imported,
        notes: &[String],
        outcome: Outcome,
    ) -> anyhow::Result<()> {
        let totals = &mut self.totals;
        match outcome {
            Outcome::New => {
                totals.new += 1;
                totals.content_bytes += content_bytes(torrent).unwrap_or(0);
                totals.notes += notes.len() as u64;
            }
            Outcome::Present => totals.present += 1,
        }
        if self.is_json {
            json::torrent(env, torrent, notes, outcome)
        } else {
            human::torrent(env, torrent, notes, outcome)
        }
    }

    pub(super) fn failure(
        &mut self,
        env: &mut Env,
        file: &str,
        message: &str,
    ) -> anyhow::Result<()> {
        self.totals.failed += 1;
        env.error(&format!("{file}: {message}"));
        if self.is_json {
            json::failure(env, file, message)?;
        }
        Ok(())
    }

    pub(super) fn of_failure(&mut self, env: &mut Env, failure: &Failure) -> anyhow::Result<()> {
        let file = failure.file.display().to_string();
        self.failure(env, &file, &failure.reason.to_string())
    }

    /// Prints the totals, and notes about all torrents.
    pub(super) fn summary(&self, env: &mut Env, notes: &[String]) -> anyhow::Result<()> {
        if self.is_json {
            json::summary(env, &self.totals, self.is_dry_run, notes)
        } else {
            human::summary(env, &self.totals, self.is_dry_run, notes)
        }
    }
}
