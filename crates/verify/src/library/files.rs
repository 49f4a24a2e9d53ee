//! The files of several torrents: those that are the same file, and their places on the disks.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use hashlane_files::{DiskExtent, FileId, SourceFile, Stamp, TICK, is_rotational};
use hashlane_metainfo::FileKind;
use hashlane_pipeline::{
    CancelToken, FileFact, FileIndex, FileSet as _, Found, IoMode, Options, ReadOrder,
};

use crate::content::Content;
use crate::layout::files_of;

/// The files of several torrents, with consecutive numbers.
#[derive(Debug)]
pub(super) struct Files<'l> {
    contents: &'l [Content],
    /// The number of the first file of each torrent.
    starts: Vec<usize>,
    /// For a file whose bytes are those of a file that was found before.
    same: BTreeMap<usize, Same>,
    /// For a file that was found first: the numbers of the files with the same bytes.
    others: BTreeMap<usize, Vec<usize>>,
    /// The order of reading for each disk. Empty for a single torrent.
    disks: Vec<ReadOrder>,
    /// The places of files, except of those on the first disk that can be read in any order.
    places: BTreeMap<usize, Places>,
}

/// The file that is read in place of another one.
#[derive(Clone, Copy, Debug)]
struct Same {
    /// Its number.
    first: usize,
    reason: Reason,
}

/// The reason why two files have the same bytes.
#[derive(Clone, Copy, Debug)]
enum Reason {
    /// Both are one file, under one name or several.
    File(FileId),
    /// Both share all of their bytes on the disk (reflinks). This is true until one of them is written to, so these are the
    /// stamps of the other file and of the first one.
    Bytes(Stamp, Stamp),
}

/// The places of a file on its disk.
#[derive(Debug)]
pub(super) struct Places {
    pub(super) disk: usize,
    pub(super) on_disk: OnDisk,
}

/// The position of a file on its disk, as far as the system reports it.
#[derive(Debug)]
pub(super) enum OnDisk {
    /// Its parts.
    Extents(Vec<DiskExtent>),
    /// The number of the file in its file system, which is near the order on the disk.
    Inode(u64),
    /// The disk can be read in any order.
    Anywhere,
}

/// Number of file systems that can be read in any order and have workers of their own. The subvolumes of one disk can be hundreds
/// of file systems.
const MAX_ANY_ORDER: usize = 4;

/// The first disk that can be read in any order, and all after the fourth.
pub(super) const ANY_ORDER: usize = 0;

impl<'l> Files<'l> {
    /// Looks up which files are the same, and where they lie on rotational disks. A single torrent is read in its own order.
    pub(super) fn new(contents: &'l [Content], options: &Options, cancel: &CancelToken) -> Self {
        let mut n_files = 0;
        let starts = contents.iter().map(|content| {
            let start = n_files;
            n_files += content.torrent().files().len();
            start
        });
        let mut files = Self {
            contents,
            starts: starts.collect(),
            same: BTreeMap::new(),
            others: BTreeMap::new(),
            disks: Vec::new(),
            places: BTreeMap::new(),
        };
        if contents.len() > 1 {
            files.disks.push(ReadOrder::Any);
            let in_disk_order = matches!(options.io, IoMode::Auto | IoMode::Direct);
            let different = files.look_up(in_disk_order, cancel);
            files.look_up_shared(different, cancel);
        }
        files
    }

    /// Sets the disks and the places of files on them.
    #[cfg(test)]
    pub(super) fn place(&mut self, disks: Vec<ReadOrder>, places: BTreeMap<usize, Places>) {
        self.disks = disks;
        self.places = places;
    }

    /// Finds files with several names. Returns the number, the file system and the length of each different file.
    fn look_up(&mut self, in_disk_order: bool, cancel: &CancelToken) -> Vec<(usize, (u64, u64))> {
        let mut different = Vec::new();
        let mut first: HashMap<FileId, usize> = HashMap::new();
        // The disk of each file system.
        let mut disks: HashMap<u64, usize> = HashMap::new();
        let mut n_any_order = 0;
        for (content, start) in self.contents.iter().zip(self.starts.clone()) {
            for (index, file) in files_of(content.torrent()) {
                let is_read = file.kind() == FileKind::Regular && file.length() > 0;
                if !is_read || cancel.is_cancelled() {
                    continue;
                }
                let number = start + index.get();
                let Ok(path) = content.path_of(index) else {
                    continue;
                };
                let Ok(Some(id)) = FileId::of_path(&path) else {
                    continue;
                };
                if let Some(first) = first.get(&id) {
                    let same = Same {
                        first: *first,
                        reason: Reason::File(id),
                    };
                    self.same.insert(number, same);
                    self.others.entry(*first).or_default().push(number);
                    continue;
                }
                first.insert(id, number);
                different.push((number, (id.device(), file.length())));
                if !in_disk_order {
                    continue;
                }
                let disk = *disks.entry(id.device()).or_insert_with(|| {
                    if is_rotational(&path) {
                        self.disks.push(ReadOrder::InOrderIfSlow);
                    } else {
                        n_any_order += 1;
                        if n_any_order == 1 || n_any_order > MAX_ANY_ORDER {
                            return ANY_ORDER;
                        }
                        self.disks.push(ReadOrder::Any);
                    }
                    self.disks.len() - 1
                });
                if disk != ANY_ORDER && self.disks[disk] == ReadOrder::Any {
                    let on_disk = OnDisk::Anywhere;
                    self.places.insert(number, Places { disk, on_disk });
                } else if disk != ANY_ORDER {
                    let extents = SourceFile::open(&path).and_then(|file| file.disk_extents());
                    let on_disk = match extents {
                        Ok(extents) if !extents.is_empty() => OnDisk::Extents(extents),
                        _ => OnDisk::Inode(id.inode()),
                    };
                    self.places.insert(number, Places { disk, on_disk });
                }
            }
        }
        different
    }

    /// Finds files that share their bytes on the disk (reflinks), among different files with their file systems and lengths.
    fn look_up_shared(&mut self, mut different: Vec<(usize, (u64, u64))>, cancel: &CancelToken) {
        // A file that was written to within a tick before its stamp was taken can be written to again without another stamp.
        let Some(latest) = SystemTime::now().checked_sub(TICK) else {
            return;
        };
        // The file that was found first must keep the lowest number.
        different.sort_unstable_by_key(|(number, shape)| (*shape, *number));
        for alike in different.chunk_by(|(_, one), (_, other)| one == other) {
            if alike.len() == 1 {
                continue;
            }
            let mut first: HashMap<Vec<DiskExtent>, (usize, Stamp)> = HashMap::new();
            for (number, (_, len_bytes)) in alike {
                if cancel.is_cancelled() {
                    return;
                }
                let shared = self
                    .path_of(*number)
                    .and_then(|path| shared_places(&path, *len_bytes, latest));
                let Ok(Some((places, stamp))) = shared else {
                    continue;
                };
                match first.get(&places) {
                    None => drop(first.insert(places, (*number, stamp))),
                    Some((first, of_first)) => {
                        let (first, reason) = (*first, Reason::Bytes(stamp, *of_first));
                        self.merge(*number, Same { first, reason });
                    }
                }
            }
        }
    }

    /// Lets a file and its further names be read as another file.
    fn merge(&mut self, number: usize, same: Same) {
        let mut names = self.others.remove(&number).unwrap_or_default();
        names.push(number);
        self.same.extend(names.iter().map(|name| (*name, same)));
        let others = self.others.entry(same.first).or_default();
        others.append(&mut names);
    }

    /// Lets two files count as sharing their bytes from now on.
    #[cfg(test)]
    pub(super) fn share(&mut self, number: usize, first: usize) -> io::Result<()> {
        let stamp = |number| stamp_of(&self.path_of(number)?);
        let reason = Reason::Bytes(stamp(number)?, stamp(first)?);
        self.merge(number, Same { first, reason });
        Ok(())
    }

    /// Returns the number of a file, which is the same for all of its names.
    pub(super) fn number(&self, torrent: usize, file: FileIndex) -> usize {
        let number = self.starts[torrent] + file.get();
        self.same.get(&number).map_or(number, |same| same.first)
    }

    /// Returns `true` if several torrents have the file.
    pub(super) fn is_shared(&self, number: usize) -> bool {
        self.others.contains_key(&number)
    }

    /// Returns `true` if a torrent has a file that another one has too.
    pub(super) fn has_shared(&self) -> bool {
        !self.others.is_empty()
    }

    /// Returns the number of disks.
    pub(super) fn n_disks(&self) -> usize {
        self.disks.len().max(1)
    }

    /// Returns the order of reading for a disk, if it was looked up.
    pub(super) fn read_order(&self, disk: usize) -> Option<ReadOrder> {
        self.disks.get(disk).copied()
    }

    /// Returns the order of reading for the content of a single torrent.
    pub(super) fn read_order_of_content(&self) -> ReadOrder {
        match self.contents {
            [content] => content.read_order(),
            _ => ReadOrder::Any,
        }
    }

    /// Returns the disk of a file.
    pub(super) fn disk_of(&self, number: usize) -> usize {
        self.places
            .get(&number)
            .map_or(ANY_ORDER, |place| place.disk)
    }

    /// Returns the position of a byte of a file on its disk. Positions of one disk can be compared.
    pub(super) fn position(&self, number: usize, offset: u64) -> (u64, u64) {
        match self.places.get(&number).map(|places| &places.on_disk) {
            None | Some(OnDisk::Anywhere) => (number as u64, offset),
            Some(OnDisk::Inode(inode)) => (*inode, offset),
            Some(OnDisk::Extents(extents)) => {
                let next = extents.partition_point(|extent| extent.offset <= offset);
                // A hole is read with the bytes before it.
                let extent = &extents[next.saturating_sub(1)];
                let within = offset.saturating_sub(extent.offset).min(extent.len_bytes);
                (extent.on_disk.saturating_add(within), offset)
            }
        }
    }

    /// Returns the torrent of a file, and the file's index in the torrent.
    fn owner(&self, number: usize) -> (usize, FileIndex) {
        let torrent = self.starts.partition_point(|start| *start <= number) - 1;
        (torrent, FileIndex::new(number - self.starts[torrent]))
    }

    /// Returns the path of a file.
    pub(super) fn path_of(&self, number: usize) -> io::Result<PathBuf> {
        let (torrent, file) = self.owner(number);
        self.contents[torrent].path_of(file)
    }

    /// Returns the place of the first torrent.
    pub(super) fn root(&self) -> &Path {
        let first = self.contents.first();
        first.map_or(Path::new(""), |content| content.root())
    }

    /// Returns a fact about a file as a fact about each torrent that has the file.
    pub(super) fn names_of(&self, fact: FileFact) -> impl Iterator<Item = (usize, FileFact)> {
        let number = fact.file.get();
        let others = self.others.get(&number).into_iter().flatten();
        let others: Vec<(usize, FileFact)> = others
            .map(|other| self.of_owner(*other, copy_of(&fact.found)))
            .collect();
        std::iter::once(self.of_owner(number, fact.found)).chain(others)
    }

    fn of_owner(&self, number: usize, found: Found) -> (usize, FileFact) {
        let (torrent, file) = self.owner(number);
        (torrent, FileFact::new(file, found))
    }

    /// Returns `false` if a file of a torrent was found to have the bytes of another one, and one of both has changed since.
    pub(super) fn are_unchanged(&self, torrent: usize) -> bool {
        let end = self.starts.get(torrent + 1).copied().unwrap_or(usize::MAX);
        let mut same = self.same.range(self.starts[torrent]..end);
        same.all(|(number, same)| {
            let are_unchanged = || -> io::Result<bool> {
                let (path, first) = (self.path_of(*number)?, self.path_of(same.first)?);
                Ok(match &same.reason {
                    Reason::File(id) => [path, first]
                        .iter()
                        .all(|path| matches!(FileId::of_path(path), Ok(Some(now)) if now == *id)),
                    Reason::Bytes(stamp, of_first) => {
                        stamp_of(&path)? == *stamp && stamp_of(&first)? == *of_first
                    }
                })
            };
            are_unchanged().unwrap_or(false)
        })
    }
}

/// Returns the places of a file all of whose bytes are shared with other files, and its stamp. Returns `None` for other files,
/// files of another length, and files that were written to after `latest`.
fn shared_places(
    path: &Path,
    len_bytes: u64,
    latest: SystemTime,
) -> io::Result<Option<(Vec<DiskExtent>, Stamp)>> {
    let file = SourceFile::open(path)?;
    // Before the places: a write after this changes the stamp.
    let stamp = file.stamp()?;
    let latest = latest.duration_since(UNIX_EPOCH).unwrap_or_default();
    let is_settled = stamp
        .changed_ns()
        .is_some_and(|changed| i128::from(changed) < latest.as_nanos().cast_signed());
    if stamp.length() != len_bytes || !is_settled {
        return Ok(None);
    }
    Ok(file.shared_extents()?.map(|places| (places, stamp)))
}

fn stamp_of(path: &Path) -> io::Result<Stamp> {
    Ok(Stamp::of(&path.metadata()?))
}

/// Returns a copy of a fact. The copy of an error has the same text.
fn copy_of(found: &Found) -> Found {
    let copy = |error: &io::Error| match error.raw_os_error() {
        Some(number) => io::Error::from_raw_os_error(number),
        None => io::Error::new(error.kind(), error.to_string()),
    };
    match found {
        Found::Present(len_bytes) => Found::Present(*len_bytes),
        Found::Absent(error) => Found::Absent(copy(error)),
        Found::Skipped => Found::Skipped,
        Found::Failed { offset, error } => Found::Failed {
            offset: *offset,
            error: copy(error),
        },
    }
}
