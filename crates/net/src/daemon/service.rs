//! Reports to systemd: readiness, a status text, a watchdog, and priorities of messages.
//!
//! Without the variables of systemd, nothing is reported.

use std::cell::{Cell, RefCell};
use std::io::{self, Write};
use std::time::{Duration, Instant};

use hashlane_api::Size;
use hashlane_api::Status;
use hashlane_cli::Env;
use hashlane_cli::output::text::count;
use hashlane_client::Pulse;
use sd_notify::NotifyState;

/// The service manager.
pub(super) struct Service {
    pulse: Pulse,
    /// The steps of the client's loop at the last report.
    steps: Cell<u64>,
    /// The interval of the watchdog, and the time of the last sign of life.
    watchdog: Option<(Duration, Cell<Instant>)>,
    status: RefCell<String>,
}

impl Service {
    /// Reports that the daemon is ready: it accepts requests and has all torrents.
    pub(super) fn new(pulse: Pulse) -> io::Result<Self> {
        sd_notify::notify(&[NotifyState::Ready])?;
        let now = Instant::now();
        // A sign of life is due twice in the time after which systemd misses it.
        let watchdog = sd_notify::watchdog_enabled().map(|limit| (limit / 2, Cell::new(now)));
        Ok(Self {
            steps: Cell::new(pulse.steps()),
            pulse,
            watchdog,
            status: RefCell::default(),
        })
    }

    /// Reports the state if it has changed, and a sign of life if the client's loop runs.
    pub(super) fn report(&self, status: Option<&Status>) {
        let steps = self.pulse.steps();
        let is_alive = self.steps.replace(steps) != steps;
        if let Some(text) = status.map(text)
            && *self.status.borrow() != text
        {
            notify(&NotifyState::Status(&text));
            self.status.replace(text);
        }
        if let Some((interval, last)) = &self.watchdog
            && is_alive
            && last.get().elapsed() >= *interval
        {
            notify(&NotifyState::Watchdog);
            last.set(Instant::now());
        }
    }

    /// Reports that the daemon ends.
    pub(super) fn stopping(&self) {
        notify(&NotifyState::Stopping);
    }
}

/// Reports that the configuration is being read again.
pub(super) fn reloading() {
    match NotifyState::monotonic_usec_now() {
        Ok(now) => notify_all(&[NotifyState::Reloading, now]),
        Err(error) => tracing::warn!(%error, "no time for the service manager"),
    }
}

/// Reports that the configuration was read again, or that the former one stays in force.
pub(super) fn ready_again() {
    notify(&NotifyState::Ready);
}

fn notify(state: &NotifyState<'_>) {
    notify_all(std::slice::from_ref(state));
}

/// The manager may be restarting, so a failure is only logged.
fn notify_all(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        tracing::warn!(%error, "systemd was not informed");
    }
}

fn text(status: &Status) -> String {
    let parts = [
        (status.downloading, "downloading"),
        (status.serving, "serving"),
        (status.verifying, "verifying"),
        (status.queued, "queued"),
        (status.paused, "paused"),
        (status.failed, "failed or waiting"),
    ];
    let states = parts.iter().filter(|(n, _)| *n > 0);
    let states: Vec<String> = states.map(|(n, what)| format!("{n} {what}")).collect();
    let mut texts = vec![count(status.torrents, "torrent"), states.join(", ")];
    texts.retain(|text| !text.is_empty());
    let rates = [
        ("down", status.down_bytes_per_second),
        ("up", status.up_bytes_per_second),
    ];
    let rates = rates.iter().filter(|(_, rate)| *rate > 0);
    let rates = rates.map(|(direction, rate)| format!("; {direction} {}/s", Size(*rate)));
    texts.join(": ") + &rates.collect::<String>()
}

/// Gives errors and warnings their priorities in the journal, if systemd reads the standard error stream.
pub(super) fn prioritize_errors(env: &mut Env) {
    if std::env::var_os("JOURNAL_STREAM").is_some() {
        let stderr = std::mem::replace(&mut env.stderr, Box::new(io::sink()));
        env.stderr = Box::new(Prioritized {
            stream: stderr,
            line: Vec::new(),
        });
    }
}

/// A stream whose lines get the prefixes of sd-daemon(3).
struct Prioritized<W> {
    stream: W,
    line: Vec<u8>,
}

impl<W: Write> Write for Prioritized<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                let is_warning = self.line.starts_with(b"hashlane: warning: ");
                self.stream
                    .write_all(if is_warning { b"<4>" } else { b"<3>" })?;
                self.stream.write_all(&self.line)?;
                self.line.clear();
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_and_errors_have_their_priorities() {
        let mut stream = Prioritized {
            stream: Vec::new(),
            line: Vec::new(),
        };
        stream.write_all(b"hashlane: warn").unwrap();
        stream.write_all(b"ing: a").unwrap();
        writeln!(stream, "\nhashlane: b").unwrap();
        assert_eq!(stream.stream, b"<4>hashlane: warning: a\n<3>hashlane: b\n");
    }
}
