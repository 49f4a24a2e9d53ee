//! Checks files whose digests other programs know: stores, listings and packages.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use hashlane_known::store::{self, Problem};
use hashlane_known::{KnownDigest, KnownFile, dpkg, listing};
use hashlane_sums::{Entry, Options, bytes_of};
use hashlane_trees::{Git, TreeName};

use super::arguments::{KnownOptions, Sum};
use super::check::{Check, Listed};
use super::filter::Filter;
use super::json::Line;
use super::output::Output;
use super::report::{Found, Report};
use super::tree_check;
use crate::output::json_lines::{self, PathText};
use crate::output::text::{Shown, count};
use crate::{Env, Exit};

impl KnownOptions {
    pub(super) fn is_given(&self) -> bool {
        self.store || self.hf.is_some() || self.debsums
    }
}

/// Checks all operands.
pub(super) fn run(
    sum: &Sum,
    env: &mut Env,
    options: &Options,
    filter: &Filter,
) -> anyhow::Result<Exit> {
    if let Some(listing) = &sum.known.hf {
        let [folder] = &sum.files[..] else {
            anyhow::bail!("--hf: name the folder of the download, and no other");
        };
        let files = listing::read(&env.resolve(listing));
        let files = files.with_context(|| listing.display().to_string())?;
        let files = files.into_iter().map(|file| KnownFile {
            path: Path::new(folder).join(&file.path),
            ..file
        });
        let mut output = Output::new(env, sum.printing.quiet);
        let report = Report::new(sum);
        return finish(sum, &mut output, options, filter, files.collect(), report);
    }
    if sum.known.debsums {
        return packages(sum, env, options, filter);
    }
    stores(sum, env, options, filter)
}

/// Checks the stores in all operands.
fn stores(sum: &Sum, env: &mut Env, options: &Options, filter: &Filter) -> anyhow::Result<Exit> {
    anyhow::ensure!(!sum.files.is_empty(), "--store: name the folder of a store");
    let mut output = Output::new(env, sum.printing.quiet);
    let mut report = Report::new(sum);
    let (mut files, mut exit) = (Vec::new(), Exit::Good);
    for operand in &sum.files {
        let operand = Path::new(operand);
        let folder = output.env.resolve(operand);
        let store = match store::read(&folder) {
            Ok(store) => store,
            Err(error) => {
                output.error(&format!("{}: {error}", operand.display()));
                exit = Exit::NotChecked;
                continue;
            }
        };
        // As the operand names it.
        let named = |path: &Path| operand.join(path.strip_prefix(&folder).unwrap_or(path));
        print_store(sum, &mut output, operand, &store)?;
        for (path, problem) in store.problems {
            let path = named(&path);
            let name = bytes_of(&path);
            match problem {
                Problem::Missing => {
                    report.counts.missing += 1;
                    report.print(&mut output, &name, "missing", Found::InPlace)?;
                }
                Problem::Unknown => {
                    report.counts.extra += 1;
                    report.print(&mut output, &name, "extra", Found::InPlace)?;
                }
                Problem::Unreadable(error) => {
                    report.note_unreadable(&mut output, &name, &error.to_string())?;
                }
            }
        }
        files.extend(store.files.into_iter().map(|file| KnownFile {
            path: named(&file.path),
            ..file
        }));
    }
    Ok(exit.max(finish(sum, &mut output, options, filter, files, report)?))
}

fn print_store(
    sum: &Sum,
    output: &mut Output<'_>,
    operand: &Path,
    store: &store::Store,
) -> anyhow::Result<()> {
    let (layout, files) = (store.layout.name(), store.files.len());
    if sum.printing.is_json() {
        let line = Line::Store {
            path: PathText::of_bytes(&bytes_of(operand)),
            layout,
            files,
            unfinished: store.n_unfinished,
        };
        return json_lines::print(output.env, &line);
    }
    if sum.printing.quiet {
        return Ok(());
    }
    let out = &mut output.env.stdout;
    write!(
        out,
        "{}: {layout}, {}",
        Shown(operand),
        count(files as u64, "file")
    )?;
    if store.n_unfinished > 0 {
        write!(out, ", {} unfinished", store.n_unfinished)?;
    }
    Ok(writeln!(out)?)
}

/// Checks the files of Debian packages.
fn packages(sum: &Sum, env: &mut Env, options: &Options, filter: &Filter) -> anyhow::Result<Exit> {
    let system = Path::new("/");
    let root = env.resolve(sum.base.as_deref().unwrap_or(system));
    let names = sum.files.iter().map(|name| {
        let name = name.to_str();
        name.map(str::to_owned)
            .context("the name of a package is not Unicode")
    });
    let names = names.collect::<anyhow::Result<Vec<_>>>()?;
    let mut packages = dpkg::read(&root, &names).map_err(|error| anyhow::anyhow!("{error}"))?;
    let mut output = Output::new(env, sum.printing.quiet);
    let mut report = Report::new(sum);
    let mut exit = Exit::Good;
    for package in &packages.without_digests {
        output.error(&format!(
            "{package}: has no MD5 sums, so its files are not checked"
        ));
        exit = Exit::NotChecked;
    }
    for line in &packages.improper {
        report.counts.improper += 1;
        let (path, line) = (line.path.display(), line.line);
        output.error(&format!("{path}: line {line} has no digest and path"));
    }
    if sum.base.is_none() {
        for file in &mut packages.files {
            file.path = system.join(&file.path);
        }
    }
    Ok(exit.max(finish(
        sum,
        &mut output,
        options,
        filter,
        packages.files,
        report,
    )?))
}

/// Hashes the files, and prints the results and the summary.
fn finish(
    sum: &Sum,
    output: &mut Output<'_>,
    options: &Options,
    filter: &Filter,
    files: Vec<KnownFile>,
    report: Report,
) -> anyhow::Result<Exit> {
    let base = output
        .env
        .resolve(sum.base.as_deref().unwrap_or(Path::new("")));
    let (mut listed, mut blobs) = (Vec::new(), Vec::new());
    for file in files {
        let name = bytes_of(&file.path).into_owned();
        match file.digest {
            KnownDigest::Digest(algorithm, digest) => listed.push(Listed {
                entry: Entry {
                    name,
                    digests: vec![(algorithm, digest)],
                    len_bytes: file.len_bytes,
                    alternatives: Vec::new(),
                },
                line: 0,
            }),
            KnownDigest::GitBlob(digest) => blobs.push((name, digest.to_string())),
        }
    }
    let no_list = PathBuf::new();
    let mut check = Check::new(sum, filter, base.clone(), None, report);
    check.files(output, options, &no_list, listed)?;
    let name = TreeName::Git(Git::Sha1);
    let report = check.into_report();
    let mut check = tree_check::Check::new(&Git::Sha1, filter.clone(), name, base, report);
    let blobs = blobs.into_iter();
    let blobs = blobs.map(|(name, digest)| (check.meant(name, None), digest));
    let blobs = blobs.collect();
    check.files(output, options, blobs)?;
    let report = check.into_report();
    output.clear_progress();
    report.print_summary(output)?;
    Ok(report.counts.exit())
}
