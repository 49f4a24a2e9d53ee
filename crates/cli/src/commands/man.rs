//! `hashlane man`.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;

use crate::{Env, Exit};

/// Print the man page, or write one for each command
#[derive(Debug, Args)]
pub(crate) struct Man {
    /// Folder to write the man pages of all commands to
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

impl Man {
    pub(crate) fn run(self, env: &mut Env, command_line: clap::Command) -> anyhow::Result<Exit> {
        match self.out {
            None => clap_mangen::Man::new(command_line).render(&mut env.stdout)?,
            Some(folder) => {
                let place = env.resolve(&folder);
                std::fs::create_dir_all(&place)
                    .and_then(|()| clap_mangen::generate_to(command_line, &place))
                    .with_context(|| folder.display().to_string())?;
            }
        }
        Ok(Exit::Good)
    }
}
