//! The digits of base 58 and their characters.

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
