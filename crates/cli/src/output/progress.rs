//! The progress line.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::text::Escaped;

/// Shorter work shows no progress, because the line would only flicker.
const PATIENCE: Duration = Duration::from_millis(150);

/// A progress bar with the remaining time, on the standard error stream.
pub(crate) struct ProgressLine {
    name: String,
    template: &'static str,
    started: Instant,
    bar: Option<ProgressBar>,
}

/// The template for bytes: the amount and the rate.
const BYTES: &str = "{wide_msg} {bar:24} {percent:>3} %  {binary_bytes} of {binary_total_bytes}  \
    {binary_bytes_per_sec}  {eta} left";

/// The template for work without a meaningful unit.
const SHARE: &str = "{wide_msg} {bar:24} {percent:>3} %  {elapsed}  {eta} left";

impl ProgressLine {
    /// Returns a line for a number of bytes.
    pub(crate) fn new(name: String) -> Self {
        Self::with(name, BYTES)
    }

    /// Returns a line for a share of a whole.
    pub(crate) fn of_share(name: String) -> Self {
        Self::with(name, SHARE)
    }

    fn with(name: String, template: &'static str) -> Self {
        Self {
            name,
            template,
            started: Instant::now(),
            bar: None,
        }
    }

    pub(crate) fn update(&mut self, done: u64, total: u64) {
        if self.started.elapsed() < PATIENCE {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| {
            let style = ProgressStyle::with_template(self.template);
            let style = style.expect("the templates are constant");
            let target = ProgressDrawTarget::stderr();
            ProgressBar::with_draw_target(Some(total), target)
                .with_style(style.progress_chars("█▌░"))
                .with_message(Escaped(&self.name).to_string())
                .with_elapsed(self.started.elapsed())
        });
        bar.set_length(total);
        bar.set_position(done);
    }

    /// Hides the line while `f` writes other lines.
    pub(crate) fn suspend<R>(&self, f: impl FnOnce() -> R) -> R {
        match &self.bar {
            Some(bar) => bar.suspend(f),
            None => f(),
        }
    }

    pub(crate) fn clear(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}
