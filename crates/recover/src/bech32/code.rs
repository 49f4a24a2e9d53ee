//! The checksum of Bech32 and Bech32m (BIP 173, BIP 350).

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

    /// Returns the remainder of a valid string.
    pub(crate) fn constant(self) -> u32 {
        match self {
            Self::Bech32 => 1,
            Self::Bech32m => 0x2bc8_30a3,
        }
    }
}

/// The generator polynomial (BIP 173).
const GENERATOR: [u32; 5] = [
    0x3b6a_57b2,
    0x2650_8e6d,
    0x1ea1_19fa,
    0x3d42_33dd,
    0x2a14_62b3,
];

/// Returns the value of a character in lower case.
pub(crate) fn value(character: char) -> Option<u8> {
    CHARSET.find(character).map(|value| value as u8)
}

/// Returns the character of a value of 5 bits.
pub(crate) fn character(value: u8) -> char {
    CHARSET.as_bytes()[usize::from(value % 32)].into()
}

/// Returns the remainder after one more value. Linear in both.
pub(crate) fn step(remainder: u32, value: u8) -> u32 {
    let top = remainder >> 25;
    let shifted = (remainder & 0x1ff_ffff) << 5 ^ u32::from(value);
    let terms = GENERATOR.iter().enumerate();
    let terms = terms.filter(|(bit, _)| top >> bit & 1 == 1);
    terms.fold(shifted, |remainder, (_, term)| remainder ^ term)
}

/// Returns the remainder of a human-readable part, to continue with values.
pub(crate) fn remainder_of(human_readable: &str) -> u32 {
    let bytes = human_readable.as_bytes();
    let high = bytes.iter().map(|byte| byte >> 5);
    let low = bytes.iter().map(|byte| byte & 31);
    high.chain([0]).chain(low).fold(1, step)
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
            let values = data.chars().map(|c| value(c).unwrap());
            assert_eq!(
                values.fold(remainder_of(human_readable), step),
                code.constant(),
                "{text}"
            );
        }
    }
}
