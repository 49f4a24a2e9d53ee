//! The `hashlane` program: connects the process to the library, which does the work.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use hashlane_cli::{OtherProgram, run_process};

fn main() -> ExitCode {
    run_process(&OtherProgram)
}
