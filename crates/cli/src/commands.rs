//! The command line that clap parses. Each command is a file of its own, with its arguments and its `run`.

mod completions;
mod create;
mod edit;
mod kernels;
mod magnet;
mod man;
mod recover;
mod show;
mod verify;

use clap::{CommandFactory as _, Parser, Subcommand};

use crate::output::stream::AfterFailure;
use crate::swarm_args::{Get, Seed};
use crate::{Env, Exit};

const ENVIRONMENT: &str = "\
Environment:
  HASHLANE_BACKEND  name of the only hash backend to use; `hashlane kernels` lists the names
  NO_COLOR          disables colours if it is set and not empty";

/// Verifies files against torrents and creates, downloads and serves torrents at the speed of memory
#[derive(Debug, Parser)]
#[command(
    name = "hashlane",
    version,
    long_version = kernels::long_version(),
    after_help = ENVIRONMENT,
    subcommand_required = true,
    arg_required_else_help = true
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Verify(verify::Verify),
    Create(create::Create),
    Show(show::Show),
    Magnet(magnet::Magnet),
    Edit(edit::Edit),
    Get(Get),
    Seed(Seed),
    Recover(recover::Recover),
    Kernels(kernels::Kernels),
    Completions(completions::Completions),
    Man(man::Man),
}

impl Command {
    /// Returns what the command does when nobody reads its results any more.
    pub(crate) fn after_failed_output(&self) -> AfterFailure {
        match self {
            Self::Get(_) | Self::Seed(_) | Self::Recover(_) => AfterFailure::Stop,
            _ => AfterFailure::Continue,
        }
    }

    pub(crate) fn run(self, env: &mut Env) -> anyhow::Result<Exit> {
        match self {
            Self::Verify(verify) => verify.run(env),
            Self::Create(create) => create.run(env),
            Self::Show(show) => show.run(env),
            Self::Magnet(magnet) => magnet.run(env),
            Self::Edit(edit) => edit.run(env),
            Self::Get(get) => get.run(env),
            Self::Seed(seed) => seed.run(env),
            Self::Recover(recover) => recover.run(env),
            Self::Kernels(kernels) => kernels.run(env),
            Self::Completions(completions) => completions.run(env, Cli::command()),
            Self::Man(man) => man.run(env, Cli::command()),
        }
    }
}
