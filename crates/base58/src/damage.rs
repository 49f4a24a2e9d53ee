//! The damage that a search covers.

use std::ops::RangeInclusive;

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
    /// Number of wrong, missing, extra or transposed characters at unknown positions. At most
    /// [`MAX_ERRORS`].
    pub errors: u8,
}

impl Damage {
    /// Returns the least damage that a text shows: if all letters have the same case, the letter case is lost.
    pub fn least(text: &str) -> Self {
        Self {
            case: !is_mixed(text),
            ..Self::default()
        }
    }

    /// Returns the damage to search for if nothing is known of the letter case: it is lost if all letters have the same
    /// case, or if neither the arguments nor the text name other damage.
    pub fn with_unknown_case(text: &str, glyphs: bool, errors: u8) -> Self {
        let is_damaged = glyphs || errors > 0 || text.contains(['?', '[']);
        Self {
            case: !is_mixed(text) || !is_damaged,
            glyphs,
            errors,
        }
    }

    /// Returns every damage that includes this one, except for its number of errors, which is in `errors`.
    pub fn wider(self, errors: RangeInclusive<u8>) -> Vec<Self> {
        let mut all = Vec::new();
        for errors in (*errors.start()).max(self.errors)..=(*errors.end()).min(MAX_ERRORS) {
            for glyphs in [false, true] {
                for case in [false, true] {
                    if (case || !self.case) && (glyphs || !self.glyphs) {
                        all.push(Self {
                            case,
                            glyphs,
                            errors,
                        });
                    }
                }
            }
        }
        all
    }

    /// Returns `true` if a search for this damage also finds what a search for `inner` finds.
    pub fn includes(self, inner: Self) -> bool {
        self.case >= inner.case && self.glyphs >= inner.glyphs && self.errors >= inner.errors
    }
}

fn is_mixed(text: &str) -> bool {
    text.contains(|c: char| c.is_ascii_lowercase())
        && text.contains(|c: char| c.is_ascii_uppercase())
}
