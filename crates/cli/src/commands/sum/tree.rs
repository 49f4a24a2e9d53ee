//! Tree hashes: the formats from the options, and their results for files and folders.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use anyhow::Context as _;
use hashlane_sums::{LineStyle, Options, write_line};
use hashlane_trees::{
    ApkIdsig, Format, FsverityError, HashFunction, Measurement, ParameterError, TreeName,
    VerityError, WithFormat,
};

use super::arguments::Sum;
use super::filter::Filter;
use super::json::Line;
use super::output::Output;
use super::printer::Printer;
use crate::new_file::{NewFile, refusal};
use crate::output::json_lines::{self, PathText};
use crate::{Env, Exit};

/// Returns the name that starts BSD lines of a tree hash.
pub(super) fn tag(name: TreeName) -> String {
    name.name().to_ascii_uppercase()
}

/// Does work with the format of the options.
pub(super) fn with_format<W: WithFormat<Output = anyhow::Result<Exit>>>(
    sum: &Sum,
    name: TreeName,
    work: W,
) -> anyhow::Result<Exit> {
    let done = name.with_format(&sum.tree.parameters(), work);
    done.map_err(of_option)?
}

/// Returns the error of an option.
fn of_option(error: ParameterError) -> anyhow::Error {
    let option = match &error {
        ParameterError::Fsverity(FsverityError::BlockLen(_))
        | ParameterError::DmVerity(VerityError::BlockLen(_)) => "--block-size",
        ParameterError::Fsverity(FsverityError::SaltLen(_))
        | ParameterError::DmVerity(VerityError::SaltLen(_)) => "--salt",
        ParameterError::S3(_) => "--part-size",
        _ => return error.into(),
    };
    anyhow::Error::from(error).context(option)
}

/// Prints the tree hashes of all operands.
pub(super) fn run(
    sum: &Sum,
    name: TreeName,
    env: &mut Env,
    options: &Options,
    filter: &Filter,
) -> anyhow::Result<Exit> {
    let printer = Printer { sum, filter };
    let trees = Trees { printer, name };
    match name {
        TreeName::ApkIdsig => trees.apk_idsig(env, options),
        TreeName::DmVerity => trees.dmverity(env, options),
        TreeName::Fsverity(function) => trees.fsverity(env, options, function),
        TreeName::BtRoot
        | TreeName::Cid(_)
        | TreeName::Git(_)
        | TreeName::Glacier
        | TreeName::S3(_) => {
            let work = WithoutFiles {
                trees: &trees,
                env,
                options,
            };
            with_format(sum, name, work)
        }
    }
}

/// Prints the results of a format without further outputs.
struct WithoutFiles<'r> {
    trees: &'r Trees<'r>,
    env: &'r mut Env,
    options: &'r Options,
}

impl WithFormat for WithoutFiles<'_> {
    type Output = anyhow::Result<Exit>;

    fn run<F: Format>(self, format: F) -> anyhow::Result<Exit> {
        self.trees.hashes(self.env, &format, self.options)
    }
}

/// The file of an option, a stream to it, and its name for errors.
type OutputFile = (NewFile, File, String);

/// Gives the files their names if the results are complete.
fn put<const N: usize>(exit: Exit, files: [Option<OutputFile>; N]) -> anyhow::Result<Exit> {
    if exit == Exit::Good {
        for (file, _, shown) in files.into_iter().flatten() {
            file.put().map_err(refusal).with_context(|| shown)?;
        }
    }
    Ok(exit)
}

/// Creates the file of an option, which is for one file to hash.
fn output_file(
    sum: &Sum,
    env: &Env,
    option: &str,
    path: Option<&Path>,
) -> anyhow::Result<Option<OutputFile>> {
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
    let file = file.map_err(refusal).with_context(|| shown.clone())?;
    let stream = file.as_file().try_clone();
    let stream = stream.with_context(|| shown.clone())?;
    Ok(Some((file, stream, shown)))
}

/// Prints tree hashes of one name.
struct Trees<'s> {
    printer: Printer<'s>,
    name: TreeName,
}

impl Trees<'_> {
    /// Prints the results of a format without further outputs.
    fn hashes<F: Format>(
        &self,
        env: &mut Env,
        format: &F,
        options: &Options,
    ) -> anyhow::Result<Exit> {
        let print = |output: &mut Output<'_>, name: &[u8], length, hash: &F::Hash| {
            self.print(output, name, length, hash)
        };
        self.printer.run(env, format, options, print)
    }

    /// Prints digests of fs-verity, and writes the files of the options.
    fn fsverity(
        &self,
        env: &mut Env,
        options: &Options,
        function: HashFunction,
    ) -> anyhow::Result<Exit> {
        let sum = self.printer.sum;
        let parameters = sum.tree.parameters();
        let mut format = parameters.fsverity(function).map_err(of_option)?;
        let (tree, descriptor) = (&sum.tree.out_merkle_tree, &sum.tree.out_descriptor);
        anyhow::ensure!(
            tree.is_none() || tree != descriptor,
            "--out-merkle-tree and --out-descriptor: name two files"
        );
        let tree = output_file(sum, env, "--out-merkle-tree", tree.as_deref())?;
        let descriptor = output_file(sum, env, "--out-descriptor", descriptor.as_deref())?;
        if let Some((_, stream, _)) = &tree {
            format = format.with_tree(stream.try_clone()?);
        }
        let print = |output: &mut Output<'_>, name: &[u8], length, measurement: &Measurement| {
            if let Some((_, stream, shown)) = &descriptor {
                let written = { stream }.write_all(measurement.descriptor());
                written.with_context(|| shown.clone())?;
            }
            self.print(output, name, length, measurement)
        };
        let exit = self.printer.run(env, &format, options, print)?;
        put(exit, [tree, descriptor])
    }

    /// Prints root hashes of Android, and writes the tree.
    fn apk_idsig(&self, env: &mut Env, options: &Options) -> anyhow::Result<Exit> {
        let mut format = ApkIdsig::default();
        let sum = self.printer.sum;
        let tree = sum.tree.out_merkle_tree.as_deref();
        let tree = output_file(sum, env, "--out-merkle-tree", tree)?;
        if let Some((_, stream, _)) = &tree {
            format = format.with_tree(stream.try_clone()?);
        }
        let exit = self.hashes(env, &format, options)?;
        put(exit, [tree])
    }

    /// Prints root hashes of dm-verity, and writes the hash device.
    fn dmverity(&self, env: &mut Env, options: &Options) -> anyhow::Result<Exit> {
        let sum = self.printer.sum;
        let parameters = sum.tree.parameters();
        let mut format = parameters.dmverity().map_err(of_option)?;
        let device = sum.tree.hash_device.as_deref();
        let device = output_file(sum, env, "--hash-device", device)?;
        if let Some((_, stream, _)) = &device {
            format = format.with_device(stream.try_clone()?);
        }
        let exit = self.hashes(env, &format, options)?;
        put(exit, [device])
    }

    fn print(
        &self,
        output: &mut Output<'_>,
        name: &[u8],
        length: u64,
        hash: &impl fmt::Display,
    ) -> anyhow::Result<()> {
        if self.printer.sum.printing.is_json() {
            let line = Line::File {
                path: PathText::of_bytes(name),
                length,
                digests: BTreeMap::from([(self.name.name().to_owned(), hash.to_string())]),
            };
            return json_lines::print(output.env, &line);
        }
        let style = LineStyle {
            is_tagged: self.printer.sum.tag,
            ..LineStyle::default()
        };
        let mut line = Vec::new();
        write_line(&mut line, style, tag(self.name), hash, name);
        Ok(output.env.stdout.write_all(&line)?)
    }
}
