//! `hashlane man`: prints the man page, or writes one for each command.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{fs, process};

use anyhow::{Context as _, bail};
use clap::Args;
use clap_mangen::roff::{Roff, roman};

use super::call::Page;
use super::{coreutils, digest};
use crate::new_file::{self, Overwrite};
use crate::options::Force;
use crate::{Env, Exit};

/// Print the man page, or write one for each command
///
/// A terminal shows the page by the program `man`, if it is installed.
#[derive(Debug, Args)]
pub(crate) struct Man {
    /// Command whose page to print, for example `verify` [default: the page of the whole program]
    #[arg(value_name = "COMMAND", conflicts_with = "output")]
    command: Option<String>,

    /// Folder to write the man pages of all commands to
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,

    #[command(flatten)]
    force: Force,
}

impl Man {
    pub(crate) fn run(self, env: &mut Env, command_line: clap::Command) -> anyhow::Result<Exit> {
        let pages = pages(command_line)?;
        let Some(folder) = self.output else {
            let name = match &self.command {
                Some(command) => format!("hashlane-{command}.1"),
                None => "hashlane.1".to_owned(),
            };
            let Some((_, page)) = pages.into_iter().find(|(found, _)| *found == name) else {
                bail!(
                    "{}: no such command; `hashlane --help` lists them",
                    self.command.unwrap_or_default()
                );
            };
            show(env, &page)?;
            return Ok(Exit::Good);
        };
        let place = env.resolve(&folder);
        fs::create_dir_all(&place).with_context(|| folder.display().to_string())?;
        // An existing page is refused before any page is written.
        for write in [check, new_file::write] {
            for (name, page) in &pages {
                write(&place.join(name), page, self.force.overwrite())
                    .with_context(|| folder.join(name).display().to_string())?;
            }
        }
        Ok(Exit::Good)
    }
}

/// Returns the file name and page of every command.
fn pages(command_line: clap::Command) -> anyhow::Result<Vec<(String, Vec<u8>)>> {
    let mut command_line = command_line.disable_help_subcommand(true);
    command_line.build();
    let mut pages = Vec::new();
    render_all(&command_line, &mut pages)?;
    let programs = coreutils::Program::pages().chain(digest::Program::pages());
    pages.extend(programs.map(render_program));
    Ok(pages)
}

/// Shows a page on a terminal by the program `man`, or prints it.
fn show(env: &mut Env, page: &[u8]) -> anyhow::Result<()> {
    if env.stdout_is_terminal {
        let man = process::Command::new("man")
            .args(["-l", "-"])
            .stdin(process::Stdio::piped())
            .spawn();
        if let Ok(mut man) = man {
            if let Some(mut input) = man.stdin.take() {
                // The user may leave `man` before it has read the page.
                let _ = input.write_all(page);
            }
            if man.wait()?.success() {
                return Ok(());
            }
        }
    }
    Ok(env.stdout.write_all(page)?)
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

/// Returns the file name and page of a program that clap does not parse.
fn render_program(page: Page) -> (String, Vec<u8>) {
    let Page {
        name, about, help, ..
    } = page;
    let name = format!("hashlane-{name}");
    let version = format!("hashlane {}", env!("CARGO_PKG_VERSION"));
    let mut page = Roff::new();
    page.control("TH", [&name, "1", "", &version, ""]);
    page.control("SH", ["NAME"]);
    page.text([roman(format!("{name} - {about}"))]);
    page.control("SH", ["DESCRIPTION"]);
    // The man page keeps the line breaks of the help.
    page.control("nf", []);
    for line in help.lines() {
        page.text([roman(line)]);
    }
    page.control("fi", []);
    (format!("{name}.1"), page.render().into_bytes())
}
