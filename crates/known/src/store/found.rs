//! What is found in a store.

use std::io;
use std::path::{Path, PathBuf};

use hashlane_files::{NotContent, Step, Walk, Walked, walk_files};

use crate::file::{KnownDigest, KnownFile};

/// A problem of a store. A program must decide about each kind, so a new one is a breaking change.
#[derive(Debug)]
pub enum Problem {
    /// The store names this object, but does not have it.
    Missing,
    /// The name of the file is no digest, and no other program of the layout makes such a file.
    Unknown,
    /// The file or folder cannot be read, or a manifest is invalid.
    Unreadable(io::Error),
}

/// What the file name of an object means.
pub(super) enum Name {
    /// A digest of the file.
    Digest(KnownDigest),
    /// A file that is not finished.
    Unfinished,
    /// A file that is no object.
    Other,
    /// No digest.
    Unknown,
}

/// The files and problems of a store.
#[derive(Default)]
pub(super) struct Found {
    pub(super) files: Vec<KnownFile>,
    pub(super) problems: Vec<(PathBuf, Problem)>,
    pub(super) n_unfinished: u64,
}

impl Found {
    /// Adds all files below a folder. `meaning` returns what the name of a file means.
    pub(super) fn add_files(&mut self, folder: &Path, meaning: impl Fn(&Path, &str) -> Name) {
        self.add_files_and_links(folder, meaning, |_| false);
    }

    /// Adds all files below a folder, and the links for which `follows` returns `true`, by their own names.
    pub(super) fn add_files_and_links(
        &mut self,
        folder: &Path,
        meaning: impl Fn(&Path, &str) -> Name,
        follows: impl Fn(&Path) -> bool,
    ) {
        self.each_link(folder, &|found, link| {
            if follows(link) {
                return found.add_file(link.to_owned(), &meaning);
            }
            let reason = "is a symbolic link, which is not followed";
            found.add_error(link, io::Error::other(reason));
        });
        for file in walk_files(folder, false) {
            let Some(path) = self.file(file) else {
                continue;
            };
            self.add_file(path, &meaning);
        }
    }

    fn add_file(&mut self, path: PathBuf, meaning: &impl Fn(&Path, &str) -> Name) {
        let name = path.file_name().and_then(|name| name.to_str());
        match name.map_or(Name::Unknown, |name| meaning(&path, name)) {
            Name::Digest(digest) => self.files.push(KnownFile {
                path,
                len_bytes: None,
                digest,
            }),
            Name::Unfinished => self.n_unfinished += 1,
            Name::Other => {}
            Name::Unknown => self.problems.push((path, Problem::Unknown)),
        }
    }

    /// Returns the path of a file that a walk found. Notes what is unreadable.
    pub(super) fn file(&mut self, walked: Walked) -> Option<PathBuf> {
        match walked {
            Walked::File(path) => return Some(path),
            Walked::LeftOut(_, NotContent::Own) => {}
            Walked::LeftOut(path, NotContent::Special) => {
                self.add_error(&path, io::Error::other("not a regular file"));
            }
            Walked::Failed(path, error) => self.add_error(&path, error),
        }
        None
    }

    /// Visits the links below a folder. Folders behind links are not searched.
    pub(super) fn each_link(&mut self, folder: &Path, visit: &dyn Fn(&mut Self, &Path)) {
        let mut walk = Walk::new(folder);
        while let Some(step) = walk.step() {
            match step {
                Step::Link => visit(self, &walk.place()),
                Step::Failed(error) => self.add_error(&walk.place(), error),
                _ => {}
            }
        }
    }

    /// Adds the problem of a file or folder.
    pub(super) fn add_error(&mut self, path: &Path, error: io::Error) {
        let problem = Problem::Unreadable(error);
        self.problems.push((path.to_owned(), problem));
    }

    /// Adds an object that is named but absent.
    pub(super) fn add_missing(&mut self, path: &Path) {
        self.problems.push((path.to_owned(), Problem::Missing));
    }
}
