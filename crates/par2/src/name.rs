//! Names of files in a set, and their paths below the folder of the set.

use std::path::{Component, Path, PathBuf};

/// Maximum length of a name in bytes.
const MAX_LEN: usize = 4096;

/// Returns the path of a name, relative to the folder of the set. Returns `None` for names that lead out of the folder, or
/// that no file can have.
pub(crate) fn to_path(name: &[u8]) -> Option<PathBuf> {
    if name.is_empty() || name.len() > MAX_LEN || name.contains(&0) {
        return None;
    }
    let path = bytes_to_path(name)?;
    let is_plain = path
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    // A trailing slash or dot would name a folder.
    let is_file = path.file_name().is_some() && !name.ends_with(b"/") && !name.ends_with(b"/.");
    (is_plain && is_file).then(|| path.components().collect())
}

#[cfg(unix)]
#[expect(
    clippy::unnecessary_wraps,
    reason = "other systems do not have all names"
)]
fn bytes_to_path(name: &[u8]) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt as _;
    Some(Path::new(std::ffi::OsStr::from_bytes(name)).to_owned())
}

#[cfg(not(unix))]
fn bytes_to_path(name: &[u8]) -> Option<PathBuf> {
    // Windows has devices, streams and drives behind these.
    let name = std::str::from_utf8(name).ok()?;
    (!name.contains([':', '\\'])).then(|| Path::new(name).to_owned())
}

/// Returns the name of a relative path, with slashes. Returns `None` if the path leads out of its folder, or is not text on
/// systems whose names are no bytes.
pub(crate) fn from_path(path: &Path) -> Option<Vec<u8>> {
    let mut name = Vec::new();
    for part in path.components() {
        let Component::Normal(part) = part else {
            return None;
        };
        if !name.is_empty() {
            name.push(b'/');
        }
        #[cfg(unix)]
        name.extend(std::os::unix::ffi::OsStrExt::as_bytes(part));
        #[cfg(not(unix))]
        name.extend(part.to_str()?.as_bytes());
    }
    (!name.is_empty() && name.len() <= MAX_LEN).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_below_the_folder() {
        for (name, path) in [
            ("a", Some("a")),
            ("a/b c.é", Some("a/b c.é")),
            ("a//b", Some("a/b")),
            ("", None),
            ("/etc/passwd", None),
            ("..", None),
            ("a/../../b", None),
            ("a/..", None),
            ("./a", None),
            ("a/", None),
            ("a/.", None),
            ("a\0b", None),
        ] {
            assert_eq!(
                to_path(name.as_bytes()),
                path.map(PathBuf::from),
                "{name:?}"
            );
        }
        assert_eq!(to_path(&[b'x'; 5000]), None);
        assert_eq!(from_path(Path::new("a/b")), Some(b"a/b".to_vec()));
        assert_eq!(from_path(Path::new("../b")), None);
        assert_eq!(from_path(Path::new("/b")), None);
        assert_eq!(from_path(Path::new("")), None);
    }
}
