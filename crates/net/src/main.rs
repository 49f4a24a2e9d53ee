//! The `hashlane-net` program: `hashlane` with the commands that need libtorrent.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use hashlane_cli::{Env, Exit, check_caller, run_process};
use hashlane_net::Libtorrent;

fn main() -> ExitCode {
    if let Err(error) = check_caller() {
        Env::of_process().error(&format!("{error:#}"));
        return Exit::NotChecked.code().into();
    }
    run_process(&Libtorrent)
}
