//! Identifiers and types of objects.

use std::fmt;

/// The identifier of an object: the digest of its type, its length and its bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id {
    bytes: [u8; 32],
    len: u8,
}

impl Id {
    /// Returns the identifier with these bytes, 32 at most.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let mut id = Self {
            bytes: [0; 32],
            len: 0,
        };
        for (to, from) in id.bytes.iter_mut().zip(bytes) {
            *to = *from;
            id.len += 1;
        }
        id
    }

    /// Returns the bytes: 20 or 32.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

/// Lower-case hexadecimal digits.
impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.as_bytes().iter().map(|byte| format!("{byte:02x}"));
        f.pad(&digits.collect::<String>())
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Id({self})")
    }
}

/// The type of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A version of the whole tree, with its parents and a message.
    Commit,
    /// A folder.
    Tree,
    /// The content of a file.
    Blob,
    /// A name for an object, with a message.
    Tag,
}

impl Kind {
    /// Returns the name that Git uses.
    pub fn name(self) -> &'static str {
        match self {
            Self::Commit => "commit",
            Self::Tree => "tree",
            Self::Blob => "blob",
            Self::Tag => "tag",
        }
    }
}
