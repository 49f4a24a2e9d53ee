//! Names of the values of a .torrent file, for error messages.

use std::fmt;

/// The name of a value of a .torrent file, displayed like `info.files[3].path[1]`.
///
/// Indexes count from zero.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Field {
    place: Place,
    /// The index of an item, if the value is a list.
    item: Option<usize>,
}

/// The place of a field. A `Copy` enum instead of text costs nothing until an error is printed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Metainfo,
    MetainfoKey(&'static str),
    Info,
    InfoKey(&'static str),
    FileKey {
        file: usize,
        key: &'static str,
    },
    /// The dictionary of the file in the file tree whose name starts at this byte.
    TreeFile {
        name_offset: usize,
    },
    TreeFileKey {
        name_offset: usize,
        key: &'static str,
    },
}

const FILES: Place = Place::InfoKey("files");

impl Field {
    pub(crate) fn metainfo() -> Self {
        Self {
            place: Place::Metainfo,
            item: None,
        }
    }

    /// Returns the field of the file in the file tree whose name starts at `name_offset`.
    pub(crate) fn tree_file(name_offset: usize) -> Self {
        Self {
            place: Place::TreeFile { name_offset },
            item: None,
        }
    }

    /// Returns the field of every piece layer.
    pub(crate) fn piece_layers() -> Self {
        Self {
            place: Place::MetainfoKey("piece layers"),
            item: None,
        }
    }

    pub(crate) fn key(self, key: &'static str) -> Self {
        let place = match (self.place, self.item) {
            (Place::Metainfo, _) if key == "info" => Place::Info,
            (Place::Metainfo | Place::MetainfoKey(_), _) => Place::MetainfoKey(key),
            (FILES, Some(file)) | (Place::FileKey { file, .. }, _) => Place::FileKey { file, key },
            (Place::TreeFile { name_offset } | Place::TreeFileKey { name_offset, .. }, _) => {
                Place::TreeFileKey { name_offset, key }
            }
            (Place::Info | Place::InfoKey(_), _) => Place::InfoKey(key),
        };
        Self { place, item: None }
    }

    pub(crate) fn item(self, item: usize) -> Self {
        Self {
            item: Some(item),
            ..self
        }
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let item = self.item.map(|item| format!("[{item}]"));
        let item = item.as_deref().unwrap_or_default();
        match self.place {
            Place::Metainfo => write!(f, "metainfo{item}"),
            Place::MetainfoKey(key) => write!(f, "{key}{item}"),
            Place::Info => write!(f, "info{item}"),
            Place::InfoKey(key) => write!(f, "info.{key}{item}"),
            Place::FileKey { file, key } => write!(f, "info.files[{file}].{key}{item}"),
            Place::TreeFile { name_offset } => {
                write!(f, "the file at byte {name_offset} of info.file tree{item}")
            }
            Place::TreeFileKey { name_offset, key } => write!(
                f,
                "{key}{item} of the file at byte {name_offset} of info.file tree"
            ),
        }
    }
}

impl fmt::Debug for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Field({self})")
    }
}
