//! The content of a torrent as parts of pieces, which is the protocol's view.
//!
//! This is the only code that writes content. Bytes in a file after the end of the torrent's content are not changed. A
//! storage that is only served never writes, creates or extends a file.

use std::cell::RefCell;
use std::io;
use std::path::Path;

use hashlane_files::{FileStatus, SourceFile, Writers};
use hashlane_metainfo::merkle::LEAF_LEN;
use hashlane_metainfo::{PieceIndex, Torrent};
use hashlane_sha::{Engine, Sha1, Sha1Digest, Sha256, Sha256Digest};
use hashlane_verify::{CancelToken, Content, Extent, FileIndex, HashVersions, Layout, files_of};

use crate::files::{Access, StorageError, TorrentFiles};
use crate::guard::{IfDifferent, Replaced};
use crate::watch::Stamps;

/// Number of bytes to read at a time for hashing. They fit into the second-level cache, and contain a leaf for each
/// lane.
const WINDOW_LEN: usize = 16 * LEAF_LEN as usize;

thread_local! {
    /// The bytes that a disk thread hashes.
    static WINDOW: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// The content of one torrent.
#[derive(Debug)]
pub struct Storage {
    torrent: Torrent,
    layout: Layout,
    files: TorrentFiles,
}

impl Storage {
    /// Returns the storage of a content below `folder`, which may be a symbolic link or absent.
    ///
    /// # Errors
    /// Fails if the folder cannot be opened, or the content is not below it.
    pub fn new(content: &Content, folder: &Path, access: Access) -> Result<Self, StorageError> {
        let torrent = content.torrent();
        // Peers request whole pieces in version 2 too: bytes between files are zeros.
        let versions = HashVersions {
            v1: true,
            ..HashVersions::of(torrent.version())
        };
        Ok(Self {
            torrent: torrent.clone(),
            layout: Layout::new(torrent, versions),
            files: TorrentFiles::new(content, folder, access)?,
        })
    }

    /// Returns the last failure, once.
    pub fn take_failure(&self) -> Option<StorageError> {
        self.files.take_failure()
    }

    /// Returns the last file for which the process had no descriptor, once. The session repeats the operation until it
    /// succeeds.
    pub fn take_shortage(&self) -> Option<StorageError> {
        self.files.take_shortage()
    }

    /// Creates the wanted files, or all files if `wanted` is empty. `wanted` has an entry for each file except padding. The
    /// folder and the folders above it are created if they are absent.
    ///
    /// An absent file becomes a hole of its length, executable if the torrent says so (BEP 47), and is marked as a file of
    /// this download. A shorter file is extended by a hole; see [`Self::permit`]. Symbolic links are created. Other
    /// existing entries are not changed. Guarded files are left out.
    ///
    /// # Errors
    /// Fails if the folder cannot be created. Returns the first file that cannot be created, is not a regular file, or is the
    /// same file as another file of the torrent. On a file system that ignores case, two such files would overwrite each other.
    pub fn prepare(&self, wanted: &[bool]) -> Result<(), StorageError> {
        self.files.prepare(wanted)
    }

    /// Permits writing to the files that have bytes in pieces for which `is_writable` returns `true`, except guarded files
    /// and those that appeared or changed since `stamps`. The storage writes to no other file that it did not create.
    pub fn permit(&self, stamps: &Stamps, is_writable: impl Fn(u32) -> bool) {
        for (index, _) in files_of(&self.torrent) {
            if self.layout.pieces_of(index).any(&is_writable) {
                self.files.permit(index, stamps);
            }
        }
    }

    /// Permits writing to a file, unless it is guarded or has changed since `stamps`.
    pub fn permit_file(&self, file: FileIndex, stamps: &Stamps) {
        self.files.permit(file, stamps);
    }

    /// Replaces a file that has several names (hard links) by a copy before it is written to, or refuses to write to it, which
    /// is the default. A write would change the file under all of its names.
    pub fn set_copies_linked(&self, copies: bool) {
        self.files.set_copies_linked(copies);
    }

    /// Creates an absent file with the bytes of another file, which are shared if the file system can. The storage may write
    /// to it.
    ///
    /// # Errors
    /// `AlreadyExists` if the file exists; `Interrupted` after `cancel`; otherwise the system's error. The file does
    /// not exist then.
    pub fn create_copy(
        &self,
        file: FileIndex,
        from: &SourceFile,
        cancel: &CancelToken,
    ) -> Result<(), StorageError> {
        self.files.create_copy(file, from, cancel)
    }

    /// Returns `true` if files that have several names are copied before they are written to.
    pub fn copies_linked(&self) -> bool {
        self.files.copies_linked()
    }

    /// Guards a file that may belong to the user. Until each of these pieces has arrived and was right, its bytes of the
    /// file are staged elsewhere. Then the file stays as it is if its bytes are equal. `if_different`
    /// says what happens if they differ.
    pub fn guard(&self, file: FileIndex, pieces: &[u32], if_different: IfDifferent) {
        let parts = pieces
            .iter()
            .filter_map(|piece| self.part_of(file, *piece))
            .map(|part| (part.offset, part.len_bytes));
        self.files.guard(file, parts, if_different);
    }

    /// Returns `true` if the file is guarded.
    pub fn is_guarded(&self, file: FileIndex) -> bool {
        self.files.is_guarded(file)
    }

    /// Returns the guarded files that were renamed and replaced since the last call.
    pub fn take_replaced(&self) -> Vec<Replaced> {
        self.files.take_replaced()
    }

    /// Drops the staged bytes of guarded files.
    pub fn discard_staged(&self) {
        self.files.discard_staged();
    }

    /// Returns the bytes that a file has in a piece.
    pub fn part_of(&self, file: FileIndex, piece: u32) -> Option<Extent> {
        let mut extents = self.layout.extents(self.piece(piece).ok()?);
        extents.find(|extent| extent.file == Some(file))
    }

    /// Returns `true` if several files have bytes in a piece.
    pub fn is_shared(&self, piece: u32) -> bool {
        let Ok(piece) = self.piece(piece) else {
            return false;
        };
        let extents = self.layout.extents(piece);
        extents.filter(|extent| extent.file.is_some()).count() > 1
    }

    /// Returns `true` if this process created the file or may write to it; see [`Self::permit`].
    pub fn is_permitted(&self, file: FileIndex) -> bool {
        self.files.is_permitted(file)
    }

    /// Returns `true` if a file has its full length and the mark of an incomplete download of this torrent.
    pub fn is_marked(&self, file: FileIndex) -> bool {
        self.files.is_marked(file)
    }

    /// Marks a file as one that this torrent downloads, where the file system supports this.
    pub fn mark(&self, file: FileIndex) {
        self.files.mark(file);
    }

    /// Removes the mark of a file that is complete. Returns `true` if the file had one.
    pub fn unmark(&self, file: FileIndex) -> bool {
        self.files.unmark(file)
    }

    /// Removes the marks of the files of a piece that are complete. `have` has an entry for each piece.
    pub fn unmark_complete(&self, piece: u32, have: &[bool]) {
        let Ok(index) = self.piece(piece) else {
            return;
        };
        let has = |piece: u32| have.get(piece as usize).copied().unwrap_or_default();
        for extent in self.layout.extents(index) {
            // Most downloads lack the last pieces for the longest time.
            if let Some(file) = extent.file
                && self.layout.pieces_of(file).rev().all(has)
            {
                self.files.unmark(file);
            }
        }
    }

    /// Returns `true` if the bytes of a file in `extent` are not one repeated byte.
    pub fn is_varied(&self, extent: &Extent) -> bool {
        let Some(file) = extent.file else {
            return false;
        };
        let mut first = [0];
        let is_read = self.files.read(file, &mut first, extent.offset).is_ok();
        let end = extent.offset + extent.len_bytes;
        is_read && self.files.differs_from(file, extent.offset, end, first[0])
    }

    /// Opens each present file with content once. This finds unreadable files, and files behind a symbolic link out of
    /// the folder, before a peer requests them.
    ///
    /// # Errors
    /// Returns the first file that exists and cannot be opened.
    pub fn probe(&self) -> Result<(), StorageError> {
        self.files.probe()
    }

    /// Refuses content that a symbolic link out of the folder leads to. The storage itself follows no such link. A
    /// verification does, because it opens files by their paths.
    ///
    /// # Errors
    /// Returns the first file with content outside the folder.
    pub fn refuse_links_out(&self) -> Result<(), StorageError> {
        self.files.refuse_links_out()
    }

    /// Fills `buffer` with the bytes of a piece from `begin` on. Padding reads as zeros, and so does the
    /// last piece between its end and the nominal length of a piece.
    ///
    /// # Errors
    /// Fails if the range exceeds the nominal length of a piece, or a file cannot be read or is shorter.
    pub fn read(&self, piece: u32, begin: u32, buffer: &mut [u8]) -> io::Result<()> {
        let mut rest = buffer;
        for extent in self.extents(piece, begin, rest.len())? {
            let (part, after) = rest.split_at_mut(extent.len_bytes as usize);
            rest = after;
            match extent.file {
                None => part.fill(0),
                Some(index) => self.files.read(index, part, extent.offset)?,
            }
        }
        Ok(())
    }

    /// Writes bytes of a piece from `begin` on. The kernel has the bytes when this function returns. A file that is too
    /// short is first extended with a hole. Padding is dropped, and so are bytes between the end of the last piece and
    /// the nominal length of a piece.
    ///
    /// # Errors
    /// Fails if the range exceeds the nominal length of a piece, the storage is only served, or the system reports an
    /// error.
    pub fn write(&self, piece: u32, begin: u32, bytes: &[u8]) -> io::Result<()> {
        let mut rest = bytes;
        for extent in self.extents(piece, begin, rest.len())? {
            let (part, after) = rest.split_at(extent.len_bytes as usize);
            rest = after;
            if let Some(index) = extent.file {
                self.files.write(index, part, extent.offset)?;
            }
        }
        Ok(())
    }

    /// Returns `true` if a byte of the piece on the disk is not zero or cannot be read, so that replacing the piece can lose
    /// data.
    pub fn holds_data(&self, piece: u32) -> bool {
        let Ok(index) = self.piece(piece) else {
            return false;
        };
        self.layout.extents(index).any(|extent| {
            let end = extent.offset + extent.len_bytes;
            let file = extent.file;
            file.is_some_and(|file| self.file_holds_data(file, extent.offset, end))
        })
    }

    /// Returns `true` if a byte of the file in `offset..end` is not zero or cannot be read.
    pub(crate) fn file_holds_data(&self, file: FileIndex, offset: u64, end: u64) -> bool {
        self.files.differs_from(file, offset, end, 0)
    }

    /// Returns the extents of each block of a piece.
    pub(crate) fn blocks(
        &self,
        piece: u32,
        block_len: u32,
    ) -> io::Result<impl Iterator<Item = Vec<Extent>>> {
        let index = self.piece(piece)?;
        let len = self.layout.piece_len(index);
        let begins = (0..len).step_by(block_len as usize);
        Ok(begins.map(move |begin| {
            let len = block_len.min(len - begin);
            self.layout.extents_in(index, begin, len).collect()
        }))
    }

    /// Hashes a piece on the disk. If `v1` is given, it receives the SHA-1 digest including padding. `leaves` receives
    /// as many leaves of the piece's file (BEP 52) as it has room for. If the SHA-1 digest is right, guarded files of the
    /// piece are compared with their staged bytes. (Only in version 1, files share pieces.)
    ///
    /// # Errors
    /// As for [`Self::read`]. Fails if a guarded file differs and may not be replaced.
    pub fn hash(
        &self,
        piece: u32,
        mut v1: Option<&mut Sha1Digest>,
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
            let v1 = v1.as_deref_mut();
            self.hash_by_windows(piece, hashed_len, content_len, buffer, v1, leaves)
        })?;
        let expected = self.torrent.piece_hashes();
        let expected = expected.map(|hashes| Sha1Digest::from(hashes[piece as usize]));
        if v1.is_some() && v1.as_deref() == expected.as_ref() {
            for extent in self.layout.extents(index) {
                if let Some(file) = extent.file {
                    self.files.settle(file, extent.offset)?;
                }
            }
        }
        Ok(())
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
                Engine::detect().digest_chunks::<Sha256>(bytes, LEAF_LEN as usize, leaves);
            }
            begin += window.len();
        }
        if let (Some(v1), Some(sha1)) = (v1, sha1) {
            *v1 = sha1.finalize();
        }
        Ok(())
    }

    /// Waits until all present files, and the folders with their names, are on the disk, or until `cancel` is set. Drops
    /// the files from the page cache where the system offers this.
    ///
    /// # Errors
    /// Returns the first file that the system could not write.
    pub fn sync(&self, cancel: &CancelToken) -> Result<(), StorageError> {
        self.files.sync(cancel)
    }

    /// Returns the state of all files. A caller takes the state before a verification, and passes it to [`Self::watch`]
    /// afterwards.
    pub fn stamps(&self) -> Stamps {
        self.files.stamps()
    }

    /// Finds out whether programs have the files open for writing. Returns an entry for each file of the torrent.
    pub fn writers(&self) -> Vec<Writers> {
        self.files.writers()
    }

    /// Compares the file of each read with these stamps from now on. A file that changed, or cannot be read, becomes a
    /// suspect: nothing is read from it until the next call of this function.
    pub fn watch(&self, stamps: Stamps) {
        self.files.start_watch(stamps);
    }

    /// Returns `true` if a peer requested a file that changed or cannot be read.
    pub fn has_suspects(&self) -> bool {
        self.files.watch().has_suspects()
    }

    /// Returns `true` if a file changed, or a suspect exists, since [`Self::watch`].
    pub fn has_changed(&self, now: &Stamps) -> bool {
        self.has_suspects() || self.files.watch().differs_from(now)
    }

    /// Ends all writing: waits for the operations that create files or write to them, and refuses further ones.
    pub fn end(&self) {
        self.files.end();
    }

    /// Returns the folder that contains all files, except those that lie elsewhere.
    pub fn folder(&self) -> &Path {
        self.files.folder()
    }

    /// Returns `true` if a content map has the file: the file lies anywhere and is only read.
    pub fn is_elsewhere(&self, file: FileIndex) -> bool {
        self.files.is_elsewhere(file)
    }

    /// Returns the path of a file below [`Self::folder`], or its absolute path if the file lies elsewhere.
    pub fn path_of(&self, file: FileIndex) -> &Path {
        self.files.path_of(file)
    }

    /// Returns the path that a file leads to, if it is a symbolic link of the torrent (BEP 47).
    pub fn link_target(&self, file: FileIndex) -> Option<&Path> {
        self.files.link_target(file)
    }

    /// Returns the state of a file, with symbolic links followed.
    ///
    /// # Errors
    /// The system's error, for example if the file is absent or a symbolic link leads out of the folder.
    pub fn status(&self, file: FileIndex) -> io::Result<FileStatus> {
        self.files.status(file)
    }

    /// Returns `true` if a file with this state is known to have changed since [`Self::watch`].
    pub fn has_file_changed(&self, file: FileIndex, now: &FileStatus) -> bool {
        // Empty files are not watched.
        now.len_bytes > 0 && self.files.watch().file_differs_from(file.get(), &now.stamp)
    }

    /// Closes all files.
    pub fn close(&self) {
        self.files.close();
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
        // libtorrent pads the last piece of version 2 to the nominal length, so that a peer can request
        // or send any block of it.
        let max_len = u64::from(self.layout.lengths().piece_length().get());
        if end > max_len {
            let error = format!("{len} bytes from {begin} on, of a piece of {max_len}");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, error));
        }
        let mut extents: Vec<_> = self.layout.extents_in(index, begin, len as u32).collect();
        let n_after = end - piece_len.clamp(begin.into(), end);
        if n_after > 0 {
            extents.push(Extent {
                file: None,
                offset: 0,
                len_bytes: n_after,
            });
        }
        Ok(extents)
    }
}
