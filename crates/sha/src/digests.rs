//! The digests of the two algorithms.

use core::fmt;
use core::str::FromStr;

macro_rules! digest_type {
    ($(#[$doc:meta])* $name:ident, $len:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name([u8; $len]);

        impl From<[u8; $len]> for $name {
            fn from(bytes: [u8; $len]) -> Self {
                Self(bytes)
            }
        }

        impl From<$name> for [u8; $len] {
            fn from(digest: $name) -> Self {
                digest.0
            }
        }

        /// Fails if the slice does not have the length of a digest.
        impl TryFrom<&[u8]> for $name {
            type Error = core::array::TryFromSliceError;

            fn try_from(bytes: &[u8]) -> Result<Self, Self::Error> {
                bytes.try_into().map(Self)
            }
        }

        /// Parses hexadecimal digits of either case.
        impl FromStr for $name {
            type Err = ParseDigestError;

            fn from_str(text: &str) -> Result<Self, ParseDigestError> {
                let mut bytes = [0; $len];
                parse_hex(text.as_bytes(), &mut bytes)?;
                Ok(Self(bytes))
            }
        }

        impl AsRef<[u8]> for $name {
            fn as_ref(&self) -> &[u8] {
                &self.0
            }
        }

        impl AsMut<[u8]> for $name {
            fn as_mut(&mut self) -> &mut [u8] {
                &mut self.0
            }
        }

        /// Writes lower-case hexadecimal digits.
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::LowerHex::fmt(self, f)
            }
        }

        impl fmt::LowerHex for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write_hex(&self.0, *b"0123456789abcdef", f)
            }
        }

        impl fmt::UpperHex for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write_hex(&self.0, *b"0123456789ABCDEF", f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self)
            }
        }

        /// Serializes as hexadecimal digits in human-readable formats such as JSON, and as bytes in
        /// binary formats. Requires the feature `serde`.
        #[cfg(feature = "serde")]
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                if serializer.is_human_readable() {
                    serializer.collect_str(self)
                } else {
                    serializer.serialize_bytes(&self.0)
                }
            }
        }

        /// Deserializes the output of `Serialize`. Requires the feature `serde`.
        #[cfg(feature = "serde")]
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Visitor;

                impl<'de> serde::de::Visitor<'de> for Visitor {
                    type Value = $name;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        write!(f, "{} bytes or {} hexadecimal digits", $len, 2 * $len)
                    }

                    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<$name, E> {
                        text.parse().map_err(E::custom)
                    }

                    fn visit_bytes<E: serde::de::Error>(self, bytes: &[u8]) -> Result<$name, E> {
                        bytes.try_into().map_err(|_| E::invalid_length(bytes.len(), &self))
                    }

                    fn visit_seq<S: serde::de::SeqAccess<'de>>(
                        self,
                        mut sequence: S,
                    ) -> Result<$name, S::Error> {
                        use serde::de::Error as _;
                        let mut bytes = [0; $len];
                        for (i, byte) in bytes.iter_mut().enumerate() {
                            let next = sequence.next_element()?;
                            *byte = next.ok_or_else(|| S::Error::invalid_length(i, &self))?;
                        }
                        if sequence.next_element::<u8>()?.is_some() {
                            return Err(S::Error::invalid_length($len + 1, &self));
                        }
                        Ok($name(bytes))
                    }
                }

                if deserializer.is_human_readable() {
                    deserializer.deserialize_str(Visitor)
                } else {
                    deserializer.deserialize_bytes(Visitor)
                }
            }
        }
    };
}

digest_type!(
    /// A SHA-1 digest: 20 bytes, printed as hexadecimal digits.
    ///
    /// ```
    /// use hashlane_sha::{Sha1, Sha1Digest};
    /// let expected: Sha1Digest = "A9993E364706816ABA3E25717850C26C9CD0D89D".parse()?;
    /// assert_eq!(Sha1::digest(b"abc"), expected);
    /// # Ok::<(), hashlane_sha::ParseDigestError>(())
    /// ```
    Sha1Digest,
    20
);
digest_type!(
    /// A SHA-256 digest: 32 bytes, printed as hexadecimal digits.
    Sha256Digest,
    32
);

/// An error in the text of a digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParseDigestError {
    /// The text does not have two digits for each byte of a digest.
    Length {
        /// Number of digits of a digest.
        expected: usize,
        /// Length of the text in bytes.
        found: usize,
    },
    /// A character is not a hexadecimal digit.
    Digit {
        /// Position of the character in bytes, from 0.
        index: usize,
    },
}

impl fmt::Display for ParseDigestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length { expected, found } => {
                write!(f, "expected {expected} hexadecimal digits, found {found}")
            }
            Self::Digit { index } => {
                write!(f, "character {} is not a hexadecimal digit", index + 1)
            }
        }
    }
}

impl core::error::Error for ParseDigestError {}

fn parse_hex(text: &[u8], bytes: &mut [u8]) -> Result<(), ParseDigestError> {
    let expected = 2 * bytes.len();
    if text.len() != expected {
        let found = text.len();
        return Err(ParseDigestError::Length { expected, found });
    }
    let digit = |index: usize| {
        let digit = char::from(text[index]).to_digit(16);
        digit.ok_or(ParseDigestError::Digit { index })
    };
    for (i, byte) in bytes.iter_mut().enumerate() {
        *byte = (digit(2 * i)? << 4 | digit(2 * i + 1)?) as u8;
    }
    Ok(())
}

/// The length of the longest digest in bytes.
const MAX_LEN: usize = 32;

/// Writes digits with the width, fill and precision of the formatter.
fn write_hex(bytes: &[u8], digits: [u8; 16], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut text = [0; 2 * MAX_LEN];
    let text = &mut text[..2 * bytes.len()];
    for (pair, byte) in text.as_chunks_mut::<2>().0.iter_mut().zip(bytes) {
        *pair = [byte >> 4, byte & 15].map(|digit| digits[usize::from(digit)]);
    }
    f.pad(str::from_utf8(text).map_err(|_| fmt::Error)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexadecimal_digits_are_read_and_written() {
        let text = "000102030405060708090a0b0c0d0e0f1011f2f3";
        let digest: Sha1Digest = text.parse().expect("40 digits");
        assert_eq!(digest.to_string(), text);
        assert_eq!(format!("{digest:x}"), text);
        assert_eq!(format!("{digest:X}"), text.to_uppercase());
        assert_eq!(format!("{digest:.<42}"), format!("{text}.."));
        assert_eq!(format!("{digest:.7}"), "0001020");
        assert_eq!(text.to_uppercase().parse(), Ok(digest));
        assert_eq!(Sha1Digest::try_from(digest.as_ref()).ok(), Some(digest));
        assert!(Sha256Digest::try_from(digest.as_ref()).is_err());
    }

    #[test]
    fn invalid_texts_are_errors() {
        let parse = |text: &str| text.parse::<Sha1Digest>();
        let (expected, found) = (40, 39);
        let zeros = "0".repeat(39);
        assert_eq!(
            parse(&zeros),
            Err(ParseDigestError::Length { expected, found })
        );
        for (text, index) in [
            (format!("{zeros}g"), 39),
            (format!("+{zeros}"), 0),
            (format!("{}\u{e9}{}", &zeros[..20], &zeros[..18]), 20),
        ] {
            assert_eq!(
                parse(&text),
                Err(ParseDigestError::Digit { index }),
                "{text}"
            );
        }
        let error = parse("xyz").unwrap_err().to_string();
        assert_eq!(error, "expected 40 hexadecimal digits, found 3");
    }
}
