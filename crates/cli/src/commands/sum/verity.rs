//! The check of data against a hash device of dm-verity or a signature file of Android.

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use hashlane_sums::{Options, bytes_of};
use hashlane_trees::{Damage, Failure, Idsig, Item, RootHashError, VerityCheck, VerityReport};

use super::arguments::Sum;
use super::json::Line;
use super::output::Output;
use super::report::Report;
use crate::output::json_lines::{self, PathText};
use crate::output::text::{Escaped, count};
use crate::{Env, Exit};

/// Checks a file against the tree in a hash device.
pub(super) fn check(
    sum: &Sum,
    env: &mut Env,
    options: &Options,
    device: &Path,
) -> anyhow::Result<Exit> {
    let (name, path) = one_file(sum, env, "--hash-device: the device has the tree")?;
    for (option, is_given) in [
        ("--block-size", sum.tree.block_size.is_some()),
        ("--hash-block-size", sum.tree.hash_block_size.is_some()),
        ("--data-blocks", sum.tree.data_blocks.is_some()),
        ("--salt", sum.tree.salt.is_some()),
        ("--hash", sum.tree.hash.is_some()),
        ("--verity-format", sum.tree.verity_format.is_some()),
        ("--uuid", sum.tree.uuid.is_some()),
    ] {
        anyhow::ensure!(
            !is_given,
            "{option}: --hash-device has the parameters: leave it out"
        );
    }
    let shown = device.display().to_string();
    let file = File::open(env.resolve(device)).with_context(|| shown.clone())?;
    let hash_offset = sum.tree.hash_offset.unwrap_or(0);
    let format = VerityCheck::new(file, hash_offset).with_context(|| shown.clone())?;
    let root = sum.tree.root_hash.as_deref();
    format.check_root(root).map_err(|error| match error {
        RootHashError::Required => anyhow::anyhow!("{shown}: {error}: use --root-hash"),
        error => anyhow::anyhow!("--root-hash: {error}"),
    })?;
    let root = root.map(|root| (root, "--root-hash"));
    against_tree(sum, env, options, (name, path), (&format, &shown), root)
}

/// Checks a package against the root hash and the tree in its signature file. The signatures are not checked.
pub(super) fn check_package(
    sum: &Sum,
    env: &mut Env,
    options: &Options,
    idsig: &Path,
) -> anyhow::Result<Exit> {
    let (name, path) = one_file(sum, env, "--idsig: the file is of one package")?;
    let shown = idsig.display().to_string();
    let file = File::open(env.resolve(idsig)).with_context(|| shown.clone())?;
    let idsig = Idsig::new(file).with_context(|| shown.clone())?;
    let root = idsig.root().clone();
    let metadata = path.metadata();
    let len = metadata.with_context(|| path.display().to_string())?.len();
    let format = VerityCheck::of_idsig(idsig, len).with_context(|| shown.clone())?;
    let root = Some((root.as_bytes(), &*shown));
    against_tree(sum, env, options, (name, path), (&format, &shown), root)
}

/// Returns the name and the path of the only file, or an error that starts with `problem`.
fn one_file(sum: &Sum, env: &Env, problem: &str) -> anyhow::Result<(Vec<u8>, PathBuf)> {
    let [data] = &sum.files[..] else {
        anyhow::bail!("{problem}: name one file");
    };
    let base = env.resolve(sum.base.as_deref().unwrap_or(Path::new("")));
    Ok((bytes_of(Path::new(data)).into_owned(), base.join(data)))
}

/// Checks a file against a tree, and its root hash against that which is expected. The tree comes with the name of its file,
/// and the expected root hash with its source.
fn against_tree(
    sum: &Sum,
    env: &mut Env,
    options: &Options,
    (name, path): (Vec<u8>, PathBuf),
    (format, shown): (&VerityCheck, &str),
    expected: Option<(&[u8], &str)>,
) -> anyhow::Result<Exit> {
    let mut report = Report::new(sum);
    let mut output = Output::new(env, sum.printing.quiet);
    if output.shows_progress() {
        output.total_bytes = path.metadata().map_or(0, |metadata| metadata.len());
    }
    let items = [Item::new(path.clone(), name)];
    let result = output.hash_trees(
        format,
        items,
        options,
        Vec::as_slice,
        |output, name, outcome| {
            let (found, length) = match outcome {
                Ok(done) => done,
                Err(Failure::NotWritten(error)) => {
                    return report.note_unreadable(output, name, &format!("{shown}: {error}"));
                }
                Err(Failure::TooShort(min)) => {
                    let problem =
                        format!("has fewer than {min} bytes, the length of the data of {shown}");
                    return report.note_unreadable(output, name, &problem);
                }
                Err(failure) => {
                    return report.note_unreadable(output, name, &failure.to_string());
                }
            };
            print(sum, output, name, shown, &found)?;
            let verdict = format.judge(found, &path, length, expected.map(|(root, _)| root));
            if !verdict.has_root
                && let Some((_, source)) = expected
            {
                let name = String::from_utf8_lossy(name);
                output.error(&format!(
                    "{name}: the root hash differs from that of {source}"
                ));
            }
            if verdict.bytes_beyond > 0 {
                let name = String::from_utf8_lossy(name);
                let bytes = count(verdict.bytes_beyond, "byte");
                output.error(&format!("{name}: {shown} has no digests of {bytes} of it"));
            }
            report.note_read(output, name, verdict.is_right())
        },
    );
    output.clear_progress();
    result?;
    report.print_summary(&mut output)?;
    Ok(report.counts.exit())
}

/// Prints the root hash and the damaged blocks.
fn print(
    sum: &Sum,
    output: &mut Output<'_>,
    name: &[u8],
    device: &str,
    found: &VerityReport,
) -> anyhow::Result<()> {
    if sum.printing.is_json() {
        let pairs = |damage: &Damage| {
            let ranges = damage.ranges().iter();
            ranges.map(|range| [*range.start(), *range.end()]).collect()
        };
        let line = Line::Verity {
            path: PathText::of_bytes(name),
            root_hash: found.root.to_string(),
            blocks: found.n_blocks,
            damaged: found.data.n_blocks(),
            damaged_ranges: pairs(&found.data),
            device_damaged: found.device.n_blocks(),
            device_damaged_ranges: pairs(&found.device),
        };
        return json_lines::print(output.env, &line);
    }
    let name = String::from_utf8_lossy(name);
    let out = &mut output.env.stdout;
    if !sum.printing.quiet {
        writeln!(out, "root hash   {}", found.root)?;
    }
    for (name, damage) in [(&*name, &found.data), (device, &found.device)] {
        if damage.n_blocks() > 0 {
            writeln!(out, "damaged     {}: blocks {damage}", Escaped(name))?;
        }
    }
    Ok(())
}
