//! Moves content to another folder.

use std::collections::HashMap;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use hashlane_api::Place;
use hashlane_files::{Relocation, UNFINISHED_MOVES, is_absent, rename_new};
use hashlane_metainfo::Torrent;
use hashlane_verify::{Content, FileIndex, HashVersions, Layout, files_of};

use super::{StoredTorrent, VerifySettings};
use crate::config::{Naming, Seed};
use crate::error::TorrentError;

/// A torrent that was moved.
#[derive(Debug)]
pub(crate) struct Moved {
    pub(crate) stored: StoredTorrent,
    /// Messages about files that stayed.
    pub(crate) notes: Vec<String>,
}

impl StoredTorrent {
    /// Returns `true` if the content of a torrent, or a part of it, is in `folder`.
    pub(crate) fn exists(torrent: &Torrent, folder: &Path, naming: &Naming) -> bool {
        let content = || {
            let names = naming.of(torrent).ok()?;
            // Other torrents can have files in the folder itself.
            names.has_top().then_some(())?;
            Content::named_in_folder(torrent, folder, &names).ok()
        };
        content().is_some_and(|content| content.root().symlink_metadata().is_ok())
    }

    /// Reads a torrent that an earlier process moved from `folder` to `to`. That process can have been killed before it
    /// removed everything else.
    pub(super) fn open_moved(
        torrent: &Torrent,
        folder: &Path,
        to: &Path,
        naming: &Naming,
    ) -> Result<Self, TorrentError> {
        let is_left = folder != to && Self::exists(torrent, folder, naming);
        let mut stored = Self::open(torrent, to, naming)?;
        stored.notes = abandoned(to);
        if is_left {
            let left = folder.join(stored.root.file_name().unwrap_or_default());
            let note = "exists too, and is not used";
            stored.notes.push(format!("{}: {note}", left.display()));
        }
        Ok(stored)
    }

    /// Moves the content to `folder` and returns the torrent there: for a download, or to serve it as `seed` says. Creates
    /// `folder` if it is absent, unless nothing is present that could be moved. Content that is copied to another file system is verified before the original is removed:
    /// it must have the pieces of `have`.
    pub(crate) fn move_to(
        &self,
        folder: &Path,
        seed: Option<&Seed>,
        have: &[bool],
        settings: &VerifySettings,
    ) -> Result<Moved, TorrentError> {
        if settings.cancel.is_cancelled() {
            return Err(TorrentError::Interrupted);
        }
        let to = folder.join(self.root.file_name().unwrap_or_default());
        let failed = |error| TorrentError::Move {
            to: to.clone(),
            error,
        };
        if self.content.has_mapped() {
            let reason = "a content map says where its files are";
            return Err(failed(io::Error::new(io::ErrorKind::Unsupported, reason)));
        }
        if !have.contains(&true) && self.is_absent() {
            // A download that has not started.
            if to.symlink_metadata().is_ok() {
                return Err(failed(io::ErrorKind::AlreadyExists.into()));
            }
            let stored = self.at(folder, seed)?.recorded_in(self.records.clone());
            let notes = Vec::new();
            return Ok(Moved { stored, notes });
        }
        self.storage.close();
        let own = self.own_files();
        std::fs::create_dir_all(folder).map_err(failed)?;
        let mut notes = abandoned(folder);
        match rename_new(&self.root, &to) {
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
                notes.extend(self.copy_to(folder, have, settings, failed)?);
            }
            result => result.map_err(failed)?,
        }
        let stored = self.at(folder, seed)?.recorded_in(self.records.clone());
        stored.take_over(&own);
        Ok(Moved { stored, notes })
    }

    /// Returns `true` if nothing exists at the place of the content.
    fn is_absent(&self) -> bool {
        let found = self.root.symlink_metadata();
        found.is_err_and(|error| is_absent(&error))
    }

    /// Returns the files that the download may write to, with `true` for those with a mark of the download.
    fn own_files(&self) -> Vec<(FileIndex, bool)> {
        let files = files_of(self.torrent()).map(|(index, _)| index);
        let own = files.filter(|index| self.storage.is_permitted(*index));
        own.map(|index| (index, self.storage.is_marked(index)))
            .collect()
    }

    /// Permits the download to write to its files in their new place.
    fn take_over(&self, own: &[(FileIndex, bool)]) {
        let stamps = self.storage.stamps();
        for (index, is_marked) in own {
            self.storage.permit_file(*index, &stamps);
            if *is_marked {
                // A copy has lost its mark.
                self.storage.mark(*index);
            }
        }
        self.storage.close();
    }

    /// Returns the place of content that lies in `folder` under its present name.
    pub(crate) fn place_in(&self, folder: &Path) -> Place {
        let name = self.root.file_name().unwrap_or_default();
        if self.has_name(name) {
            Place::Folder(folder.to_owned())
        } else {
            Place::Content(folder.join(name))
        }
    }

    /// Moves the content to a folder on another file system. Files of other programs in the content's folder move too,
    /// after the torrent's files.
    fn copy_to(
        &self,
        folder: &Path,
        have: &[bool],
        settings: &VerifySettings,
        failed: impl Fn(io::Error) -> TorrentError,
    ) -> Result<Vec<String>, TorrentError> {
        let own = self.files_to_move();
        let mut relocation = Relocation::start(&self.root, folder).map_err(&failed)?;
        let copied = relocation.copy(|path| own.contains_key(path), &settings.cancel);
        copied.map_err(&failed)?;
        let copy = self.at(relocation.folder(), None)?;
        let verification = copy.verify(settings)?;
        let mut pieces = have.iter().zip(&verification.have);
        if pieces.any(|(before, now)| *before && !now) {
            return Err(TorrentError::Modified);
        }
        let is_verified = |path: &Path, len| {
            own.get(path).is_some_and(|(pieces, length)| {
                let pieces = pieces.start as usize..pieces.end as usize;
                len == *length && verification.have[pieces].iter().all(|have| *have)
            })
        };
        // Peers can have read from the files until the torrent had left the session.
        self.storage.close();
        let left = relocation.finish(is_verified, &settings.cancel);
        let note = |path: PathBuf| {
            format!(
                "{}: left there, because another program changed it or writes to it; the move to {} is complete",
                path.display(),
                folder.display()
            )
        };
        Ok(left.map_err(failed)?.into_iter().map(note).collect())
    }

    /// Returns the same torrent in another folder: for a download, or to serve it as `seed` says.
    fn at(&self, folder: &Path, seed: Option<&Seed>) -> Result<Self, TorrentError> {
        let mut moved = match seed {
            Some(seed) => {
                let place = self.place_in(folder);
                let seed = Seed {
                    place,
                    naming: self.naming(),
                    ..seed.clone()
                };
                Self::serve(self.torrent(), &seed)?
            }
            None => Self::open(self.torrent(), folder, &self.naming())?,
        };
        moved
            .storage
            .set_copies_linked(self.storage.copies_linked());
        moved.sources = self.sources.clone();
        moved.selection = Mutex::new(self.selection());
        Ok(moved)
    }

    /// Returns the pieces and the length of each file of the torrent, by its path from the name of the content on.
    fn files_to_move(&self) -> HashMap<PathBuf, (Range<u32>, u64)> {
        let torrent = self.torrent();
        let layout = Layout::new(torrent, HashVersions::of(torrent.version()));
        let folder = self.root.parent().unwrap_or(Path::new(""));
        let files = files_of(torrent).filter_map(|(index, file)| {
            let path = self.content.path_of(index).ok()?;
            let path = path.strip_prefix(folder).ok()?.to_owned();
            Some((path, (layout.pieces_of(index), file.length())))
        });
        files.collect()
    }
}

/// Returns messages about the folders that may be unfinished moves of killed processes.
pub(super) fn abandoned(folder: &Path) -> Vec<String> {
    let left = UNFINISHED_MOVES.remove_abandoned(folder);
    let note = |path: PathBuf| {
        format!(
            "{}: an unfinished move; remove it if no other process is moving files here",
            path.display()
        )
    };
    left.unwrap_or_default().into_iter().map(note).collect()
}
