//! The files that the names in lists mean.

use std::path::Path;

use hashlane_files::UnicodeNames;
use hashlane_sums::{Entry, bytes_of, path_of};

use super::against::Prefix;
use super::counts::Counts;

/// A line of a list, read in one way.
pub(super) trait Reading {
    /// The name of the file.
    fn name(&mut self) -> &mut Vec<u8>;
}

impl Reading for Entry {
    fn name(&mut self) -> &mut Vec<u8> {
        &mut self.name
    }
}

impl Reading for Vec<u8> {
    fn name(&mut self) -> &mut Vec<u8> {
        self
    }
}

/// Returns the reading of a line that is meant: the first one that names a file, or the first one of all. A file in another
/// Unicode form gets its own name, and is counted.
///
/// `exists` gets the path below `base`. Names start with `prefix`, if there is one.
pub(super) fn meant<R: Reading>(
    forms: &mut UnicodeNames,
    base: &Path,
    (mut first, others): (R, impl IntoIterator<Item = R>),
    prefix: Option<&Prefix>,
    exists: impl Fn(&Path) -> bool,
    counts: &mut Counts,
) -> R {
    let is_file = |reading: &mut R| {
        let name = path_of(reading.name());
        inside(&name, prefix).is_some_and(&exists)
    };
    let mut others = others.into_iter().peekable();
    if (others.peek().is_none() && first.name().is_ascii()) || is_file(&mut first) {
        return first;
    }
    for mut other in others {
        if is_file(&mut other) {
            return other;
        }
    }
    let name = path_of(first.name());
    if let Some(inside) = inside(&name, prefix)
        && let Some(found) = forms.find(base, inside)
    {
        let bytes = bytes_of(&name);
        let before = bytes.strip_suffix(&*bytes_of(inside)).unwrap_or_default();
        *first.name() = [before, &bytes_of(&found)].concat();
        counts.other_forms += 1;
    }
    first
}

fn inside<'n>(name: &'n Path, prefix: Option<&Prefix>) -> Option<&'n Path> {
    prefix.map_or(Some(name), |prefix| prefix.inside(name))
}
