//! Dictionaries read by the names of their keys, with the field's name in every refusal.

use std::fmt;

use crate::Error;
use crate::bencode::{Entries, Kind, Value};

/// Which value of a .torrent file is meant, written like `info.files[3].path[1]`.
///
/// Counting starts at zero.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Field {
    place: Place,
    /// Where the value is a list: its item with this index.
    item: Option<usize>,
}

/// As a `Copy` enum instead of text, a field costs nothing until a refusal is printed.
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
    /// The dictionary of a file in the file tree, whose name starts at this byte.
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
    fn metainfo() -> Self {
        Self {
            place: Place::Metainfo,
            item: None,
        }
    }

    fn key(self, key: &'static str) -> Self {
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

    fn item(self, item: usize) -> Self {
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

/// A value together with the name of the field it was found in.
#[derive(Clone, Copy)]
pub(crate) struct Located<'a> {
    value: Value<'a>,
    field: Field,
}

impl<'a> Located<'a> {
    /// A whole .torrent file.
    pub(crate) fn metainfo(value: Value<'a>) -> Self {
        Self {
            value,
            field: Field::metainfo(),
        }
    }

    /// The dictionary of a file in the file tree, whose name starts at `name_offset`.
    pub(crate) fn tree_file(value: Value<'a>, name_offset: usize) -> Self {
        Self {
            value,
            field: Field {
                place: Place::TreeFile { name_offset },
                item: None,
            },
        }
    }

    /// One of the piece layers.
    pub(crate) fn piece_layer(value: Value<'a>) -> Self {
        Self {
            value,
            field: Field {
                place: Place::MetainfoKey("piece layers"),
                item: None,
            },
        }
    }

    pub(crate) fn value(&self) -> Value<'a> {
        self.value
    }

    pub(crate) fn field(&self) -> Field {
        self.field
    }

    pub(crate) fn offset(&self) -> usize {
        self.value.offset()
    }

    pub(crate) fn encoded(&self) -> &'a [u8] {
        self.value.encoded()
    }

    /// The values of these keys in this dictionary, in one pass. All other keys are ignored.
    ///
    /// One of these keys standing there twice is refused: one reader would take the first value
    /// and another the last, and so one info-hash would name two different torrents.
    pub(crate) fn pick<const N: usize>(
        &self,
        keys: [&'static str; N],
    ) -> Result<[Option<Self>; N], Error> {
        let entries = self.entries()?;
        let mut picked = [None; N];
        for entry in entries {
            let Some(index) = keys.iter().position(|key| key.as_bytes() == entry.key) else {
                continue;
            };
            let field = self.field.key(keys[index]);
            if picked[index]
                .replace(Self {
                    value: entry.value,
                    field,
                })
                .is_some()
            {
                return Err(Error::DuplicateKey {
                    offset: entry.key_offset,
                    field,
                });
            }
        }
        Ok(picked)
    }

    /// All entries of this dictionary.
    pub(crate) fn entries(&self) -> Result<Entries<'a>, Error> {
        self.value
            .as_dictionary()
            .ok_or_else(|| self.not(Kind::Dictionary))
    }

    /// The refusal of this dictionary for not having this key.
    pub(crate) fn missing(&self, key: &'static str) -> Error {
        Error::MissingKey {
            offset: self.offset(),
            field: self.field.key(key),
        }
    }

    pub(crate) fn bytes(&self) -> Result<&'a [u8], Error> {
        self.value
            .as_bytes()
            .ok_or_else(|| self.not(Kind::ByteString))
    }

    pub(crate) fn integer(&self) -> Result<i64, Error> {
        self.value
            .as_integer()
            .ok_or_else(|| self.not(Kind::Integer))
    }

    /// The integer, which counts something and so must not be negative.
    pub(crate) fn unsigned(&self) -> Result<u64, Error> {
        let value = self.integer()?;
        u64::try_from(value).map_err(|_| Error::Negative {
            offset: self.offset(),
            field: self.field,
            value,
        })
    }

    pub(crate) fn items(&self) -> Result<impl Iterator<Item = Self> + use<'a>, Error> {
        let items = self.value.as_list().ok_or_else(|| self.not(Kind::List))?;
        let field = self.field;
        Ok(items.enumerate().map(move |(item, value)| Self {
            value,
            field: field.item(item),
        }))
    }

    /// The encoding of the items of this list, without the `l` and `e` around them.
    pub(crate) fn encoded_items(&self) -> Result<&'a [u8], Error> {
        let items = self.value.as_list().ok_or_else(|| self.not(Kind::List))?;
        Ok(items.as_encoded())
    }

    pub(crate) fn not(&self, expected: Kind) -> Error {
        Error::WrongType {
            offset: self.offset(),
            field: self.field,
            expected,
            found: self.value.kind(),
        }
    }
}
