//! Ends the process if libtorrent does not respond.

use std::io;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use hashlane_cli::EndAtOnce;
use hashlane_client::Pulse;
use hashlane_verify::CancelToken;

use crate::limits;

/// Interval at which the pulse is compared. A stopped process compares nothing, so that it is not late when it continues.
const INTERVAL: Duration = Duration::from_millis(500);

/// Comparisons without a step after which the process ends: 30 s. A loaded machine can delay a call for seconds.
const MAX_IDLE: u32 = 60;

/// Comparisons without a step after Ctrl-C: 5 s.
const MAX_IDLE_CANCELLED: u32 = 10;

/// A thread that ends the process if the client's loop stands still. Dropping it ends the thread.
pub(super) struct Watchdog {
    _stop: Sender<()>,
}

impl Watchdog {
    pub(super) fn start(
        pulse: Pulse,
        cancel: CancelToken,
        end_at_once: EndAtOnce,
    ) -> io::Result<Self> {
        let (stop, stopped) = mpsc::channel::<()>();
        let watch = move || {
            let (mut steps, mut n_idle) = (pulse.steps(), 0);
            while stopped.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
                let now = pulse.steps();
                n_idle = if now == steps { n_idle + 1 } else { 0 };
                steps = now;
                let max_idle = if cancel.is_cancelled() {
                    MAX_IDLE_CANCELLED
                } else {
                    MAX_IDLE
                };
                if n_idle >= max_idle {
                    end_at_once(&format!(
                        "libtorrent does not respond; {} can cause this",
                        cause()
                    ));
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

/// Returns the probable reason why libtorrent does not respond.
fn cause() -> &'static str {
    // A thread of libtorrent that gets no memory ends, and others wait for it.
    if limits::has_memory_limit() {
        "the limit on memory (`ulimit -v`)"
    } else {
        "a web seed (--no-web-seeds)"
    }
}
