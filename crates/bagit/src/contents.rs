//! The files of a bag, without following links.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use hashlane_files::{Stamp, Step, Walk, is_own_name};

use crate::error::Error;
use crate::path::text_of;

/// The regular files below a folder, and what is no file.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    /// The properties of files by their paths, relative to the folder.
    pub(crate) files: BTreeMap<String, Stamp>,
    /// Links, devices and names that a bag cannot have, with the reasons.
    pub(crate) others: Vec<(PathBuf, &'static str)>,
    /// Folders that could not be read.
    pub(crate) errors: Vec<(PathBuf, io::Error)>,
}

impl Contents {
    /// Walks a folder.
    pub(crate) fn of(root: &Path) -> Self {
        let mut contents = Self::default();
        let mut walk = Walk::new(root).with_stamps();
        while let Some(step) = walk.step() {
            let path = walk.path();
            let reason = match step {
                Step::File(Some(stamp)) | Step::Own(Some(stamp)) => {
                    if let Some(text) = text_of(path) {
                        contents.files.insert(text, stamp);
                        continue;
                    }
                    "the name is not UTF-8, as the tag files must be"
                }
                Step::Failed(error) => {
                    contents.errors.push((path.to_owned(), error));
                    continue;
                }
                Step::Folder => continue,
                Step::Link => "is a symbolic link, which a bag cannot have",
                _ => "is no regular file, which a bag cannot have",
            };
            contents.others.push((path.to_owned(), reason));
        }
        contents
    }

    /// Returns the files of Hashlane itself, by their paths.
    pub(crate) fn own(&self) -> impl Iterator<Item = &str> {
        let paths = self.files.keys().map(String::as_str);
        paths.filter(|path| Path::new(path).file_name().is_some_and(is_own_name))
    }

    /// Returns the files without those of Hashlane itself at the top of the folder, which are no part of a bag. Fails for what
    /// a bag cannot have.
    pub(crate) fn check(mut self, root: &Path) -> Result<BTreeMap<String, Stamp>, Error> {
        if let Some((path, error)) = std::mem::take(&mut self.errors).into_iter().next() {
            return Err(Error::Io {
                path: root.join(path),
                error,
            });
        }
        let own: Vec<String> = self.own().map(str::to_owned).collect();
        for path in own {
            if path.contains('/') {
                let reason = "is a file of Hashlane itself: move it out of the folder";
                self.others.push((path.into(), reason));
            } else {
                self.files.remove(&path);
            }
        }
        match self.others.into_iter().next() {
            Some((path, reason)) => Err(Error::NotBaggable {
                path: root.join(path),
                reason,
            }),
            None => Ok(self.files),
        }
    }
}
