//! Names in another Unicode form. macOS stores `é` as two characters (NFD), where a list from elsewhere has one (NFC).

use std::borrow::Cow;
use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfc_quick};

/// Returns the text in normalization form C (Unicode Standard Annex #15).
pub fn nfc(text: &str) -> Cow<'_, str> {
    match is_nfc_quick(text.chars()) {
        IsNormalized::Yes => Cow::Borrowed(text),
        _ => Cow::Owned(text.nfc().collect()),
    }
}

/// Finds files whose names are in another form than expected. Reads each folder once.
#[derive(Debug, Default)]
pub struct UnicodeNames {
    /// The names that are not ASCII, by folder and form C; `None` where two names fall together.
    folders: HashMap<PathBuf, HashMap<String, Option<OsString>>>,
}

impl UnicodeNames {
    /// Returns the path below `base` that exists and differs from `path` only by the form of its names, which fall together with no
    /// others. `path` itself does not exist.
    pub fn find(&mut self, base: &Path, path: &Path) -> Option<PathBuf> {
        if path.to_str()?.is_ascii() {
            return None;
        }
        let mut found = PathBuf::new();
        for part in path.components() {
            let next = found.join(part);
            if base.join(&next).symlink_metadata().is_ok() {
                found = next;
                continue;
            }
            let folder = base.join(&found);
            let names = self.folders.entry(folder);
            let names = names.or_insert_with_key(|folder| names_of(folder));
            let name = names.get(&*nfc(part.as_os_str().to_str()?))?.as_ref()?;
            found.push(name);
        }
        Some(found)
    }
}

fn names_of(folder: &Path) -> HashMap<String, Option<OsString>> {
    // An empty path is the working directory, but cannot be opened.
    let is_empty = folder.as_os_str().is_empty();
    let folder = if is_empty { Path::new(".") } else { folder };
    let mut names: HashMap<String, Option<OsString>> = HashMap::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if let Some(text) = name.to_str().filter(|text| !text.is_ascii()) {
            let form = nfc(text).into_owned();
            let known = names.entry(form);
            known
                .and_modify(|known| *known = None)
                .or_insert(Some(name));
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    const NFC: &str = "caf\u{e9}";
    const NFD: &str = "cafe\u{301}";

    #[test]
    fn names_in_another_form_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, path_text(&[])).unwrap();
        };
        write(&path_text(&[NFD, "a", NFC]));
        let find = |parts: &[&str]| {
            let path = path_text(parts);
            UnicodeNames::default().find(folder.path(), Path::new(&path))
        };
        let expected = PathBuf::from(path_text(&[NFD, "a", NFC]));
        assert_eq!(find(&[NFC, "a", NFD]), Some(expected));
        assert_eq!(find(&[NFC, "b", NFD]), None);
        assert_eq!(find(&["cafe", "a"]), None);
        // In the form of a third name, two fall together.
        let angstrom = ["\u{212b}", "A\u{30a}", "\u{c5}"];
        write(&path_text(&["x", angstrom[0]]));
        assert!(find(&["x", angstrom[2]]).is_some());
        write(&path_text(&["x", angstrom[1]]));
        assert_eq!(find(&["x", angstrom[2]]), None);
    }

    fn path_text(parts: &[&str]) -> String {
        parts.join("/")
    }
}
