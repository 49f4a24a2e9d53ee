//! The files of a torrent as a tree, with the sizes of files and folders.

use std::io::Write;

use hashlane_metainfo::{File, FileKind, PathComponent, Torrent};

use crate::output::columns::{columns_of, shortened};
use hashlane_api::Size;

use super::charset::Charset;

/// Columns before the names: an indent, a size, and a gap.
const NAMES_AT: usize = 14;

/// Columns by which each folder indents its files.
const INDENT: usize = 2;

/// Minimum number of columns for a name, however deep its folder is.
const MIN_NAME: usize = 16;

/// Prints the files sorted by path. In a terminal of `width` columns, long names are shortened in the middle.
pub(super) fn print(
    out: &mut dyn Write,
    torrent: &Torrent,
    charset: Charset,
    width: Option<usize>,
) -> anyhow::Result<()> {
    let files = sorted(torrent);
    let mut sizes = folder_sizes(&files).into_iter();
    let mut earlier = Vec::new();
    for file in &files {
        let path = components(file);
        let folders = &path[..path.len() - 1];
        for (depth, folder) in folders.iter().enumerate().skip(n_common(&earlier, folders)) {
            let size = sizes.next().unwrap_or_default();
            let row = Row {
                size: Size(size).to_string(),
                depth,
                name: charset.shown(*folder) + "/",
                remark: String::new(),
            };
            row.print(out, width)?;
        }
        row_of(file, folders.len(), charset).print(out, width)?;
        earlier.clear();
        earlier.extend_from_slice(folders);
    }
    Ok(())
}

fn sorted(torrent: &Torrent) -> Vec<File<'_>> {
    let files = torrent.files().iter();
    let mut files: Vec<File<'_>> = files
        .filter(|file| file.kind() != FileKind::Padding)
        .collect();
    files.sort_by(|a, b| {
        let (a, b) = (a.path().components(), b.path().components());
        a.map(PathComponent::as_bytes)
            .cmp(b.map(PathComponent::as_bytes))
    });
    files
}

/// Returns the lengths of all files below each folder, in the order in which the tree shows the folders.
fn folder_sizes(files: &[File<'_>]) -> Vec<u64> {
    let mut sizes = Vec::new();
    // The numbers of the open folders, by their depth.
    let mut open: Vec<usize> = Vec::new();
    let mut earlier: Vec<PathComponent<'_>> = Vec::new();
    for file in files {
        let path = components(file);
        let folders = &path[..path.len() - 1];
        let common = n_common(&earlier, folders);
        open.truncate(common);
        for _ in common..folders.len() {
            open.push(sizes.len());
            sizes.push(0_u64);
        }
        for folder in &open {
            sizes[*folder] += file.length();
        }
        earlier.clear();
        earlier.extend_from_slice(folders);
    }
    sizes
}

fn components<'t>(file: &File<'t>) -> Vec<PathComponent<'t>> {
    file.path().components().collect()
}

/// Returns the number of folders that two paths have in common.
fn n_common(earlier: &[PathComponent<'_>], folders: &[PathComponent<'_>]) -> usize {
    let pairs = earlier.iter().zip(folders);
    pairs.take_while(|(a, b)| a == b).count()
}

/// A line of the tree.
struct Row {
    size: String,
    depth: usize,
    name: String,
    /// Text after the name, which is never shortened.
    remark: String,
}

fn row_of(file: &File<'_>, depth: usize, charset: Charset) -> Row {
    let flags = file.attributes();
    let attributes = [
        (flags.executable, "executable"),
        (flags.hidden, "hidden"),
        (file.is_renamed(), "renamed"),
    ];
    let attributes = attributes.into_iter().filter(|(is_set, _)| *is_set);
    let attributes: Vec<&str> = attributes.map(|(_, name)| name).collect();
    let name = charset.shown(file.path().file_name());
    let (size, name) = match file.kind() {
        FileKind::Symlink { target } => ("link".to_owned(), format!("{name} -> {target}")),
        FileKind::Regular | FileKind::Padding => (Size(file.length()).to_string(), name),
    };
    Row {
        size,
        depth,
        name,
        remark: if attributes.is_empty() {
            String::new()
        } else {
            format!("  ({})", attributes.join(", "))
        },
    }
}

impl Row {
    fn print(&self, out: &mut dyn Write, width: Option<usize>) -> anyhow::Result<()> {
        let Self {
            size, name, remark, ..
        } = self;
        let indent = INDENT * self.depth;
        let Some(width) = width else {
            return Ok(writeln!(out, "  {size:>10}  {:indent$}{name}{remark}", "")?);
        };
        let room = width.saturating_sub(NAMES_AT + columns_of(remark));
        let indent = indent.min(room.saturating_sub(MIN_NAME));
        let name = shortened(name, room - indent);
        Ok(writeln!(out, "  {size:>10}  {:indent$}{name}{remark}", "")?)
    }
}
