//! What is said about a file.

use crate::record::{Record, State};
use hashlane_sha::Sha256Digest;

/// What is known about a file after it was compared with the catalogue. A program must decide about each verdict, so a new
/// one is a breaking change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// Size, times and inode are those of the catalogue. The content was not read.
    Unchanged,
    /// The content was read, and is that of the catalogue.
    Intact,
    /// The content is again that of the catalogue, after an earlier run had found [`Verdict::Rot`].
    Repaired,
    /// The file is not in the catalogue, and no other file had its content.
    New,
    /// The file has the content of one that is gone.
    Moved,
    /// The file is not in the catalogue, and has the content of one that is.
    Copied,
    /// A writer changed the content, and with it the time of modification.
    Changed,
    /// The content is not that of the catalogue, although the time of modification is: bit rot, or a program that set the time
    /// back.
    Rot,
    /// The file is in the catalogue, and does not exist any more.
    Missing,
    /// The file changed while it was read, so that it has no digest.
    Unstable,
    /// The file or folder cannot be read.
    Unreadable,
}

impl Verdict {
    /// All verdicts, the good ones first.
    pub const ALL: [Self; 11] = [
        Self::Unchanged,
        Self::Intact,
        Self::Repaired,
        Self::New,
        Self::Moved,
        Self::Copied,
        Self::Changed,
        Self::Rot,
        Self::Missing,
        Self::Unstable,
        Self::Unreadable,
    ];

    /// Returns the name of the verdict in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unchanged => "unchanged",
            Self::Intact => "intact",
            Self::Repaired => "repaired",
            Self::New => "new",
            Self::Moved => "moved",
            Self::Copied => "copied",
            Self::Changed => "changed",
            Self::Rot => "rot",
            Self::Missing => "missing",
            Self::Unstable => "unstable",
            Self::Unreadable => "unreadable",
        }
    }

    /// Returns the verdict about a file of the catalogue whose content was read.
    pub(crate) fn of_content(record: &Record, state: &State, digest: &Sha256Digest) -> Self {
        if *digest == record.digest {
            match record.rot_since {
                Some(_) => Self::Repaired,
                None => Self::Intact,
            }
        } else if state.mtime_ns == record.state.mtime_ns {
            Self::Rot
        } else {
            Self::Changed
        }
    }
}
