//! The files of torrents that are searched.

use std::ops::Range;

use hashlane_metainfo::merkle::Node;
use hashlane_metainfo::{FileKind, PieceIndex, Torrent};
use hashlane_pipeline::{Extent, FileIndex};
use hashlane_verify::{HashVersions, Layout, PieceTrees as _, files_of};

use crate::probe::{Digest, Tree};

/// A torrent whose content is searched. Of a hybrid torrent, the hashes of version 1 decide: its files start at pieces, so
/// both versions decide the same.
#[derive(Debug)]
pub(crate) struct Target<'t> {
    pub(crate) torrent: &'t Torrent,
    pub(crate) layout: Layout,
}

impl<'t> Target<'t> {
    pub(crate) fn new(torrent: &'t Torrent) -> Self {
        let v1 = torrent.version().has_v1();
        let layout = Layout::new(torrent, HashVersions { v1, v2: !v1 });
        Self { torrent, layout }
    }

    /// Returns the digest of a piece by the torrent. Returns `None` if only a hash of the whole file is known.
    pub(crate) fn expected(&self, piece: PieceIndex) -> Option<Digest> {
        match self.torrent.piece_hashes() {
            Some(hashes) => Some(Digest::V1(hashes[piece.get() as usize].into())),
            None => self.root_of(piece).map(|root| Digest::V2(*root)),
        }
    }

    fn root_of(&self, piece: PieceIndex) -> Option<&'t Node> {
        self.layout.root_of(self.torrent, piece)
    }

    /// Returns the shape of the tree over a piece, if trees decide.
    pub(crate) fn tree(&self, piece: PieceIndex) -> Option<Tree> {
        let layout = &self.layout;
        layout.hash_versions().v2.then(|| Tree {
            data_len: layout.data_len(piece.get()),
            height: layout.height(piece.get()),
        })
    }

    pub(crate) fn piece(&self, index: u32) -> PieceIndex {
        let piece = self.layout.lengths().piece(index);
        piece.expect("the index comes from the layout")
    }

    /// Returns the extents of a piece.
    pub(crate) fn extents(&self, index: u32) -> impl Iterator<Item = Extent> + '_ {
        self.layout.extents(self.piece(index))
    }

    /// Returns the files with content that a piece has bytes of, in order.
    pub(crate) fn files_in(&self, index: u32) -> impl Iterator<Item = FileIndex> + '_ {
        self.extents(index).filter_map(|extent| extent.file)
    }

    /// Returns the pieces that have bytes of this file alone, besides padding, and whose hashes are known.
    fn own_pieces(&self, file: FileIndex) -> Range<u32> {
        let pieces = self.layout.pieces_of(file);
        let is_own = |index: u32| {
            self.files_in(index).all(|other| other == file)
                && self.expected(self.piece(index)).is_some()
        };
        // Only the first and the last piece can have bytes of other files.
        let start = pieces.start + u32::from(!pieces.is_empty() && !is_own(pieces.start));
        let has_last = pieces.end > start && !is_own(pieces.end - 1);
        start..pieces.end.max(start) - u32::from(has_last)
    }
}

/// A file of a torrent that has content.
#[derive(Debug)]
pub(crate) struct Wanted {
    pub(crate) file: FileIndex,
    pub(crate) len_bytes: u64,
    /// The pieces that have bytes of this file alone.
    pub(crate) own_pieces: Range<u32>,
    /// Number of earlier files of the torrent with the same length.
    pub(crate) ordinal: u32,
}

/// Returns the files of a torrent that have content, in order.
pub(crate) fn wanted_files(target: &Target<'_>) -> Vec<Wanted> {
    let mut ordinals = std::collections::HashMap::<u64, u32>::new();
    let files = files_of(target.torrent);
    let with_content =
        files.filter(|(_, file)| file.kind() == FileKind::Regular && file.length() > 0);
    let wanted = with_content.map(|(index, file)| {
        let next = ordinals.entry(file.length()).or_default();
        let ordinal = *next;
        *next += 1;
        Wanted {
            file: index,
            len_bytes: file.length(),
            own_pieces: target.own_pieces(index),
            ordinal,
        }
    });
    wanted.collect()
}
