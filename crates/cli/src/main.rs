//! The `hashlane` program: connects the process to the library, which does the work.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use hashlane_cli::{Env, Exit, run};

fn main() -> ExitCode {
    let mut env = Env::of_process();
    let cancel = env.cancel.clone();
    let handler = move || {
        if cancel.is_cancelled() {
            // Asked twice: whoever asks does not want to wait for what is known.
            std::process::exit(Exit::NotChecked.code().into());
        }
        cancel.cancel();
    };
    if let Err(error) = ctrlc::set_handler(handler) {
        // Then Ctrl-C ends the process at once, as it would any other.
        env.warn(&format!("no orderly end on Ctrl-C: {error}"));
    }
    run(&mut env).code().into()
}
