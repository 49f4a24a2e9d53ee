//! How the program ends.

/// How the program ends, as its exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// 0: all is done, and all is there.
    Good,
    /// 1: checked, and not all is there.
    NotAllThere,
    /// 2: something could not be checked (to the end).
    NotChecked,
    /// 3: there are several answers, and nothing to decide between them.
    Several,
}

impl Exit {
    /// The exit status.
    pub fn code(self) -> u8 {
        self as u8
    }
}
