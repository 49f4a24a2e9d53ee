//! The catalogue as a list for other programs.

use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::Context as _;
use hashlane_archive::{Catalogue, Entry, Format, List};
use hashlane_sums::path_of;
use serde::Serialize;

use crate::new_file::{NewFile, Overwrite, refusal};
use crate::output::json_lines::{AsText, PathText};
use crate::{Env, Exit};

/// The form of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum ListFormat {
    /// Comma-separated values with all columns
    Csv,
    /// A list for `hashdeep -a -k`
    Hashdeep,
    /// A list for `sha256sum --check`
    Sha256sum,
    /// The manifest of a bag of BagIt
    Bagit,
    /// A file of Apache Parquet with all columns
    Parquet,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Line {
    Entry {
        #[serde(flatten)]
        path: PathText,
        size: u64,
        mtime_ns: i64,
        ctime_ns: i64,
        inode: u64,
        sha256: AsText<hashlane_sha::Sha256Digest>,
        first_checked: i64,
        last_checked: i64,
        rot_since: Option<i64>,
    },
}

/// Writes the list. Without a format, it has JSON lines.
pub(super) fn run(
    env: &mut Env,
    catalogue: &Catalogue,
    format: Option<ListFormat>,
    output: Option<&Path>,
    overwrite: Overwrite,
) -> anyhow::Result<Exit> {
    let format = format.map(|format| match format {
        ListFormat::Csv => Format::Csv,
        ListFormat::Hashdeep => Format::Hashdeep,
        ListFormat::Sha256sum => Format::Sha256sum,
        ListFormat::Bagit => Format::Bagit,
        ListFormat::Parquet => Format::Parquet,
    });
    let Some(output) = output else {
        let left_out = write(catalogue, format, &mut env.stdout)?;
        return Ok(report(env, format, &left_out));
    };
    let shown = || output.display().to_string();
    let file = NewFile::create(&env.resolve(output), overwrite);
    let file = file.map_err(refusal).with_context(shown)?;
    let mut stream = BufWriter::new(file.as_file().try_clone().with_context(shown)?);
    let left_out = write(catalogue, format, &mut stream)?;
    stream.flush().with_context(shown)?;
    file.put().map_err(refusal).with_context(shown)?;
    Ok(report(env, format, &left_out))
}

/// Reports the paths that the list cannot have.
fn report(env: &mut Env, format: Option<Format>, left_out: &[Vec<u8>]) -> Exit {
    let reason = match format {
        Some(Format::Bagit) => "left out, because a manifest of BagIt can only have names in UTF-8",
        _ => "left out, because a list of hashdeep cannot have a name with a line feed",
    };
    for path in left_out {
        let path = path_of(path);
        env.error(&format!("{}: {reason}", path.display()));
    }
    if left_out.is_empty() {
        Exit::Good
    } else {
        Exit::NotChecked
    }
}

/// Writes the list, and returns the paths that it cannot have.
fn write(
    catalogue: &Catalogue,
    format: Option<Format>,
    stream: &mut dyn Write,
) -> anyhow::Result<Vec<Vec<u8>>> {
    let (mut left_out, mut text) = (Vec::new(), Vec::new());
    let mut list = format
        .map(|format| List::new(format, &mut text))
        .transpose()?;
    catalogue.for_each(|entry| {
        let is_listed = match &mut list {
            None => json_line(&entry, &mut text).map(|()| true)?,
            Some(list) => list.add(&entry, &mut text)?,
        };
        if !is_listed {
            left_out.push(entry.path.to_vec());
        }
        stream.write_all(&text)?;
        text.clear();
        Ok::<(), anyhow::Error>(())
    })?;
    if let Some(list) = list {
        list.finish(&mut text)?;
    }
    stream.write_all(&text)?;
    Ok(left_out)
}

fn json_line(entry: &Entry<'_>, text: &mut Vec<u8>) -> anyhow::Result<()> {
    let line = Line::Entry {
        path: PathText::of_bytes(entry.path),
        size: entry.size,
        mtime_ns: entry.mtime_ns,
        ctime_ns: entry.ctime_ns,
        inode: entry.inode,
        sha256: AsText(entry.digest),
        first_checked: entry.first_checked,
        last_checked: entry.last_checked,
        rot_since: entry.rot_since,
    };
    serde_json::to_writer(&mut *text, &line)?;
    text.push(b'\n');
    Ok(())
}
