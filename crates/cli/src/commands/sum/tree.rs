//! Tree hashes: the formats from the options, and their results for files and folders.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use anyhow::Context as _;
use hashlane_sums::{LineStyle, Options, Source, write_line};
use hashlane_trees::{Fsverity, FsverityError, Glacier, HashFunction, Item, Outcome};

use super::arguments::{Sum, TreeName};
use super::digests::{Named, files_of, len_of};
use super::filter::Filter;
use super::folder::{OfFolders, hash_folder};
use super::json::Line;
use super::output::{Output, problem};
use crate::new_file::NewFile;
use crate::output::json_lines::{self, PathText};
use crate::{Env, Exit};

/// Returns the name that starts BSD lines of a tree hash.
pub(super) fn tag(name: TreeName) -> String {
    name.name().to_ascii_uppercase()
}

/// Returns fs-verity with the parameters of the options.
pub(super) fn fsverity(sum: &Sum, function: HashFunction) -> anyhow::Result<Fsverity> {
    let options = &sum.tree;
    let salt = options.salt.clone().unwrap_or_default();
    let format = Fsverity::new(function, options.block_size.unwrap_or(4096), salt);
    format.map_err(|error| match error {
        FsverityError::BlockLen(_) => anyhow::anyhow!("--block-size: {error}"),
        FsverityError::SaltLen(_) => anyhow::anyhow!("--salt: {error}"),
        error => anyhow::anyhow!(error),
    })
}

/// Prints the tree hashes of all operands.
pub(super) fn run(
    sum: &Sum,
    name: TreeName,
    env: &mut Env,
    options: &Options,
    filter: &Filter,
) -> anyhow::Result<Exit> {
    let printer = Printer { sum, name, filter };
    let function = match name {
        TreeName::Fsverity(function) => function,
        TreeName::Cid(format) => return printer.run(env, &format, options, |_| Ok(())),
        TreeName::Glacier => return printer.run(env, &Glacier, options, |_| Ok(())),
        TreeName::Git(format) => return printer.run(env, &format, options, |_| Ok(())),
    };
    let mut format = fsverity(sum, function)?;
    let (tree, descriptor) = (&sum.tree.out_merkle_tree, &sum.tree.out_descriptor);
    anyhow::ensure!(
        tree.is_none() || tree != descriptor,
        "--out-merkle-tree and --out-descriptor: name two files"
    );
    let tree = output_file(
        sum,
        env,
        "--out-merkle-tree",
        sum.tree.out_merkle_tree.as_deref(),
    )?;
    let descriptor = output_file(
        sum,
        env,
        "--out-descriptor",
        sum.tree.out_descriptor.as_deref(),
    )?;
    if let Some((_, stream, _)) = &tree {
        format = format.with_tree(stream.try_clone()?);
    }
    let exit = printer.run(env, &format, options, |measurement| {
        if let Some((_, stream, shown)) = &descriptor {
            let written = { stream }.write_all(measurement.descriptor());
            written.with_context(|| shown.clone())?;
        }
        Ok(())
    })?;
    if exit == Exit::Good {
        for (file, _, shown) in [tree, descriptor].into_iter().flatten() {
            file.put().with_context(|| shown)?;
        }
    }
    Ok(exit)
}

/// Creates the file of an option, which is for one file to hash. Returns a stream to it, and its name for errors.
fn output_file(
    sum: &Sum,
    env: &Env,
    option: &str,
    path: Option<&Path>,
) -> anyhow::Result<Option<(NewFile, File, String)>> {
    let Some(path) = path else {
        return Ok(None);
    };
    anyhow::ensure!(
        sum.files.len() == 1 && !sum.recursive,
        "{option}: the file is for one file: name one, without --recursive"
    );
    let shown = path.display().to_string();
    sum.check_output(env, path)?;
    let file = NewFile::create(&env.resolve(path), sum.force.overwrite());
    let file = file.with_context(|| shown.clone())?;
    let stream = file.stream().with_context(|| shown.clone())?;
    Ok(Some((file, stream, shown)))
}

/// Prints the results of a format.
struct Printer<'s> {
    sum: &'s Sum,
    name: TreeName,
    filter: &'s Filter,
}

impl Printer<'_> {
    /// Prints the results of all operands. `on_hash` gets each result before it is printed.
    fn run<F: OfFolders>(
        &self,
        env: &mut Env,
        format: &F,
        options: &Options,
        on_hash: impl Fn(&F::Hash) -> anyhow::Result<()>,
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
            Source::File(path) => !(F::HAS_FOLDERS && path.is_dir()),
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
                    let message = match outcome {
                        Outcome::Hash(hash, length) => {
                            on_hash(&hash)?;
                            return self.print(output, named.name(), length, &hash.to_string());
                        }
                        failure => problem(&failure),
                    };
                    exit = Exit::NotChecked;
                    self.print_error(output, named.name(), message)
                },
            );
            if result.is_err() || output.env.cancel.is_cancelled() {
                break result;
            }
            let Some((named, source)) = found.next() else {
                break Ok(());
            };
            let message = match (&named, source) {
                (Named::Error(_, message), _) => message.clone(),
                (Named::File(_), Source::File(path)) => {
                    match hash_folder(format, &mut output, options, self.filter, &path) {
                        Ok((hash, length)) => {
                            self.print(&mut output, named.name(), length, &hash.to_string())?;
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

    fn print(
        &self,
        output: &mut Output<'_>,
        name: &[u8],
        length: u64,
        hash: &str,
    ) -> anyhow::Result<()> {
        if self.sum.printing.is_json() {
            let line = Line::File {
                path: PathText::of_bytes(name),
                length,
                digests: BTreeMap::from([(self.name.name().to_owned(), hash.to_owned())]),
            };
            return json_lines::print(output.env, &line);
        }
        let style = LineStyle {
            is_tagged: self.sum.tag,
            ..LineStyle::default()
        };
        let mut line = Vec::new();
        write_line(&mut line, style, tag(self.name), hash, name);
        Ok(output.env.stdout.write_all(&line)?)
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
