//! Tree hashes: the formats from the options, and their results for files and folders.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use anyhow::Context as _;
use hashlane_sums::{LineStyle, Options, write_line};
use hashlane_trees::{
    ApkIdsig, BtRoot, Fsverity, FsverityError, Glacier, HashFunction, Measurement, S3, S3Checksum,
    TreeName,
};

use super::arguments::Sum;
use super::filter::Filter;
use super::folder::OfFolders;
use super::json::Line;
use super::output::Output;
use super::printer::Printer;
use super::verity::dmverity;
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

/// Returns a checksum of S3 with the parameters of the options.
pub(super) fn s3(sum: &Sum, checksum: S3Checksum) -> anyhow::Result<S3> {
    S3::new(checksum, sum.tree.part_size).context("--part-size")
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
        TreeName::BtRoot => trees.hashes(env, &BtRoot, options),
        TreeName::Cid(format) => trees.hashes(env, &format, options),
        TreeName::DmVerity => trees.dmverity(env, options),
        TreeName::Fsverity(function) => trees.fsverity(env, options, function),
        TreeName::Git(format) => trees.hashes(env, &format, options),
        TreeName::Glacier => trees.hashes(env, &Glacier, options),
        TreeName::S3(checksum) => trees.hashes(env, &s3(sum, checksum)?, options),
    }
}

/// The file of an option, a stream to it, and its name for errors.
type OutputFile = (NewFile, File, String);

/// Gives the files their names if the results are complete.
fn put<const N: usize>(exit: Exit, files: [Option<OutputFile>; N]) -> anyhow::Result<Exit> {
    if exit == Exit::Good {
        for (file, _, shown) in files.into_iter().flatten() {
            file.put().with_context(|| shown)?;
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
    let file = file.with_context(|| shown.clone())?;
    let stream = file.stream().with_context(|| shown.clone())?;
    Ok(Some((file, stream, shown)))
}

/// Prints tree hashes of one name.
struct Trees<'s> {
    printer: Printer<'s>,
    name: TreeName,
}

impl Trees<'_> {
    /// Prints the results of a format without further outputs.
    fn hashes<F: OfFolders>(
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
        let mut format = fsverity(sum, function)?;
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
        let mut format = dmverity(&self.printer.sum.tree)?;
        let device = self.printer.sum.tree.hash_device.as_deref();
        let device = output_file(self.printer.sum, env, "--hash-device", device)?;
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
