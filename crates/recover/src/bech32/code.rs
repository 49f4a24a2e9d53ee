//! The checksum of Bech32 and Bech32m (BIP 173, BIP 350).

use crate::linear;

/// The characters by value.
pub(crate) const CHARSET: &str = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";

/// Number of characters of the checksum.
pub(crate) const CHECKSUM_LEN: usize = 6;

/// One of both codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    Bech32,
    Bech32m,
}

impl Code {
    pub(crate) const ALL: [Self; 2] = [Self::Bech32, Self::Bech32m];

    /// Returns the code of the characters after a human-readable part.
    pub(crate) fn after(self, human_readable: &str) -> linear::Code<5> {
        let bytes = human_readable.bytes();
        let high = bytes.clone().map(|byte| byte >> 5);
        let low = bytes.map(|byte| byte & 31);
        let start = high.chain([0]).chain(low);
        linear::Code {
            start: start.fold(BECH32.start, |remainder, value| {
                BECH32.step(remainder, value.into())
            }),
            valid: match self {
                Self::Bech32 => BECH32.valid,
                Self::Bech32m => 0x2bc8_30a3,
            },
            ..BECH32
        }
    }
}

/// The code of Bech32 (BIP 173), which also covers the human-readable part.
pub(crate) const BECH32: linear::Code<5> = linear::Code {
    generator: [
        0x3b6a_57b2,
        0x2650_8e6d,
        0x1ea1_19fa,
        0x3d42_33dd,
        0x2a14_62b3,
    ],
    checksum_len: CHECKSUM_LEN,
    start: 1,
    valid: 1,
};

/// Returns the value of a character in lower case.
pub(crate) fn value(character: char) -> Option<u8> {
    CHARSET.find(character).map(|value| value as u8)
}

/// Returns the character of a value of 5 bits.
pub(crate) fn character(value: u16) -> char {
    CHARSET.as_bytes()[usize::from(value % 32)].into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The shortest valid strings of BIP 173 and BIP 350.
    #[test]
    fn remainders_of_valid_strings() {
        for (text, code) in [
            ("a12uel5l", Code::Bech32),
            ("a1lqfn3a", Code::Bech32m),
            (
                "abcdef1qpzry9x8gf2tvdw0s3jn54khce6mua7lmqqqxw",
                Code::Bech32,
            ),
            (
                "abcdef1l7aum6echk45nj3s0wdvt2fg8x9yrzpqzd3ryx",
                Code::Bech32m,
            ),
        ] {
            let (human_readable, data) = text.split_once('1').unwrap();
            let values = data.chars().map(|c| value(c).unwrap().into());
            let values: Vec<u16> = values.collect();
            assert_eq!(code.after(human_readable).remainder(&values), 0, "{text}");
        }
    }
}
