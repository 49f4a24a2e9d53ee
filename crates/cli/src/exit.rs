//! The result of the program.

/// The result of the program, as its exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// 0: all work is done, and all content is correct.
    Good,
    /// 1: the check is complete, and some content is missing or wrong.
    NotAllThere,
    /// 2: an error, or an incomplete check.
    NotChecked,
    /// 3: several results are possible.
    Several,
}

impl Exit {
    /// The exit status.
    pub fn code(self) -> u8 {
        self as u8
    }
}
