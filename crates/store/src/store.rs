//! The folder: opened, read and changed.
//!
//! # Order of writes
//!
//! A torrent consists of two files. It exists if and only if its `.toml` file exists, because one name appears or
//! disappears at one moment. The other file has the suffix `.pending` whenever the `.toml` file can be absent:
//!
//! | | adding | removing |
//! |--:|---|---|
//! | 1 | write `X.torrent.pending`, sync the folder | rename `X.torrent` to `X.torrent.pending`, sync the folder |
//! | 2 | write `X.toml`, sync the folder: **added** | delete `X.toml`, sync the folder: **removed** |
//! | 3 | rename `X.torrent.pending` to `X.torrent` | delete `X.torrent.pending` |
//!
//! A method returns after step 3, so nothing is acknowledged before it is on the disk. A kill before the end of step 2
//! leaves a folder in which the torrent was not added, or not removed; a kill after it one in which it was. [`Store::open`]
//! does what is left of step 3: it gives a pending file its name if the `.toml` file exists, and deletes it otherwise. Each
//! sync keeps the next step from reaching the disk first, so that a power cut has the same results as a kill. A file without
//! the suffix that lacks its `.toml` file is therefore damage from elsewhere, and is reported and kept.
//!
//! A change of the choices replaces `X.toml`, which is one rename. If the metadata of a magnet link becomes known, the program
//! may write `X.torrent.pending` at once, from any thread ([`Store::metadata_file`]). Then step 1 writes `X.torrent`, and step 2
//! deletes `X.torrent.pending` and `X.magnet`; a kill before the end leaves several, and the metadata is used. If the name
//! changes with it, because the link had only the info-hash of version 2, the torrent is added under the new name and then
//! removed under the old one. A kill between leaves both, and the link is removed when the folder is opened.
//!
//! Bytes are on the disk before a file has its name ([`AtomicFile`]). Temporary files of a killed program are removed by the
//! next one, in [`Store::open`].
//!
//! [`AtomicFile`]: hashlane_files::AtomicFile

mod read;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use hashlane_files::{Overwrite, UNFINISHED_FILES};
use hashlane_metainfo::{InfoHashes, Magnet, Torrent};
use serde::Serialize;

use crate::choices::Choices;
use crate::entry::{Entry, Metainfo, NewMetainfo, title_of};
use crate::error::StoreError;
use crate::file;
use crate::format::{self, UPGRADES};
use crate::groups::Groups;
use crate::lock::Lock;
use crate::name::Name;
use crate::order;
use crate::session::Session;
use crate::totals::{TorrentTotals, Totals, seconds};

/// The permissions of the folders.
const FOLDER_MODE: u32 = 0o700;

/// The folder of the torrents.
const TORRENTS: &str = "torrents";

/// The file of the totals.
const TOTALS: &str = "totals.toml";

/// The file of the categories and labels.
const GROUPS: &str = "groups.toml";

/// The file of the settings that requests have changed.
const SESSION: &str = "session.toml";

/// The suffixes of the files of a torrent.
const CHOICES: &str = "toml";
const FILE: &str = "torrent";
const MAGNET: &str = "magnet";
const PENDING: &str = ".pending";

/// Length limit in bytes of a file with choices.
const MAX_CHOICES_LEN: u64 = 8 << 20;

/// A state folder, which no other program can open until the value is dropped; or the same in memory, which nothing outlasts.
#[derive(Debug, Default)]
pub struct Store {
    /// `None` in memory.
    disk: Option<Disk>,
    entries: BTreeMap<Name, Entry>,
    /// The number of the last change of a torrent.
    revision: u64,
    totals: Totals,
    groups: Groups,
    session: Session,
    problems: Vec<StoreError>,
}

/// The folders of a store.
#[derive(Debug)]
struct Disk {
    folder: PathBuf,
    torrents: PathBuf,
    _lock: Lock,
}

impl Disk {
    /// Returns the path of a file of a torrent.
    fn path(&self, name: Name, suffix: &str) -> PathBuf {
        self.torrents.join(format!("{name}.{suffix}"))
    }
}

/// Returns the names of the torrents in a state folder, which is only read and may be in use. A folder that does not exist has
/// none.
///
/// # Errors
/// The folder cannot be read.
pub fn names_in(folder: &Path) -> Result<BTreeSet<Name>, StoreError> {
    let torrents = folder.join(TORRENTS);
    let entries = match fs::read_dir(&torrents) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeSet::new()),
        entries => entries.map_err(StoreError::at(&torrents))?,
    };
    let mut names = BTreeSet::new();
    for entry in entries {
        let path = PathBuf::from(entry.map_err(StoreError::at(&torrents))?.file_name());
        let is_torrent = path.extension().is_some_and(|it| it == CHOICES);
        let stem = path.file_stem().and_then(|stem| stem.to_str());
        if let Some(Ok(name)) = stem.filter(|_| is_torrent).map(str::parse) {
            names.insert(name);
        }
    }
    Ok(names)
}

impl Store {
    /// Opens the folder, or makes it. Then finishes changes that a kill interrupted. Damaged files are no errors, but
    /// [`Self::problems`].
    ///
    /// # Errors
    /// The folder is in use, newer than this program, no state folder, of another user, or cannot be read and written.
    pub fn open(folder: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let folder = folder.into();
        make_folder(&folder)?;
        let lock = Lock::of(&folder)?;
        format::establish(&folder, UPGRADES)?;
        let torrents = folder.join(TORRENTS);
        make_folder(&torrents)?;
        file::sync_folder(&folder)?;
        let mut store = Self::in_memory();
        for folder in [&folder, &torrents] {
            let left = UNFINISHED_FILES.remove_abandoned(folder);
            for path in left.map_err(StoreError::at(folder))? {
                let reason = "a temporary file that cannot be removed";
                store.problems.push(StoreError::damaged(&path, reason));
            }
        }
        let disk = Disk {
            folder,
            torrents,
            _lock: lock,
        };
        let names = store.read_torrents(&disk)?;
        store.read_totals(&disk, &names)?;
        store.groups = store.read_or_keep(
            &disk,
            GROUPS,
            "categories and labels without torrents are forgotten",
        )?;
        let consequence = "the limits are those of the configuration";
        store.session = store.read_or_keep(&disk, SESSION, consequence)?;
        store.disk = Some(disk);
        store.remove_replaced_links()?;
        Ok(store)
    }

    /// Returns an empty store in memory.
    pub fn in_memory() -> Self {
        Self::default()
    }

    /// Returns the path of the state folder; `None` in memory.
    pub fn folder(&self) -> Option<&Path> {
        Some(&self.disk.as_ref()?.folder)
    }

    /// Returns the files that could not be used when the folder was opened. They stay as they are.
    pub fn problems(&self) -> &[StoreError] {
        &self.problems
    }

    /// Returns the torrents in the order of their names, which takes less time than [`Self::entries`].
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Entry> {
        self.entries.values()
    }

    /// Returns the torrents in the order of the queue.
    pub fn entries(&self) -> Vec<&Entry> {
        let mut entries: Vec<_> = self.entries.values().collect();
        entries.sort_by_cached_key(|entry| place(entry));
        entries
    }

    /// Returns the torrent of a name.
    pub fn get(&self, name: Name) -> Option<&Entry> {
        self.entries.get(&name)
    }

    /// Returns the torrent that has one of these info-hashes.
    pub fn find(&self, info_hashes: InfoHashes) -> Option<&Entry> {
        let v1 = info_hashes.v1().map(Name::V1);
        let v2 = info_hashes.v2().map(Name::V2);
        let by_name = v1.and_then(|v1| self.get(v1)).or_else(|| self.get(v2?));
        // The name of a hybrid is not its info-hash of version 2.
        by_name.or_else(|| {
            let mut entries = self.entries.values();
            v2?;
            entries.find(|entry| entry.info_hashes.v2() == info_hashes.v2())
        })
    }

    /// Adds a torrent, and returns it. It is on the disk afterwards.
    ///
    /// # Errors
    /// The folder has the torrent, or a damaged file with its name, or it cannot be written. The torrent is then not added.
    pub fn put(&mut self, torrent: Torrent, choices: Choices) -> Result<&Entry, StoreError> {
        let name = self.add_all(vec![(torrent.into(), choices)], None)?;
        self.entry(name)
    }

    /// Adds a magnet link, and returns its torrent. It is on the disk afterwards.
    ///
    /// # Errors
    /// Those of [`Self::put`].
    pub fn put_magnet(&mut self, magnet: Magnet, choices: Choices) -> Result<&Entry, StoreError> {
        let name = self.add_all(vec![(magnet.into(), choices)], None)?;
        self.entry(name)
    }

    /// Adds many torrents. This is faster than adding each of them, because the folder is synced for all together.
    ///
    /// # Errors
    /// Those of [`Self::put`], for the first torrent that cannot be added. No torrent is then added, unless the process is
    /// killed in between.
    pub fn put_all(&mut self, torrents: Vec<(Torrent, Choices)>) -> Result<(), StoreError> {
        let torrents = torrents.into_iter();
        let new = torrents.map(|(torrent, choices)| (torrent.into(), choices));
        let new: Vec<_> = new.collect();
        if !new.is_empty() {
            self.add_all(new, None)?;
        }
        Ok(())
    }

    /// Changes what a person chose for a torrent. It is on the disk afterwards.
    ///
    /// # Errors
    /// The folder does not have the torrent, or it cannot be written. The choices are then as before, unless the last sync
    /// failed.
    pub fn update(&mut self, name: Name, choices: Choices) -> Result<(), StoreError> {
        self.update_all(vec![(name, choices)])
    }

    /// Changes what a person chose for many torrents. They are on the disk afterwards. This is faster than [`Self::update`]
    /// for each of them, because the folder is synced for all together.
    ///
    /// # Errors
    /// The folder does not have one of the torrents: nothing is changed. Or it cannot be written: some of the torrents are
    /// changed.
    pub fn update_all(&mut self, updates: Vec<(Name, Choices)>) -> Result<(), StoreError> {
        let mut new = Vec::with_capacity(updates.len());
        for (name, mut choices) in updates {
            choices.order = choices.order.or(self.entry(name)?.choices.order);
            new.push((name, choices));
        }
        if new.is_empty() {
            return Ok(());
        }
        let Some(disk) = &self.disk else {
            for (name, choices) in new {
                self.choose(name, choices);
            }
            return Ok(());
        };
        let files = new.iter().map(|(name, choices)| {
            let text = text_of(*name, choices)?;
            Ok((disk.path(*name, CHOICES), text.into_bytes()))
        });
        let files = files.collect::<Result<Vec<_>, StoreError>>()?;
        let results = file::write_all(&files, Overwrite::Yes);
        let torrents = disk.torrents.clone();
        let mut written = Ok(());
        for ((name, choices), result) in new.into_iter().zip(results) {
            match result {
                Ok(()) => self.choose(name, choices),
                Err(error) => written = written.and(Err(error)),
            }
        }
        file::sync_folder(&torrents)?;
        written
    }

    /// Replaces the choices of a torrent in memory.
    fn choose(&mut self, name: Name, choices: Choices) {
        if let Some(entry) = self.entries.get_mut(&name) {
            self.revision += 1;
            (entry.choices, entry.revision) = (choices, self.revision);
        }
    }

    /// Puts all torrents into this order. It is on the disk afterwards. A kill in between leaves some of the changes.
    ///
    /// # Errors
    /// The folder does not have a torrent, or it cannot be written.
    pub fn set_order(&mut self, order: &[Name]) -> Result<(), StoreError> {
        let places: Vec<_> = order
            .iter()
            .map(|name| Ok(self.entry(*name)?.choices.order))
            .collect::<Result<_, StoreError>>()?;
        let numbers = order::numbers(&places);
        let mut updates = Vec::new();
        for (name, number) in order.iter().zip(numbers) {
            let mut choices = self.entry(*name)?.choices.clone();
            if choices.order != Some(number) {
                choices.order = Some(number);
                updates.push((*name, choices));
            }
        }
        self.update_all(updates)
    }

    /// Replaces the magnet link of a torrent by its metadata, or a .torrent file by one with other trackers. Returns the
    /// name, which changes if the link of a hybrid torrent had only the info-hash of version 2.
    ///
    /// # Errors
    /// The folder does not have the torrent, the metadata is of another torrent, or the folder cannot be written. The
    /// torrent is then as before.
    pub fn set_metainfo(&mut self, name: Name, torrent: &Torrent) -> Result<Name, StoreError> {
        let before = self.entry(name)?.clone();
        let info_hashes = torrent.info_hashes();
        if !has(info_hashes, name) {
            let reason = format!("metadata of {}, another torrent", Name::from(info_hashes));
            return Err(StoreError::Value { name, reason });
        }
        let new = Name::from(info_hashes);
        if new != name {
            let new = vec![(torrent.clone().into(), before.choices)];
            let totals = self.totals.torrents.get(&name).copied();
            let new = self.add_all(new, Some(name))?;
            self.totals.torrents.insert(new, totals.unwrap_or_default());
            self.remove(name)?;
            return Ok(new);
        }
        let metainfo = match &self.disk {
            None => Metainfo::Torrent(torrent.clone()),
            Some(disk) => {
                let path = disk.path(name, FILE);
                file::write(&path, torrent.bytes(), Overwrite::Yes)?;
                file::sync_folder(&disk.torrents)?;
                if matches!(before.metainfo, Metainfo::Magnet(_)) {
                    remove_present(&pending(&path))?;
                    let link = disk.path(name, MAGNET);
                    fs::remove_file(&link).map_err(StoreError::at(&link))?;
                }
                Metainfo::File(path)
            }
        };
        let entry = Entry {
            info_hashes,
            title: title_of(torrent),
            metainfo,
            choices: before.choices,
            revision: 0,
        };
        self.insert(entry);
        Ok(name)
    }

    /// Returns the file in which a program keeps the metadata of a magnet link when it arrives, whole or not at all. The folder
    /// has this metadata instead of the link when it is opened again, unless [`Self::set_metainfo`] had other metadata. `None` for
    /// a torrent that is no link, and for a link whose metadata may have another name.
    pub fn metadata_file(&self, name: Name) -> Option<PathBuf> {
        let entry = self.get(name)?;
        let is_link = matches!(entry.metainfo, Metainfo::Magnet(_));
        let keeps_name = entry.info_hashes.v1().is_some();
        let disk = self.disk.as_ref().filter(|_| is_link && keeps_name)?;
        Some(pending(&disk.path(name, FILE)))
    }

    /// Replaces the trackers of a magnet link. They are on the disk afterwards.
    ///
    /// # Errors
    /// The folder does not have the torrent as a link, or it cannot be written. The link is then as before.
    pub fn set_magnet(&mut self, name: Name, magnet: Magnet) -> Result<(), StoreError> {
        let Metainfo::Magnet(before) = &self.entry(name)?.metainfo else {
            let reason = "its metadata is known".to_owned();
            return Err(StoreError::Value { name, reason });
        };
        if magnet.info_hashes != before.info_hashes {
            let reason = "a link to another torrent".to_owned();
            return Err(StoreError::Value { name, reason });
        }
        if let Some(disk) = &self.disk {
            let text = format!("{magnet}\n");
            file::write(&disk.path(name, MAGNET), text.as_bytes(), Overwrite::Yes)?;
            file::sync_folder(&disk.torrents)?;
        }
        if let Some(entry) = self.entries.get_mut(&name) {
            self.revision += 1;
            entry.metainfo = Metainfo::Magnet(Box::new(magnet));
            entry.revision = self.revision;
        }
        Ok(())
    }

    /// Removes a torrent and its totals. It is absent from the disk afterwards. The content stays.
    ///
    /// # Errors
    /// The folder does not have the torrent, or it cannot be written. Unless the error is the last sync's, the torrent is
    /// then as before.
    pub fn remove(&mut self, name: Name) -> Result<(), StoreError> {
        let suffix = suffix_of(&self.entry(name)?.metainfo);
        let Some(disk) = &self.disk else {
            self.forget(name);
            return Ok(());
        };
        let torrents = disk.torrents.clone();
        let path = disk.path(name, suffix);
        let metadata_file = pending(&disk.path(name, FILE));
        let pending = pending(&path);
        fs::rename(&path, &pending).map_err(StoreError::at(&path))?;
        let choices = disk.path(name, CHOICES);
        let removed = file::sync_folder(&torrents)
            .and_then(|()| fs::remove_file(&choices).map_err(StoreError::at(&choices)));
        if let Err(error) = removed {
            // The next program does the same if this fails.
            let _ = fs::rename(&pending, &path);
            return Err(error);
        }
        self.forget(name);
        file::sync_folder(&torrents)?;
        // The next program deletes what stays.
        let _ = fs::remove_file(&pending);
        let _ = fs::remove_file(&metadata_file);
        Ok(())
    }

    /// Removes a torrent in memory.
    fn forget(&mut self, name: Name) {
        self.entries.remove(&name);
        self.totals.torrents.remove(&name);
    }

    /// Returns the totals. Each torrent has an entry.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// Returns the totals, to change them. [`Self::save_totals`] writes them.
    pub fn totals_mut(&mut self) -> &mut Totals {
        &mut self.totals
    }

    /// Saves the totals. They are on the disk afterwards.
    ///
    /// # Errors
    /// The folder cannot be written. The file is then as before.
    pub fn save_totals(&self) -> Result<(), StoreError> {
        self.save(TOTALS, &self.totals)
    }

    /// Returns the categories and labels.
    pub fn groups(&self) -> &Groups {
        &self.groups
    }

    /// Replaces the categories and labels. They are on the disk afterwards.
    ///
    /// # Errors
    /// The folder cannot be written. The categories and labels are then as before.
    pub fn set_groups(&mut self, groups: Groups) -> Result<(), StoreError> {
        if groups != self.groups {
            self.save(GROUPS, &groups)?;
            self.groups = groups;
        }
        Ok(())
    }

    /// Returns the settings of the session that requests have changed.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Replaces the settings of the session. They are on the disk afterwards.
    ///
    /// # Errors
    /// The folder cannot be written. The settings are then as before.
    pub fn set_session(&mut self, session: Session) -> Result<(), StoreError> {
        if session != self.session {
            self.save(SESSION, &session)?;
            self.session = session;
        }
        Ok(())
    }

    /// Writes a file that concerns all torrents.
    fn save(&self, name: &str, value: &impl Serialize) -> Result<(), StoreError> {
        let Some(Disk { folder, .. }) = &self.disk else {
            return Ok(());
        };
        let path = folder.join(name);
        let text = toml::to_string(value)
            .map_err(|error| StoreError::damaged(&path, error.to_string()))?;
        file::write(&path, text.as_bytes(), Overwrite::Yes)?;
        file::sync_folder(folder)
    }

    /// Adds or replaces a torrent in memory.
    fn insert(&mut self, mut entry: Entry) {
        self.revision += 1;
        entry.revision = self.revision;
        self.entries.insert(entry.name(), entry);
    }

    fn entry(&self, name: Name) -> Result<&Entry, StoreError> {
        self.get(name).ok_or(StoreError::Absent(name))
    }

    /// Adds torrents in the steps of the table above, and returns the name of the last one. `replaced` is removed later.
    fn add_all(
        &mut self,
        new: Vec<(NewMetainfo, Choices)>,
        replaced: Option<Name>,
    ) -> Result<Name, StoreError> {
        let mut entries = self.prepare(new, replaced)?;
        if let Some(disk) = &self.disk {
            let files = entries.iter_mut();
            let files: Vec<_> = files
                .map(|entry| disk.take(entry))
                .collect::<Result<_, _>>()?;
            let added = disk.write_all(&files);
            if let Err(error) = added {
                for one in &files {
                    one.undo();
                }
                return Err(error);
            }
        }
        let mut last = None;
        for entry in entries {
            let name = entry.name();
            let totals = TorrentTotals {
                added: seconds(SystemTime::now()),
                ..TorrentTotals::default()
            };
            self.totals.torrents.insert(name, totals);
            self.insert(entry);
            last = Some(name);
        }
        Ok(last.expect("at least one torrent is added"))
    }

    /// Returns new torrents, if the store has none of them. Gives each a place in the queue.
    fn prepare(
        &self,
        new: Vec<(NewMetainfo, Choices)>,
        replaced: Option<Name>,
    ) -> Result<Vec<Entry>, StoreError> {
        let orders = self.entries.values();
        let mut order = orders.filter_map(|entry| entry.choices.order).max();
        let mut names = BTreeSet::new();
        let mut entries = Vec::with_capacity(new.len());
        for (metainfo, mut choices) in new {
            if choices.order.is_none() {
                choices.order = Some(order.map_or(0, |order| order.saturating_add(1)));
            }
            order = order.max(choices.order);
            let info_hashes = match &metainfo {
                NewMetainfo::Torrent(torrent) => torrent.info_hashes(),
                NewMetainfo::Magnet(magnet) => magnet.info_hashes,
            };
            let name = Name::from(info_hashes);
            let present = self.find(info_hashes).map(Entry::name);
            if let Some(present) = present.filter(|present| Some(*present) != replaced) {
                return Err(StoreError::Exists(present));
            }
            if !names.insert(name) {
                return Err(StoreError::Exists(name));
            }
            entries.push(Entry {
                info_hashes,
                title: metainfo.title(),
                metainfo: match metainfo {
                    NewMetainfo::Torrent(torrent) => Metainfo::Torrent(torrent),
                    NewMetainfo::Magnet(magnet) => Metainfo::Magnet(magnet),
                },
                choices,
                revision: 0,
            });
        }
        Ok(entries)
    }
}

impl Disk {
    /// Returns the files of a new torrent, and leaves the path of its .torrent file in place of the bytes.
    fn take(&self, entry: &mut Entry) -> Result<Prepared, StoreError> {
        let name = entry.name();
        let path = self.path(name, suffix_of(&entry.metainfo));
        let choices_path = self.path(name, CHOICES);
        for path in [&path, &choices_path] {
            if path.symlink_metadata().is_ok() {
                let reason = "damaged, and not replaced: repair or move it, and start again";
                return Err(StoreError::damaged(path, reason));
            }
        }
        let file = match &entry.metainfo {
            Metainfo::Torrent(_) => Metainfo::File(path.clone()),
            other => other.clone(),
        };
        let bytes = match std::mem::replace(&mut entry.metainfo, file) {
            Metainfo::Torrent(torrent) => torrent.bytes().to_vec(),
            Metainfo::Magnet(magnet) => format!("{magnet}\n").into_bytes(),
            Metainfo::File(_) => Vec::new(),
        };
        Ok(Prepared {
            bytes,
            text: text_of(name, &entry.choices)?,
            pending: pending(&path),
            path,
            choices_path,
        })
    }

    fn write_all(&self, prepared: &[Prepared]) -> Result<(), StoreError> {
        let pending = prepared.iter();
        let pending = pending.map(|one| (one.pending.clone(), one.bytes.as_slice()));
        let written = file::write_all(&pending.collect::<Vec<_>>(), Overwrite::Yes);
        written.into_iter().collect::<Result<(), _>>()?;
        file::sync_folder(&self.torrents)?;
        let choices = prepared.iter();
        let choices = choices.map(|one| (one.choices_path.clone(), one.text.as_bytes()));
        let written = file::write_all(&choices.collect::<Vec<_>>(), Overwrite::No);
        written.into_iter().collect::<Result<(), _>>()?;
        file::sync_folder(&self.torrents)?;
        for one in prepared {
            fs::rename(&one.pending, &one.path).map_err(StoreError::at(&one.pending))?;
        }
        Ok(())
    }
}

/// The files of a torrent that is added.
struct Prepared {
    /// The bytes of the .torrent file, or of the link.
    bytes: Vec<u8>,
    /// The text of the choices.
    text: String,
    pending: PathBuf,
    path: PathBuf,
    choices_path: PathBuf,
}

impl Prepared {
    /// Removes what was written before an error, in the order of a removal. The next program removes the rest of what stays
    /// without a `.toml` file.
    fn undo(&self) {
        let _ = fs::rename(&self.path, &self.pending);
        let _ = fs::remove_file(&self.choices_path);
        let _ = fs::remove_file(&self.pending);
    }
}

/// Returns what orders a torrent in the queue.
fn place(entry: &Entry) -> (Option<i64>, Name) {
    (entry.choices.order, entry.name())
}

/// Makes a folder that only its user can use, or checks it and takes permissions away from others.
fn make_folder(folder: &Path) -> Result<(), StoreError> {
    let mut builder = DirBuilder::new();
    if let Err(error) = builder.mode(FOLDER_MODE).create(folder) {
        match error.kind() {
            io::ErrorKind::AlreadyExists => {}
            io::ErrorKind::NotFound => builder
                .recursive(true)
                .create(folder)
                .map_err(StoreError::at(folder))?,
            _ => return Err(StoreError::at(folder)(error)),
        }
    }
    let status = fs::metadata(folder).map_err(StoreError::at(folder))?;
    if !status.is_dir() {
        return Err(StoreError::damaged(folder, "not a folder"));
    }
    let user = rustix::process::geteuid().as_raw();
    if status.uid() != user {
        return Err(StoreError::Owner {
            folder: folder.to_owned(),
            owner: status.uid(),
            user,
        });
    }
    if status.mode() & 0o777 != FOLDER_MODE {
        let mode = Permissions::from_mode(FOLDER_MODE);
        fs::set_permissions(folder, mode).map_err(StoreError::at(folder))?;
    }
    Ok(())
}

/// Returns the path of a file that waits for its `.toml` file.
fn pending(path: &Path) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(PENDING);
    path.into()
}

/// Removes a file, if it exists.
fn remove_present(path: &Path) -> Result<(), StoreError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(StoreError::at(path)(error)),
        _ => Ok(()),
    }
}

fn suffix_of(metainfo: &Metainfo) -> &'static str {
    match metainfo {
        Metainfo::File(_) | Metainfo::Torrent(_) => FILE,
        Metainfo::Magnet(_) => MAGNET,
    }
}

/// Returns `true` if a torrent with these info-hashes can have the name.
fn has(info_hashes: InfoHashes, name: Name) -> bool {
    match name {
        Name::V1(v1) => info_hashes.v1() == Some(v1),
        Name::V2(v2) => info_hashes.v2() == Some(v2),
    }
}

/// Returns the text of the choices of a torrent, if they can be read again.
fn text_of(name: Name, choices: &Choices) -> Result<String, StoreError> {
    let text = toml::to_string(choices).map_err(|error| error.to_string());
    let checked = text.and_then(|text| match toml::from_str::<Choices>(&text) {
        Ok(_) if text.len() as u64 <= MAX_CHOICES_LEN => Ok(text),
        Ok(_) => Err(format!("longer than {MAX_CHOICES_LEN} bytes")),
        Err(error) => Err(error.message().to_owned()),
    });
    checked.map_err(|reason| StoreError::Value { name, reason })
}
