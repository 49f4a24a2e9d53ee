//! Reads dictionaries by key. Each value knows the name of its field, for error messages.

use crate::bencode::{Entries, Kind, Value};
use crate::{Error, Field};

/// A value, and the name of its field.
#[derive(Clone, Copy)]
pub(crate) struct Located<'a> {
    value: Value<'a>,
    field: Field,
}

impl<'a> Located<'a> {
    /// Wraps a whole .torrent file.
    pub(crate) fn metainfo(value: Value<'a>) -> Self {
        Self {
            value,
            field: Field::metainfo(),
        }
    }

    /// Wraps the dictionary of the file in the file tree whose name starts at `name_offset`.
    pub(crate) fn tree_file(value: Value<'a>, name_offset: usize) -> Self {
        Self {
            value,
            field: Field::tree_file(name_offset),
        }
    }

    /// Wraps one of the piece layers.
    pub(crate) fn piece_layer(value: Value<'a>) -> Self {
        Self {
            value,
            field: Field::piece_layers(),
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

    /// Returns the values of these keys of this dictionary, in one pass. All other keys are
    /// ignored.
    ///
    /// Refuses a dictionary that has one of these keys twice. One program would use the first value
    /// and another the last, so one info-hash would stand for two different torrents.
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

    /// Returns all entries of this dictionary.
    pub(crate) fn entries(&self) -> Result<Entries<'a>, Error> {
        self.value
            .as_dictionary()
            .ok_or_else(|| self.not(Kind::Dictionary))
    }

    /// Returns the error for a dictionary without this key.
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
            .ok_or_else(|| match self.value.kind() {
                Kind::Integer => Error::IntegerOverflow {
                    offset: self.offset(),
                    field: self.field,
                },
                _ => self.not(Kind::Integer),
            })
    }

    /// Returns the integer, which must not be negative.
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

    /// Returns the encoded items of this list, without the `l` and `e` around them.
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
