//! The signals that end the daemon, or make it read its configuration again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use anyhow::Context as _;
use hashlane_cli::Env;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// The signals that ask for another reading of the configuration.
#[derive(Clone, Debug, Default)]
pub(super) struct Hangups(Arc<AtomicBool>);

impl Hangups {
    /// Returns `true` if there was a signal since the last call.
    pub(super) fn take(&self) -> bool {
        self.0.swap(false, Ordering::Relaxed)
    }
}

/// Makes SIGTERM and SIGINT end the daemon. A second one ends it at once. SIGHUP is noted in the result.
pub(super) fn install(env: &Env) -> anyhow::Result<Hangups> {
    let context = "signals cannot be handled";
    let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP]).context(context)?;
    let (cancel, end_at_once) = (env.cancel.clone(), env.end_at_once);
    let hangups = Hangups::default();
    let noted = hangups.clone();
    let handle = move || {
        for signal in signals.forever() {
            if signal == SIGHUP {
                noted.0.store(true, Ordering::Relaxed);
                continue;
            }
            if cancel.is_cancelled() {
                end_at_once(&format!("ended at once by a second signal ({signal})"));
            }
            cancel.cancel();
        }
    };
    let thread = thread::Builder::new().name("signals".into());
    thread.spawn(handle).context(context)?;
    Ok(hangups)
}
