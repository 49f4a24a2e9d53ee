//! The files of several torrents: those that are the same file, and their places on the disks.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::{Path, PathBuf};

use hashlane_files::{DiskExtent, FileId, SourceFile, is_rotational};
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
    /// For a file that was found before under the same name or another one: the number of the file that was found first.
    same: BTreeMap<usize, usize>,
    /// For a file that was found first: the numbers of the same file.
    others: BTreeMap<usize, Vec<usize>>,
    /// The identities of both.
    ids: BTreeMap<usize, FileId>,
    /// The order of reading for each disk. Empty for a single torrent.
    disks: Vec<ReadOrder>,
    /// The places of files on rotational disks.
    places: BTreeMap<usize, Places>,
}

/// The places of a file on a rotational disk.
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
}

/// The disk of all files that can be read in any order.
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
            ids: BTreeMap::new(),
            disks: Vec::new(),
            places: BTreeMap::new(),
        };
        if contents.len() > 1 {
            files.disks.push(ReadOrder::Any);
            let in_disk_order = matches!(options.io, IoMode::Auto | IoMode::Direct);
            files.look_up(in_disk_order, cancel);
        }
        files
    }

    /// Sets the disks and the places of files on them.
    #[cfg(test)]
    pub(super) fn place(&mut self, disks: Vec<ReadOrder>, places: BTreeMap<usize, Places>) {
        self.disks = disks;
        self.places = places;
    }

    fn look_up(&mut self, in_disk_order: bool, cancel: &CancelToken) {
        let mut first: HashMap<FileId, usize> = HashMap::new();
        // The disk of each file system.
        let mut disks: HashMap<u64, usize> = HashMap::new();
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
                    self.same.insert(number, *first);
                    self.others.entry(*first).or_default().push(number);
                    self.ids.extend([(number, id), (*first, id)]);
                    continue;
                }
                first.insert(id, number);
                if !in_disk_order {
                    continue;
                }
                let disk = *disks.entry(id.device()).or_insert_with(|| {
                    if !is_rotational(&path) {
                        return ANY_ORDER;
                    }
                    self.disks.push(ReadOrder::InOrderIfSlow);
                    self.disks.len() - 1
                });
                if disk != ANY_ORDER {
                    let extents = SourceFile::open(&path).and_then(|file| file.disk_extents());
                    let on_disk = match extents {
                        Ok(extents) if !extents.is_empty() => OnDisk::Extents(extents),
                        _ => OnDisk::Inode(id.inode()),
                    };
                    self.places.insert(number, Places { disk, on_disk });
                }
            }
        }
    }

    /// Returns the number of a file, which is the same for all of its names.
    pub(super) fn number(&self, torrent: usize, file: FileIndex) -> usize {
        let number = self.starts[torrent] + file.get();
        self.same.get(&number).copied().unwrap_or(number)
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
            None => (number as u64, offset),
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

    /// Returns `false` if a file of a torrent was found to be the same as one of another torrent, and this has changed.
    pub(super) fn are_unchanged(&self, torrent: usize) -> bool {
        let end = self.starts.get(torrent + 1).copied().unwrap_or(usize::MAX);
        let mut same = self.same.range(self.starts[torrent]..end);
        same.all(|(number, first)| {
            let now = |number| FileId::of_path(&self.path_of(number).ok()?).ok().flatten();
            let before = self.ids.get(number).copied();
            now(*number) == before && now(*first) == before
        })
    }
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
