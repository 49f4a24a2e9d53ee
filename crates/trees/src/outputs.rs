//! The files that some tree hashes write besides their result.

use std::fmt;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hashlane_files::{NewFile, Overwrite, place_of};

/// The files to write besides a tree hash. Those that a tree hash does not have must be absent. Callers make them, so a new
/// field is a breaking change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeOutputs {
    /// The file for the tree: of [`TreeName::Fsverity`](crate::TreeName::Fsverity) and
    /// [`TreeName::ApkIdsig`](crate::TreeName::ApkIdsig).
    pub merkle_tree: Option<PathBuf>,
    /// The file for the descriptor: of [`TreeName::Fsverity`](crate::TreeName::Fsverity).
    pub descriptor: Option<PathBuf>,
    /// The file for the superblock and the tree: of [`TreeName::DmVerity`](crate::TreeName::DmVerity).
    pub hash_device: Option<PathBuf>,
    /// Whether files that exist are replaced.
    pub overwrite: Overwrite,
}

impl TreeOutputs {
    /// Returns the paths of all files.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        let all = [&self.merkle_tree, &self.descriptor, &self.hash_device];
        all.into_iter().filter_map(|path| path.as_deref())
    }
}

/// No files.
impl Default for TreeOutputs {
    fn default() -> Self {
        Self {
            merkle_tree: None,
            descriptor: None,
            hash_device: None,
            overwrite: Overwrite::No,
        }
    }
}

/// The reason why a file cannot be written.
#[derive(Debug)]
#[non_exhaustive]
pub struct OutputError {
    /// The path of the file.
    pub path: PathBuf,
    /// The reason: [`io::ErrorKind::AlreadyExists`] if the file exists and may not be replaced.
    pub error: io::Error,
}

impl OutputError {
    /// Returns a function that makes an [`io::Error`] an error of the file at `path`.
    fn of(path: &Path) -> impl FnOnce(io::Error) -> Self {
        |error| Self {
            path: path.to_owned(),
            error,
        }
    }

    fn invalid(path: &Path, reason: &str) -> Self {
        Self::of(path)(io::Error::new(io::ErrorKind::InvalidInput, reason))
    }
}

impl fmt::Display for OutputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.error)
    }
}

impl std::error::Error for OutputError {}

/// The files of [`TreeOutputs`] while they are written, without their names. Without [`Self::put`], nothing is left of them.
#[derive(Debug, Default)]
pub struct TreeFiles {
    pub(crate) merkle_tree: Option<TreeFile>,
    pub(crate) descriptor: Option<TreeFile>,
    pub(crate) hash_device: Option<TreeFile>,
}

/// A file that is written.
#[derive(Debug)]
pub(crate) struct TreeFile {
    path: PathBuf,
    new: NewFile,
    /// A stream to the file.
    stream: Arc<File>,
}

impl TreeFiles {
    /// Creates the files for the tree hash of the file at `source`.
    ///
    /// # Errors
    /// A file cannot be created, exists and may not be replaced, or is `source` or another one of the files.
    pub fn create(outputs: &TreeOutputs, source: &Path) -> Result<Self, OutputError> {
        let source = source.canonicalize().ok();
        let create = |path: &Option<PathBuf>| -> Result<_, OutputError> {
            let Some(path) = path else {
                return Ok(None);
            };
            let place = place_of(path).map_err(OutputError::of(path))?;
            if source.as_ref() == Some(&place) {
                return Err(OutputError::invalid(path, "is a file to hash"));
            }
            let new = NewFile::create(path, outputs.overwrite).map_err(OutputError::of(path))?;
            let stream = new.as_file().try_clone().map_err(OutputError::of(path))?;
            Ok(Some(TreeFile {
                path: path.clone(),
                new,
                stream: Arc::new(stream),
            }))
        };
        let files = Self {
            merkle_tree: create(&outputs.merkle_tree)?,
            descriptor: create(&outputs.descriptor)?,
            hash_device: create(&outputs.hash_device)?,
        };
        let mut places: Vec<&Path> = Vec::new();
        for TreeFile { path, new, .. } in files.all() {
            if places.contains(&new.place()) {
                let reason = "is the place of two files: name another one";
                return Err(OutputError::invalid(path, reason));
            }
            places.push(new.place());
        }
        Ok(files)
    }

    /// Gives the files their names, after the result is known. Their bytes are on the disk before.
    ///
    /// # Errors
    /// A file was made at the place of another one since, or the system's error. That file and the later ones are not written.
    pub fn put(self) -> Result<(), OutputError> {
        for file in [self.merkle_tree, self.descriptor, self.hash_device] {
            let Some(TreeFile { path, new, .. }) = file else {
                continue;
            };
            new.put().map_err(OutputError::of(&path))?;
        }
        Ok(())
    }

    /// Returns an error of writing as that of the first file.
    pub(crate) fn failed(&self, error: io::Error) -> OutputError {
        let path = self.all().next().map(|file| file.path.clone());
        OutputError {
            path: path.unwrap_or_default(),
            error,
        }
    }

    fn all(&self) -> impl Iterator<Item = &TreeFile> {
        let all = [&self.merkle_tree, &self.descriptor, &self.hash_device];
        all.into_iter().flatten()
    }
}

impl TreeFile {
    /// Returns a stream to the file.
    pub(crate) fn stream(&self) -> Arc<File> {
        Arc::clone(&self.stream)
    }
}
