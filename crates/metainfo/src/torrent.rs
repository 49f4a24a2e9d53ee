//! A whole .torrent file.

use std::fmt;
use std::sync::Arc;

use crate::bencode::Value;
use crate::parsed::Parsed;
use crate::{Error, File, Files, InfoHashes, Lengths, Metadata, PathComponent, Version};

/// A parsed and checked .torrent file, together with its bytes.
///
/// A clone shares the bytes and everything parsed from them with the original, so a torrent is
/// parsed once and can then be passed to other threads.
///
/// Parsing allocates at most 16 times the size of the file: for what is kept of each file of the
/// torrent, and to compare their paths. Everything else stays in the bytes.
#[derive(Clone)]
pub struct Torrent {
    inner: Arc<cell::BytesAndParsed>,
}

#[expect(
    clippy::disallowed_methods,
    reason = "self_cell's own code transmutes the lifetime of what borrows"
)]
mod cell {
    use crate::parsed::Parsed;

    self_cell::self_cell!(
        /// The bytes of a .torrent file, and what borrows from them.
        pub(super) struct BytesAndParsed {
            owner: Vec<u8>,
            #[covariant]
            dependent: Parsed,
        }
    );
}

impl Torrent {
    /// Parses a .torrent file (BEP 3, BEP 47 and BEP 52). A `Vec` is kept as it is; a slice is
    /// copied.
    ///
    /// `name.utf-8` and `path.utf-8` replace `name` and `path` if they are present.
    /// Bytes after the end of the dictionary are ignored: they are part of no hash.
    ///
    /// # Errors
    ///
    /// An [`Error`] that says at which byte and why the file is refused. A file that two readers
    /// could understand differently is refused, and so is one that cannot be verified. Keys
    /// outside of the info dictionary are not checked, except for hashes: see
    /// [`Self::metadata`].
    pub fn parse(metainfo: impl Into<Vec<u8>>) -> Result<Self, Error> {
        let inner = cell::BytesAndParsed::try_new(metainfo.into(), |bytes| Parsed::read(bytes))?;
        Ok(Self {
            inner: Arc::new(inner),
        })
    }

    /// Returns the whole .torrent file, including [`Self::trailing_bytes`].
    pub fn bytes(&self) -> &[u8] {
        self.inner.borrow_owner()
    }

    fn parsed(&self) -> &Parsed<'_> {
        self.inner.borrow_dependent()
    }

    /// Which versions of the protocol the torrent can be used with.
    pub fn version(&self) -> Version {
        match self.parsed().info_hashes {
            InfoHashes::V1(_) => Version::V1,
            InfoHashes::V2(_) => Version::V2,
            InfoHashes::Hybrid(..) => Version::Hybrid,
        }
    }

    /// The name of the file of a single-file torrent, or of the folder of a multi-file torrent.
    /// One that is no name, such as `..`, is replaced by the info-hash, as by libtorrent.
    pub fn name(&self) -> PathComponent<'_> {
        match self
            .parsed()
            .files
            .get(0)
            .filter(|_| self.parsed().is_single_file)
        {
            Some(file) => file.path().file_name(),
            None => PathComponent::from_checked(&self.parsed().name),
        }
    }

    /// The folder that the file of a single-file torrent can be in as well.
    ///
    /// In version 2 nothing tells a file from a folder with one file. By libtorrent's reading, and
    /// this one, it is a file, and the torrent's name means nothing; but if that is another name than
    /// the file's, whoever made the torrent may have had a folder of that name.
    pub fn possible_folder(&self) -> Option<PathComponent<'_>> {
        let folder = PathComponent::from_checked(&self.parsed().name);
        let is_v2_only = self.version() == Version::V2;
        (is_v2_only && self.parsed().is_single_file && folder != self.name()).then_some(folder)
    }

    /// Whether the content is one file named [`name`](Self::name), instead of a folder of that
    /// name with files. A folder may have one file only, too.
    pub fn is_single_file(&self) -> bool {
        self.parsed().is_single_file
    }

    /// The files in the order of the content. At least one regular file is not empty. No regular
    /// file or symbolic link has the path of another one, or is inside of one.
    pub fn files(&self) -> &Files<'_> {
        &self.parsed().files
    }

    /// The file of this position.
    ///
    /// # Panics
    /// If there are not so many.
    pub fn file(&self, index: usize) -> File<'_> {
        self.parsed()
            .files
            .get(index)
            .expect("the file is of this torrent")
    }

    /// The total length of the files, with padding, and the piece length.
    ///
    /// Version 2 has no padding in the torrent, but each file starts at a piece, so that there is
    /// as much between files.
    pub fn lengths(&self) -> Lengths {
        self.parsed().lengths
    }

    /// The length of all files in bytes, padding left out.
    pub fn content_length(&self) -> u64 {
        let files = self.parsed().files.entries().iter();
        files
            .filter(|file| file.has_content())
            .map(|file| file.length)
            .sum()
    }

    /// The SHA-1 digest of each piece, where there is version 1.
    pub fn piece_hashes(&self) -> Option<&[[u8; 20]]> {
        self.parsed().piece_hashes
    }

    /// The torrent's identity.
    pub fn info_hashes(&self) -> InfoHashes {
        self.parsed().info_hashes
    }

    /// The info dictionary as it stands in the file, which is what the info-hash is taken of.
    pub fn info_bytes(&self) -> &[u8] {
        self.parsed().info.encoded()
    }

    pub(crate) fn info_value(&self) -> Value<'_> {
        self.parsed().info
    }

    pub(crate) fn metainfo_value(&self) -> Value<'_> {
        self.parsed().metainfo
    }

    /// What follows the dictionary that is the torrent. It means nothing.
    pub fn trailing_bytes(&self) -> &[u8] {
        self.parsed().trailing_bytes
    }

    /// Where the first key of the info dictionary starts that is not sorted, in bytes. It makes no
    /// difference but for programs that write the dictionary anew, and so change the info-hash.
    pub fn unsorted_key(&self) -> Option<usize> {
        self.parsed().info.unsorted_key()
    }

    /// What the torrent says besides its content: trackers, comment and the like.
    pub fn metadata(&self) -> Metadata {
        Metadata::read(self.metainfo_value(), self.info_value())
    }
}

impl fmt::Debug for Torrent {
    /// Leaves out what can be very long.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Torrent")
            .field("name", &self.name())
            .field("info_hashes", &self.parsed().info_hashes)
            .field("is_single_file", &self.parsed().is_single_file)
            .field("lengths", &self.parsed().lengths)
            .finish_non_exhaustive()
    }
}
