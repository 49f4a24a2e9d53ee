//! The results of whole folders, made of those of their entries.

use std::fs;
use std::path::{Path, PathBuf};

use hashlane_files::{Step, Walk};
use hashlane_pipeline::{CancelToken, Error, Event, Options};
use hashlane_sha::Engine;

use crate::error::TreeError;
use crate::format::{FolderRules, Format, GitMode};
use crate::run::{Item, hash_files};

/// Returns the result of a folder and the number of bytes of its files. Files and folders for whose paths `takes` returns
/// `false` are left out, and so are files of Hashlane itself, such as the catalogue of an archive. `on_progress` gets the number of bytes hashed so far, and the path of a file that is read. Its error
/// ends the run.
///
/// Anything that cannot be part of the result is an error, because the result of the rest would look like that of the whole.
///
/// # Errors
/// The first error of `on_progress`, or a [`TreeError`].
pub fn hash_folder<H, E: From<Error> + From<TreeError>>(
    format: &dyn Format<Hash = H>,
    path: &Path,
    takes: impl Fn(&Path) -> bool,
    options: &Options,
    cancel: &CancelToken,
    mut on_progress: impl FnMut(u64, Option<&Path>) -> Result<(), E>,
) -> Result<(H, u64), E> {
    let Some(rules) = format.folders() else {
        return Err(no_result(path, "is a directory".into()).into());
    };
    let mut tree = Tree {
        format,
        rules,
        engine: options.engine,
        root: path,
        takes,
        files: Vec::new(),
        hashes: Vec::new(),
        folders: Vec::new(),
    };
    tree.list()?;
    tree.hashes.resize_with(tree.files.len(), || None);
    let (mut total, mut failure) = (0, None);
    let files = tree.files.iter().enumerate();
    let items = files.map(|(i, path)| Item::new(path, (i, &**path)));
    let hashes = &mut tree.hashes;
    hash_files(format, items, options, cancel, |event| {
        match event {
            Event::Outcome((i, _), Ok((hash, len_bytes))) => {
                total += len_bytes;
                hashes[*i] = Some(hash);
            }
            Event::Outcome((_, path), Err(failed)) => {
                failure.get_or_insert_with(|| TreeError::of_failure(path, failed));
            }
            Event::Pause {
                hashed_bytes,
                current,
            } => on_progress(hashed_bytes, current.map(|(_, path)| *path))?,
        }
        Ok::<_, E>(())
    })?;
    if let Some(failure) = failure {
        return Err(failure.into());
    }
    Ok((tree.hash()?, total))
}

fn no_result(path: &Path, reason: String) -> TreeError {
    let path = path.to_owned();
    TreeError::File { path, reason }
}

/// The files of a folder, and those of all folders in it.
struct Tree<'t, H, T> {
    format: &'t dyn Format<Hash = H>,
    rules: FolderRules,
    engine: Engine,
    root: &'t Path,
    takes: T,
    files: Vec<PathBuf>,
    /// The result of each file.
    hashes: Vec<Option<H>>,
    /// The folders, each after those in it. They refer to each other by index: threads with a small stack hash folders of any
    /// depth.
    folders: Vec<Folder<H>>,
}

/// A folder with its entries and their names.
struct Folder<H> {
    name: Vec<u8>,
    path: PathBuf,
    entries: Vec<(Vec<u8>, Entry<H>)>,
}

enum Entry<H> {
    /// The index of a file, and whether its owner may execute it.
    File(usize, bool),
    Link(H),
    /// The index of a folder.
    Folder(usize),
}

impl<H> Folder<H> {
    fn new(name: Vec<u8>, path: PathBuf) -> Self {
        let entries = Vec::new();
        Self {
            name,
            path,
            entries,
        }
    }
}

impl<H, T: Fn(&Path) -> bool> Tree<'_, H, T> {
    /// Lists the files and folders.
    fn list(&mut self) -> Result<(), TreeError> {
        // The folders that contain the last entry, whose own entries are not complete.
        let mut levels = vec![Folder::new(Vec::new(), self.root.to_owned())];
        let mut walk = Walk::new(self.root).with_stamps();
        while let Some(step) = walk.step() {
            self.close(&mut levels, walk.depth());
            let (path, name) = (walk.place(), walk.path().file_name().unwrap_or_default());
            if let Step::Failed(error) = step {
                return Err(TreeError::read(&path)(error));
            }
            let repository = self.rules.repository;
            let is_repository = repository.is_some_and(|expected| name == expected);
            if is_repository && walk.depth() == 1 || !(self.takes)(&path) {
                walk.skip_folder();
                continue;
            }
            if is_repository {
                let folder = path.parent().unwrap_or(self.root);
                return Err(unfit(folder, "is a repository of its own"));
            }
            if self.rules.needs_unicode && name.to_str().is_none() {
                return Err(unfit(&path, "the name is not Unicode"));
            }
            let name = name.as_encoded_bytes().to_vec();
            let entry = match step {
                Step::Own(_) => continue,
                Step::Folder => {
                    levels.push(Folder::new(name, path));
                    continue;
                }
                Step::File(Some(stamp)) => {
                    let file = Entry::File(self.files.len(), stamp.is_executable());
                    self.files.push(path);
                    file
                }
                Step::Link => {
                    let target = fs::read_link(&path).map_err(TreeError::read(&path))?;
                    let target = target.as_os_str().as_encoded_bytes();
                    let link = self.format.link(self.engine, target);
                    Entry::Link(link.ok_or_else(|| unfit(&path, "is a symbolic link"))?)
                }
                _ => return Err(unfit(&path, "is not a regular file")),
            };
            levels[walk.depth() - 1].entries.push((name, entry));
        }
        self.close(&mut levels, 1);
        self.folders.append(&mut levels);
        Ok(())
    }

    /// Adds complete folders to those that contain them, until `n_levels` are left.
    fn close(&mut self, levels: &mut Vec<Folder<H>>, n_levels: usize) {
        while levels.len() > n_levels
            && let Some(mut folder) = levels.pop()
            && let Some(above) = levels.last_mut()
        {
            if self.rules.keeps_empty || !folder.entries.is_empty() {
                let name = std::mem::take(&mut folder.name);
                above
                    .entries
                    .push((name, Entry::Folder(self.folders.len())));
                self.folders.push(folder);
            }
        }
    }

    /// Returns the result of the whole folder from those of the files.
    fn hash(mut self) -> Result<H, TreeError> {
        let mut hashes: Vec<Option<H>> = Vec::with_capacity(self.folders.len());
        for folder in self.folders {
            let mut hashed = Vec::with_capacity(folder.entries.len());
            for (name, entry) in folder.entries {
                hashed.push(match entry {
                    Entry::File(i, is_executable) => {
                        // A file without failure has no result if the run was cancelled before.
                        let hash = self.hashes[i].take().ok_or(TreeError::Cancelled)?;
                        let mode = if is_executable {
                            GitMode::Executable
                        } else {
                            GitMode::File
                        };
                        (name, mode, hash)
                    }
                    Entry::Link(hash) => (name, GitMode::Link, hash),
                    Entry::Folder(i) => {
                        let hash = hashes[i].take().expect("a folder is an entry once");
                        (name, GitMode::Folder, hash)
                    }
                });
            }
            let hash = self.format.folder_hash(self.engine, hashed);
            hashes.push(Some(
                hash.map_err(|reason| no_result(&folder.path, reason))?,
            ));
        }
        let root = hashes.pop().flatten();
        Ok(root.expect("the last folder is the root"))
    }
}

fn unfit(path: &Path, reason: &str) -> TreeError {
    TreeError::Entry {
        path: path.to_owned(),
        reason: reason.to_owned(),
    }
}
