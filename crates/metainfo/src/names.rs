//! Names of the content on the disk that are not the torrent's own.

use std::collections::{BTreeMap, BTreeSet};

use crate::{ComponentError, File, FileKind, MAX_PATH_DEPTH, PathComponent, Torrent};

/// Maximum length of a name in bytes on the file systems of Linux, macOS and the BSDs.
const MAX_NAME_LEN: usize = 255;

/// Maximum length of a path in bytes, as on Linux.
const MAX_PATH_LEN: usize = 4096;

/// The names of a torrent's content on the disk, where they are not the torrent's own.
///
/// Every path is safe: it has no component that leads out of its folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    top: Top,
    /// Paths below the top, by the positions of their files among the files except padding.
    files: BTreeMap<u32, String>,
}

/// Whether content has a folder of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ContentLayout {
    /// As the metadata says: a torrent of several files has one.
    #[default]
    Original,
    /// Always. That of a single file has the name of the file without its extension.
    Subfolder,
    /// Never.
    NoSubfolder,
}

impl ContentLayout {
    /// Returns the names that content has in this layout.
    ///
    /// # Errors
    /// Those of [`Names::check`].
    pub fn names(self, torrent: &Torrent) -> Result<Names, NamesError> {
        let own = Names::default();
        match self {
            Self::Original => Ok(own),
            Self::Subfolder => own.with_folder(torrent),
            Self::NoSubfolder => own.without_folder(torrent),
        }
    }
}

/// The name of the content: the file of a single-file torrent, or the folder of the files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Top {
    /// The torrent's name.
    #[default]
    Own,
    /// Another name. If a single-file torrent has a path for its file, this is a folder with that file.
    Named(String),
    /// No folder: the files lie in the folder of the content itself.
    None,
}

/// The reason why content cannot have a name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NamesError {
    /// A component of a path is not safe.
    #[error("{path:?}: {error}")]
    Component {
        /// The path that was asked for, with `/` between its components.
        path: String,
        /// The reason.
        error: ComponentError,
    },
    /// A name is longer than file systems permit.
    #[error("{0:?}: a name has at most {MAX_NAME_LEN} bytes, and a path {MAX_PATH_LEN}")]
    TooLong(String),
    /// A path has more folders than one of a torrent may have.
    #[error("{0:?}: a path has at most {MAX_PATH_DEPTH} names")]
    TooDeep(String),
    /// Two files would have the same path, or one would be a folder with another one.
    #[error("{0:?}: another file of the torrent has this path, or a folder of it")]
    Taken(String),
    /// No file or folder of the torrent has this path.
    #[error("{0:?}: no file or folder of the torrent")]
    Absent(String),
    /// The torrent has no file with this position.
    #[error("file {0}: the torrent has fewer files")]
    NoFile(u32),
    /// A path has bytes that are not UTF-8.
    #[error("{0:?}: a file whose path is not UTF-8 cannot be renamed")]
    NotUnicode(String),
    /// Symbolic links of the torrent would lead to other places.
    #[error("the torrent has symbolic links, whose targets would have other names")]
    Links,
    /// A folder of its own for the content is needed.
    #[error("the content has no folder of its own")]
    NoTop,
}

impl Names {
    /// Returns names for any torrent. [`Self::check`] compares them with one.
    ///
    /// # Errors
    /// A name is not safe or too long.
    pub fn new(top: Top, files: BTreeMap<u32, String>) -> Result<Self, NamesError> {
        if let Top::Named(name) = &top {
            check_path(name)?;
            if name.contains('/') {
                return Err(NamesError::Absent(name.clone()));
            }
        }
        files.values().try_for_each(|path| check_path(path))?;
        Ok(Self { top, files })
    }

    /// Returns the names that give each file except padding this path. The paths include the name of the content's
    /// folder, if the files have one.
    ///
    /// # Errors
    /// Those of [`Self::check`], or a name is not safe.
    pub fn of_paths(torrent: &Torrent, paths: &[String]) -> Result<Self, NamesError> {
        let n_files = files(torrent).count();
        if paths.len() != n_files {
            return Err(NamesError::NoFile(paths.len().min(n_files) as u32));
        }
        let split: Vec<(&str, Option<&str>)> = paths
            .iter()
            .map(|path| match path.split_once('/') {
                Some((first, rest)) => (first, Some(rest)),
                None => (path.as_str(), None),
            })
            .collect();
        let first = split.first().map_or("", |(first, _)| first);
        let have_top = split
            .iter()
            .all(|(top, rest)| *top == first && rest.is_some());
        let is_file = torrent.is_single_file() && matches!(split[..], [(_, None)]);
        let top = if !have_top && !is_file {
            Top::None
        } else if first.as_bytes() == torrent.name().as_bytes() {
            Top::Own
        } else {
            Top::Named(first.to_owned())
        };
        let below = split.iter().zip(paths).map(|((_, rest), path)| match rest {
            Some(rest) if have_top => rest,
            _ => path.as_str(),
        });
        let renamed = files(torrent).zip(below).zip(0..);
        let renamed = renamed.filter(|((file, path), _)| {
            // The file of a single-file torrent has no path below a folder of its own.
            !is_file && (torrent.is_single_file() || !is_own(*file, path))
        });
        let names = Self::new(
            top,
            renamed
                .map(|((_, path), position)| (position, path.to_owned()))
                .collect(),
        )?;
        names.check(torrent)?;
        Ok(names)
    }

    /// Returns `true` if all names are the torrent's own.
    pub fn is_own(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the name of the content.
    pub fn top(&self) -> &Top {
        &self.top
    }

    /// Returns the renamed files: paths below the top, by the positions of their files among the files except padding.
    pub fn files(&self) -> &BTreeMap<u32, String> {
        &self.files
    }

    /// Returns `true` if the content has a name of its own: a folder, or the file of a single-file torrent.
    pub fn has_top(&self) -> bool {
        self.top != Top::None
    }

    /// Compares the names with a torrent.
    ///
    /// # Errors
    /// A file is absent, two files would have the same path, or the torrent has symbolic links.
    pub fn check(&self, torrent: &Torrent) -> Result<(), NamesError> {
        if self.is_own() {
            return Ok(());
        }
        let n_files = files(torrent).count() as u32;
        if let Some(file) = self.files.keys().find(|file| **file >= n_files) {
            return Err(NamesError::NoFile(*file));
        }
        let is_link = |file: File<'_>| matches!(file.kind(), FileKind::Symlink { .. });
        if files(torrent).any(is_link) {
            return Err(NamesError::Links);
        }
        let paths = self.components(torrent);
        let mut sorted: BTreeSet<&[Vec<u8>]> = BTreeSet::new();
        for path in &paths {
            if !sorted.insert(path) {
                return Err(NamesError::Taken(text(path)));
            }
        }
        for path in &paths {
            let is_folder = (1..path.len()).find(|len| sorted.contains(&path[..*len]));
            if let Some(len) = is_folder {
                return Err(NamesError::Taken(text(&path[..len])));
            }
        }
        Ok(())
    }

    /// Returns the path of each file except padding, from the name of the content on. Bytes that are not UTF-8 are replaced.
    pub fn paths(&self, torrent: &Torrent) -> Vec<String> {
        self.components(torrent)
            .iter()
            .map(|path| text(path))
            .collect()
    }

    /// Returns these names after one file or folder was renamed. Both paths start with the name of the content. The new path
    /// may be in another folder.
    ///
    /// # Errors
    /// No file or folder has the path, the new one is not safe, or another file of the torrent has it.
    pub fn renamed(&self, torrent: &Torrent, from: &str, to: &str) -> Result<Self, NamesError> {
        check_path(to)?;
        let mut is_found = false;
        let mut paths = Vec::new();
        for path in self.components(torrent) {
            let old = text(&path);
            let rest = old.strip_prefix(from);
            let rest = rest.filter(|rest| rest.is_empty() || rest.starts_with('/'));
            is_found |= rest.is_some();
            if path.iter().any(|name| str::from_utf8(name).is_err()) {
                return Err(NamesError::NotUnicode(old));
            }
            paths.push(rest.map_or_else(|| old.clone(), |rest| format!("{to}{rest}")));
        }
        if !is_found || from.is_empty() {
            return Err(NamesError::Absent(from.to_owned()));
        }
        Self::of_paths(torrent, &paths)
    }

    /// Returns these names with a folder for the content, if it has none: the name of the first file without its extension.
    ///
    /// # Errors
    /// Those of [`Self::check`].
    pub fn with_folder(&self, torrent: &Torrent) -> Result<Self, NamesError> {
        let paths = self.paths(torrent);
        let has_folder = paths.iter().all(|path| path.contains('/')) && self.has_top();
        let Some(first) = paths.first().filter(|_| !has_folder) else {
            return Ok(self.clone());
        };
        let name = first.rsplit('/').next().unwrap_or(first);
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        let folder = if stem.is_empty() { name } else { stem };
        let paths: Vec<String> = paths
            .iter()
            .map(|path| format!("{folder}/{path}"))
            .collect();
        Self::of_paths(torrent, &paths)
    }

    /// Returns these names without the folder of the content, if it has one.
    ///
    /// # Errors
    /// Those of [`Self::check`].
    pub fn without_folder(&self, torrent: &Torrent) -> Result<Self, NamesError> {
        let paths = self.paths(torrent);
        let below: Option<Vec<String>> = paths
            .iter()
            .map(|path| Some(path.split_once('/')?.1.to_owned()))
            .collect();
        match below {
            Some(below) if self.has_top() => Self::of_paths(torrent, &below),
            _ => Ok(self.clone()),
        }
    }

    /// Returns the components of the path of each file except padding, from the name of the content on.
    pub fn components(&self, torrent: &Torrent) -> Vec<Vec<Vec<u8>>> {
        let top = match &self.top {
            Top::Own => Some(torrent.name().as_bytes().to_vec()),
            Top::Named(name) => Some(name.clone().into_bytes()),
            Top::None => None,
        };
        let paths = files(torrent).zip(0..).map(|(file, position)| {
            let mut path: Vec<Vec<u8>> = top.iter().cloned().collect();
            match self.files.get(&position) {
                Some(renamed) => {
                    path.extend(renamed.split('/').map(|name| name.as_bytes().to_vec()));
                }
                None if torrent.is_single_file() => {}
                None => path.extend(own(file)),
            }
            path
        });
        paths.collect()
    }
}

/// Returns the files except padding.
fn files(torrent: &Torrent) -> impl Iterator<Item = File<'_>> {
    let files = torrent.files().iter();
    files.filter(|file| file.kind() != FileKind::Padding)
}

fn own(file: File<'_>) -> impl Iterator<Item = Vec<u8>> {
    file.path()
        .components()
        .map(|name| name.as_bytes().to_vec())
}

fn is_own(file: File<'_>, path: &str) -> bool {
    own(file).eq(path.split('/').map(|name| name.as_bytes().to_vec()))
}

fn text(path: &[Vec<u8>]) -> String {
    String::from_utf8_lossy(&path.join(&b'/')).into_owned()
}

fn check_path(path: &str) -> Result<(), NamesError> {
    for name in path.split('/') {
        PathComponent::try_from(name.as_bytes()).map_err(|error| NamesError::Component {
            path: path.to_owned(),
            error,
        })?;
        if name.len() > MAX_NAME_LEN {
            return Err(NamesError::TooLong(name.to_owned()));
        }
    }
    if path.len() > MAX_PATH_LEN {
        return Err(NamesError::TooLong(path.to_owned()));
    }
    if path.split('/').count() > MAX_PATH_DEPTH {
        return Err(NamesError::TooDeep(path.to_owned()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of(texts: &[&str]) -> String {
        let encoded: Vec<String> = texts
            .iter()
            .map(|text| format!("{}:{text}", text.len()))
            .collect();
        encoded.concat()
    }

    fn torrent(name: &str, paths: &[&[&str]]) -> Torrent {
        let list: Vec<String> = paths
            .iter()
            .map(|path| format!("d6:lengthi1e4:pathl{}ee", text_of(path)))
            .collect();
        let content = match list.concat() {
            list if list.is_empty() => "6:lengthi1e".to_owned(),
            list => format!("5:filesl{list}e"),
        };
        let (name, pieces) = (text_of(&[name]), text_of(&["x".repeat(20).as_str()]));
        let info = format!("d{content}4:name{name}12:piece lengthi16384e6:pieces{pieces}e");
        Torrent::parse(format!("d4:info{info}e").into_bytes()).unwrap()
    }

    fn tree() -> Torrent {
        torrent("tree", &[&["a"], &["sub", "b"], &["sub", "c"]])
    }

    #[test]
    fn files_and_folders_are_renamed() {
        let tree = tree();
        let own = Names::default();
        assert_eq!(own.paths(&tree), ["tree/a", "tree/sub/b", "tree/sub/c"]);
        for (from, to, paths) in [
            ("tree", "wood", ["wood/a", "wood/sub/b", "wood/sub/c"]),
            ("tree/a", "tree/z", ["tree/z", "tree/sub/b", "tree/sub/c"]),
            (
                "tree/sub",
                "tree/a2/d",
                ["tree/a", "tree/a2/d/b", "tree/a2/d/c"],
            ),
            ("tree/sub/b", "b", ["tree/a", "b", "tree/sub/c"]),
        ] {
            let names = own.renamed(&tree, from, to).unwrap();
            assert_eq!(names.paths(&tree), paths, "{from} {to}");
            let back = names.renamed(&tree, to, from).unwrap();
            assert!(back.is_own(), "{from} {to}: {back:?}");
        }
        let names = own.renamed(&tree, "tree/sub/b", "b").unwrap();
        assert!(!names.has_top());
    }

    #[test]
    fn unsafe_and_taken_names_are_refused() {
        let tree = tree();
        let own = Names::default();
        let rename = |from, to| own.renamed(&tree, from, to).unwrap_err();
        for to in ["", "..", "tree/../a", "/tree", "tree//a", "a\0b", "tree/"] {
            let error = rename("tree/a", to);
            assert!(
                matches!(error, NamesError::Component { .. }),
                "{to}: {error}"
            );
        }
        let long = "x".repeat(256);
        assert_eq!(rename("tree/a", &long), NamesError::TooLong(long.clone()));
        let deep = ["x"; MAX_PATH_DEPTH + 1].join("/");
        assert_eq!(rename("tree/a", &deep), NamesError::TooDeep(deep.clone()));
        for to in ["tree/sub/b", "tree/sub", "tree/sub/b/x", "tree"] {
            let error = rename("tree/a", to);
            assert!(matches!(error, NamesError::Taken(_)), "{to}: {error}");
        }
        for from in ["", "tre", "tree/su", "sub/b", "tree/a/"] {
            assert_eq!(rename(from, "x"), NamesError::Absent(from.to_owned()));
        }
        let names = Names::new(Top::Own, [(3, "x".to_owned())].into()).unwrap();
        assert_eq!(names.check(&tree), Err(NamesError::NoFile(3)));
        assert!(Names::new(Top::Named("a/b".into()), BTreeMap::new()).is_err());
    }

    #[test]
    fn a_layout_adds_or_removes_a_folder() {
        let (tree, own) = (tree(), Names::default());
        let flat = own.without_folder(&tree).unwrap();
        assert_eq!(flat.paths(&tree), ["a", "sub/b", "sub/c"]);
        assert_eq!(flat.top(), &Top::None);
        assert_eq!(flat.without_folder(&tree).as_ref(), Ok(&flat));
        assert!(own.with_folder(&tree).unwrap().is_own());
        let file = torrent("film.2020.mkv", &[]);
        let inner = own.with_folder(&file).unwrap();
        assert_eq!(inner.paths(&file), ["film.2020/film.2020.mkv"]);
        assert!(inner.without_folder(&file).unwrap().is_own());
        assert!(own.without_folder(&file).unwrap().is_own());
        assert_eq!(
            own.renamed(&file, "film.2020.mkv", "x")
                .unwrap()
                .paths(&file),
            ["x"]
        );
        let hidden = torrent(".hidden", &[]);
        let inner = own.with_folder(&hidden).unwrap();
        assert_eq!(inner.paths(&hidden), [".hidden/.hidden"]);
        assert!(inner.without_folder(&hidden).unwrap().is_own());
    }
}
