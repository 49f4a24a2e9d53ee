//! Hashes the operands with the format of a tree hash, in the order of the operands.

use std::io::ErrorKind;
use std::path::Path;

use hashlane_sums::{Options, Source};
use hashlane_trees::{Failure, Format, Item};

use super::arguments::Sum;
use super::digests::{Named, files_of, len_of, note_left_out};
use super::filter::Filter;
use super::json::Line;
use super::output::Output;
use crate::output::json_lines;
use crate::{Env, Exit};

/// Prints the results of a format.
pub(super) struct Printer<'s> {
    pub(super) sum: &'s Sum,
    pub(super) filter: &'s Filter,
}

impl Printer<'_> {
    /// Hashes all operands. `print` gets each result, with the name and the length of the file in bytes.
    pub(super) fn run<H>(
        &self,
        env: &mut Env,
        format: &dyn Format<Hash = H>,
        options: &Options,
        print: impl Fn(&mut Output<'_>, &[u8], u64, &H) -> anyhow::Result<()>,
    ) -> anyhow::Result<Exit> {
        let sum = self.sum;
        let base = env.resolve(sum.base.as_deref().unwrap_or(Path::new("")));
        let operands = sum.operands();
        let found = || {
            let operands = operands.iter();
            operands.flat_map(|operand| files_of(sum, self.filter, &base, operand.as_ref()))
        };
        let mut output = Output::new(env, sum.printing.quiet);
        if output.shows_progress() {
            output.total_bytes = found().filter_map(|(_, source)| len_of(&source)).sum();
        }
        // Folders and what has no path are handled alone, in their turn.
        let is_leaf = |source: &Source| match source {
            Source::File(path) => !(format.folders().is_some() && path.is_dir()),
            _ => false,
        };
        let mut exit = Exit::Good;
        let mut found = found().peekable();
        let result = loop {
            let items =
                std::iter::from_fn(|| match found.next_if(|(_, source)| is_leaf(source))? {
                    (named, Source::File(path)) => Some(Item::new(path, named)),
                    _ => None,
                });
            let result = output.hash_trees(
                format,
                items,
                options,
                Named::name,
                |output, named, outcome| {
                    let failure = match outcome {
                        Ok((hash, length)) => return print(output, named.name(), length, &hash),
                        Err(failure) => failure,
                    };
                    exit = Exit::NotChecked;
                    self.print_error(output, named.name(), reason(&failure))
                },
            );
            if result.is_err() || output.env.cancel.is_cancelled() {
                break result;
            }
            let Some((named, source)) = found.next() else {
                break Ok(());
            };
            let message = match (&named, source) {
                (Named::LeftOut(name, reason), _) => {
                    note_left_out(&mut output, name, *reason);
                    continue;
                }
                (Named::Error(_, message), _) => message.clone(),
                (Named::File(_), Source::File(path)) => {
                    match output.hash_folder(format, options, self.filter, &path) {
                        Ok((hash, length)) => {
                            print(&mut output, named.name(), length, &hash)?;
                            continue;
                        }
                        Err(error) => format!("{error:#}"),
                    }
                }
                (Named::File(_), _) => {
                    "a tree hash needs a regular file: name one instead of standard input".into()
                }
            };
            exit = Exit::NotChecked;
            if let Err(error) = self.print_error(&mut output, named.name(), message) {
                break Err(error);
            }
        };
        output.clear_progress();
        result?;
        Ok(exit)
    }

    fn print_error(
        &self,
        output: &mut Output<'_>,
        name: &[u8],
        message: String,
    ) -> anyhow::Result<()> {
        let path = &String::from_utf8_lossy(name);
        output.error(&format!("{path}: {message}"));
        if self.sum.printing.is_json() {
            json_lines::print(output.env, &Line::Error { path, message })?;
        }
        Ok(())
    }
}

/// Returns the reason why a file has no result.
fn reason(failure: &Failure) -> String {
    match failure {
        Failure::NotOpened(error) if error.kind() == ErrorKind::IsADirectory => {
            "is a directory: use --recursive to hash its files".into()
        }
        failure => failure.to_string(),
    }
}
