//! The engines of all backends that this CPU can run.

use std::io::Write as _;
use std::sync::LazyLock;

use hashlane_sha::{Backend, BackendUnavailable, Engine};

/// Made once, so that a backend which this CPU lacks is reported once.
static ENGINES: LazyLock<Vec<(Backend, Engine)>> = LazyLock::new(|| {
    let engines = Backend::all().filter_map(|backend| match Engine::with(backend) {
        Ok(engine) => Some((backend, engine)),
        Err(BackendUnavailable(backend)) => {
            let _ = writeln!(std::io::stderr(), "NOT RUN: this CPU lacks {backend}");
            None
        }
    });
    engines.collect()
});

pub(crate) fn engines() -> impl Iterator<Item = (Backend, Engine)> {
    ENGINES.iter().copied()
}
