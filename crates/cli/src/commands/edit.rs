//! `hashlane edit`: changes metadata outside the info dictionary, and three fields inside it.

mod difference;
mod options;

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use clap::Args;
use hashlane_metainfo::{InfoHashes, Torrent, masked_text};
use serde::Serialize;

use crate::new_file::{self, Overwrite};
use crate::options::{Force, Json, Secrets, Switch as _};
use crate::output::json_lines;
use crate::output::progress::{ProgressLine, suspended};
use crate::output::text::{Palette, Shown, Styled};
use crate::torrent_file::is_stream;
use crate::{Env, Exit, Interrupted, links, torrent_file};

use difference::Change;
use options::Changes;

const EXIT_STATUS: &str = "\
Exit status:
  0  done
  2  an error: wrong usage, an invalid torrent, or a change that is not
     confirmed; the other torrents are changed
130  Ctrl-C in answer to a question";

/// Change the trackers, comment and other metadata of torrents
///
/// Everything else keeps its bytes, so that the info-hash stays the same. Only `--name`, `--source` and `--private`
/// change it, which creates another torrent: each asks first. A torrent is replaced as a whole or not at all. URLs are
/// removed first, then texts in the remaining URLs are replaced, and then new URLs are added.
#[derive(Debug, Args)]
#[command(after_help = EXIT_STATUS)]
pub(crate) struct Edit {
    /// .torrent files; `-` for standard input, which needs --output
    #[arg(value_name = "TORRENT", required = true)]
    torrents: Vec<PathBuf>,

    /// The .torrent to write, `-` for standard output [default: change TORRENT itself]
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,

    #[command(flatten)]
    force: Force,

    #[command(flatten)]
    changes: Changes,

    /// Write nothing and ask nothing; print the values that change, before (-) and after (+)
    #[arg(long, help_heading = "Output")]
    dry_run: bool,

    /// Ask before the info-hash changes [default: 1]
    #[arg(long, switch(), help_heading = "Output")]
    confirm: Option<bool>,

    #[command(flatten)]
    secrets: Secrets,

    #[command(flatten)]
    form: Json,
}

/// A line of `--json`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
enum Line<'l> {
    Edited {
        /// Path of the .torrent file, as given.
        torrent: &'l str,
        /// Path of the new .torrent file; null with `--dry-run`.
        output: Option<String>,
        /// The info-hash of version 1 of the new torrent; null without version 1.
        info_hash_v1: Option<String>,
        /// The info-hash of version 2 of the new torrent; null without version 2.
        info_hash_v2: Option<String>,
        /// Whether the info-hash changed, which makes it a different torrent.
        info_hash_changed: bool,
        /// Whether the .torrent file changed.
        changed: bool,
        /// The fields that changed: `field` (string: the name of a field of `show --json`), `removed` and `added`
        /// (lists of strings: values before and after, without passkeys unless `--show-passkey` is given).
        changes: &'l [Change],
    },
    Error {
        torrent: &'l str,
        message: String,
    },
}

/// Returns the schema of the lines.
#[cfg(feature = "schema")]
pub(crate) fn schema() -> schemars::Schema {
    json_lines::schema_of::<Line<'_>>()
}

/// A torrent before and after its edit.
struct Edited<'e> {
    path: &'e Path,
    before: Torrent,
    after: Torrent,
}

impl Edited<'_> {
    fn is_changed(&self) -> bool {
        self.before.bytes() != self.after.bytes()
    }
}

impl Edit {
    pub(crate) fn run(self, env: &mut Env) -> anyhow::Result<Exit> {
        self.check_usage()?;
        let edit = self.changes.edit()?;
        let mut line = env.progress.then(|| ProgressLine::of_items("torrents"));
        let n_torrents = self.torrents.len() as u64;
        let mut exit = Exit::Good;
        for (done, path) in (0..).zip(&self.torrents) {
            if env.cancel.is_cancelled() {
                return Err(Interrupted.into());
            }
            if let Some(line) = &mut line {
                line.set_name(path.display().to_string());
                line.update(done, n_torrents);
            }
            if let Err(error) = self.edit_one(env, line.as_ref(), path, &edit) {
                if error.is::<Interrupted>() {
                    return Err(error);
                }
                suspended(line.as_ref(), || self.print_error(env, path, &error))?;
                exit = Exit::NotChecked;
            }
        }
        if let Some(line) = line {
            line.clear();
        }
        Ok(exit)
    }

    fn print_error(&self, env: &mut Env, path: &Path, error: &anyhow::Error) -> anyhow::Result<()> {
        let message = masked_text(&format!("{error:#}"));
        env.error(&message);
        if self.form.json {
            let torrent = &links::without_secrets(path.display());
            json_lines::print(env, &Line::Error { torrent, message })?;
        }
        Ok(())
    }

    fn check_usage(&self) -> anyhow::Result<()> {
        torrent_file::check_inputs(&self.torrents)?;
        if self.output.is_some() && self.torrents.len() > 1 {
            let n_torrents = self.torrents.len();
            bail!("--output needs a single torrent, but {n_torrents} were given");
        }
        if self.writes_to_stdout() && self.form.json {
            bail!("--output -: cannot be combined with --json");
        }
        let needs_output = self.output.is_none() && !self.dry_run;
        if needs_output && self.torrents.iter().any(|path| is_stream(path)) {
            bail!("-: use --output to name the .torrent to write");
        }
        Ok(())
    }

    /// Returns `true` if the user is asked before the info-hash changes.
    fn asks(&self) -> bool {
        self.confirm.unwrap_or(true)
    }

    fn writes_to_stdout(&self) -> bool {
        !self.dry_run && self.output.as_deref().is_some_and(is_stream)
    }

    /// Edits a torrent. Errors name it.
    fn edit_one(
        &self,
        env: &mut Env,
        line: Option<&ProgressLine>,
        path: &Path,
        edit: &hashlane_metainfo::Edit,
    ) -> anyhow::Result<()> {
        let _held = self.lock_output(env, line, path)?;
        let before = torrent_file::open(env, path)?;
        let after = edit.apply(&before);
        let after = after.with_context(|| path.display().to_string())?;
        let edited = Edited {
            path,
            before,
            after,
        };
        if !self.dry_run {
            self.write(env, line, &edited)?;
        }
        if !self.has_report(&edited) {
            return Ok(());
        }
        suspended(line, || self.print(env, &edited))
    }

    /// Returns `true` if a torrent has a report: silence means that it was changed and keeps its info-hash.
    fn has_report(&self, edited: &Edited<'_>) -> bool {
        let is_silent = edited.is_changed() && change_of_hashes(edited).is_none() && !self.dry_run;
        self.form.json || !self.writes_to_stdout() && !is_silent
    }

    /// Waits until no other `edit` changes the file that is written, and keeps them waiting while the result exists.
    fn lock_output(
        &self,
        env: &mut Env,
        line: Option<&ProgressLine>,
        path: &Path,
    ) -> anyhow::Result<Option<File>> {
        let output = self.output.as_deref().unwrap_or(path);
        if self.dry_run || is_stream(output) {
            return Ok(None);
        }
        // `write` reports a path that leads nowhere.
        let Ok(place) = new_file::place_of(&env.resolve(output)) else {
            return Ok(None);
        };
        let path_text = output.display().to_string();
        let waiting = || {
            let message = format!("{path_text}: waiting for another edit of this file");
            suspended(line, || env.error(&message));
        };
        new_file::lock(&place, waiting).with_context(|| path_text.clone())
    }

    /// Writes the edited torrent, if the user agrees to another info-hash.
    fn write(
        &self,
        env: &mut Env,
        line: Option<&ProgressLine>,
        edited: &Edited<'_>,
    ) -> anyhow::Result<()> {
        let path = edited.path.display();
        let output = self.output.as_deref().unwrap_or(edited.path);
        let path_text = || output.display().to_string();
        let overwrite = match self.output {
            Some(_) => self.force.overwrite(),
            None => Overwrite::Yes,
        };
        let place = env.resolve(output);
        if !self.writes_to_stdout() {
            new_file::check(&place, overwrite).with_context(path_text)?;
        }
        if let Some(change) = change_of_hashes(edited)
            && self.asks()
            && !suspended(line, || is_confirmed(env, edited.path, &change))?
        {
            bail!("{path}: not changed");
        }
        if self.writes_to_stdout() {
            return Ok(env.stdout.write_all(edited.after.bytes())?);
        }
        // Programs that know nothing of the lock can have changed the torrent, for example while the user was asked.
        let is_same = |bytes: Vec<u8>| bytes == edited.before.bytes();
        if self.output.is_none() && !is_same(torrent_file::read(&place).with_context(path_text)?) {
            bail!("{path}: another program changed it; not replaced: edit it again");
        }
        if edited.is_changed() || self.output.is_some() {
            new_file::write(&place, edited.after.bytes(), overwrite).with_context(path_text)?;
        }
        Ok(())
    }

    fn print(&self, env: &mut Env, edited: &Edited<'_>) -> anyhow::Result<()> {
        if self.form.json {
            return self.print_json(env, edited);
        }
        let palette = Palette::new(env.color);
        let path = Shown(edited.path);
        if !edited.is_changed() {
            return Ok(writeln!(env.stdout, "{path}: nothing changed")?);
        }
        let change = change_of_hashes(edited);
        if self.dry_run {
            writeln!(env.stdout, "{}", Styled(palette.strong, path))?;
            return difference::print(&mut env.stdout, &self.changes_of(edited));
        }
        if let Some(change) = change {
            if self.torrents.len() > 1 {
                writeln!(env.stdout, "{}", Styled(palette.strong, path))?;
            }
            writeln!(env.stdout, "{change}")?;
        }
        Ok(())
    }

    fn print_json(&self, env: &mut Env, edited: &Edited<'_>) -> anyhow::Result<()> {
        let hashes = edited.after.info_hashes();
        let output = self.output.as_deref().unwrap_or(edited.path);
        let line = Line::Edited {
            torrent: &edited.path.display().to_string(),
            output: (!self.dry_run).then(|| output.to_string_lossy().into_owned()),
            info_hash_v1: hashes.v1().map(|hash| hash.to_string()),
            info_hash_v2: hashes.v2().map(|hash| hash.to_string()),
            info_hash_changed: hashes != edited.before.info_hashes(),
            changed: edited.is_changed(),
            changes: &self.changes_of(edited),
        };
        json_lines::print(env, &line)
    }

    fn changes_of(&self, edited: &Edited<'_>) -> Vec<Change> {
        difference::changes(&edited.before, &edited.after, self.secrets.passkeys())
    }
}

/// Describes the change of the info-hashes, if there is one.
fn change_of_hashes(edited: &Edited<'_>) -> Option<String> {
    let (before, after) = (edited.before.info_hashes(), edited.after.info_hashes());
    if before == after {
        return None;
    }
    let line = |before: Option<String>, after: Option<String>| {
        Some(format!("info-hash  {} becomes {}", before?, after?))
    };
    let v1 = |hashes: InfoHashes| hashes.v1().map(|hash| hash.to_string());
    let v2 = |hashes: InfoHashes| hashes.v2().map(|hash| hash.to_string());
    let lines = [line(v1(before), v1(after)), line(v2(before), v2(after))];
    Some(lines.into_iter().flatten().collect::<Vec<_>>().join("\n"))
}

/// Asks whether to create another torrent.
fn is_confirmed(env: &mut Env, path: &Path, change: &str) -> anyhow::Result<bool> {
    let path = path.display();
    if !env.can_ask {
        let change = change.replace('\n', "; ");
        bail!(
            "{path}: --confirm=0 is needed: this creates another torrent, and there is no terminal to ask: {change}"
        );
    }
    let question =
        format!("{path}: this creates another torrent, with peers of its own:\n{change}");
    env.agrees(&question)
}
