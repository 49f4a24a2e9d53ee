//! The `hashlane` command line as a library, so that tests can run all of it in their own process: [`run`] takes the
//! arguments, streams and terminal of a process as an [`Env`].
//!
//! | module | |
//! |---|---|
//! | `commands` | the command line, and a file for each command: its arguments and its `run`; `digest` and `mac`, which clap does not parse |
//! | `options` | options that several commands share, the settings of a client, the log file |
//! | `values` | values of options that need parsing: sizes, times, URLs |
//! | `output` | text for people, JSON lines, the progress line, the piece map, the output of a client |
//! | `usage` | help, and errors of the command line |
//! | `env`, `exit` | arguments and streams of a process, and its exit status |
//! | `inherited` | streams and signals as the parent process left them |
//! | `new_file` | output files, written whole or not at all, and the rule for replacing files |
//! | `links` | URLs and magnet links without passkeys |
//! | `torrent_file`, `globs` | reading .torrent files, and patterns of file names |
#![deny(unsafe_code)]

mod commands;
mod env;
mod exit;
mod globs;
mod inherited;
mod links;
mod new_file;
mod options;
mod output;
mod torrent_file;
mod usage;
mod values;

pub use env::{EndAtOnce, Env, InstallInterrupts};
pub use exit::Exit;
pub use inherited::Inherited;

use std::io;

use clap::Parser as _;

use commands::{Cli, coreutils, digest};
use output::stream::{AfterFailure, ResultStream, is_broken_pipe};

/// Runs the program: parses the arguments, runs the command, and prints errors to the standard error stream.
pub fn run(env: &mut Env) -> Exit {
    if let Some(program) = coreutils::Program::called_by(&env.args) {
        return program.run(env);
    }
    if let Some(program) = digest::Program::called_by(&env.args) {
        return program.run(env);
    }
    let cli = Cli::try_parse_from(&env.args);
    let after = cli.as_ref().map_or(AfterFailure::Continue, |cli| {
        cli.command.after_failed_output()
    });
    let stdout = std::mem::replace(&mut env.stdout, Box::new(io::sink()));
    let stdout = ResultStream::new(stdout, after);
    let failure = stdout.failure();
    env.stdout = Box::new(stdout);

    let result = match cli {
        Ok(cli) => cli.command.run(env),
        Err(error) => usage::print_help_or_error(env, &error),
    };
    let exit = result.unwrap_or_else(|error| {
        // The failure of the stream is reported below.
        if !is_broken_pipe(&error) {
            env.error(&format!("{error:#}"));
        }
        Exit::NotChecked
    });
    let _ = env.stdout.flush();
    match failure.take() {
        Some(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            env.error(&format!("standard output: {error}"));
            Exit::NotChecked
        }
        // A closed pipe does not change the exit status.
        _ => exit,
    }
}
