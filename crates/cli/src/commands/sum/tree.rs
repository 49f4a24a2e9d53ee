//! Tree hashes: the formats from the options, and their results for files and folders.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use hashlane_sums::{LineStyle, Options, write_line};
use hashlane_trees::{
    Format, FsverityError, OutputError, ParameterError, TreeFiles, TreeHash, TreeName, TreeOutputs,
    VerityError,
};

use super::arguments::Sum;
use super::filter::Filter;
use super::json::Line;
use super::output::Output;
use super::printer::Printer;
use crate::new_file::refusal;
use crate::output::json_lines::{self, PathText};
use crate::{Env, Exit};

/// Returns the name that starts BSD lines of a tree hash.
pub(super) fn tag(name: TreeName) -> String {
    name.name().to_ascii_uppercase()
}

/// Returns the format of the options.
pub(super) fn format(
    sum: &Sum,
    name: TreeName,
    files: &TreeFiles,
) -> anyhow::Result<Box<dyn Format<Hash = TreeHash>>> {
    let format = name.format(&sum.tree.parameters(), files);
    format.map_err(of_option)
}

/// Returns the error of an option.
fn of_option(error: ParameterError) -> anyhow::Error {
    let option = match &error {
        ParameterError::Fsverity(FsverityError::BlockLen(_))
        | ParameterError::DmVerity(VerityError::BlockLen(_)) => "--block-size",
        ParameterError::Fsverity(FsverityError::SaltLen(_))
        | ParameterError::DmVerity(VerityError::SaltLen(_)) => "--salt",
        ParameterError::DmVerity(VerityError::DataBlocks(_)) => "--data-blocks",
        ParameterError::DmVerity(VerityError::HashOffset(_)) => "--hash-offset",
        ParameterError::S3(_) => "--part-size",
        _ => return error.into(),
    };
    anyhow::Error::from(error).context(option)
}

/// Prints the tree hashes of all operands, and writes the files of the options.
pub(super) fn run(
    sum: &Sum,
    name: TreeName,
    env: &mut Env,
    options: &Options,
    filter: &Filter,
) -> anyhow::Result<Exit> {
    let files = create_files(sum, env)?;
    let format = &*format(sum, name, &files)?;
    let print = |output: &mut Output<'_>, file: &[u8], length, hash: &TreeHash| {
        note_part(output, file, format.content_len(length), length);
        print(sum, name, output, file, length, hash)
    };
    let exit = Printer { sum, filter }.run(env, format, options, print)?;
    // Files are for one operand, whose result they belong to.
    if exit == Exit::Good {
        files.put().map_err(|error| of_output(env, error))?;
    }
    Ok(exit)
}

/// Creates the files of the options, which are for one file to hash.
fn create_files(sum: &Sum, env: &Env) -> anyhow::Result<TreeFiles> {
    let resolved = |path: &Option<PathBuf>| path.as_deref().map(|path| env.resolve(path));
    let outputs = TreeOutputs {
        merkle_tree: resolved(&sum.tree.out_merkle_tree),
        descriptor: resolved(&sum.tree.out_descriptor),
        hash_device: resolved(&sum.tree.hash_device),
        overwrite: sum.force.overwrite(),
    };
    let given = [
        ("--out-merkle-tree", &outputs.merkle_tree),
        ("--out-descriptor", &outputs.descriptor),
        ("--hash-device", &outputs.hash_device),
    ];
    let Some((option, _)) = given.into_iter().find(|(_, path)| path.is_some()) else {
        return Ok(TreeFiles::default());
    };
    let file = match &sum.files[..] {
        [file] if !sum.recursive => file,
        _ => anyhow::bail!("{option}: the file is for one file: name one, without --recursive"),
    };
    let base = env.resolve(sum.base.as_deref().unwrap_or(Path::new("")));
    let files = TreeFiles::create(&outputs, &base.join(file));
    files.map_err(|error| of_output(env, error))
}

/// Returns the error of a file of an option, whose path is shown as it was given.
fn of_output(env: &Env, error: OutputError) -> anyhow::Error {
    let path = error.path.strip_prefix(&env.cwd).unwrap_or(&error.path);
    refusal(error.error).context(path.display().to_string())
}

/// Prints a note about a file of which only the first `content_len` bytes are hashed. Returns `true` if it is such a file.
pub(super) fn note_part(
    output: &mut Output<'_>,
    name: &[u8],
    content_len: u64,
    length: u64,
) -> bool {
    let is_part = content_len < length;
    if is_part {
        let name = String::from_utf8_lossy(name);
        output.error(&format!(
            "{name}: only the first {content_len} of {length} bytes are hashed"
        ));
    }
    is_part
}

/// Prints the tree hash of a file.
fn print(
    sum: &Sum,
    name: TreeName,
    output: &mut Output<'_>,
    file: &[u8],
    length: u64,
    hash: &TreeHash,
) -> anyhow::Result<()> {
    if sum.printing.is_json() {
        let line = Line::File {
            path: PathText::of_bytes(file),
            length,
            digests: BTreeMap::from([(name.name().to_owned(), hash.to_string())]),
        };
        return json_lines::print(output.env, &line);
    }
    let style = LineStyle {
        is_tagged: sum.tag,
        ..LineStyle::default()
    };
    let mut line = Vec::new();
    write_line(&mut line, style, tag(name), hash, file);
    Ok(output.env.stdout.write_all(&line)?)
}
