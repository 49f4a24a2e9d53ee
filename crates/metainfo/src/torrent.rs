//! A whole .torrent file.

use std::fmt;
use std::io::{self, Read};
use std::sync::Arc;

use crate::bencode::Value;
use crate::error::START_LEN;
use crate::metadata::other_keys;
use crate::parsed::Parsed;
use crate::{
    Error, File, Files, ForeignPaths, InfoHashV1, InfoHashes, Lengths, Metadata, MetadataRef,
    Naming, OtherKey, PathComponent, Version,
};

/// A parsed and checked .torrent file, together with its bytes.
///
/// A clone shares the bytes and everything parsed from them with the original, so a torrent is
/// parsed once and can then be passed to other threads.
///
/// Parsing allocates at most 16 times the size of the file: to store properties of the torrent's files, and to compare
/// their paths. Everything else is borrowed from the bytes.
#[derive(Clone)]
pub struct Torrent {
    inner: Arc<cell::BytesAndParsed>,
}

/// The reason why no torrent could be read from a reader.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The reader failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file is longer than the limit of the caller.
    #[error("the .torrent file has more than {max_len} bytes")]
    TooLong {
        /// The limit in bytes.
        max_len: u64,
    },
    /// The bytes are no valid .torrent file.
    #[error(transparent)]
    Invalid(#[from] Error),
}

#[expect(
    clippy::disallowed_methods,
    reason = "self_cell's own code transmutes the lifetime of what borrows"
)]
mod cell {
    use crate::parsed::Parsed;

    self_cell::self_cell!(
        /// The bytes of a .torrent file, and the values that borrow from them.
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
    /// Returns an [`Error`] with the byte offset and the reason. Files that two programs could read differently are
    /// refused, and so are files that cannot be verified. Outside the info dictionary, only the hashes are checked: see
    /// [`Self::metadata`].
    pub fn parse(metainfo: impl Into<Vec<u8>>) -> Result<Self, Error> {
        let metainfo = metainfo.into();
        if metainfo.first() != Some(&b'd') {
            let start = metainfo[..metainfo.len().min(START_LEN)].to_vec();
            return Err(Error::NotATorrent { start });
        }
        let inner = cell::BytesAndParsed::try_new(metainfo, |bytes| Parsed::read(bytes))?;
        Ok(Self {
            inner: Arc::new(inner),
        })
    }

    /// Reads a .torrent file of at most `max_len` bytes from its start to its end, and parses it. Without a limit, a
    /// device or a pipe could fill the memory; libtorrent's limit is 10 MB.
    ///
    /// ```no_run
    /// use hashlane_metainfo::Torrent;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let torrent = Torrent::from_reader(std::fs::File::open("linux.torrent")?, 10 << 20)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns a [`ReadError`] if the file cannot be read, is too long, or is refused by [`Self::parse`].
    pub fn from_reader(reader: impl Read, max_len: u64) -> Result<Self, ReadError> {
        let mut metainfo = Vec::new();
        let limit = max_len.saturating_add(1);
        reader.take(limit).read_to_end(&mut metainfo)?;
        if metainfo.len() as u64 > max_len {
            return Err(ReadError::TooLong { max_len });
        }
        Ok(Self::parse(metainfo)?)
    }

    /// Returns the whole .torrent file, including [`Self::trailing_bytes`].
    pub fn bytes(&self) -> &[u8] {
        self.inner.borrow_owner()
    }

    fn parsed(&self) -> &Parsed<'_> {
        self.inner.borrow_dependent()
    }

    /// Returns the protocol versions of the torrent.
    pub fn version(&self) -> Version {
        match self.parsed().info_hashes {
            InfoHashes::V1(_) => Version::V1,
            InfoHashes::V2(_) => Version::V2,
            InfoHashes::Hybrid(..) => Version::Hybrid,
        }
    }

    /// Returns the name of the file of a single-file torrent, or of the folder of a multi-file
    /// torrent. A name that cannot be used, such as `..`, is replaced by the info-hash, as in
    /// libtorrent.
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

    /// Returns the folder that may also hold the file of a single-file torrent.
    ///
    /// Version 2 does not distinguish a file from a folder with one file. Hashlane and libtorrent
    /// assume a file and ignore the torrent's name. If that name differs from the file's name, the
    /// creator of the torrent may have had a folder of that name.
    pub fn possible_folder(&self) -> Option<PathComponent<'_>> {
        let folder = PathComponent::from_checked(&self.parsed().name);
        let is_v2_only = self.version() == Version::V2;
        (is_v2_only && self.parsed().is_single_file && folder != self.name()).then_some(folder)
    }

    /// Returns `true` if the content is one file called [`name`](Self::name), and `false` if it is
    /// a folder of that name. A folder may also hold just one file.
    pub fn is_single_file(&self) -> bool {
        self.parsed().is_single_file
    }

    /// Returns the files in the order of the content. At least one regular file is not empty. No regular file or
    /// symbolic link has the same path as another one, or is below another one.
    pub fn files(&self) -> &Files<'_> {
        &self.parsed().files
    }

    /// Returns the file at this position, counted from zero.
    ///
    /// # Panics
    /// Panics if there are not that many files.
    pub fn file(&self, index: usize) -> File<'_> {
        self.parsed()
            .files
            .get(index)
            .expect("the file is of this torrent")
    }

    /// Returns the paths under which another program writes the content.
    pub fn foreign_paths(&self, naming: Naming) -> ForeignPaths {
        let unusable_name = || InfoHashV1::of(self.info_bytes()).to_string().into_bytes();
        let name = self.name().as_bytes();
        ForeignPaths::new(
            naming,
            name,
            unusable_name,
            self.is_single_file(),
            self.files(),
        )
    }

    /// Returns the total length of the files, including padding, and the piece length.
    ///
    /// A version 2 torrent lists no padding. Its files still start at piece boundaries, so the
    /// total length includes the gaps between files.
    pub fn lengths(&self) -> Lengths {
        self.parsed().lengths
    }

    /// Returns the length of all files in bytes, without padding.
    pub fn content_length(&self) -> u64 {
        let files = self.parsed().files.entries().iter();
        files
            .filter(|file| file.has_content())
            .map(|file| file.length)
            .sum()
    }

    /// Returns the SHA-1 digest of each piece if the torrent has version 1.
    pub fn piece_hashes(&self) -> Option<&[[u8; 20]]> {
        self.parsed().piece_hashes
    }

    /// Returns the info-hashes, which identify the torrent.
    pub fn info_hashes(&self) -> InfoHashes {
        self.parsed().info_hashes
    }

    /// Returns the bytes of the info dictionary, which the info-hash covers.
    pub fn info_bytes(&self) -> &[u8] {
        self.parsed().info.encoded()
    }

    pub(crate) fn info_value(&self) -> Value<'_> {
        self.parsed().info
    }

    pub(crate) fn metainfo_value(&self) -> Value<'_> {
        self.parsed().metainfo
    }

    /// Returns the bytes after the dictionary. They have no meaning.
    pub fn trailing_bytes(&self) -> &[u8] {
        self.parsed().trailing_bytes
    }

    /// Returns the byte offset of the first unsorted key of the info dictionary. The order only
    /// matters to programs that rewrite the dictionary, because that changes the info-hash.
    pub fn unsorted_key(&self) -> Option<usize> {
        self.parsed().info.unsorted_key()
    }

    /// Returns the keys that do not describe the content: trackers, comment and others. The copy can
    /// take 50 times the size of the file: use [`Self::metadata_ref`] for a torrent that is not
    /// trusted.
    pub fn metadata(&self) -> Metadata {
        self.metadata_ref().into()
    }

    /// Returns the keys that do not describe the content, without a copy of them.
    pub fn metadata_ref(&self) -> MetadataRef<'_> {
        MetadataRef::read(self.metainfo_value(), self.info_value())
    }

    /// Returns the keys that nothing in this crate reads, first those outside the info dictionary.
    pub fn other_keys(&self) -> impl Iterator<Item = OtherKey<'_>> + Clone {
        other_keys(self.metainfo_value(), self.info_value())
    }
}

impl fmt::Debug for Torrent {
    /// Omits fields that can be very long.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Torrent")
            .field("name", &self.name())
            .field("info_hashes", &self.parsed().info_hashes)
            .field("is_single_file", &self.parsed().is_single_file)
            .field("lengths", &self.parsed().lengths)
            .finish_non_exhaustive()
    }
}
