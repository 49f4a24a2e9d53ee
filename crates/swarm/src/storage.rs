//! A torrent's payload in the file system, as the protocol sees it: parts of pieces.
//!
//! This is the only place that writes payload. Files are opened below one folder and nowhere else,
//! whatever symbolic links lie in it; what is in them beyond the torrent's bytes is left alone; and a
//! storage that is only served is never written to, created or made longer.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, Metadata, MetadataExt as _, OpenOptions, OpenOptionsExt as _};
use hashlane_metainfo::merkle::LEAF_LEN;
use hashlane_metainfo::{FileKind, PieceIndex};
use hashlane_sha::{Engine, Sha1, Sha1Digest, Sha256, Sha256Digest};
use hashlane_verify::{Content, Extent, Families, FileIndex, Layout};

/// How many files of a torrent are kept open.
const MAX_OPEN: usize = 64;

/// How much is read at once to be hashed, in bytes: it stays in the second-level cache, and has a leaf for
/// each lane.
const WINDOW_LEN: usize = 16 * LEAF_LEN as usize;

thread_local! {
    /// What a disk thread reads to hash it.
    static WINDOW: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// A pipe that lies in the place of a file is not waited for.
const NONBLOCK: i32 = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();

/// What may be done to the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// They are read, and nothing else.
    Serve,
    /// They are made, made longer and written to.
    Download,
}

/// A file that something could not be done with.
#[derive(Debug, thiserror::Error)]
#[error("{}: {error}", path.display())]
pub struct StorageError {
    /// The file.
    pub path: PathBuf,
    /// Why; it is in the text already, and so not a source.
    pub error: Arc<io::Error>,
}

/// The files of one torrent.
#[derive(Debug)]
pub struct Storage {
    layout: Layout,
    folder: PathBuf,
    dir: Dir,
    /// In the order of the torrent's files.
    places: Vec<Place>,
    access: Access,
    open: Mutex<Vec<Open>>,
    /// Which file of the torrent each one of the file system is, by device and inode, of those that were
    /// made or written to: its position in [`Self::places`].
    owners: Mutex<HashMap<(u64, u64), usize>>,
    /// What went wrong last, for whoever is told only that something did.
    failure: Mutex<Option<StorageError>>,
}

#[derive(Debug)]
struct Place {
    /// Below the folder.
    path: PathBuf,
    kind: PlaceKind,
}

#[derive(Debug)]
enum PlaceKind {
    File {
        len_bytes: u64,
        is_executable: bool,
    },
    /// A symbolic link to this path.
    Link(PathBuf),
    /// Zeros, and nothing on the disk.
    Padding,
}

#[derive(Debug)]
struct Open {
    index: FileIndex,
    can_write: bool,
    file: Arc<File>,
}

impl Storage {
    /// The storage of a payload below `folder`, which is followed if it is a symbolic link. For a
    /// download it is made if it is not there, with all folders above it.
    ///
    /// # Errors
    /// If the folder cannot be opened or made, or the payload is not below it.
    pub fn new(content: &Content, folder: &Path, access: Access) -> Result<Self, StorageError> {
        let fail = |path: &Path| {
            let path = path.to_owned();
            move |error: io::Error| StorageError {
                path,
                error: Arc::new(error),
            }
        };
        if access == Access::Download {
            std::fs::create_dir_all(folder).map_err(fail(folder))?;
        }
        let dir = Dir::open_ambient_dir(folder, ambient_authority()).map_err(fail(folder))?;
        let torrent = content.torrent();
        // With version 2 alone, too, peers ask for whole pieces: what is between files is zeros.
        let families = Families {
            v1: true,
            ..Families::of(torrent.version())
        };
        let layout = Layout::new(torrent, families);
        let mut places = Vec::with_capacity(torrent.files().len());
        for (index, file) in FileIndex::all(torrent) {
            let path = content.path_of(index).map_err(fail(folder))?;
            let path = path.strip_prefix(folder).map_err(|_| {
                fail(&path)(io::Error::new(
                    io::ErrorKind::InvalidInput,
                    format!("not below {}", folder.display()),
                ))
            })?;
            places.push(Place {
                path: path.to_owned(),
                kind: match file.kind() {
                    FileKind::Regular => PlaceKind::File {
                        len_bytes: file.length(),
                        is_executable: file.attributes().executable,
                    },
                    FileKind::Padding => PlaceKind::Padding,
                    FileKind::Symlink { target } => {
                        let depth = file.path().components().count() - 1;
                        let mut path: PathBuf = std::iter::repeat_n("..", depth).collect();
                        let components = target.components();
                        path.extend(components.filter_map(|component| component.to_os_str().ok()));
                        PlaceKind::Link(path)
                    }
                },
            });
        }
        Ok(Self {
            layout,
            folder: folder.to_owned(),
            dir,
            places,
            access,
            open: Mutex::new(Vec::new()),
            owners: Mutex::default(),
            failure: Mutex::new(None),
        })
    }

    /// What went wrong last.
    pub fn take_failure(&self) -> Option<StorageError> {
        self.failure
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }

    /// Makes the files that are wanted, or all of them if `wanted` is empty, which has an entry for each
    /// file but padding: those that are absent as a hole of their length (BEP 47's attributes: executable
    /// where it says so, symbolic links), shorter ones with a hole behind their end. What is there
    /// already is left alone.
    ///
    /// # Errors
    /// The first one that cannot be made, is no regular file, or is the same file as another one of the
    /// torrent: on a file system that does not tell upper from lower case, they would overwrite each other.
    pub fn prepare(&self, wanted: &[bool]) -> Result<(), StorageError> {
        let places = self.places.iter().enumerate();
        let files = places.filter(|(_, place)| !matches!(place.kind, PlaceKind::Padding));
        for (n, (index, place)) in files.enumerate() {
            if *wanted.get(n).unwrap_or(&true) {
                self.make(index, place)
                    .map_err(|error| self.error(&place.path, error))?;
            }
        }
        Ok(())
    }

    fn make(&self, index: usize, place: &Place) -> io::Result<()> {
        match &place.kind {
            PlaceKind::Padding => Ok(()),
            PlaceKind::Link(target) => {
                self.make_parents(&place.path)?;
                match self.dir.symlink(target, &place.path) {
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
                    result => result,
                }
            }
            PlaceKind::File { len_bytes, .. } => {
                // What is as it should be is not opened: it may be that it cannot be written to, and need not.
                match self.dir.metadata(&place.path) {
                    Ok(metadata) if metadata.is_file() && metadata.len() >= *len_bytes => {
                        self.own(index, (metadata.dev(), metadata.ino()))
                    }
                    Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                    _ => self.open_to_write(index).map(drop),
                }
            }
        }
    }

    /// Fills `buffer` with the bytes of a piece from `begin` on. Padding is zeros.
    ///
    /// # Errors
    /// If the piece has fewer bytes, or a file cannot be read or is shorter.
    pub fn read(&self, piece: u32, begin: u32, buffer: &mut [u8]) -> io::Result<()> {
        let mut rest = buffer;
        for extent in self.extents(piece, begin, rest.len())? {
            let (part, behind) = rest.split_at_mut(extent.len_bytes as usize);
            rest = behind;
            match extent.file {
                None => part.fill(0),
                Some(index) => {
                    let result = self.file(index, false);
                    let result = result.and_then(|file| file.read_exact_at(part, extent.offset));
                    self.note(index, result)?;
                }
            }
        }
        Ok(())
    }

    /// Writes bytes of a piece from `begin` on: when it returns, the kernel has them. A file that is
    /// shorter than it should be gets its length first, as a hole. Padding is dropped.
    ///
    /// # Errors
    /// If the piece has fewer bytes, nothing may be written, or the system says so.
    pub fn write(&self, piece: u32, begin: u32, bytes: &[u8]) -> io::Result<()> {
        let mut rest = bytes;
        for extent in self.extents(piece, begin, rest.len())? {
            let (part, behind) = rest.split_at(extent.len_bytes as usize);
            rest = behind;
            if let Some(index) = extent.file {
                let result = self.file(index, true);
                let result = result.and_then(|file| file.write_all_at(part, extent.offset));
                self.note(index, result)?;
            }
        }
        Ok(())
    }

    /// Opens each file that is there and has content, so that one that may not be read, or that a symbolic
    /// link out of the folder leads to, is known before a peer asks for it.
    ///
    /// # Errors
    /// The first one that cannot be opened, though it is there.
    pub fn probe(&self) -> Result<(), StorageError> {
        for place in &self.places {
            if let PlaceKind::File { len_bytes: 1.., .. } = place.kind
                && let Err(error) = self.open_to_read(&place.path)
                && error.kind() != io::ErrorKind::NotFound
            {
                return Err(self.error(&place.path, error));
            }
        }
        Ok(())
    }

    /// Whether a piece has any byte on the disk that is not zero, which is lost when it is replaced. What
    /// cannot be read has none.
    pub fn holds_data(&self, piece: u32) -> bool {
        let Ok(index) = self.piece(piece) else {
            return false;
        };
        self.layout.extents(index).any(|extent| {
            let file = extent.file.map(|index| self.file(index, false));
            let Some(Ok(file)) = file else {
                return false;
            };
            let end = extent.offset + extent.len_bytes;
            // Holes are passed over, where the file system tells of them.
            let next = rustix::fs::seek(&file, rustix::fs::SeekFrom::Data(extent.offset));
            let mut offset = match next {
                Ok(next) => next.max(extent.offset),
                Err(rustix::io::Errno::NXIO) => end,
                Err(_) => extent.offset,
            };
            let mut window = vec![0; WINDOW_LEN];
            while offset < end {
                let len = (end - offset).min(WINDOW_LEN as u64) as usize;
                match file.read_at(&mut window[..len], offset) {
                    Ok(n) if n > 0 => {
                        if window[..n].iter().any(|byte| *byte != 0) {
                            return true;
                        }
                        offset += n as u64;
                    }
                    _ => return false,
                }
            }
            false
        })
    }

    /// Hashes a piece as it is on the disk: the SHA-1 digest of all of it with its padding, if `v1`
    /// is there to take it, and those of as many leaves of its file (BEP 52) as `leaves` takes.
    ///
    /// # Errors
    /// As of [`Self::read`].
    pub fn hash(
        &self,
        piece: u32,
        v1: Option<&mut Sha1Digest>,
        leaves: &mut [Sha256Digest],
    ) -> io::Result<()> {
        let index = self.piece(piece)?;
        let len = self.layout.piece_len(index) as usize;
        let content_len = self.layout.content_len(index) as usize;
        let hashed_len = if v1.is_some() {
            len
        } else {
            content_len.min(leaves.len() * LEAF_LEN as usize)
        };
        WINDOW.with_borrow_mut(|buffer| {
            buffer.resize(WINDOW_LEN, 0);
            self.hash_by_windows(piece, hashed_len, content_len, buffer, v1, leaves)
        })
    }

    fn hash_by_windows(
        &self,
        piece: u32,
        hashed_len: usize,
        content_len: usize,
        buffer: &mut [u8],
        v1: Option<&mut Sha1Digest>,
        leaves: &mut [Sha256Digest],
    ) -> io::Result<()> {
        let mut sha1 = v1.is_some().then(Sha1::new);
        let mut begin = 0;
        while begin < hashed_len {
            let window = &mut buffer[..(hashed_len - begin).min(WINDOW_LEN)];
            self.read(piece, begin as u32, window)?;
            if let Some(sha1) = &mut sha1 {
                sha1.update(window);
            }
            let in_files = window.len().min(content_len.saturating_sub(begin));
            let first = begin / LEAF_LEN as usize;
            let n = in_files
                .div_ceil(LEAF_LEN as usize)
                .min(leaves.len().saturating_sub(first));
            if n > 0 {
                let bytes = &window[..in_files.min(n * LEAF_LEN as usize)];
                let leaves = &mut leaves[first..first + n];
                Engine::detect()
                    .digest_chunks::<Sha256>(bytes, LEAF_LEN as usize, leaves)
                    .map_err(io::Error::other)?;
            }
            begin += window.len();
        }
        if let (Some(v1), Some(sha1)) = (v1, sha1) {
            *v1 = sha1.finalize();
        }
        Ok(())
    }

    /// Closes all files.
    pub fn close(&self) {
        self.opened().clear();
    }

    fn opened(&self) -> std::sync::MutexGuard<'_, Vec<Open>> {
        // Nothing is half done while it is held.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn piece(&self, piece: u32) -> io::Result<PieceIndex> {
        let lengths = self.layout.lengths();
        lengths.piece(piece).ok_or_else(|| {
            let error = format!("piece {piece} of {}", lengths.piece_count());
            io::Error::new(io::ErrorKind::InvalidInput, error)
        })
    }

    fn extents(&self, piece: u32, begin: u32, len: usize) -> io::Result<Vec<Extent>> {
        let index = self.piece(piece)?;
        let piece_len = u64::from(self.layout.piece_len(index));
        let end = u64::from(begin) + len as u64;
        // Of version 2, peers ask for whole leaves: behind the last file there are zeros as well.
        if end > piece_len.next_multiple_of(LEAF_LEN.into()) {
            let error = format!("{len} bytes from {begin} on, of a piece of {piece_len}");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, error));
        }
        let mut extents: Vec<_> = self.layout.extents_in(index, begin, len as u32).collect();
        let behind = end - piece_len.clamp(begin.into(), end);
        if behind > 0 {
            extents.push(Extent {
                file: None,
                offset: 0,
                len_bytes: behind,
            });
        }
        Ok(extents)
    }

    /// The file, opened for what is to be done.
    fn file(&self, index: FileIndex, to_write: bool) -> io::Result<Arc<File>> {
        if to_write && self.access == Access::Serve {
            return Err(io::ErrorKind::ReadOnlyFilesystem.into());
        }
        let mut open = self.opened();
        let found = open
            .iter()
            .position(|open| open.index == index && (open.can_write || !to_write));
        if let Some(found) = found {
            // The last one is what was used last.
            let this = open.remove(found);
            let file = Arc::clone(&this.file);
            open.push(this);
            return Ok(file);
        }
        let file = if to_write {
            self.open_to_write(index.get())?
        } else {
            self.open_to_read(&self.places[index.get()].path)?
        };
        let file = Arc::new(file);
        open.retain(|open| open.index != index);
        if open.len() == MAX_OPEN {
            open.remove(0);
        }
        open.push(Open {
            index,
            can_write: to_write,
            file: Arc::clone(&file),
        });
        Ok(file)
    }

    fn open_to_read(&self, path: &Path) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(NONBLOCK);
        regular(self.dir.open_with(path, &options)?.into_std())
    }

    /// Makes the file if it is not there, and gives it its length if it is shorter.
    fn open_to_write(&self, index: usize) -> io::Result<File> {
        let place = &self.places[index];
        let PlaceKind::File {
            len_bytes,
            is_executable,
        } = place.kind
        else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        self.make_parents(&place.path)?;
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true);
        options.custom_flags(NONBLOCK);
        // The process's mask takes away what the user does not give.
        options.mode(if is_executable { 0o777 } else { 0o666 });
        let file = regular(self.dir.open_with(&place.path, &options)?.into_std())?;
        let metadata = Metadata::from_file(&file)?;
        self.own(index, (metadata.dev(), metadata.ino()))?;
        if metadata.len() < len_bytes {
            file.set_len(len_bytes)?;
        }
        Ok(file)
    }

    /// Takes a file of the file system for one of the torrent's, and for no other one.
    fn own(&self, index: usize, id: (u64, u64)) -> io::Result<()> {
        if matches!(
            self.places[index].kind,
            PlaceKind::File { len_bytes: 0, .. }
        ) {
            return Ok(());
        }
        let mut owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
        let owner = *owners.entry(id).or_insert(index);
        if owner == index {
            return Ok(());
        }
        // Where a file is gone, its number can be that of another one.
        let other = &self.places[owner].path;
        let is_still = |metadata: Metadata| (metadata.dev(), metadata.ino()) == id;
        if !self.dir.metadata(other).is_ok_and(is_still) {
            owners.insert(id, index);
            return Ok(());
        }
        let error = format!(
            "is the same file as {}: this file system does not tell their names apart, or they are linked",
            self.folder.join(other).display()
        );
        Err(io::Error::new(io::ErrorKind::AlreadyExists, error))
    }

    fn make_parents(&self, path: &Path) -> io::Result<()> {
        match path.parent() {
            Some(parent) if parent != Path::new("") => self.dir.create_dir_all(parent),
            _ => Ok(()),
        }
    }

    /// Keeps what went wrong.
    fn note<T>(&self, index: FileIndex, result: io::Result<T>) -> io::Result<T> {
        result.map_err(|error| {
            let failure = self.error(&self.places[index.get()].path, error);
            let again = match failure.error.raw_os_error() {
                Some(code) => io::Error::from_raw_os_error(code),
                None => io::Error::new(failure.error.kind(), Arc::clone(&failure.error)),
            };
            *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(failure);
            again
        })
    }

    fn error(&self, path: &Path, error: io::Error) -> StorageError {
        // cap-std's own, of which the system knows nothing.
        let leads_out =
            error.kind() == io::ErrorKind::PermissionDenied && error.raw_os_error().is_none();
        let error = if leads_out {
            let text = "a symbolic link leads out of the folder, and is not followed";
            io::Error::new(error.kind(), text)
        } else {
            error
        };
        StorageError {
            path: self.folder.join(path),
            error: Arc::new(error),
        }
    }
}

/// Nothing but regular files is read and written.
fn regular(file: File) -> io::Result<File> {
    if file.metadata()?.is_file() {
        return Ok(file);
    }
    let error = "not a regular file";
    Err(io::Error::new(io::ErrorKind::InvalidInput, error))
}
