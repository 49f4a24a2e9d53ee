//! Prints digests of files and folders.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hashlane_files::{NotContent, Walked, walk_files};
use hashlane_sums::{Item, Options, Source, bytes_of};

use super::arguments::Sum;
use super::filter::Filter;
use super::json::{self, Line};
use super::output::Output;
use crate::output::json_lines::{self, PathText};
use crate::{Env, Exit};

/// A file to hash, or an error instead of the file.
pub(super) enum Named {
    /// The name to print.
    File(Vec<u8>),
    /// The name of what is not content.
    LeftOut(Vec<u8>, NotContent),
    /// The name and the problem.
    Error(Vec<u8>, String),
}

impl Named {
    pub(super) fn name(&self) -> &[u8] {
        let (Self::File(name) | Self::LeftOut(name, _) | Self::Error(name, _)) = self;
        name
    }
}

/// Prints a note about something in a folder that is not content.
pub(super) fn note_left_out(output: &mut Output<'_>, name: &[u8], reason: NotContent) {
    let name = String::from_utf8_lossy(name);
    output.error(&format!("{name}: left out: is {reason}"));
}

/// Prints the digests of all operands.
pub(super) fn run(
    sum: &Sum,
    env: &mut Env,
    options: &Options,
    filter: &Filter,
) -> anyhow::Result<Exit> {
    let (algorithms, mut list) = sum.list_writer()?;
    let base = env.resolve(sum.base.as_deref().unwrap_or(Path::new("")));
    let operands = sum.operands();
    let mut output = Output::new(env, sum.printing.quiet);
    if output.shows_progress() {
        let named = operands
            .iter()
            .flat_map(|operand| files_of(sum, filter, &base, operand.as_ref()));
        output.total_bytes = named.filter_map(|(_, source)| len_of(&source)).sum();
    }
    let items = operands.iter().flat_map(|operand| {
        files_of(sum, filter, &base, operand.as_ref())
            .map(|(tag, source)| Item::new(source, Arc::clone(&algorithms), tag))
    });
    let mut exit = Exit::Good;
    let mut text = Vec::new();
    if !sum.printing.is_json() {
        list.write_header(&mut text);
        output.env.stdout.write_all(&text)?;
    }
    let result = output.hash(items, options, Named::name, |output, item, outcome| {
        let (name, message) = match (&item.tag, outcome) {
            (Named::File(name), Ok((digests, length))) => {
                if sum.printing.is_json() {
                    let path = PathText::of_bytes(name);
                    let digests = json::digests(&item.algorithms, &digests);
                    let line = Line::File {
                        path,
                        length,
                        digests,
                    };
                    return json_lines::print(output.env, &line);
                }
                text.clear();
                match list.write(&mut text, name, length, &digests) {
                    Ok(()) => return Ok(output.env.stdout.write_all(&text)?),
                    Err(reason) => (name, format!("--format: {reason}")),
                }
            }
            (Named::File(name), Err(failure)) => (name, failure.to_string()),
            (Named::LeftOut(name, reason), _) => {
                note_left_out(output, name, *reason);
                return Ok(());
            }
            (Named::Error(name, message), _) => (name, message.clone()),
        };
        exit = Exit::NotChecked;
        let path = String::from_utf8_lossy(name);
        output.error(&format!("{path}: {message}"));
        if sum.printing.is_json() {
            let path = &path;
            json_lines::print(output.env, &Line::Error { path, message })?;
        }
        Ok(())
    });
    output.clear_progress();
    result?;
    Ok(exit)
}

/// Returns the name and source of an operand, or of all files in it if it is a folder to search.
pub(super) fn files_of(
    sum: &Sum,
    filter: &Filter,
    base: &Path,
    operand: &Path,
) -> Box<dyn Iterator<Item = (Named, Source)>> {
    let name = bytes_of(operand).into_owned();
    if name == b"-" {
        return Box::new(std::iter::once((Named::File(name), Source::Stdin)));
    }
    let path = base.join(operand);
    if !(sum.recursive && path.is_dir()) {
        return Box::new(std::iter::once((Named::File(name), Source::File(path))));
    }
    let operand = operand.to_owned();
    let root = path.clone();
    // Printed names start with the operand, not with the base.
    let name_of = move |path: &Path| -> Vec<u8> {
        let inside = path.strip_prefix(&root).unwrap_or(path);
        let name: PathBuf = operand.join(inside);
        bytes_of(&name).into_owned()
    };
    let (filter, folder) = (filter.clone(), path.clone());
    let found = walk_files(&path, sum.follows_links());
    let found = found.filter(move |found| filter.takes(&folder, found.path()));
    Box::new(found.map(move |found| {
        let name = name_of(found.path());
        match found {
            Walked::File(path) => (Named::File(name), Source::File(path)),
            Walked::LeftOut(_, reason) => (Named::LeftOut(name, reason), Source::Nothing),
            Walked::Failed(_, error) => (Named::Error(name, error.to_string()), Source::Nothing),
        }
    }))
}

pub(super) fn len_of(source: &Source) -> Option<u64> {
    let Source::File(path) = source else {
        return None;
    };
    Some(path.metadata().ok()?.len())
}
