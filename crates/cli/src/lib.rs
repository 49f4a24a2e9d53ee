//! The `hashlane` command line as a library, so that all of it runs inside a test: [`run`] takes
//! the arguments, streams and terminal of a process as an [`Env`].
//!
//! | module | |
//! |---|---|
//! | `commands` | the command line, and a file for each command: its arguments and its `run` |
//! | `options` | options that several commands share |
//! | `values` | values of options that need parsing: sizes, times, URLs |
//! | `output` | text for people, JSON lines, the progress line, the piece map |
//! | `env`, `exit` | arguments and streams of a process, and its exit status |
//! | `new_file` | output files, written whole or not at all, and the rule for replacing files |
//! | `torrent_file`, `globs` | reading .torrent files, and patterns of file names |
//! | `swarm`, `swarm_args` | `get` and `seed` |
#![forbid(unsafe_code)]

mod commands;
mod env;
mod exit;
mod globs;
mod new_file;
mod options;
mod output;
#[cfg(feature = "libtorrent")]
mod swarm;
#[cfg(not(feature = "libtorrent"))]
#[path = "swarm/absent.rs"]
mod swarm;
mod swarm_args;
mod torrent_file;
mod values;

pub use env::{Env, InstallInterrupts};
pub use exit::Exit;

use std::io;

use anyhow::Context as _;
use clap::Parser as _;

use commands::Cli;

/// Runs the program: parses the arguments, does what they say, reports errors on the standard
/// error stream.
pub fn run(env: &mut Env) -> Exit {
    let cli = match Cli::try_parse_from(&env.args) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are errors to clap, which knows where each of them goes.
            let text = error.render();
            let text = if env.color {
                text.ansi().to_string()
            } else {
                text.to_string()
            };
            let result = match error.exit_code() {
                0 => write!(env.stdout, "{text}"),
                _ => write!(env.stderr, "{text}"),
            };
            let exit = if error.exit_code() == 0 {
                Exit::Good
            } else {
                Exit::NotChecked
            };
            return result.map_or(Exit::NotChecked, |()| exit);
        }
    };
    let result = cli.command.run(env);
    let result = result.and_then(|exit| match env.stdout.flush() {
        // What was found is not changed by that nobody reads it.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(exit),
        flushed => flushed.context("standard output").map(|()| exit),
    });
    result.unwrap_or_else(|error| {
        if is_broken_pipe(&error) {
            // Whoever read our output has read enough.
            return Exit::Good;
        }
        env.error(&format!("{error:#}"));
        Exit::NotChecked
    })
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let mut causes = error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>());
    causes.any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}
