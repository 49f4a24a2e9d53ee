//! The engine of the process. One test, because the choice cannot be changed.
#![allow(missing_docs)]

use hashlane_sha::{Backend, Engine, Sha256};

#[test]
fn a_program_chooses_the_engine_of_its_process_once() {
    // No environment variable is read.
    let best = Engine::among(|_| true);
    let portable = Engine::with(Backend::Portable).unwrap();
    let kernel = |engine: Engine| engine.kernel::<Sha256>(1).backend;

    portable.set_default().unwrap();
    assert_eq!(kernel(Engine::detect()), Backend::Portable);
    assert_eq!(Engine::detect().lanes::<Sha256>(), 1);

    let error = best.set_default().unwrap_err().to_string();
    assert_eq!(error, "the engine of this process was chosen before");
    assert_eq!(kernel(Engine::detect()), Backend::Portable);
}
