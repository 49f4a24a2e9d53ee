//! `--table`: the roots of files (BEP 52), kept between searches.

use std::io;
use std::path::PathBuf;

use anyhow::{Context as _, bail};
use hashlane_files::read_regular;
use hashlane_find::{Candidates, Progress, RootTable};

use super::{Find, Folders};
use crate::output::text::{Shown, count};
use crate::{Env, Exit, new_file};
use hashlane_api::Size;

/// The table is written each time after this many bytes were hashed.
const BATCH_BYTES: u64 = 64 << 30;

/// A table, and where it is written.
pub(super) struct Table {
    roots: RootTable,
    given: PathBuf,
    place: PathBuf,
    overwrite: new_file::Overwrite,
}

impl Find {
    /// Reads the table, if one is wanted. An absent one is empty.
    pub(super) fn table(&self, env: &Env) -> anyhow::Result<Option<Table>> {
        let Some(given) = &self.table else {
            return Ok(None);
        };
        let place = env.resolve(given);
        let named = || given.display().to_string();
        let mut table = Table {
            roots: RootTable::default(),
            given: given.clone(),
            overwrite: new_file::Overwrite::No,
            place,
        };
        let mut bytes = Vec::new();
        match read_regular(&table.place, RootTable::MAX_LEN, &mut bytes) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                new_file::check(&table.place, table.overwrite).with_context(named)?;
            }
            Err(error) => return Err(error).with_context(named),
            Ok(false) => {
                let limit = RootTable::MAX_LEN >> 20;
                bail!("{}: longer than {limit} MiB, the limit of a table", named());
            }
            Ok(true) => {
                table.roots = match RootTable::parse(&bytes) {
                    Ok(roots) => roots,
                    Err(error) => bail!(
                        "{}: {error}; name another file, or remove it to hash all files again",
                        named()
                    ),
                };
                table.overwrite = new_file::Overwrite::Yes;
            }
        }
        Ok(Some(table))
    }

    /// Hashes the files that are new or have changed, and writes the table.
    pub(super) fn update(
        &self,
        env: &mut Env,
        table: Table,
        candidates: &mut Candidates,
        folders: &Folders,
    ) -> anyhow::Result<Exit> {
        let (mut exit, options) = (Exit::Good, self.hashing.options());
        let Table {
            mut roots,
            given,
            place,
            mut overwrite,
        } = table;
        let mut line = self.output.progress(env, "hash".to_owned());
        let mut progress = |progress: Progress| {
            if let Some(line) = &mut line {
                line.update(progress.hashed_bytes, progress.total_bytes);
            }
        };
        let mut save = |roots: &RootTable| {
            let written = new_file::write(&place, &roots.to_bytes(), overwrite);
            overwrite = new_file::Overwrite::Yes;
            written.with_context(|| given.display().to_string())
        };
        let updated = roots.update(
            candidates,
            (&place, BATCH_BYTES),
            &options,
            &env.cancel,
            &mut progress,
            &mut save,
        );
        if let Some(line) = line {
            line.clear();
        }
        let updated = updated?;
        for (candidate, error) in &updated.unreadable {
            let path = folders.shown(candidates.path(*candidate));
            exit = self.print_error(env, &path, &format!("{}: {error}", path.display()))?;
        }
        if !self.output.is_json() && !self.output.quiet {
            let files = count(roots.len() as u64, "file");
            let hashed = count(updated.hashed_files, "file");
            let (path, size) = (Shown(&given), Size(updated.hashed_bytes));
            writeln!(
                env.stdout,
                "{path}: roots of {files}, {hashed} ({size}) hashed now"
            )?;
        }
        Ok(exit)
    }
}
