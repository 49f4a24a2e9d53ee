//! The damage that a search covers.

/// The maximum number of errors at unknown positions. For an address, one error makes 137 patterns,
/// two errors make about 9,000, and three would make hundreds of thousands.
pub const MAX_ERRORS: u8 = 2;

/// The damage that a string may have. `?` and `[abc]` always mark unknown characters.
/// Write `..Damage::default()` in a literal, because kinds of damage may be added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Damage {
    /// Letters may have lost their case.
    pub case: bool,
    /// Characters may have been replaced by similar ones.
    pub glyphs: bool,
    /// Number of wrong, missing, extra or transposed characters. A character that no string has is
    /// an error whose position is known. At most [`MAX_ERRORS`] have unknown positions.
    pub errors: u8,
    /// Where characters are missing in one piece, besides those of `errors`.
    pub gap: Gap,
}

/// The longest gap in a string, in characters.
pub const MAX_GAP: usize = 10;

/// A place where a string has lost characters in one piece: as many as the strings of a kind have more, at most [`MAX_GAP`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Gap {
    /// No characters are missing in one piece.
    #[default]
    None,
    /// The last characters are missing.
    End,
    /// The first characters are missing.
    Start,
    /// Characters are missing at an unknown position between the first and the last one.
    Inside,
}

impl Gap {
    /// The places of a gap, the most likely first.
    pub(crate) const PLACES: [Self; 3] = [Self::End, Self::Start, Self::Inside];
}

impl Damage {
    /// Returns the damage to search for if nothing is known of the letter case: it is lost if all letters have the same
    /// case, or if neither the arguments nor the text name other damage.
    pub fn with_unknown_case(text: &str, glyphs: bool, errors: u8) -> Self {
        let is_damaged = glyphs || errors > 0 || text.contains(['?', '[']);
        Self {
            case: !is_mixed(text) || !is_damaged,
            glyphs,
            errors,
            ..Self::default()
        }
    }

    /// Returns `true` if a search for this damage also finds what a search for `inner` finds.
    pub fn includes(self, inner: Self) -> bool {
        self.gap == inner.gap
            && self.case >= inner.case
            && self.glyphs >= inner.glyphs
            && self.errors >= inner.errors
    }
}

/// Returns `true` if a text has letters of either case.
pub(crate) fn is_mixed(text: &str) -> bool {
    text.contains(|c: char| c.is_ascii_lowercase())
        && text.contains(|c: char| c.is_ascii_uppercase())
}
