//! The files of a bag, without following links.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use hashlane_files::{Stamp, is_own_name};

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
        let mut folders = vec![PathBuf::new()];
        while let Some(folder) = folders.pop() {
            if let Err(error) = contents.add_folder(root, &folder, &mut folders) {
                contents.errors.push((folder, error));
            }
        }
        contents
    }

    fn add_folder(
        &mut self,
        root: &Path,
        folder: &Path,
        folders: &mut Vec<PathBuf>,
    ) -> io::Result<()> {
        // `join` of nothing would add a slash.
        let place = if folder == Path::new("") {
            root.to_owned()
        } else {
            root.join(folder)
        };
        for entry in fs::read_dir(place)? {
            let entry = entry?;
            let path = folder.join(entry.file_name());
            let metadata = match entry.metadata() {
                Ok(metadata) => metadata,
                // It vanished meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => {
                    self.errors.push((path, error));
                    continue;
                }
            };
            let kind = metadata.file_type();
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_symlink() {
                self.others
                    .push((path, "is a symbolic link, which a bag cannot have"));
            } else if !kind.is_file() {
                self.others
                    .push((path, "is no regular file, which a bag cannot have"));
            } else if let Some(text) = text_of(&path) {
                self.files.insert(text, Stamp::of(&metadata));
            } else {
                self.others
                    .push((path, "the name is not UTF-8, as the tag files must be"));
            }
        }
        Ok(())
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
