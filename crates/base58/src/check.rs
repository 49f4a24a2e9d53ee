//! Base58 and Base58Check (Bitcoin Core's `src/base58.cpp`; draft-msporny-base58).

use hashlane_sha::{Sha256, digest};
use zeroize::Zeroizing;

/// The number of digits.
pub const BASE: u8 = 58;

/// The 58 characters of the digits, in the order of the digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Alphabet {
    /// Bitcoin's alphabet, used by nearly all other systems: without 0, O, I and l.
    Bitcoin,
    /// The XRP Ledger's alphabet: the same characters in another order.
    Ripple,
}

impl Alphabet {
    /// Both alphabets.
    pub const ALL: [Self; 2] = [Self::Bitcoin, Self::Ripple];

    /// Returns the characters by digit.
    pub fn characters(self) -> &'static [u8; BASE as usize] {
        match self {
            Self::Bitcoin => b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
            Self::Ripple => b"rpshnaf39wBUDNEGHJKLM4PQRST7VWXYZ2bcdeCg65jkm8oFqi1tuvAxyz",
        }
    }

    /// Returns the digit of a character.
    pub fn digit(self, character: char) -> Option<u8> {
        let byte = u8::try_from(character).ok()?;
        let digit = self.characters().iter().position(|c| *c == byte)?;
        Some(digit as u8)
    }

    /// Returns the character of a digit.
    ///
    /// # Panics
    /// If the digit is [`BASE`] or more.
    pub fn character(self, digit: u8) -> char {
        self.characters()[usize::from(digit)].into()
    }
}

/// Length of the checksum after a payload, in bytes: the first bytes of its double SHA-256.
pub const CHECKSUM_LEN: usize = 4;

/// The reason why a string is not Base58Check.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// A character is not in the alphabet.
    #[error("character {} is {character:?}, which the alphabet does not have", position + 1)]
    Character {
        /// The position of the character, from 0.
        position: usize,
        /// The character, as it was given.
        character: char,
    },
    /// The string has too few bytes for a checksum.
    #[error("{found} bytes are too few for a checksum of {CHECKSUM_LEN}")]
    TooShort {
        /// Length of the string in bytes.
        found: usize,
    },
    /// The checksum does not belong to the payload.
    #[error("the checksum does not fit")]
    Checksum,
}

/// Encodes bytes. Each leading zero byte becomes a zero digit (`1` in Bitcoin's alphabet); the
/// remaining bytes are a number in base 58.
///
/// The time grows with the square of the length.
pub fn encode(bytes: &[u8], alphabet: Alphabet) -> String {
    let n_zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    // The least significant digit first.
    let mut digits = Zeroizing::new(Vec::with_capacity(bytes.len() * 138 / 100 + 1));
    for byte in bytes {
        let mut carry = u32::from(*byte);
        for digit in digits.iter_mut() {
            carry += u32::from(*digit) * 256;
            *digit = (carry % u32::from(BASE)) as u8;
            carry /= u32::from(BASE);
        }
        while carry > 0 {
            digits.push((carry % u32::from(BASE)) as u8);
            carry /= u32::from(BASE);
        }
    }
    let zeros = std::iter::repeat_n(0, n_zeros);
    let digits = zeros.chain(digits.iter().rev().copied());
    digits.map(|digit| alphabet.character(digit)).collect()
}

/// Decodes a string, the inverse of [`encode`].
///
/// # Errors
/// [`DecodeError::Character`] if a character is not in the alphabet.
pub fn decode(text: &str, alphabet: Alphabet) -> Result<Zeroizing<Vec<u8>>, DecodeError> {
    // The least significant byte first.
    let mut bytes = Zeroizing::new(Vec::with_capacity(text.len()));
    let mut n_zeros = 0;
    let mut is_leading = true;
    for (position, character) in text.chars().enumerate() {
        let digit = alphabet.digit(character);
        let digit = digit.ok_or(DecodeError::Character {
            position,
            character,
        })?;
        is_leading &= digit == 0;
        n_zeros += usize::from(is_leading);
        let mut carry = u32::from(digit);
        for byte in bytes.iter_mut() {
            carry += u32::from(*byte) * u32::from(BASE);
            *byte = carry as u8;
            carry >>= 8;
        }
        if carry > 0 {
            bytes.push(carry as u8);
        }
    }
    let len = bytes.len() + n_zeros;
    bytes.resize(len, 0);
    bytes.reverse();
    Ok(bytes)
}

/// Encodes a payload with its checksum.
pub fn encode_check(payload: &[u8], alphabet: Alphabet) -> String {
    let mut bytes = Zeroizing::new(Vec::with_capacity(payload.len() + CHECKSUM_LEN));
    bytes.extend_from_slice(payload);
    bytes.extend_from_slice(&checksum(payload));
    encode(&bytes, alphabet)
}

/// Decodes a string and returns the payload if the checksum matches.
///
/// # Errors
/// A [`DecodeError`] if the string is not Base58Check.
pub fn decode_check(text: &str, alphabet: Alphabet) -> Result<Zeroizing<Vec<u8>>, DecodeError> {
    let mut bytes = decode(text, alphabet)?;
    let found = bytes.len();
    let Some((payload, sum)) = bytes.split_last_chunk::<CHECKSUM_LEN>() else {
        return Err(DecodeError::TooShort { found });
    };
    if checksum(payload) != *sum {
        return Err(DecodeError::Checksum);
    }
    bytes.truncate(found - CHECKSUM_LEN);
    Ok(bytes)
}

fn checksum(payload: &[u8]) -> [u8; CHECKSUM_LEN] {
    let digest = digest::<Sha256>(digest::<Sha256>(payload).as_ref());
    let bytes: &[u8] = digest.as_ref();
    *bytes.first_chunk().expect("a digest has 32 bytes")
}
