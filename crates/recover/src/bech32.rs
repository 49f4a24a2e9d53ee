//! Bech32 (BIP 173) and Bech32m (BIP 350) with any prefix. The checksum is a BCH code, which corrects errors without a search.
//!
//! | module | contents |
//! |---|---|
//! | `code` | the checksum: characters, constants of both codes, effect of an error |
//! | `prefix` | the known prefixes, and the rules of texts with them |
//! | `pattern` | a damaged string: prefix, known and unknown characters |
//! | `solve` | finds the strings of a pattern with a correct checksum |
//! | `repair` | finds all possible patterns of a string, and decodes the results |
//! | `recognize` | recognizes damaged strings among texts of any format |

mod code;
mod pattern;
mod prefix;
mod recognize;
mod repair;
mod solve;

pub(crate) use code::CHARSET;
pub use pattern::RepairError;
pub use recognize::{is_like_witness_address, starts_like_witness_address};
pub use repair::{is_witness_address, repair};

use crate::kind::{Count, Kind, Likeness, Refusal, Repaired};

/// Number of values of a checksum: 2³⁰.
const CHECKSUMS: f64 = 1_073_741_824.0;

/// Strings of both codes.
pub(crate) struct Bech32;

impl Kind for Bech32 {
    fn recognize(&self, text: &str, is_last: bool) -> Option<Likeness> {
        if is_last && starts_like_witness_address(text) {
            return Some(Likeness::Certain("witness address".into()));
        }
        recognize::likeness(text)
    }

    fn count(&self, text: &str, _: u8) -> Result<Count, Refusal> {
        let patterns = pattern::read(text)?;
        let candidates: f64 = patterns
            .iter()
            .map(|pattern| {
                let n_unknown = pattern.unknown().len();
                let written = pattern.places.len().saturating_sub(n_unknown) as f64 * 31.0;
                let errors = match solve::max_errors(n_unknown + 2 * pattern.n_wrong_start) {
                    0 => 1.0,
                    1 => 1.0 + written,
                    _ => 1.0 + written + written * written / 2.0,
                };
                errors * pattern.combinations() * pattern.codes().len() as f64
            })
            .sum();
        Ok(Count {
            candidates,
            accidental_hits: candidates / CHECKSUMS,
        })
    }

    fn originals(&self, text: &str, _: u8) -> Result<(Vec<Repaired>, Count), Refusal> {
        let lower = text.to_ascii_lowercase();
        if recognize::UNCHECKED
            .iter()
            .any(|start| lower.starts_with(start))
        {
            return Err(Refusal(
                "texts of BOLT 12 have the alphabet of Bech32, but no checksum".into(),
            ));
        }
        let found = repair(text)?;
        Ok((found, self.count(text, 0)?))
    }

    fn is_solved(&self) -> bool {
        true
    }

    fn max_errors(&self) -> u8 {
        0
    }
}

impl From<RepairError> for Refusal {
    fn from(error: RepairError) -> Self {
        Self(error.to_string())
    }
}
