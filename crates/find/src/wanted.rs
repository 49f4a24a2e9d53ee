//! The files of torrents that are searched.

use std::collections::HashMap;
use std::ops::Range;

use hashlane_metainfo::{FileKind, PieceIndex, Torrent};
use hashlane_pipeline::{
    CancelToken, ChunkDigests as _, Extent, FileIndex, MessageDigest, MessageHasher as _,
};
use hashlane_sha::{Engine, Sha1};
use hashlane_verify::{HashVersions, Layout, PieceRoots, PieceTrees as _, files_of};

use crate::probe::{Digest, Probe, Tree};

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
        if let Some(hashes) = self.torrent.piece_hashes() {
            return Some(Digest::V1(hashes[piece.get() as usize].into()));
        }
        let root = self.layout.root_of(self.torrent, piece);
        root.map(|root| Digest::V2(*root))
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

    /// Returns the probe of a piece with a candidate for each of its files, in order.
    pub(crate) fn probe(&self, index: u32, choice: impl IntoIterator<Item = u32>) -> Probe {
        let mut choice = choice.into_iter();
        let extents = self.extents(index).map(|extent| Extent {
            file: extent
                .file
                .and_then(|_| choice.next())
                .map(|candidate| FileIndex::new(candidate as usize)),
            ..extent
        });
        Probe {
            extents: extents.collect(),
            tree: self.tree(self.piece(index)),
        }
    }

    /// Returns the pieces that have bytes of this file alone, besides padding, and whose hashes are known.
    fn own_pieces(&self, file: FileIndex) -> Range<u32> {
        let pieces = self.layout.pieces_of(file);
        let is_known = |index: u32| self.expected(self.piece(index)).is_some();
        // The hashes of all pieces of a file are known, or those of none.
        if pieces.is_empty() || !is_known(pieces.start) {
            return 0..0;
        }
        let is_own = |index: u32| self.files_in(index).all(|other| other == file);
        // Only the first and the last piece can have bytes of other files.
        let start = pieces.start + u32::from(!is_own(pieces.start));
        let has_last = pieces.end > start && !is_own(pieces.end - 1);
        start..pieces.end.max(start) - u32::from(has_last)
    }

    /// Returns up to [`MAX_SAMPLES`] of a file's own pieces. The one that is compared first is the middle one, and the others are
    /// spread over the file. The first bytes of many files are alike, and the last ones of a download are often missing. A piece
    /// of zeros is first only if all are such pieces: every hole has them.
    fn samples(&self, file: FileIndex, zeros: &mut Zeros) -> Vec<u32> {
        let own = self.own_pieces(file);
        let count = own.end - own.start;
        let step = (count / MAX_SAMPLES).max(1);
        let spread =
            (0..count.min(MAX_SAMPLES)).map(|n| own.start + (count / 2 + n * step) % count);
        let mut samples: Vec<u32> = spread.collect();
        let first = samples
            .iter()
            .position(|piece| !zeros.has_piece(self, *piece));
        if let Some(first) = first {
            samples.swap(0, first);
        }
        samples
    }
}

/// Number of pieces of a file that are compared at most.
const MAX_SAMPLES: u32 = 8;

/// Digests of pieces of zeros.
#[derive(Debug)]
pub(crate) struct Zeros {
    engine: Engine,
    /// Digests by the length of the piece and the shape of its tree.
    digests: HashMap<(u64, Option<Tree>), Option<Digest>>,
}

impl Zeros {
    pub(crate) fn new(engine: Engine) -> Self {
        Self {
            engine,
            digests: HashMap::new(),
        }
    }

    /// Returns `true` if a piece of the usual length consists of zeros. Shorter ones count as other bytes: the digests of zeros
    /// of all lengths would cost more than the pieces.
    fn has_piece(&mut self, target: &Target<'_>, index: u32) -> bool {
        let (piece, cancel) = (target.piece(index), CancelToken::default());
        let (len_bytes, engine) = (u64::from(target.layout.piece_len(piece)), self.engine);
        if len_bytes < u64::from(target.layout.lengths().piece_length().get()) {
            return false;
        }
        let tree = target.tree(piece);
        let of_zeros = self.digests.entry((len_bytes, tree)).or_insert_with(|| {
            if tree.is_some() {
                let root = PieceRoots::new(&target.layout, engine).zeros(index, len_bytes, &cancel);
                root.map(Digest::V2)
            } else {
                let digest = MessageDigest::<Sha1>::new(engine).zeros(0, len_bytes, &cancel);
                digest.map(Digest::V1)
            }
        });
        of_zeros.is_some() && *of_zeros == target.expected(piece)
    }
}

/// A file of a torrent that has content.
#[derive(Debug)]
pub(crate) struct Wanted {
    pub(crate) file: FileIndex,
    pub(crate) len_bytes: u64,
    /// Some of the pieces that have bytes of this file alone. The first one is compared first.
    pub(crate) samples: Vec<u32>,
    /// Number of earlier files of the torrent with the same length.
    pub(crate) ordinal: u32,
}

/// Returns the files of a torrent that have content, in order.
pub(crate) fn wanted_files(target: &Target<'_>, zeros: &mut Zeros) -> Vec<Wanted> {
    let mut ordinals = HashMap::<u64, u32>::new();
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
            samples: target.samples(index, zeros),
            ordinal,
        }
    });
    wanted.collect()
}
