//! The `hashlane` command line as a library, for two programs and for tests that run it in their own process: [`run`]
//! takes the arguments, streams and terminal of a process as an [`Env`], and the commands that need libtorrent as
//! [`NetworkCommands`].
//!
//! The program `hashlane` passes [`OtherProgram`], so that no command loads libraries for the network that it does not
//! use. `hashlane-net` (crates/net) passes the commands themselves.
//!
//! | module | |
//! |---|---|
//! | `commands` | the command line, and a file for each command: its arguments and its `run`; `digest` and `mac`, which clap does not parse |
//! | `network` | the commands that need libtorrent: the interface, and the program that has them |
//! | `process` | the start of a program: signals and limits |
//! | `clap_text` | messages of clap without secrets |
//! | `options` | options that several commands share |
//! | `values` | values of options that need parsing: sizes, times, URLs |
//! | `output` | text for people, JSON lines, the progress line, the piece map |
//! | `documentation` | names of the published pages |
//! | `usage` | help, and errors of the command line |
//! | `env` | arguments and streams of a process, and its exit status |
//! | `startup` | streams and signals as the parent process left them |
//! | `new_file` | output files, written whole or not at all, and the rule for replacing files |
//! | `links` | URLs and magnet links without passkeys |
//! | `tables` | the tables of the configuration whose keys are no options |
//! | `input` | files that are read once, also from pipes: lists, keys, maps and .torrent files |
//! | `torrent_file` | reading .torrent files |
//! | `content_map` | reading content maps |
//!
//! Public types are exhaustive: only the programs of this repository use the library, and a new case needs a decision in each.
#![deny(unsafe_code)]

mod clap_text;
mod commands;
pub mod content_map;
mod documentation;
mod env;
mod input;
pub mod links;
mod network;
pub mod new_file;
pub mod options;
pub mod output;
mod process;
mod startup;
#[cfg(unix)]
pub mod tables;
pub mod torrent_file;
mod usage;
mod values;

#[cfg(unix)]
pub use commands::DaemonSettings;
#[cfg(unix)]
pub use commands::ctl::state_folder;
pub use commands::daemon::{Daemon, QueueOptions, RemoteOptions};
pub use commands::get::Get;
#[cfg(feature = "schema")]
pub use commands::json_lines;
pub use commands::magnet::{Fetching, Magnet};
pub use commands::seed::{Seed, Trust};
pub use commands::{ConfigurationKey, configuration_keys};
pub use env::{EndAtOnce, Env, Exit, InstallInterrupts, Interrupted, Invocation};
pub use hashlane_config::ServerAddress;
pub use network::{NetworkCommands, OtherProgram, check_caller};
pub use process::run_process;
pub use startup::Startup;
pub use values::{BindArg, ProxyUrl};

use std::io;

use commands::{Cli, coreutils, digest, par2};
use output::stream::{AfterFailure, ResultStream, is_broken_pipe};

/// Runs the program: parses the arguments, runs the command, and prints errors to the standard error stream. `network`
/// runs the commands that need libtorrent.
pub fn run(env: &mut Env, network: &dyn NetworkCommands) -> Exit {
    if let Some(program) = coreutils::Program::called_by(&env.args) {
        return program.run(env);
    }
    if let Some(program) = digest::Program::called_by(&env.args) {
        return program.run(env);
    }
    if let Some(program) = par2::Program::called_by(&env.args) {
        return program.run(env);
    }
    let cli = Cli::of_args(env);
    let after = cli.as_ref().map_or(AfterFailure::Continue, |cli| {
        cli.command.after_failed_output()
    });
    let stdout = std::mem::replace(&mut env.stdout, Box::new(io::sink()));
    let stdout = ResultStream::new(stdout, after);
    let failure = stdout.failure();
    env.stdout = Box::new(stdout);

    let result = match cli {
        Ok(cli) => {
            cli.look.apply(env);
            cli.command.run(env, network)
        }
        Err(error) => usage::print_help_or_error(env, &error),
    };
    let exit = result.unwrap_or_else(|error| {
        // The failure of the stream is reported below.
        if !is_broken_pipe(&error) {
            env.error(&format!("{error:#}"));
        }
        if error.is::<Interrupted>() {
            Exit::Interrupted
        } else {
            Exit::NotChecked
        }
    });
    let _ = env.stdout.flush();
    env.printer.finish(&env.cancel);
    // Reports the failure of a thread that prints.
    let _ = env.stdout.flush();
    match failure.take() {
        Some(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            env.error(&format!("standard output: {error}"));
            Exit::NotChecked
        }
        // The pipe is closed, and not all results were printed.
        Some(_) if after == AfterFailure::Stop => Exit::NotChecked,
        // A closed pipe does not change the exit status.
        _ => exit,
    }
}
