//! What is known of a piece.

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
    /// A file that it lies in is absent, or too short there.
    Missing,
    /// The system could not read a file that it lies in; [`FileReport::error`] has its error.
    ///
    /// [`FileReport::error`]: crate::FileReport::error
    Unreadable,
}

impl PieceState {
    /// Every state, in the order in which they are declared.
    pub const ALL: [Self; 5] = [
        Self::Unchecked,
        Self::Have,
        Self::Bad,
        Self::Missing,
        Self::Unreadable,
    ];

    /// The name in lower case, as in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unchecked => "unchecked",
            Self::Have => "have",
            Self::Bad => "bad",
            Self::Missing => "missing",
            Self::Unreadable => "unreadable",
        }
    }
}
