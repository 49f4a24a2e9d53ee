//! Checked values: slices of a document, and iterators over their parts.

use std::fmt;

use super::Kind;
use super::error::{SyntaxError, SyntaxErrorKind};
use super::grammar::{self, Token};

/// A checked bencoded value: a part of a document, and its offset.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Value<'a> {
    /// Exactly one valid value.
    encoded: &'a [u8],
    offset: usize,
}

impl<'a> Value<'a> {
    /// Parses a document that consists of exactly one value.
    ///
    /// # Errors
    ///
    /// Returns a [`SyntaxError`] at the first byte where `document` is not bencode, is nested
    /// deeper than [`MAX_DEPTH`](super::MAX_DEPTH), or continues after the value.
    pub fn parse(document: &'a [u8]) -> Result<Self, SyntaxError> {
        match Self::parse_prefix(document)? {
            (value, []) => Ok(value),
            (value, rest) => Err(SyntaxError::new(
                value.encoded.len(),
                SyntaxErrorKind::TrailingBytes { count: rest.len() },
            )),
        }
    }

    /// Parses the value at the start of `document`, and returns it with the remaining bytes.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`Self::parse`], except for bytes after the value.
    pub fn parse_prefix(document: &'a [u8]) -> Result<(Self, &'a [u8]), SyntaxError> {
        let end = grammar::value_end(document)?;
        let (encoded, rest) = document.split_at(end);
        Ok((Self { encoded, offset: 0 }, rest))
    }

    /// Returns the bytes of this value as they are in the document.
    pub fn encoded(self) -> &'a [u8] {
        self.encoded
    }

    /// Returns the offset of this value in the document, in bytes.
    pub fn offset(self) -> usize {
        self.offset
    }

    /// Returns the type of this value.
    pub fn kind(self) -> Kind {
        match self.token() {
            Token::Integer(_) => Kind::Integer,
            Token::ByteString(_) => Kind::ByteString,
            Token::ListStart => Kind::List,
            Token::DictionaryStart => Kind::Dictionary,
            Token::End => unreachable!("a value does not start with its end"),
        }
    }

    /// Returns the number if this is an integer that fits into `i64`. Larger integers are valid
    /// bencode (BEP 3 sets no limit), so they cause no error in keys that nothing reads.
    pub fn as_integer(self) -> Option<i64> {
        match self.token() {
            Token::Integer(integer) => integer,
            _ => None,
        }
    }

    /// Returns the bytes if this is a byte string. They need not be UTF-8.
    pub fn as_bytes(self) -> Option<&'a [u8]> {
        match self.token() {
            Token::ByteString(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// Returns the items in order if this is a list.
    pub fn as_list(self) -> Option<Items<'a>> {
        (self.kind() == Kind::List).then(|| self.contents())
    }

    /// Returns the entries in document order if this is a dictionary.
    pub fn as_dictionary(self) -> Option<Entries<'a>> {
        (self.kind() == Kind::Dictionary).then(|| Entries {
            items: self.contents(),
        })
    }

    /// Returns the offset of the first key that is not greater than the previous key of its
    /// dictionary, in this value or any nested one. BEP 3 demands distinct keys, sorted as raw
    /// bytes.
    pub fn unsorted_key(self) -> Option<usize> {
        /// A list, or the last key of a dictionary and whether its value follows.
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

    /// Returns the tokens of this value with their offsets in the document. Walking nested
    /// dictionaries by token takes a single pass, whatever their depth.
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

    /// Returns the bytes between the first byte of a list or dictionary and its `e`.
    fn contents(self) -> Items<'a> {
        Items {
            rest: &self.encoded[1..self.encoded.len() - 1],
            offset: self.offset + 1,
        }
    }
}

impl fmt::Debug for Value<'_> {
    /// Shows type, length and offset, but not the bytes: they can be megabytes of piece hashes.
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

/// An iterator over the tokens of a value, see [`Value::tokens`].
#[derive(Clone)]
pub(crate) struct Tokens<'a> {
    /// One valid value.
    encoded: &'a [u8],
    /// Number of bytes already read.
    at: usize,
    /// Offset of the value in the document.
    offset: usize,
}

impl<'a> Tokens<'a> {
    /// Returns the next value as a whole. There must be one.
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

/// An iterator over the items of a list, see [`Value::as_list`].
#[derive(Clone, Debug)]
pub struct Items<'a> {
    /// Zero or more valid values, back to back.
    rest: &'a [u8],
    offset: usize,
}

impl<'a> Items<'a> {
    /// Restores items from the result of [`Items::as_encoded`]. Offsets then count from its first
    /// byte.
    pub(crate) fn from_encoded(encoded: &'a [u8]) -> Self {
        Self {
            rest: encoded,
            offset: 0,
        }
    }

    /// Returns the bytes of the remaining items, without the surrounding list.
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

/// An iterator over the entries of a dictionary, see [`Value::as_dictionary`].
#[derive(Clone, Debug)]
pub struct Entries<'a> {
    /// Alternating keys and values.
    items: Items<'a>,
}

/// One entry of a dictionary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry<'a> {
    /// The key's bytes. They need not be UTF-8.
    pub key: &'a [u8],
    /// Offset of the key (the first digit of its length) in the document, in bytes.
    pub key_offset: usize,
    /// The value of the key, of any type.
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
