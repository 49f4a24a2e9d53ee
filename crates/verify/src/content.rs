//! The place of a torrent's files on this machine.

use std::io;
use std::path::{Path, PathBuf};

use hashlane_metainfo::{PathComponent, Torrent};
use hashlane_pipeline::{FileIndex, FileSet};

/// The files of a torrent on this machine: one file, or a folder of files. They need not exist.
#[derive(Clone, Debug)]
pub struct Content {
    torrent: Torrent,
    root: PathBuf,
}

impl Content {
    /// Returns the content at `root`, whatever its name is: the file of a single-file torrent, or the
    /// folder that holds the files. If `root` is a folder and the torrent has a single file, the
    /// content is the file of the torrent's name in that folder.
    ///
    /// # Errors
    /// `InvalidFilename` if the torrent's name is not Unicode on a system whose paths are. `NotADirectory`
    /// if `root` is a file and the torrent has a folder.
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

    /// Returns the content under the torrent's name in `folder`.
    ///
    /// # Errors
    /// `InvalidFilename` if the torrent's name is not Unicode on a system whose paths are.
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

    /// Returns the torrent.
    pub fn torrent(&self) -> &Torrent {
        &self.torrent
    }

    /// Returns the path of the file, or of the folder of the files.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the path of a file, which need not exist.
    ///
    /// # Errors
    /// `InvalidFilename` if the path is not Unicode on a system whose paths are.
    ///
    /// # Panics
    /// If the index is of another torrent with more files.
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

impl FileSet for Content {
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
