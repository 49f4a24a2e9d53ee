//! Checked values: slices of a document, and iterators over what is in them.

use std::fmt;

use super::error::{SyntaxError, SyntaxErrorKind};
use super::grammar::{self, Token};
use super::kind::Kind;

/// One bencoded value: a checked part of a document, and where it starts there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Value<'a> {
    /// Exactly one valid value.
    encoded: &'a [u8],
    offset: usize,
}

impl<'a> Value<'a> {
    /// Checks `document`, which must be one value and nothing else.
    ///
    /// # Errors
    ///
    /// A [`SyntaxError`] for the first byte at which `document` stops being one bencoded value,
    /// nested at most [`MAX_DEPTH`](super::MAX_DEPTH) deep. Bytes after the value are such an error too.
    pub fn parse(document: &'a [u8]) -> Result<Self, SyntaxError> {
        match Self::parse_prefix(document)? {
            (value, []) => Ok(value),
            (value, rest) => Err(SyntaxError::new(
                value.encoded.len(),
                SyntaxErrorKind::TrailingBytes { count: rest.len() },
            )),
        }
    }

    /// Checks the value that `document` starts with, and returns it with what follows.
    ///
    /// # Errors
    ///
    /// As [`Self::parse`], but for bytes after the value.
    pub fn parse_prefix(document: &'a [u8]) -> Result<(Self, &'a [u8]), SyntaxError> {
        let end = grammar::value_end(document)?;
        let (encoded, rest) = document.split_at(end);
        Ok((Self { encoded, offset: 0 }, rest))
    }

    /// The bytes of this value as they stand in the document.
    pub fn encoded(self) -> &'a [u8] {
        self.encoded
    }

    /// Where this value starts, in bytes from the start of the document.
    pub fn offset(self) -> usize {
        self.offset
    }

    /// What this value is.
    pub fn kind(self) -> Kind {
        match self.token() {
            Token::Integer(_) => Kind::Integer,
            Token::ByteString(_) => Kind::ByteString,
            Token::ListStart => Kind::List,
            Token::DictionaryStart => Kind::Dictionary,
            Token::End => unreachable!("a value does not start with its end"),
        }
    }

    /// The number, if this is an integer.
    pub fn as_integer(self) -> Option<i64> {
        match self.token() {
            Token::Integer(integer) => Some(integer),
            _ => None,
        }
    }

    /// The bytes, if this is a byte string. They need not be UTF-8.
    pub fn as_bytes(self) -> Option<&'a [u8]> {
        match self.token() {
            Token::ByteString(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// The items in their order, if this is a list.
    pub fn as_list(self) -> Option<Items<'a>> {
        (self.kind() == Kind::List).then(|| self.contents())
    }

    /// The entries in the order of the document, if this is a dictionary.
    pub fn as_dictionary(self) -> Option<Entries<'a>> {
        (self.kind() == Kind::Dictionary).then(|| Entries {
            items: self.contents(),
        })
    }

    /// Where the first key starts that does not come after the key before it in its dictionary,
    /// here or in any value inside: the keys of BEP 3 are sorted as raw bytes, and different.
    pub fn unsorted_key(self) -> Option<usize> {
        /// A list, or the last key of a dictionary and whether its value is still to come.
        enum Open<'a> {
            List,
            Dictionary(Option<&'a [u8]>, bool),
        }
        let mut open: Vec<Open<'a>> = Vec::new();
        for (offset, token) in self.tokens() {
            if let (Some(Open::Dictionary(last, has_key)), false) =
                (open.last_mut(), matches!(token, Token::End))
            {
                *has_key = !*has_key;
                if let (true, Token::ByteString(key)) = (*has_key, token) {
                    if last.replace(key).is_some_and(|last| last >= key) {
                        return Some(offset);
                    }
                    continue;
                }
            }
            match token {
                Token::ListStart => open.push(Open::List),
                Token::DictionaryStart => open.push(Open::Dictionary(None, false)),
                Token::End => drop(open.pop()),
                Token::Integer(_) | Token::ByteString(_) => {}
            }
        }
        None
    }

    /// The tokens of this value, with the offset of each in the document. To walk through nested
    /// dictionaries like this takes one pass, however deep they are.
    pub(crate) fn tokens(self) -> Tokens<'a> {
        Tokens {
            encoded: self.encoded,
            at: 0,
            offset: self.offset,
        }
    }

    fn token(self) -> Token<'a> {
        let (token, _) = grammar::token(self.encoded, 0, "").expect("a Value holds a valid value");
        token
    }

    /// What stands between the first byte of a list or dictionary and its `e`.
    fn contents(self) -> Items<'a> {
        Items {
            rest: &self.encoded[1..self.encoded.len() - 1],
            offset: self.offset + 1,
        }
    }
}

impl fmt::Debug for Value<'_> {
    /// Says what and where, not all of the bytes: they may be megabytes of piece hashes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} of {} bytes at byte {}",
            self.kind(),
            self.encoded.len(),
            self.offset
        )
    }
}

/// Iterator over the tokens of a value, see [`Value::tokens`].
#[derive(Clone)]
pub(crate) struct Tokens<'a> {
    /// A valid value.
    encoded: &'a [u8],
    /// How much of it is behind us.
    at: usize,
    /// Where the value starts in the document.
    offset: usize,
}

impl<'a> Tokens<'a> {
    /// The next value, as a whole. There must be one.
    pub(crate) fn next_value(&mut self) -> Value<'a> {
        let rest = &self.encoded[self.at..];
        let end = grammar::value_end(rest).expect("a valid value has valid values inside");
        let value = Value {
            encoded: &rest[..end],
            offset: self.offset + self.at,
        };
        self.at += end;
        value
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = (usize, Token<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        if self.at == self.encoded.len() {
            return None;
        }
        let start = self.at;
        let (token, end) = grammar::token(self.encoded, start, "").expect("the value is valid");
        self.at = end;
        Some((self.offset + start, token))
    }
}

/// Iterator over the items of a list, see [`Value::as_list`].
#[derive(Clone, Debug)]
pub struct Items<'a> {
    /// Zero or more valid values, one after the other.
    rest: &'a [u8],
    offset: usize,
}

impl<'a> Items<'a> {
    /// Reads again what [`Items::as_encoded`] gave. Offsets then count from its first byte.
    pub(crate) fn from_encoded(encoded: &'a [u8]) -> Self {
        Self {
            rest: encoded,
            offset: 0,
        }
    }

    /// The bytes of the items not yet read, without anything around them.
    pub(crate) fn as_encoded(&self) -> &'a [u8] {
        self.rest
    }
}

impl<'a> Iterator for Items<'a> {
    type Item = Value<'a>;

    fn next(&mut self) -> Option<Value<'a>> {
        if self.rest.is_empty() {
            return None;
        }
        let end = grammar::value_end(self.rest).expect("Items holds valid values");
        let (encoded, rest) = self.rest.split_at(end);
        let value = Value {
            encoded,
            offset: self.offset,
        };
        self.rest = rest;
        self.offset += end;
        Some(value)
    }
}

/// Iterator over the entries of a dictionary, see [`Value::as_dictionary`].
#[derive(Clone, Debug)]
pub struct Entries<'a> {
    /// Keys and values in turn.
    items: Items<'a>,
}

/// One entry of a dictionary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// The key's bytes. They need not be UTF-8.
    pub key: &'a [u8],
    /// Where the key starts (the first digit of its length), in bytes from the start of the
    /// document.
    pub key_offset: usize,
    /// The value.
    pub value: Value<'a>,
}

impl<'a> Iterator for Entries<'a> {
    type Item = Entry<'a>;

    fn next(&mut self) -> Option<Entry<'a>> {
        let key = self.items.next()?;
        let value = self
            .items
            .next()
            .expect("every key of a valid dictionary has a value");
        let bytes = key
            .as_bytes()
            .expect("every key of a valid dictionary is a byte string");
        Some(Entry {
            key: bytes,
            key_offset: key.offset,
            value,
        })
    }
}
