//! The content of a new torrent: its files, checked, and where they start.

use std::cmp::Ordering;

use super::error::{CreateError, MAX_NEW_PATH_DEPTH};
use super::piece_length::{MAX_PIECE_LENGTH, MIN_PIECE_LENGTH};
use crate::files::PADDING_PREFIX;
use crate::merkle::LEAF_LEN;
use crate::{Attributes, Lengths, LengthsError, PathComponent, Version};

/// A file that is to be in a new torrent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewFile {
    /// The names of the folders that it is in, and its own.
    pub path: Vec<Vec<u8>>,
    /// Its length in bytes: 0 for a link.
    pub length: u64,
    /// What is said of it besides (BEP 47).
    pub attributes: Attributes,
    /// For a symbolic link (BEP 47), the path it leads to from the content root.
    pub target: Option<Vec<Vec<u8>>>,
}

/// The content of a new torrent: its files, and how they are cut into pieces.
#[derive(Clone, Debug)]
pub struct NewContent {
    pub(super) version: Version,
    pub(super) name: Vec<u8>,
    pub(super) is_single_file: bool,
    /// Whether there is padding behind files (BEP 47).
    pub(super) is_padded: bool,
    pub(super) files: Vec<NewFile>,
    pub(super) offsets: Vec<u64>,
    pub(super) lengths: Lengths,
}

impl NewContent {
    /// Content of one file, called `name`; or of a folder of that name with these files, ordered by
    /// the names in their paths as raw bytes. That is the order of file trees (BEP 52), and the one
    /// in which creators agree on an info-hash.
    ///
    /// # Errors
    /// A [`CreateError`]: there must be content, and nothing that another program would refuse.
    ///
    /// # Panics
    /// If a single file is asked for and there is not one file.
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
        // Each file ends with padding, the last one as well; but a file that is alone has none. So
        // libtorrent does it, after the reference implementation of BEP 52.
        let is_padded = version == Version::Hybrid && files.len() > 1;
        if is_padded {
            end = align(end)?;
        }
        Ok(Self {
            version,
            name,
            is_single_file,
            is_padded,
            files,
            offsets,
            lengths: Lengths::new(end, piece_length.into())?,
        })
    }

    /// The total length, with padding, and the piece length.
    pub fn lengths(&self) -> Lengths {
        self.lengths
    }

    /// Which versions of the protocol the torrent will be of.
    pub fn version(&self) -> Version {
        self.version
    }

    /// The files, in order.
    pub fn files(&self) -> &[NewFile] {
        &self.files
    }

    /// Where in the content each file starts, in bytes.
    pub fn offsets(&self) -> &[u64] {
        &self.offsets
    }

    /// How many bytes of padding the files of a hybrid torrent need (BEP 47).
    pub fn padding_bytes(&self) -> u64 {
        let content: u64 = self.files.iter().map(|file| file.length).sum();
        match self.version {
            Version::Hybrid => self.lengths.total_length() - content,
            Version::V1 | Version::V2 => 0,
        }
    }
}

/// Checks that all names are some, and that files are in order.
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
    for pair in files.windows(2) {
        let (before, path) = (&pair[0].path, &pair[1].path);
        if before.cmp(path) != Ordering::Less || path.starts_with(before) {
            return Err(CreateError::Order { path: path.clone() });
        }
    }
    Ok(())
}
