//! Result lines, error messages and the progress line, kept apart on the terminal.

use std::path::Path;

use hashlane_sums::{Digest, Event, Item, Options, hash_items};
use hashlane_trees::{Format, Outcome, TreeError};

use super::filter::Filter;
use crate::Env;
use crate::output::progress::ProgressLine;

/// The streams of a run.
pub(super) struct Output<'e> {
    pub(super) env: &'e mut Env,
    line: Option<ProgressLine>,
    /// Total length of all files, as far as it is known.
    pub(super) total_bytes: u64,
    /// Number of bytes that earlier runs hashed.
    hashed_before: u64,
    hashed_bytes: u64,
    /// Whether results may wait to be flushed.
    has_results: bool,
}

impl<'e> Output<'e> {
    pub(super) fn new(env: &'e mut Env, quiet: bool) -> Self {
        let shows_progress = env.progress && !quiet;
        Self {
            env,
            line: shows_progress.then(|| ProgressLine::new(String::new())),
            total_bytes: 0,
            hashed_before: 0,
            hashed_bytes: 0,
            has_results: false,
        }
    }

    /// Returns `true` if the total length of all files is shown.
    pub(super) fn shows_progress(&self) -> bool {
        self.line.is_some()
    }

    /// Hashes items. `name` returns the name of an item for the progress line, and `receive` gets their outcomes.
    pub(super) fn hash<T: Sync>(
        &mut self,
        items: impl IntoIterator<Item = Item<T>>,
        options: &Options,
        name: impl Fn(&T) -> &[u8],
        mut receive: impl FnMut(&mut Self, &Item<T>, Outcome<Vec<Digest>>) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let mut stdin = std::mem::replace(&mut self.env.stdin, Box::new(std::io::empty()));
        let cancel = self.env.cancel.clone();
        let result = hash_items(items, &mut stdin, options, &cancel, |event| match event {
            Event::Outcome(item, outcome) => {
                self.has_results = true;
                receive(self, item, outcome)
            }
            Event::Pause {
                hashed_bytes,
                current,
            } => self.note_progress(hashed_bytes, current.map(|item| name(&item.tag))),
        });
        self.hashed_before = self.hashed_bytes;
        self.env.stdin = stdin;
        result
    }

    /// Computes tree hashes, as [`Self::hash`] does digests.
    pub(super) fn hash_trees<H, T>(
        &mut self,
        format: &dyn Format<Hash = H>,
        items: impl IntoIterator<Item = hashlane_trees::Item<T>>,
        options: &Options,
        name: impl Fn(&T) -> &[u8],
        mut receive: impl FnMut(&mut Self, &T, Outcome<H>) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let cancel = self.env.cancel.clone();
        let result =
            hashlane_trees::hash_files(format, items, options, &cancel, |event| match event {
                Event::Outcome(tag, outcome) => {
                    self.has_results = true;
                    receive(self, tag, outcome)
                }
                Event::Pause {
                    hashed_bytes,
                    current,
                } => self.note_progress(hashed_bytes, current.map(&name)),
            });
        self.hashed_before = self.hashed_bytes;
        result
    }

    /// Returns the tree hash of a folder and the number of bytes of its files.
    pub(super) fn hash_folder<H>(
        &mut self,
        format: &dyn Format<Hash = H>,
        options: &Options,
        filter: &Filter,
        path: &Path,
    ) -> anyhow::Result<(H, u64)> {
        let cancel = self.env.cancel.clone();
        let takes = |file: &Path| filter.takes(path, file);
        let note = |hashed_bytes, current: Option<&Path>| {
            let name = current.map(|path| path.as_os_str().as_encoded_bytes());
            self.note_progress(hashed_bytes, name)
        };
        let result = hashlane_trees::hash_folder(format, path, takes, options, &cancel, note);
        self.hashed_before = self.hashed_bytes;
        result.map_err(|error| match error.downcast_ref() {
            Some(TreeError::Entry { .. }) => {
                anyhow::anyhow!("{error}: leave it out with --exclude")
            }
            Some(TreeError::Cancelled) => anyhow::anyhow!("interrupted"),
            // The caller names the folder itself.
            Some(TreeError::File { path: at, reason }) if at == path => anyhow::anyhow!("{reason}"),
            Some(TreeError::Read { path: at, error }) if at == path => anyhow::anyhow!("{error}"),
            _ => error,
        })
    }

    fn note_progress(&mut self, hashed_bytes: u64, name: Option<&[u8]>) -> anyhow::Result<()> {
        if let (Some(line), Some(name)) = (&mut self.line, name) {
            line.set_name(String::from_utf8_lossy(name));
        }
        self.pause(hashed_bytes)
    }

    fn pause(&mut self, hashed_bytes: u64) -> anyhow::Result<()> {
        self.hashed_bytes = self.hashed_before + hashed_bytes;
        let (done, total) = (self.hashed_bytes, self.total_bytes);
        match &mut self.line {
            Some(line) => {
                // A line that is hidden and drawn again flickers.
                if std::mem::take(&mut self.has_results) {
                    line.suspend(|| self.env.stdout.flush())?;
                }
                // Standard input has an unknown length.
                line.update(done, total.max(done));
            }
            None => self.env.stdout.flush()?,
        }
        Ok(())
    }

    /// Prints an error message.
    pub(super) fn error(&mut self, message: &str) {
        match &self.line {
            Some(line) => line.suspend(|| self.env.error(message)),
            None => self.env.error(message),
        }
    }

    /// Removes the progress line.
    pub(super) fn clear_progress(&mut self) {
        if let Some(line) = self.line.take() {
            line.clear();
        }
    }
}
