//! What is known of a piece.

use hashlane_metainfo::merkle::Node;

/// The digests of a piece, of the families that are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PieceDigests {
    /// SHA-1 of its bytes, padding included (BEP 3).
    pub(crate) v1: Option<[u8; 20]>,
    /// The root of the merkle tree over its leaves (BEP 52).
    pub(crate) v2: Option<Node>,
}

/// What is known of one piece.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PieceState {
    /// Not looked at: the verification was cancelled before.
    #[default]
    Unchecked,
    /// All of its bytes are there and right.
    Have,
    /// All of its bytes are there, and some are wrong.
    Bad,
    /// All of its bytes are there, and the file that it lies in is wrong somewhere: the torrent has
    /// but one hash for the whole of it (BEP 52, without a piece layer), which does not tell where.
    Unproven,
    /// A file that it lies in is absent, or too short there.
    Missing,
    /// The system could not read a file that it lies in; [`FileReport::error`] has its error.
    ///
    /// [`FileReport::error`]: crate::FileReport::error
    Unreadable,
}

impl PieceState {
    /// Every state, in the order in which they are declared.
    pub const ALL: [Self; 6] = [
        Self::Unchecked,
        Self::Have,
        Self::Bad,
        Self::Unproven,
        Self::Missing,
        Self::Unreadable,
    ];

    /// The name in lower case, as in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unchecked => "unchecked",
            Self::Have => "have",
            Self::Bad => "bad",
            Self::Unproven => "unproven",
            Self::Missing => "missing",
            Self::Unreadable => "unreadable",
        }
    }

    /// What a piece is after two judgements of it: the one that says less good of it.
    pub(crate) fn and(self, other: Self) -> Self {
        let badness = |state| match state {
            Self::Have => 0,
            Self::Unchecked => 1,
            Self::Unproven => 2,
            Self::Bad => 3,
            Self::Missing => 4,
            Self::Unreadable => 5,
        };
        if badness(self) >= badness(other) {
            self
        } else {
            other
        }
    }
}
