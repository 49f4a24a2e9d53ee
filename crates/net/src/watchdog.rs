//! Executes the program again, or ends the process, if libtorrent does not respond.

use std::ffi::OsString;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;
use std::{fmt, io};

use hashlane_cli::EndAtOnce;
use hashlane_cli::output::printer::Printer;
use hashlane_client::{Observer, Pulse, Settings};
use hashlane_session::Session;
use hashlane_verify::CancelToken;

use crate::again::Continued;
use crate::executor::Unfinished;
use crate::{again, limits, testing};

/// Interval at which the pulse is compared. A stopped process compares nothing, so that it is not late when it continues.
const INTERVAL: Duration = Duration::from_millis(500);

/// Time without a step after which libtorrent is given up. A loaded machine can delay a call for seconds.
const MAX_IDLE: Duration = Duration::from_secs(30);

/// Time without a step after Ctrl-C.
const MAX_IDLE_CANCELLED: Duration = Duration::from_secs(5);

/// A thread that acts if the client's loop stands still. Dropping it ends the thread.
pub(crate) struct Watchdog {
    _stop: Sender<()>,
}

/// The means to continue without libtorrent's stuck thread.
pub(crate) struct Rescue {
    pub(crate) observer: Observer,
    /// The settings of the client's session.
    pub(crate) settings: Settings,
    /// The session, which the program continues.
    pub(crate) session: Weak<Session>,
    pub(crate) cancel: CancelToken,
    pub(crate) end_at_once: EndAtOnce,
    pub(crate) printer: Printer,
    /// The arguments of the process.
    pub(crate) args: Vec<OsString>,
    /// The commands of `--exec` that have not ended.
    pub(crate) commands: Unfinished,
    /// Whether the program has failed for a reason that the client does not know.
    pub(crate) has_failed: Arc<AtomicBool>,
}

impl Watchdog {
    pub(crate) fn start(pulse: Pulse, rescue: Rescue) -> io::Result<Self> {
        let (stop, stopped) = mpsc::channel::<()>();
        let patience = testing::libtorrent_patience().unwrap_or(MAX_IDLE);
        let watch = move || {
            let (mut steps, mut n_idle) = (pulse.steps(), 0);
            while stopped.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
                let now = pulse.steps();
                n_idle = if now == steps { n_idle + 1 } else { 0 };
                steps = now;
                let max_idle = if rescue.cancel.is_cancelled() {
                    MAX_IDLE_CANCELLED
                } else {
                    patience
                };
                // A command of --exec ends before the program is replaced.
                if INTERVAL * n_idle >= max_idle
                    && (rescue.cancel.is_cancelled() || rescue.commands.is_none())
                {
                    (rescue.end_at_once)(&rescue.run());
                    return;
                }
            }
        };
        thread::Builder::new()
            .name("watchdog".into())
            .spawn(watch)?;
        Ok(Self { _stop: stop })
    }
}

impl Rescue {
    /// Executes the program again if that can help. Returns the reason to end the process.
    fn run(&self) -> String {
        const REASON: &str = "libtorrent does not respond";
        let Some(stuck) = self.observer.stuck_web_seed() else {
            // A thread of libtorrent that gets no memory ends, and others wait for it.
            return if limits::has_memory_limit() {
                format!("{REASON}; the limit on memory (`ulimit -v`) can cause this")
            } else {
                REASON.to_owned()
            };
        };
        let cause = format!("the web seed {} of {}", stuck.server, stuck.torrent);
        if self.cancel.is_cancelled() {
            return format!("{REASON} because of {cause} (--web-seeds=0)");
        }
        let reason = |error: &dyn fmt::Display| {
            format!("{REASON} because of {cause}, and cannot be started again: {error}")
        };
        let Some(session) = self.session.upgrade() else {
            return REASON.to_owned();
        };
        let mut continued = match Continued::new(stuck, &self.settings, &session) {
            Ok(continued) => continued,
            Err(error) => return reason(&error),
        };
        continued.has_failed = self.has_failed.load(Ordering::SeqCst);
        // No line of output is cut off.
        self.printer.pause();
        match again::execute(&self.args, &continued) {
            Ok(never) => match never {},
            Err(error) => reason(&error),
        }
    }
}
