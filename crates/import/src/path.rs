//! Paths of a session as paths of the system, relative paths that cannot leave their folder, and mapped folders.

use std::borrow::Cow;
use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::str::FromStr;

use hashlane_metainfo::{ComponentError, PathComponent};

use crate::Reason;

/// Returns `true` for a path of Windows, such as `C:\\films` or `C:/films`.
pub(crate) fn is_of_windows(path: &[u8]) -> bool {
    matches!(path, [drive, b':', b'\\' | b'/', ..] if drive.is_ascii_alphabetic())
}

/// Returns a path of Windows with `/` between names.
pub(crate) fn slashes(path: &[u8]) -> Cow<'_, [u8]> {
    let slash = |byte: &u8| if *byte == b'\\' { b'/' } else { *byte };
    path.iter().map(slash).collect()
}

/// Returns a folder of a session as a path of the system, with `/` between names also if it is one of Windows.
pub(crate) fn folder_of(bytes: &[u8]) -> Result<PathBuf, Reason> {
    if is_of_windows(bytes) {
        path_of(&slashes(bytes))
    } else {
        path_of(bytes)
    }
}

/// Returns the bytes of a session as a path of the system.
#[cfg_attr(
    unix,
    expect(
        clippy::unnecessary_wraps,
        reason = "other systems have no path for some bytes"
    )
)]
pub(crate) fn path_of(bytes: &[u8]) -> Result<PathBuf, Reason> {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt as _;
        Ok(std::ffi::OsStr::from_bytes(bytes).into())
    }
    #[cfg(not(unix))]
    str::from_utf8(bytes)
        .map(PathBuf::from)
        .map_err(|_| Reason::NotUnicode)
}

/// A path below a folder: one or more names, none of them `..`. Joined to the folder, it cannot lead out of the folder,
/// except through symbolic links.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RelativePath(Vec<Vec<u8>>);

impl RelativePath {
    /// Reads a path whose names are separated by `/`.
    ///
    /// # Errors
    /// The reason why a name is refused. The path of the root and the empty path have an empty name.
    pub fn parse(path: &[u8]) -> Result<Self, ComponentError> {
        let names = path.split(|byte| *byte == b'/');
        Self::of_names(names)
    }

    fn of_names<'n>(names: impl Iterator<Item = &'n [u8]>) -> Result<Self, ComponentError> {
        let checked = names.map(|name| Ok(PathComponent::try_from(name)?.as_bytes().to_vec()));
        checked.collect::<Result<_, _>>().map(Self)
    }

    /// Wraps names that have been checked. There must be one.
    pub(crate) fn of_checked<'n>(names: impl IntoIterator<Item = PathComponent<'n>>) -> Self {
        let names = names.into_iter().map(|name| name.as_bytes().to_vec());
        Self(names.collect())
    }

    /// Returns the names, from the outermost folder to the file.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.0.iter().map(Vec::as_slice)
    }

    /// Returns the first name and the path below it, if there is one.
    pub(crate) fn split_first(&self) -> (&[u8], Option<Self>) {
        let (first, rest) = self.0.split_first().expect("a path has a name");
        (first, (!rest.is_empty()).then(|| Self(rest.to_vec())))
    }

    /// Returns the path of the file below `folder`.
    ///
    /// # Errors
    /// A name is not Unicode, except on Unix, where names are bytes.
    pub fn below(&self, folder: &Path) -> Result<PathBuf, Reason> {
        let mut path = folder.to_owned();
        for name in &self.0 {
            path.push(path_of(name)?);
        }
        Ok(path)
    }

    /// Returns the names joined by `/`.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.join(&b'/')
    }
}

impl fmt::Display for RelativePath {
    /// Invalid Unicode is replaced, and control characters are kept: escape the text for a terminal.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&String::from_utf8_lossy(&self.to_bytes()))
    }
}

impl fmt::Debug for RelativePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RelativePath({:?})", self.to_string())
    }
}

/// Folders that have another path on this machine than the session says, for example in a container.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathMap(Vec<(PathBuf, PathBuf)>);

impl PathMap {
    /// Returns the map with these pairs of old and new paths. Of several pairs for a path, the longest old path counts;
    /// of two with the same old path, the first.
    pub fn new(pairs: impl IntoIterator<Item = (PathBuf, PathBuf)>) -> Self {
        Self(pairs.into_iter().collect())
    }

    /// Returns the path on this machine. Whole names are compared: `/data` does not apply to `/database`.
    #[must_use]
    pub fn apply(&self, path: &Path) -> PathBuf {
        let matches = self.0.iter().filter_map(|(old, new)| {
            let rest = path.strip_prefix(old).ok()?;
            Some((old.components().count(), new, rest))
        });
        // `max_by_key` returns the last of several.
        match matches.rev().max_by_key(|(length, ..)| *length) {
            Some((_, new, rest)) if rest.as_os_str().is_empty() => new.clone(),
            Some((_, new, rest)) => new.join(rest),
            None => path.to_owned(),
        }
    }
}

/// The reason why a text is no pair of folders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PathMapError {
    /// There is no `=`.
    #[error("expected OLD=NEW, for example /downloads=/srv/torrents")]
    NoEqualsSign,
    /// The old folder is empty, or the new one is no absolute path. The old one may be that of another system.
    #[error("the new folder must be an absolute path, and the old one not empty")]
    Relative,
    /// A path contains `..`.
    #[error("the folders must not contain \"..\"")]
    Parent,
}

/// One pair of a [`PathMap`], written as `OLD=NEW`.
impl FromStr for PathMap {
    type Err = PathMapError;

    fn from_str(text: &str) -> Result<Self, PathMapError> {
        let (old, new) = text.split_once('=').ok_or(PathMapError::NoEqualsSign)?;
        if old.is_empty() || !Path::new(new).has_root() {
            return Err(PathMapError::Relative);
        }
        let has_parent = |path: &str| {
            Path::new(path)
                .components()
                .any(|name| name == Component::ParentDir)
        };
        if has_parent(old) || has_parent(new) {
            return Err(PathMapError::Parent);
        }
        Ok(Self(vec![(old.into(), new.into())]))
    }
}

impl FromIterator<Self> for PathMap {
    fn from_iter<I: IntoIterator<Item = Self>>(maps: I) -> Self {
        Self(maps.into_iter().flat_map(|map| map.0).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_folder_counts_and_names_are_compared_whole() {
        let map: PathMap = [
            "/data=/srv",
            "/data/films=/films",
            "/data/=/late",
            "/=/host",
        ]
        .iter()
        .map(|pair| pair.parse::<PathMap>().unwrap())
        .collect();
        for (old, new) in [
            ("/data", "/srv"),
            ("/data/a", "/srv/a"),
            ("/data/films/b", "/films/b"),
            ("/data/filmstrip", "/srv/filmstrip"),
            ("/database/a", "/host/database/a"),
            ("relative", "relative"),
        ] {
            assert_eq!(map.apply(Path::new(old)), Path::new(new), "{old}");
        }
    }

    #[test]
    fn a_pair_of_folders_is_checked() {
        let parse = |text: &str| text.parse::<PathMap>().map(drop);
        assert_eq!(parse("/a"), Err(PathMapError::NoEqualsSign));
        assert_eq!(parse("=/b"), Err(PathMapError::Relative));
        assert_eq!(parse("/a="), Err(PathMapError::Relative));
        assert_eq!(parse("/a=/b/../c"), Err(PathMapError::Parent));
        assert_eq!(parse("/a=/b=c"), Ok(()));
    }

    #[test]
    fn a_relative_path_cannot_leave_its_folder() {
        for path in [
            "",
            "/etc/passwd",
            "../a",
            "a/../../b",
            "a//b",
            "a/",
            ".",
            "a/./b",
            "a\0",
        ] {
            assert!(RelativePath::parse(path.as_bytes()).is_err(), "{path:?}");
        }
        let path = RelativePath::parse(b"a/b c/...d").unwrap();
        assert_eq!(
            path.below(Path::new("/x")).unwrap(),
            Path::new("/x/a/b c/...d")
        );
        assert_eq!(format!("{path:>12}"), "  a/b c/...d");
    }
}
