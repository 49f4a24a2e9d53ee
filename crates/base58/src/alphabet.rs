//! Which character stands for which digit.

/// Digits in base 58.
pub const BASE: u8 = 58;

/// 58 characters in the order of the digits that they stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Alphabet {
    /// Bitcoin's, which nearly all others use as well: without 0, O, I and l.
    Bitcoin,
    /// Ripple's: the same characters in another order.
    Ripple,
}

impl Alphabet {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Bitcoin, Self::Ripple];

    /// The characters, by digit.
    pub fn characters(self) -> &'static [u8; BASE as usize] {
        match self {
            Self::Bitcoin => b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
            Self::Ripple => b"rpshnaf39wBUDNEGHJKLM4PQRST7VWXYZ2bcdeCg65jkm8oFqi1tuvAxyz",
        }
    }

    /// The digit that a character stands for.
    pub fn digit(self, character: char) -> Option<u8> {
        let byte = u8::try_from(character).ok()?;
        let digit = self.characters().iter().position(|c| *c == byte)?;
        Some(digit as u8)
    }

    /// The character of a digit.
    ///
    /// # Panics
    /// If it is [`BASE`] or more.
    pub fn character(self, digit: u8) -> char {
        self.characters()[usize::from(digit)].into()
    }
}
