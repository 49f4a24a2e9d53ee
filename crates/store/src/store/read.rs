//! The folder as it is read when it is opened. Changes that a kill interrupted are finished.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::Path;
use std::{fs, io};

use hashlane_files::{UNFINISHED_FILES, rename_to_free};
use hashlane_metainfo::{InfoHashes, Magnet};
use serde::de::DeserializeOwned;

use super::{CHOICES, Disk, FILE, MAGNET, MAX_CHOICES_LEN, PENDING, Store, TOTALS, suffix_of};
use crate::entry::{Entry, Metainfo, title_of};
use crate::error::StoreError;
use crate::file;
use crate::name::Name;
use crate::totals::seconds;

/// Length limits in bytes.
const MAX_MAGNET_LEN: u64 = 1 << 20;
const MAX_TOTALS_LEN: u64 = 64 << 20;

impl Store {
    /// Reads the torrents, and finishes changes that were interrupted. Returns the names that have files.
    pub(super) fn read_torrents(&mut self, disk: &Disk) -> Result<BTreeSet<Name>, StoreError> {
        let mut files: BTreeMap<Name, BTreeSet<String>> = BTreeMap::new();
        for file in fs::read_dir(&disk.torrents).map_err(StoreError::at(&disk.torrents))? {
            let name = file.map_err(StoreError::at(&disk.torrents))?.file_name();
            match parts(&name) {
                Some((name, suffix)) => {
                    files.entry(name).or_default().insert(suffix.to_owned());
                }
                None if UNFINISHED_FILES.contains(&name) => {}
                None => {
                    let reason = "not a file of a torrent, which has an info-hash as its name";
                    let path = disk.torrents.join(name);
                    self.problems.push(StoreError::damaged(&path, reason));
                }
            }
        }
        let names = files.keys().copied().collect();
        for (name, suffixes) in files {
            match self.read_torrent(disk, name, suffixes) {
                Ok(Some(entry)) => self.insert(entry),
                Ok(None) => {}
                Err(problem) => self.problems.push(problem),
            }
        }
        Ok(names)
    }

    /// Reads the torrent that has files with these suffixes. Returns `None` if it was not added, or was removed.
    fn read_torrent(
        &mut self,
        disk: &Disk,
        name: Name,
        mut suffixes: BTreeSet<String>,
    ) -> Result<Option<Entry>, StoreError> {
        let choices_path = disk.path(name, CHOICES);
        let has_choices = suffixes.contains(CHOICES);
        for finished in [FILE, MAGNET] {
            let (to, suffix) = (disk.path(name, finished), format!("{finished}{PENDING}"));
            let from = disk.path(name, &suffix);
            if !suffixes.remove(&suffix) {
                continue;
            }
            if !has_choices {
                fs::remove_file(&from).map_err(StoreError::at(&from))?;
            } else if suffixes.contains(finished) && suffixes.contains(MAGNET) {
                // Metadata that a program kept, and then added.
                fs::remove_file(&from).map_err(StoreError::at(&from))?;
            } else if suffixes.contains(finished) {
                let reason = format!("ignored, because {} exists too", to.display());
                self.problems.push(StoreError::damaged(&from, reason));
            } else {
                fs::rename(&from, &to).map_err(StoreError::at(&from))?;
                suffixes.insert(finished.to_owned());
            }
        }
        let (has_file, has_link) = (suffixes.contains(FILE), suffixes.contains(MAGNET));
        if !has_choices {
            let Some(suffix) = suffixes.first() else {
                return Ok(None);
            };
            let reason = format!("{} is missing", choices_path.display());
            return Err(StoreError::damaged(&disk.path(name, suffix), reason));
        }
        let (info_hashes, title, metainfo) = if has_file {
            read_file(disk, name)?
        } else if has_link {
            read_magnet(disk, name)?
        } else {
            let reason = "neither a .torrent file nor a magnet link lies beside it";
            return Err(StoreError::damaged(&choices_path, reason));
        };
        let choices = file::read_toml(&choices_path, MAX_CHOICES_LEN)?;
        if has_file && has_link {
            let link = disk.path(name, MAGNET);
            fs::remove_file(&link).map_err(StoreError::at(&link))?;
        }
        Ok(Some(Entry {
            info_hashes,
            title,
            metainfo,
            choices,
            revision: 0,
        }))
    }

    /// Removes links whose metadata has another name and is present: `set_metainfo` was interrupted. Both have the same choices
    /// then. A link with other choices was added on its own, and stays.
    pub(super) fn remove_replaced_links(&mut self) -> Result<(), StoreError> {
        let entries = self.entries.values();
        let replaced = entries.filter_map(|entry| match entry.info_hashes {
            InfoHashes::Hybrid(_, v2) if matches!(entry.metainfo, Metainfo::File(_)) => {
                let link = self.get(Name::V2(v2))?;
                let is_replaced =
                    matches!(link.metainfo, Metainfo::Magnet(_)) && link.choices == entry.choices;
                is_replaced.then(|| link.name())
            }
            _ => None,
        });
        let replaced: Vec<_> = replaced.collect();
        for name in replaced {
            self.remove(name)?;
        }
        Ok(())
    }

    /// Reads a file that concerns all torrents. A damaged file gets another name, so that the next write does not replace
    /// it; `consequence` says what is so without it.
    pub(super) fn read_or_keep<T: DeserializeOwned + Default>(
        &mut self,
        disk: &Disk,
        name: &str,
        consequence: &str,
    ) -> Result<T, StoreError> {
        let path = disk.folder.join(name);
        match file::read_toml(&path, MAX_TOTALS_LEN) {
            Ok(read) => return Ok(read),
            Err(StoreError::Io { error, .. }) if error.kind() == io::ErrorKind::NotFound => {}
            Err(problem) => {
                let names =
                    (1..).map(|number: u64| disk.folder.join(format!("{name}.damaged-{number}")));
                let kept = rename_to_free(&path, names).map_err(StoreError::at(&path))?;
                self.problems.push(problem);
                let reason = format!("kept as {}; {consequence}", kept.display());
                self.problems.push(StoreError::damaged(&path, reason));
            }
        }
        Ok(T::default())
    }

    /// Reads the totals of torrents with these names.
    pub(super) fn read_totals(
        &mut self,
        disk: &Disk,
        names: &BTreeSet<Name>,
    ) -> Result<(), StoreError> {
        self.totals = self.read_or_keep(disk, TOTALS, "totals start at zero")?;
        // Without the torrents that were removed after the last write of the totals.
        self.totals.torrents.retain(|name, _| names.contains(name));
        for (name, entry) in &self.entries {
            let suffix = suffix_of(&entry.metainfo);
            let totals = self.totals.torrents.entry(*name).or_default();
            if totals.added == 0 {
                let written = fs::metadata(disk.torrents.join(format!("{name}.{suffix}")));
                let written = written.and_then(|written| written.modified());
                totals.added = written.map_or(0, seconds);
            }
        }
        Ok(())
    }
}

fn read_file(disk: &Disk, name: Name) -> Result<(InfoHashes, String, Metainfo), StoreError> {
    let path = disk.path(name, FILE);
    let torrent = file::read_torrent(&path)?;
    let info_hashes = torrent.info_hashes();
    check_name(&path, name, info_hashes)?;
    Ok((info_hashes, title_of(&torrent), Metainfo::File(path)))
}

fn read_magnet(disk: &Disk, name: Name) -> Result<(InfoHashes, String, Metainfo), StoreError> {
    let path = disk.path(name, MAGNET);
    let bytes = file::read(&path, MAX_MAGNET_LEN)?;
    let text = str::from_utf8(&bytes).map_err(|_| StoreError::damaged(&path, "not UTF-8"))?;
    let magnet: Magnet = text
        .trim_end()
        .parse()
        .map_err(|error| StoreError::damaged(&path, format!("{error}")))?;
    let info_hashes = magnet.info_hashes;
    check_name(&path, name, info_hashes)?;
    let title = magnet.name.clone().unwrap_or_default();
    Ok((info_hashes, title, Metainfo::Magnet(Box::new(magnet))))
}

/// Returns the name and the suffix of a torrent's file.
fn parts(name: &OsString) -> Option<(Name, &str)> {
    let (name, suffix) = name.to_str()?.split_once('.')?;
    let finished = suffix.strip_suffix(PENDING);
    let is_known = match finished {
        Some(finished) => [FILE, MAGNET].contains(&finished),
        None => [FILE, MAGNET, CHOICES].contains(&suffix),
    };
    is_known.then_some((name.parse().ok()?, suffix))
}

fn check_name(path: &Path, name: Name, info_hashes: InfoHashes) -> Result<(), StoreError> {
    let expected = Name::from(info_hashes);
    if expected != name {
        let reason = format!("contains the torrent {expected}, not {name}");
        return Err(StoreError::damaged(path, reason));
    }
    Ok(())
}
