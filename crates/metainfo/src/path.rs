//! Paths of a torrent that cannot leave the folder they are opened in.
//!
//! A .torrent file comes from a stranger, and its paths are joined to a folder of the user. So a
//! path that has not been checked cannot be represented here: [`PathComponent`] and
//! [`TorrentPath`] are only made by checking.
//!
//! Not checked, because it leads to an error of the file system and not out of the folder: the
//! length of a component, characters that some file system forbids, and names that some file
//! system takes for the same (such as `a` and `A`).

mod component;
mod display;

use std::fmt;

pub use component::{ComponentError, PathComponent};

use crate::Error;
use crate::bencode::Items;
use crate::field::Located;

/// A relative path: one or more components, all of them checked.
///
/// It borrows the bencoded components from the .torrent file and allocates nothing. Its text
/// ([`Display`](fmt::Display)) has the components joined by `/` and is safe to print, see
/// [`PathComponent`].
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct TorrentPath<'a> {
    /// One or more bencoded byte strings, each of them a valid component. Lengths have no leading
    /// zeros in our bencode, so that equal paths are equal bytes.
    encoded: &'a [u8],
}

impl<'a> TorrentPath<'a> {
    /// Stands in for the path that a padding file may lack. BEP 47 recommends this folder.
    pub(crate) const PADDING: Self = Self { encoded: b"4:.pad" };

    /// Checks a list of components.
    pub(crate) fn from_list(list: &Located<'a>) -> Result<Self, Error> {
        let encoded = list.encoded_items()?;
        if encoded.is_empty() {
            return Err(Error::EmptyPath {
                offset: list.offset(),
                field: list.field(),
            });
        }
        for item in list.items()? {
            component(&item)?;
        }
        Ok(Self { encoded })
    }

    /// Checks a byte string and makes it the only component.
    pub(crate) fn from_name(name: &Located<'a>) -> Result<Self, Error> {
        component(name)?;
        Ok(Self {
            encoded: name.encoded(),
        })
    }

    /// The bencoded components, one after the other. Each says its length first, so a path is
    /// inside of a folder or the same exactly if its bytes start with those of the folder.
    pub(crate) fn encoded(self) -> &'a [u8] {
        self.encoded
    }

    /// The components from the outermost folder to the file's name; at least one.
    pub fn components(self) -> Components<'a> {
        Components {
            items: Items::from_encoded(self.encoded),
        }
    }
}

/// Checks one component that stands in a .torrent file.
pub(crate) fn component<'a>(value: &Located<'a>) -> Result<PathComponent<'a>, Error> {
    PathComponent::try_from(value.bytes()?).map_err(|reason| Error::UnsafePath {
        offset: value.offset(),
        field: value.field(),
        reason,
    })
}

impl fmt::Display for TorrentPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, component) in self.components().enumerate() {
            let separator = if index == 0 { "" } else { "/" };
            write!(f, "{separator}{component}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for TorrentPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TorrentPath({self})")
    }
}

/// Iterator over the components of a path, see [`TorrentPath::components`].
#[derive(Clone, Debug)]
pub struct Components<'a> {
    items: Items<'a>,
}

impl<'a> Iterator for Components<'a> {
    type Item = PathComponent<'a>;

    fn next(&mut self) -> Option<PathComponent<'a>> {
        let bytes = self
            .items
            .next()?
            .as_bytes()
            .expect("a TorrentPath holds byte strings");
        Some(PathComponent::checked_before(bytes))
    }
}
