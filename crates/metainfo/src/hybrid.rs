//! Compares and merges the two descriptions that a hybrid torrent has of its content (BEP 52,
//! "Upgrade Path").

use crate::files::{Entry, Files};
use crate::{Difference, Error, File, FileKind};

/// Checks that both versions describe the same content, and copies the hashes of version 2 to the
/// files of version 1.
///
/// Files with content must be the same, in the same order and at the same offsets. Files without
/// content (empty files and links) may come in any order.
pub(crate) fn merge<'a>(
    v1: &mut Files<'a>,
    v2: &Files<'a>,
    piece_length: u64,
) -> Result<(), Error> {
    compare_content(v1, v2)?;
    compare_rest(v1, v2)?;
    let end = v2.entries().iter().map(Entry::end).max().unwrap_or(0);
    let most = end.checked_next_multiple_of(piece_length).unwrap_or(end);
    if let Some(last) = v1.entries().last().filter(|last| last.end() > most) {
        let difference = Difference::Tail {
            v1: last.end(),
            v2: most,
        };
        return Err(disagree(last.document_offset, difference));
    }
    let roots = v2.entries().iter().filter(|entry| entry.has_content());
    let files = v1.entries_mut().iter_mut();
    for (file, root) in files.filter(|entry| entry.has_content()).zip(roots) {
        file.pieces_root = root.pieces_root;
    }
    Ok(())
}

fn compare_content(v1: &Files<'_>, v2: &Files<'_>) -> Result<(), Error> {
    let mut ours = with_content(v1);
    let mut theirs = with_content(v2);
    loop {
        let (a, b) = match (ours.next(), theirs.next()) {
            (None, None) => return Ok(()),
            (Some(only), None) => return Err(only_in(1, only)),
            (None, Some(only)) => return Err(only_in(2, only)),
            (Some(a), Some(b)) => (a, b),
        };
        let path = || a.path().to_string();
        let difference = if a.path() != b.path() {
            Difference::Order {
                v1: path(),
                v2: b.path().to_string(),
            }
        } else if a.length() != b.length() {
            Difference::Length {
                path: path(),
                v1: a.length(),
                v2: b.length(),
            }
        } else if a.offset() != b.offset() {
            Difference::Alignment {
                path: path(),
                v1: a.offset(),
                v2: b.offset(),
            }
        } else {
            continue;
        };
        return Err(disagree(a.document_offset(), difference));
    }
}

fn compare_rest(v1: &Files<'_>, v2: &Files<'_>) -> Result<(), Error> {
    let sorted = |files| {
        let mut rest: Vec<File<'_>> = without_content(files).collect();
        rest.sort_by(|a, b| a.path().cmp(&b.path()));
        rest
    };
    let (ours, theirs) = (sorted(v1), sorted(v2));
    for (a, b) in ours.iter().zip(&theirs) {
        match a.path().cmp(&b.path()) {
            std::cmp::Ordering::Less => return Err(only_in(1, *a)),
            std::cmp::Ordering::Greater => return Err(only_in(2, *b)),
            std::cmp::Ordering::Equal => {}
        }
        let difference = match (a.kind(), b.kind()) {
            (FileKind::Symlink { target: v1 }, FileKind::Symlink { target: v2 }) if v1 != v2 => {
                Difference::Target {
                    path: a.path().to_string(),
                    v1: v1.to_string(),
                    v2: v2.to_string(),
                }
            }
            (a_kind, b_kind) if is_link(a_kind) != is_link(b_kind) => Difference::Order {
                v1: described(*a),
                v2: described(*b),
            },
            _ => continue,
        };
        return Err(disagree(a.document_offset(), difference));
    }
    match (ours.get(theirs.len()), theirs.get(ours.len())) {
        (Some(only), _) => Err(only_in(1, *only)),
        (_, Some(only)) => Err(only_in(2, *only)),
        (None, None) => Ok(()),
    }
}

fn with_content<'t>(files: &'t Files<'_>) -> impl Iterator<Item = File<'t>> {
    files
        .iter()
        .filter(|file| file.kind() == FileKind::Regular && file.length() > 0)
}

fn without_content<'t>(files: &'t Files<'_>) -> impl Iterator<Item = File<'t>> {
    files
        .iter()
        .filter(|file| file.kind() != FileKind::Padding && file.length() == 0)
}

fn is_link(kind: FileKind<'_>) -> bool {
    matches!(kind, FileKind::Symlink { .. })
}

fn described(file: File<'_>) -> String {
    let what = if is_link(file.kind()) { "link" } else { "file" };
    format!("the {what} {}", file.path())
}

fn only_in(version: u8, file: File<'_>) -> Error {
    let path = file.path().to_string();
    disagree(file.document_offset(), Difference::OnlyIn { version, path })
}

fn disagree(offset: usize, difference: Difference) -> Error {
    Error::VersionsDisagree { offset, difference }
}
