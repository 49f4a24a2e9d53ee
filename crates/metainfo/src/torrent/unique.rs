//! No two files of a torrent may claim the same path.

use crate::field::Located;
use crate::{Error, File, FileKind};

/// Refuses two files of the same path, and a file inside of another file. `files` are those of
/// the list `list`.
///
/// Padding is left out: it is not stored, and creators give all of it the same path.
///
/// Sorted by their encoding, whatever is inside of `a` comes right behind `a`, because it is what
/// starts with the encoding of `a`. So it is enough to compare neighbours, at the price of one
/// index for each file.
pub(super) fn check(list: &Located<'_>, files: &[File<'_>]) -> Result<(), Error> {
    let path = |file: usize| files[file].path().encoded();
    let mut order: Vec<usize> = (0..files.len())
        .filter(|&file| files[file].kind() != FileKind::Padding)
        .collect();
    // Equal paths by index, so that the refusal does not depend on the sort.
    order.sort_unstable_by_key(|&file| (path(file), file));
    for pair in order.windows(2) {
        let (first, second) = (pair[0], pair[1]);
        if path(second).starts_with(path(first)) {
            let offset = list
                .items()?
                .nth(second)
                .map_or(list.offset(), |item| item.offset());
            return Err(if path(first) == path(second) {
                Error::DuplicatePath {
                    offset,
                    first,
                    second,
                }
            } else {
                Error::PathThroughFile {
                    offset,
                    outer: first,
                    inner: second,
                }
            });
        }
    }
    Ok(())
}
