//! Dictionaries read by the names of their keys, with the field's name in every refusal.

use std::fmt;

use crate::Error;
use crate::bencode::{Kind, Value};

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
    Info,
    InfoKey(&'static str),
    FileKey { file: usize, key: &'static str },
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
            (Place::Metainfo, _) => Place::Info,
            (FILES, Some(file)) | (Place::FileKey { file, .. }, _) => Place::FileKey { file, key },
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
        match self.place {
            Place::Metainfo => f.write_str("metainfo")?,
            Place::Info => f.write_str("info")?,
            Place::InfoKey(key) => write!(f, "info.{key}")?,
            Place::FileKey { file, key } => write!(f, "info.files[{file}].{key}")?,
        }
        self.item.map_or(Ok(()), |item| write!(f, "[{item}]"))
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
    /// Checks the grammar of a whole .torrent file.
    pub(crate) fn parse(metainfo: &'a [u8]) -> Result<Self, Error> {
        Ok(Self {
            value: Value::parse(metainfo)?,
            field: Field::metainfo(),
        })
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
        let entries = self
            .value
            .as_dictionary()
            .ok_or_else(|| self.not(Kind::Dictionary))?;
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

    fn not(&self, expected: Kind) -> Error {
        Error::WrongType {
            offset: self.offset(),
            field: self.field,
            expected,
            found: self.value.kind(),
        }
    }
}
