//! The line that moves.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::text::Escaped;

/// What ends sooner shows no progress: it would only flicker.
const PATIENCE: Duration = Duration::from_millis(150);

/// A bar with time left on the standard error stream.
pub(crate) struct ProgressLine {
    name: String,
    template: &'static str,
    started: Instant,
    bar: Option<ProgressBar>,
}

/// How much, and how fast.
const BYTES: &str = "{wide_msg} {bar:24} {percent:>3} %  {binary_bytes} of {binary_total_bytes}  \
    {binary_bytes_per_sec}  {eta} left";

/// Where what is done has no unit that says anything.
const SHARE: &str = "{wide_msg} {bar:24} {percent:>3} %  {elapsed}  {eta} left";

impl ProgressLine {
    /// Of bytes.
    pub(crate) fn new(name: String) -> Self {
        Self::with(name, BYTES)
    }

    /// Of parts of a whole.
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

    /// Takes the line away while `f` writes others.
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
