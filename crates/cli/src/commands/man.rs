//! `hashlane man`: prints the man page, or writes one for each command.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;

use crate::new_file::{self, Overwrite};
use crate::options::Force;
use crate::{Env, Exit};

/// Print the man page, or write one for each command
#[derive(Debug, Args)]
pub(crate) struct Man {
    /// Folder to write the man pages of all commands to
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,

    #[command(flatten)]
    force: Force,
}

impl Man {
    pub(crate) fn run(self, env: &mut Env, command_line: clap::Command) -> anyhow::Result<Exit> {
        let Some(folder) = self.output else {
            clap_mangen::Man::new(command_line).render(&mut env.stdout)?;
            return Ok(Exit::Good);
        };
        let place = env.resolve(&folder);
        fs::create_dir_all(&place).with_context(|| folder.display().to_string())?;
        let mut command_line = command_line.disable_help_subcommand(true);
        command_line.build();
        let mut pages = Vec::new();
        render_all(&command_line, &mut pages)?;
        // All or nothing: a page that exists is refused before any is written.
        for write in [check, new_file::write] {
            for (name, page) in &pages {
                write(&place.join(name), page, self.force.overwrite())
                    .with_context(|| folder.join(name).display().to_string())?;
            }
        }
        Ok(Exit::Good)
    }
}

fn check(path: &Path, _: &[u8], overwrite: Overwrite) -> anyhow::Result<()> {
    new_file::check(path, overwrite)
}

/// Adds the file name and page of a command and of all commands below it.
fn render_all(command: &clap::Command, pages: &mut Vec<(String, Vec<u8>)>) -> anyhow::Result<()> {
    for command in command.get_subcommands().filter(|s| !s.is_hide_set()) {
        render_all(command, pages)?;
    }
    let man = clap_mangen::Man::new(command.clone());
    let mut page = Vec::new();
    man.render(&mut page)?;
    pages.push((man.get_filename(), page));
    Ok(())
}
