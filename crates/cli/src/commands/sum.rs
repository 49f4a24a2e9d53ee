//! `hashlane sum`: digests of files and folders, and the check of lists of digests.

mod against;
mod arguments;
mod check;
mod chunk;
mod counts;
mod digests;
mod filter;
mod json;
mod known;
mod names;
mod output;
mod printer;
mod report;
mod tree;
mod tree_check;
mod verity;

pub(crate) use arguments::Sum;

#[cfg(feature = "schema")]
pub(crate) use json::schema;

use std::io::{BufWriter, Write as _};
use std::path::Path;

use anyhow::Context as _;
use hashlane_sums::Options;

use crate::new_file::{NewFile, refusal};
use crate::output::stream::AfterFailure;
use crate::{Env, Exit};
use filter::Filter;

/// Returns the names of the tree hashes.
pub(super) fn tree_names() -> impl Iterator<Item = &'static str> {
    hashlane_trees::TreeName::names()
}

impl Sum {
    /// Returns what the command does after its results could not be written. A check continues, because its exit status
    /// is a result.
    pub(crate) fn after_failed_output(&self) -> AfterFailure {
        if self.check {
            AfterFailure::Continue
        } else {
            AfterFailure::Stop
        }
    }

    pub(crate) fn run(self, env: &mut Env) -> anyhow::Result<Exit> {
        let options = self.hashing.options();
        let filter = Filter::new(&self)?;
        if self.check {
            let tree_name = self.tree_name()?;
            if self.known.is_given() {
                return known::run(&self, env, &options, &filter);
            }
            if let Some(name) = tree_name {
                return tree_check::run(&self, name, env, &options, filter);
            }
            check::run(&self, env, &options, &filter)
        } else {
            self.print_or_write(env, &options, filter)
        }
    }

    /// Prints digests, or writes them to the file of `--output`.
    fn print_or_write(
        &self,
        env: &mut Env,
        options: &Options,
        filter: Filter,
    ) -> anyhow::Result<Exit> {
        let Some(output) = &self.output else {
            return self.print(env, options, &filter);
        };
        let path_text = || output.display().to_string();
        self.check_output(env, output)?;
        let file = NewFile::create(&env.resolve(output), self.force.overwrite());
        let file = file.map_err(refusal).with_context(path_text)?;
        let filter = filter.without(file.place());
        let stream = file.as_file().try_clone().with_context(path_text)?;
        let stream = BufWriter::new(stream);
        let stdout = std::mem::replace(&mut env.stdout, Box::new(stream));
        let result = self.print(env, options, &filter);
        let flushed = env.stdout.flush().with_context(path_text);
        env.stdout = stdout;
        let exit = result?;
        flushed?;
        if exit != Exit::Good {
            return Self::put_partial(env, file, output, exit);
        }
        file.put().map_err(refusal).with_context(path_text)?;
        Ok(exit)
    }

    /// Refuses an output file that is also a file to hash: `--force` would replace the content.
    fn check_output(&self, env: &Env, output: &Path) -> anyhow::Result<()> {
        let Ok(place) = env.resolve(output).canonicalize() else {
            return Ok(());
        };
        let base = env.resolve(self.base.as_deref().unwrap_or(Path::new("")));
        let operands = self
            .operands()
            .into_iter()
            .map(|operand| base.join(operand).canonicalize());
        let is_operand = operands
            .flatten()
            .any(|operand| operand == place && operand.is_file());
        anyhow::ensure!(!is_operand, "{}: is a file to hash", output.display());
        Ok(())
    }

    fn print(&self, env: &mut Env, options: &Options, filter: &Filter) -> anyhow::Result<Exit> {
        match (self.tree_name()?, self.chunk) {
            (Some(name), _) => tree::run(self, name, env, options, filter),
            (None, Some(len)) => chunk::run(self, len, env, options, filter),
            (None, None) => digests::run(self, env, options, filter),
        }
    }

    /// Gives a list that lacks files another name, because nothing in a list shows that files are missing.
    fn put_partial(
        env: &mut Env,
        file: NewFile,
        output: &Path,
        exit: Exit,
    ) -> anyhow::Result<Exit> {
        let mut partial = output.as_os_str().to_owned();
        partial.push(".partial");
        let partial = Path::new(&partial);
        let reason = || {
            let (output, partial) = (output.display(), partial.display());
            format!("{output}: not written, because not all files could be read; {partial}")
        };
        let put = file.put_at(&env.resolve(partial));
        put.map_err(refusal).with_context(reason)?;
        env.error(&format!("{} has the digests of the others", reason()));
        Ok(exit)
    }
}
