//! The `hashlane` command line as a library, so that all of it runs inside a test: [`run`] gets
//! everything that a process has of its surroundings as an [`Env`].
#![forbid(unsafe_code)]

mod args;
mod create;
mod edit;
mod env;
mod exit;
mod generate;
mod globs;
mod json_lines;
mod kernels;
mod magnet;
mod new_file;
mod piece_map;
mod progress;
mod recover;
mod show;
#[cfg(feature = "libtorrent")]
mod swarm;
#[cfg(not(feature = "libtorrent"))]
#[path = "swarm/absent.rs"]
mod swarm;
mod text;
mod torrent_file;
mod units;
mod verify;

pub use env::{Env, InstallInterrupts};
pub use exit::Exit;

use std::io;

use anyhow::Context as _;
use clap::Parser as _;

use args::{Cli, Command};

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
    let result = match cli.command {
        Command::Verify(verify) => verify.run(env),
        Command::Create(create) => create.run(env),
        Command::Show(show) => show.run(env),
        Command::Magnet(magnet) => magnet.run(env),
        Command::Edit(edit) => edit.run(env),
        Command::Get(get) => get.run(env),
        Command::Seed(seed) => seed.run(env),
        Command::Recover(recover) => recover.run(env),
        Command::Kernels(kernels) => kernels.run(env),
        Command::Completions(completions) => completions.run(env),
        Command::Man(man) => man.run(env),
    };
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
