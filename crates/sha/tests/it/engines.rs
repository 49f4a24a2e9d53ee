//! The engines of all backends that this CPU can run.

use std::io::Write as _;

use hashlane_sha::{Backend, BackendUnavailable, Engine};

pub(crate) fn engines() -> impl Iterator<Item = (Backend, Engine)> {
    Backend::all().filter_map(|backend| match Engine::with(backend) {
        Ok(engine) => Some((backend, engine)),
        Err(BackendUnavailable(backend)) => {
            let _ = writeln!(std::io::stderr(), "NOT RUN: this CPU lacks {backend}");
            None
        }
    })
}
