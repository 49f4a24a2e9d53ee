//! Prints outcomes, and counts them.

use hashlane_import::{Category, Failure, Imported};

use super::outcome::{Outcome, Totals, content_bytes};
use super::{human, json};
use crate::Env;
use crate::output::progress::{ProgressLine, suspended};

/// Prints outcomes, and counts them.
pub(super) struct Report {
    pub(super) is_json: bool,
    pub(super) is_dry_run: bool,
    pub(super) totals: Totals,
    /// The progress, if a terminal shows it.
    pub(super) line: Option<ProgressLine>,
    pub(super) n_torrents: usize,
}

impl Report {
    /// Shows how many torrents remain.
    pub(super) fn show_remaining(&mut self, n_remaining: usize) {
        if let Some(line) = &mut self.line {
            let done = self.n_torrents.saturating_sub(n_remaining);
            line.update(done as u64, self.n_torrents as u64);
        }
    }

    /// Prints the categories of the session.
    pub(super) fn categories(&self, env: &mut Env, categories: &[Category]) -> anyhow::Result<()> {
        categories.iter().try_for_each(|category| {
            if self.is_json {
                json::category(env, category)
            } else {
                human::category(env, category)
            }
        })
    }

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
        if let Some(line) = &mut self.line {
            line.set_name(torrent.file.display().to_string());
        }
        suspended(self.line.as_ref(), || {
            if self.is_json {
                json::torrent(env, torrent, notes, outcome)
            } else {
                human::torrent(env, torrent, notes, outcome)
            }
        })
    }

    pub(super) fn failure(
        &mut self,
        env: &mut Env,
        file: &str,
        message: &str,
    ) -> anyhow::Result<()> {
        self.totals.failed += 1;
        suspended(self.line.as_ref(), || {
            env.error(&format!("{file}: {message}"));
            if self.is_json {
                json::failure(env, file, message)?;
            }
            Ok(())
        })
    }

    /// Removes the progress.
    pub(super) fn clear_progress(&mut self) {
        if let Some(line) = self.line.take() {
            line.clear();
        }
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
