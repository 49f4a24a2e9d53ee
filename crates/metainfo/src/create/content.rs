//! The checked files of a new torrent, their offsets, and the length of its pieces.

use std::num::NonZeroU32;

use super::error::{CreateError, MAX_NEW_PATH_DEPTH};
use crate::files::PADDING_PREFIX;
use crate::merkle::LEAF_LEN;
use crate::{Attributes, Lengths, LengthsError, PathComponent, Version};

/// Minimum piece length of new torrents. Smaller pieces would make very large torrents.
pub const MIN_PIECE_LENGTH: u32 = 1 << 10;

/// Maximum piece length of new torrents: 256 MiB, the largest power of two that libtorrent 2.1.1
/// loads.
pub const MAX_PIECE_LENGTH: u32 = 1 << 28;

/// The choice of a piece length by the length of the content.
///
/// Larger pieces make smaller torrents. Smaller pieces are available and replaced sooner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PieceLengthGoal {
    /// Maximum number of pieces to aim for.
    pub pieces: NonZeroU32,
    /// Maximum piece length in bytes, which takes precedence over the number of pieces.
    pub max: u32,
}

impl Default for PieceLengthGoal {
    /// Aims for at most 2048 pieces of at most 16 MiB. Some programs do not support larger pieces.
    fn default() -> Self {
        Self {
            pieces: const { NonZeroU32::new(2048).expect("it is not zero") },
            max: 16 << 20,
        }
    }
}

impl PieceLengthGoal {
    /// Sets the maximum number of pieces to aim for.
    #[must_use]
    pub fn pieces(mut self, pieces: NonZeroU32) -> Self {
        self.pieces = pieces;
        self
    }

    /// Sets the maximum piece length in bytes.
    #[must_use]
    pub fn max(mut self, max: u32) -> Self {
        self.max = max;
        self
    }

    /// Returns the smallest power of two from 16 KiB to the maximum that results in at most this many pieces, or the
    /// maximum if none does.
    pub fn piece_length(self, content_length: u64) -> u32 {
        let length = content_length.div_ceil(self.pieces.get().into()).max(1);
        let length = length.checked_next_power_of_two().unwrap_or(u64::MAX);
        length.max(LEAF_LEN.into()).min(self.max.into()) as u32
    }
}

/// A file of a new torrent.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NewFile {
    /// Names of the folders around the file, and the file's own name.
    pub path: Vec<Vec<u8>>,
    /// Length in bytes, 0 for a link.
    pub length: u64,
    /// Attributes (BEP 47).
    pub attributes: Attributes,
    /// Target of a symbolic link (BEP 47), relative to the content root.
    pub target: Option<Vec<Vec<u8>>>,
}

impl NewFile {
    /// Returns a regular file without attributes. [`NewContent::new`] checks the path.
    pub fn new(path: Vec<Vec<u8>>, length: u64) -> Self {
        Self {
            path,
            length,
            attributes: Attributes::default(),
            target: None,
        }
    }

    /// Returns a symbolic link. [`NewContent::new`] checks both paths.
    pub fn link(path: Vec<Vec<u8>>, target: Vec<Vec<u8>>) -> Self {
        Self {
            target: Some(target),
            ..Self::new(path, 0)
        }
    }

    /// Sets the attributes.
    #[must_use]
    pub fn attributes(mut self, attributes: Attributes) -> Self {
        self.attributes = attributes;
        self
    }
}

/// The content of a new torrent: its files, and their division into pieces.
#[derive(Clone, Debug)]
pub struct NewContent {
    pub(super) version: Version,
    pub(super) name: Vec<u8>,
    pub(super) is_single_file: bool,
    /// Whether padding follows the files (BEP 47).
    pub(super) is_padded: bool,
    pub(super) files: Vec<NewFile>,
    pub(super) offsets: Vec<u64>,
    pub(super) lengths: Lengths,
}

impl NewContent {
    /// Checks the content of a new torrent: one file called `name`, or a folder of that name with
    /// these files. For version 2 and hybrids, the files must be sorted by the names in their paths,
    /// compared as raw bytes, because file trees have this order (BEP 52). The same order for version
    /// 1 lets creators arrive at the same info-hash.
    ///
    /// # Errors
    /// Returns a [`CreateError`] if there is no content, or if other programs would refuse the
    /// torrent.
    ///
    /// # Panics
    /// Panics if `is_single_file` is set and the number of files is not one.
    pub fn new(
        version: Version,
        piece_length: u32,
        name: Vec<u8>,
        is_single_file: bool,
        files: Vec<NewFile>,
    ) -> Result<Self, CreateError> {
        assert!(!is_single_file || files.len() == 1, "a file is one file");
        let min = if version.has_v2() {
            LEAF_LEN
        } else {
            MIN_PIECE_LENGTH
        };
        let max = MAX_PIECE_LENGTH;
        if !piece_length.is_power_of_two() || !(min..=max).contains(&piece_length) {
            return Err(CreateError::PieceLength {
                piece_length,
                min,
                max,
            });
        }
        check_names(&name, &files)?;
        check_order(version, &files)?;
        let is_padding = |file: &&NewFile| {
            let name = file.path.last();
            file.target.is_none() && name.is_some_and(|name| name.starts_with(PADDING_PREFIX))
        };
        if let Some(file) = files.iter().find(is_padding).filter(|_| version.has_v1()) {
            let path = file.path.clone();
            return Err(CreateError::PaddingName { path });
        }
        let is_aligned = version.has_v2();
        let align = |at: u64| {
            let next = at.checked_next_multiple_of(piece_length.into());
            next.ok_or(LengthsError::TotalLength)
        };
        let mut end = 0_u64;
        let mut offsets = Vec::with_capacity(files.len());
        for file in &files {
            if is_aligned && file.length > 0 {
                end = align(end)?;
            }
            offsets.push(end);
            end = end
                .checked_add(file.length)
                .ok_or(LengthsError::TotalLength)?;
        }
        // Padding follows every file including the last one, except that a single file has none. libtorrent and the
        // reference implementation of BEP 52 do the same.
        let is_padded = version == Version::Hybrid && files.len() > 1;
        if is_padded {
            end = align(end)?;
        }
        let lengths = Lengths::new(end, piece_length.into())?;
        if let Some(limit) = lengths.libtorrent_limit() {
            let pieces = lengths.piece_count();
            return Err(CreateError::Libtorrent { pieces, limit });
        }
        Ok(Self {
            version,
            name,
            is_single_file,
            is_padded,
            files,
            offsets,
            lengths,
        })
    }

    /// Returns the total length, including padding, and the piece length.
    pub fn lengths(&self) -> Lengths {
        self.lengths
    }

    /// Returns the protocol versions of the torrent.
    pub fn version(&self) -> Version {
        self.version
    }

    /// Returns the files in order.
    pub fn files(&self) -> &[NewFile] {
        &self.files
    }

    /// Returns the offset of each file in the content, in bytes.
    pub fn offsets(&self) -> &[u64] {
        &self.offsets
    }

    /// Returns the number of bytes of padding between the files of a hybrid torrent (BEP 47).
    pub fn padding_bytes(&self) -> u64 {
        let content: u64 = self.files.iter().map(|file| file.length).sum();
        match self.version {
            Version::Hybrid => self.lengths.total_length() - content,
            Version::V1 | Version::V2 => 0,
        }
    }
}

/// Checks that all names are safe.
fn check_names(name: &[u8], files: &[NewFile]) -> Result<(), CreateError> {
    let targets = files.iter().filter_map(|file| file.target.as_ref());
    for path in files.iter().map(|file| &file.path).chain(targets) {
        if path.is_empty() {
            return Err(CreateError::EmptyPath);
        }
        if path.len() > MAX_NEW_PATH_DEPTH {
            let path = path.clone();
            return Err(CreateError::TooDeep { path });
        }
    }
    let targets = files.iter().filter_map(|file| file.target.as_ref());
    let paths = files.iter().map(|file| &file.path).chain(targets);
    for name in std::iter::once(name).chain(paths.flatten().map(Vec::as_slice)) {
        PathComponent::try_from(name).map_err(|reason| CreateError::Name {
            name: name.to_vec(),
            reason,
        })?;
    }
    Ok(())
}

/// Checks that no path is also the path of another file or of a folder, and that the files of a file tree are sorted.
fn check_order(version: Version, files: &[NewFile]) -> Result<(), CreateError> {
    let mut paths: Vec<&[Vec<u8>]> = files.iter().map(|file| &file.path[..]).collect();
    if !version.has_v2() {
        paths.sort_unstable();
    }
    for pair in paths.windows(2) {
        let (before, path) = (pair[0], pair[1]);
        if before >= path || path.starts_with(before) {
            let path = path.to_vec();
            return Err(CreateError::Order { path });
        }
    }
    Ok(())
}
