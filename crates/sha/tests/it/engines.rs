//! The engines of all backends that this CPU can run.

use std::sync::LazyLock;

use hashlane_sha::{Backend, BackendUnavailable, Engine};

use crate::not_run::not_run;

/// Made once, so that a backend which this CPU lacks is reported once.
static ENGINES: LazyLock<Vec<(Backend, Engine)>> = LazyLock::new(|| {
    let engines = Backend::all().filter_map(|backend| match Engine::with(backend) {
        Ok(engine) => Some((backend, engine)),
        Err(BackendUnavailable(backend)) => {
            let what = format!("tests of the engine {backend}");
            not_run(&what, "this CPU lacks it", "use a CPU that has it");
            None
        }
    });
    engines.collect()
});

pub(crate) fn engines() -> impl Iterator<Item = (Backend, Engine)> {
    ENGINES.iter().copied()
}
