//! The states of pieces.

use std::ops::Range;

use hashlane_pipeline::Fault;

/// The state of one piece. A program must decide for each state whether the piece can be used, so a new state is a breaking
/// change, which also changes [`PieceState::ALL`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PieceState {
    /// The verification was cancelled before the piece was checked.
    #[default]
    Unchecked,
    /// All bytes are present and correct.
    Have,
    /// All bytes are present, some are wrong, and some are not zero.
    Bad,
    /// All bytes are present, and the file that the piece belongs to is wrong at an unknown place.
    /// The torrent has only one hash for the whole file (BEP 52, without a piece layer).
    Unproven,
    /// A file with bytes of the piece is absent or too short, or the piece is wrong and all of its bytes on the disk are
    /// zeros, as in a hole. [`FileReport::zero_pieces`] counts the latter.
    ///
    /// [`FileReport::zero_pieces`]: crate::FileReport::zero_pieces
    Missing,
    /// The system could not read a file with bytes of the piece. [`FileReport::error`] holds the error.
    ///
    /// [`FileReport::error`]: crate::FileReport::error
    Unreadable,
}

impl PieceState {
    /// All states, in the order of their declaration.
    pub const ALL: [Self; 6] = [
        Self::Unchecked,
        Self::Have,
        Self::Bad,
        Self::Unproven,
        Self::Missing,
        Self::Unreadable,
    ];

    /// Returns the name in lower case, as in reports.
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

    /// Returns the worse of two states of the same piece.
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

impl From<Fault> for PieceState {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Missing => Self::Missing,
            Fault::Unreadable => Self::Unreadable,
        }
    }
}

/// The number of pieces in each state. There is one for each [`PieceState`], so a new state
/// is a breaking change here too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(
    missing_docs,
    reason = "each is the number of pieces in the state of that name"
)]
pub struct PieceCounts {
    pub unchecked: u32,
    pub have: u32,
    pub bad: u32,
    pub unproven: u32,
    pub missing: u32,
    pub unreadable: u32,
}

impl PieceCounts {
    /// Returns the number of pieces in a state.
    pub fn of(self, state: PieceState) -> u32 {
        match state {
            PieceState::Unchecked => self.unchecked,
            PieceState::Have => self.have,
            PieceState::Bad => self.bad,
            PieceState::Unproven => self.unproven,
            PieceState::Missing => self.missing,
            PieceState::Unreadable => self.unreadable,
        }
    }

    /// Returns the number of all pieces.
    pub fn total(self) -> u32 {
        PieceState::ALL
            .into_iter()
            .map(|state| self.of(state))
            .sum()
    }

    pub(crate) fn of_range(pieces: &[PieceState], range: &Range<u32>) -> Self {
        let mut counts = Self::default();
        for piece in &pieces[range.start as usize..range.end as usize] {
            counts.add(*piece);
        }
        counts
    }

    pub(crate) fn add(&mut self, state: PieceState) {
        *self.of_mut(state) += 1;
    }

    pub(crate) fn remove(&mut self, state: PieceState) {
        *self.of_mut(state) -= 1;
    }

    fn of_mut(&mut self, state: PieceState) -> &mut u32 {
        match state {
            PieceState::Unchecked => &mut self.unchecked,
            PieceState::Have => &mut self.have,
            PieceState::Bad => &mut self.bad,
            PieceState::Unproven => &mut self.unproven,
            PieceState::Missing => &mut self.missing,
            PieceState::Unreadable => &mut self.unreadable,
        }
    }
}
