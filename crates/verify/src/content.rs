//! Where the files of a torrent are on this machine.

use std::io;
use std::path::{Path, PathBuf};

use hashlane_metainfo::{PathComponent, Torrent};

use crate::FileIndex;

/// Where files are on this machine.
pub(crate) trait Places: Sync + std::fmt::Debug {
    /// The file, or the folder of the files.
    fn root(&self) -> &Path;

    /// Where a file is, or would be.
    fn path_of(&self, file: FileIndex) -> io::Result<PathBuf>;
}

/// The payload of a torrent in the file system: one file, or a folder of files. It need not exist.
#[derive(Clone, Debug)]
pub struct Content {
    torrent: Torrent,
    root: PathBuf,
}

impl Content {
    /// The payload itself, whatever it is called: the file of a single-file torrent, the folder
    /// that holds the files of another one. Where there is a folder and the torrent is of one file,
    /// it is the file of that name in it.
    ///
    /// # Errors
    /// `InvalidFilename` where paths are Unicode, if the torrent's name is not. `NotADirectory` if it
    /// is a file, and the torrent is of a folder.
    pub fn at(torrent: &Torrent, root: impl Into<PathBuf>) -> io::Result<Self> {
        let mut root = root.into();
        match root.metadata() {
            Ok(found) if found.is_dir() && torrent.is_single_file() => {
                push(&mut root, torrent.name())?;
            }
            Ok(found) if !found.is_dir() && !torrent.is_single_file() => {
                return Err(io::ErrorKind::NotADirectory.into());
            }
            _ => {}
        }
        Ok(Self {
            torrent: torrent.clone(),
            root,
        })
    }

    /// The payload under its own name in `folder`.
    ///
    /// # Errors
    /// `InvalidFilename` where paths are Unicode, if the torrent's name is not.
    pub fn in_folder(torrent: &Torrent, folder: impl Into<PathBuf>) -> io::Result<Self> {
        let mut root = folder.into();
        if let Some(name) = torrent.possible_folder() {
            let mut inner = root.clone();
            push(&mut inner, name)?;
            push(&mut inner, torrent.name())?;
            if inner.is_file() {
                return Ok(Self {
                    torrent: torrent.clone(),
                    root: inner,
                });
            }
        }
        push(&mut root, torrent.name())?;
        Ok(Self {
            torrent: torrent.clone(),
            root,
        })
    }

    /// The torrent whose payload it is.
    pub fn torrent(&self) -> &Torrent {
        &self.torrent
    }

    /// The file, or the folder of the files.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where a file is, or would be.
    ///
    /// # Errors
    /// `InvalidFilename` where paths are Unicode, if the torrent's is not.
    ///
    /// # Panics
    /// If the index is of another torrent that has more files.
    pub fn path_of(&self, file: FileIndex) -> io::Result<PathBuf> {
        let mut path = self.root.clone();
        if !self.torrent.is_single_file() {
            for component in self.torrent.file(file.get()).path().components() {
                push(&mut path, component)?;
            }
        }
        Ok(path)
    }
}

impl Places for Content {
    fn root(&self) -> &Path {
        self.root()
    }

    fn path_of(&self, file: FileIndex) -> io::Result<PathBuf> {
        self.path_of(file)
    }
}

fn push(path: &mut PathBuf, component: PathComponent<'_>) -> io::Result<()> {
    path.push(
        component
            .to_os_str()
            .map_err(|_| io::ErrorKind::InvalidFilename)?,
    );
    Ok(())
}
