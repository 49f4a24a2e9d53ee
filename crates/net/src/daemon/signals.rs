//! The signals that end the daemon.

use std::thread;

use anyhow::Context as _;
use hashlane_cli::Env;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// Makes SIGTERM and SIGINT end the daemon. A second one ends it at once. SIGHUP, which a terminal sends when it closes,
/// has no effect.
pub(super) fn install(env: &Env) -> anyhow::Result<()> {
    let context = "signals cannot be handled";
    let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP]).context(context)?;
    let (cancel, end_at_once) = (env.cancel.clone(), env.end_at_once);
    let handle = move || {
        for signal in signals.forever().filter(|signal| *signal != SIGHUP) {
            if cancel.is_cancelled() {
                end_at_once(&format!("ended at once by a second signal ({signal})"));
            }
            cancel.cancel();
        }
    };
    let thread = thread::Builder::new().name("signals".into());
    thread.spawn(handle).context(context)?;
    Ok(())
}
