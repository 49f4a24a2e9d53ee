//! Names of content that a person changes while the session runs.
//!
//! The state folder gets the new names together with those of before. The client then adds the torrent again, and renames
//! its files when it opens them. A kill in between leaves both names in the folder, and the next start continues.

use std::path::{Path, PathBuf};

use hashlane_api::Place;
use hashlane_client::{Activity, Metainfo, Names, TorrentHandle};
use hashlane_metainfo::ContentLayout;
use hashlane_store::{Choices, Name, StoreError};

use super::Torrents;
use crate::goal::{is_new, naming, tops};

/// Maximum length of a path in bytes, as Linux has it.
const MAX_PATH_LEN: usize = 4095;

impl Torrents {
    /// Returns the metadata of a torrent, if it is known.
    pub(crate) fn metainfo(&self, name: Name) -> Option<Metainfo> {
        let of_client = self.handle(name).and_then(TorrentHandle::metainfo);
        of_client.or_else(|| self.stored_metainfo(name))
    }

    /// Returns the names of a torrent's content, and the metadata.
    pub(crate) fn names_of_content(&self, name: Name) -> Option<(Names, Metainfo)> {
        let metainfo = self.metainfo(name)?;
        let choices = &self.store.get(name)?.choices;
        let names = naming(choices).of(&metainfo).unwrap_or_default();
        Some((names, metainfo))
    }

    /// Returns the path of a torrent's content: a file or a folder; `None` while the metadata is unknown.
    pub(crate) fn content_path(&self, name: Name) -> Option<PathBuf> {
        let of_client = self.handle(name).and_then(TorrentHandle::content);
        of_client.or_else(|| self.expected_content(name))
    }

    /// Returns the path of content that the client has not opened yet.
    fn expected_content(&self, name: Name) -> Option<PathBuf> {
        let folder = match &self.store.get(name)?.choices.place {
            Place::Content(content) => return Some(content.clone()),
            Place::Folder(folder) => folder,
        };
        let (names, metainfo) = self.names_of_content(name)?;
        if !names.has_top() {
            return Some(folder.clone());
        }
        tops(folder, &names, &metainfo).into_iter().next()
    }

    /// Returns `true` while the files of a torrent are being renamed.
    pub(crate) fn is_renaming(&self, name: Name) -> bool {
        let entry = self.store.get(name);
        entry.is_some_and(|entry| entry.choices.names_before.is_some())
    }

    /// Renames a file or folder of a torrent's content. Both paths start with the name of the content. Nothing that exists
    /// is replaced.
    pub(crate) fn rename(&mut self, name: Name, from: &str, to: &str) -> Result<(), String> {
        self.check_running()?;
        let entry = self.entry(name)?;
        let is_moving = self
            .find(name, &self.all())
            .is_some_and(|snapshot| snapshot.activity == Activity::Moving);
        if is_moving || entry.choices.move_to.is_some() || entry.choices.names_before.is_some() {
            return Err(format!("{name}: its files are being moved or renamed"));
        }
        let (before, metainfo) = self
            .names_of_content(name)
            .ok_or_else(|| format!("{name}: its metadata is not known yet"))?;
        let names = before.renamed(&metainfo, from, to);
        let names = names.map_err(|error| error.to_string())?;
        if names == before {
            return Ok(());
        }
        if matches!(entry.choices.place, Place::Content(_)) && names.top() != before.top() {
            return Err(format!(
                "{name}: the content is served where it is, so only files in it can be renamed"
            ));
        }
        let old = paths(&entry.choices.place, &before, &metainfo);
        let new = paths(&entry.choices.place, &names, &metainfo);
        let root = entry.choices.place.path();
        let mut changed = old.iter().zip(&new).filter(|(old, new)| old != new);
        // Before anything is asked about a path: a link can lead out of the folder.
        for path in changed.clone().flat_map(|(old, new)| [old, new]) {
            check_path(root, path)?;
        }
        if let Some((_, taken)) = changed.find(|(_, new)| new.symlink_metadata().is_ok()) {
            return Err(format!("{}: exists, and is not replaced", taken.display()));
        }
        // The files of a download that has not started are created under their new names.
        let has_files = !is_new(&self.kept_totals(name))
            || old.iter().any(|path| path.symlink_metadata().is_ok());
        let choices = Choices {
            names,
            names_before: has_files.then_some(before),
            layout: ContentLayout::Original,
            ..entry.choices.clone()
        };
        let updated = self.store.update(name, choices);
        updated.map_err(|error| error.to_string())?;
        self.restart(name)
    }

    /// Records that the files of a torrent have their new names, or kept those of before.
    pub(super) fn on_renamed(&mut self, name: Name, is_renamed: bool) -> Result<(), StoreError> {
        let entry = self.store.get(name).ok_or(StoreError::Absent(name))?;
        let mut choices = entry.choices.clone();
        if let Some(before) = choices.names_before.take()
            && !is_renamed
        {
            choices.names = before;
        }
        self.store.update(name, choices)
    }
}

/// Refuses a path that is too long for the system, or that leads through a symbolic link or a file below the root.
fn check_path(root: &Path, path: &Path) -> Result<(), String> {
    if path.as_os_str().len() > MAX_PATH_LEN {
        return Err(format!(
            "{}: a path has at most {MAX_PATH_LEN} bytes",
            path.display()
        ));
    }
    let folders = path.ancestors().skip(1);
    for folder in folders.take_while(|folder| *folder != root && folder.starts_with(root)) {
        let what = match folder.symlink_metadata() {
            Ok(metadata) if metadata.is_symlink() => {
                "a symbolic link, and nothing behind it is renamed"
            }
            Ok(metadata) if !metadata.is_dir() => "a file, which has no files in it",
            _ => continue,
        };
        return Err(format!("{}: {what}", folder.display()));
    }
    Ok(())
}

/// Returns the path of each file except padding.
fn paths(place: &Place, names: &Names, metainfo: &Metainfo) -> Vec<PathBuf> {
    let paths = names.paths(metainfo).into_iter();
    let path = |path: String| match place {
        Place::Folder(folder) => folder.join(path),
        // The name of the content is not the torrent's.
        Place::Content(content) => match path.split_once('/') {
            Some((_, below)) if names.has_top() => content.join(below),
            _ => content.join(path),
        },
    };
    paths.map(path).collect()
}
