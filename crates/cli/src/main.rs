//! The `hashlane` program: connects the process to the library, which does the work.
#![forbid(unsafe_code)]

use std::io;
use std::process::ExitCode;

use hashlane_cli::{Env, Exit, run};
use hashlane_verify::CancelToken;

fn main() -> ExitCode {
    let mut env = Env {
        interrupts: Some(install_interrupts),
        ..Env::of_process()
    };
    run(&mut env).code().into()
}

fn install_interrupts(cancel: CancelToken) -> io::Result<()> {
    let handler = move || {
        if cancel.is_cancelled() {
            // Asked twice: whoever asks does not want to wait for what is known.
            std::process::exit(Exit::NotChecked.code().into());
        }
        cancel.cancel();
    };
    ctrlc::set_handler(handler).map_err(io::Error::other)
}
