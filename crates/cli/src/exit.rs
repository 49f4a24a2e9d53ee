//! How the program ends.

/// How the program ends, as its exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// 0: everything is done, and all content is right.
    Good,
    /// 1: the check is complete, and some content is missing or wrong.
    NotAllThere,
    /// 2: an error, or a check that is not complete.
    NotChecked,
    /// 3: there are several answers.
    Several,
}

impl Exit {
    /// The exit status.
    pub fn code(self) -> u8 {
        self as u8
    }
}
