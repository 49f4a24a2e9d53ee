//! The line that moves.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// What ends sooner shows no progress: it would only flicker.
const PATIENCE: Duration = Duration::from_millis(150);

/// A bar with bytes, rate and time left on the standard error stream.
pub(crate) struct ProgressLine {
    name: String,
    started: Instant,
    bar: Option<ProgressBar>,
}

impl ProgressLine {
    pub(crate) fn new(name: String) -> Self {
        Self {
            name,
            started: Instant::now(),
            bar: None,
        }
    }

    pub(crate) fn update(&mut self, done_bytes: u64, total_bytes: u64) {
        if self.started.elapsed() < PATIENCE {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| {
            let template = "{wide_msg} {bar:24} {percent:>3} %  {binary_bytes} of \
                {binary_total_bytes}  {binary_bytes_per_sec}  {eta} left";
            let style = ProgressStyle::with_template(template).expect("the template is constant");
            let target = ProgressDrawTarget::stderr();
            ProgressBar::with_draw_target(Some(total_bytes), target)
                .with_style(style.progress_chars("█▌░"))
                .with_message(self.name.clone())
                .with_elapsed(self.started.elapsed())
        });
        bar.set_position(done_bytes);
    }

    pub(crate) fn clear(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}
