//! Candidates that are decoded and checked again, independently of the search.

use hashlane_sha::{Sha256, Sha256Digest};
use zeroize::Zeroizing;

use crate::check::decode_check;
use crate::kind::Kind;
use crate::space::Space;

/// A string whose checksum matches. Programs make hits of strings that they have checked, so a new
/// field is a breaking change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The string.
    pub text: Zeroizing<String>,
    /// The name of the kind.
    pub kind: String,
    /// Whether the string is a private key or a seed.
    pub is_secret: bool,
    /// Number of characters that differ from the given text, not counting letter case and unknown
    /// characters.
    pub edits: u32,
    /// The payload, version first, without the checksum.
    pub payload: Zeroizing<Vec<u8>>,
    /// The work unit in which the string was found, or 0 for an intact string.
    pub unit: u64,
}

impl Hit {
    /// Returns the hit for an intact string: its checksum matches, and it belongs to one of these
    /// kinds.
    pub fn intact(text: &str, kinds: &[Kind]) -> Option<Self> {
        kinds.iter().find_map(|kind| {
            let payload = decode_check(text, kind.alphabet).ok()?;
            kind.matches(&payload).then(|| Self {
                text: Zeroizing::new(text.to_owned()),
                kind: kind.name.to_string(),
                is_secret: kind.is_secret,
                edits: 0,
                payload,
                unit: 0,
            })
        })
    }

    /// Returns the hit for these digits if the string belongs to the kind of the space and its
    /// checksum matches.
    pub(crate) fn check(space: &Space, digits: &[u8], unit: u64) -> Option<Self> {
        let kind = &space.kind;
        let characters = digits.iter().map(|digit| kind.alphabet.character(*digit));
        let text = Zeroizing::new(characters.collect::<String>());
        let payload = decode_check(&text, kind.alphabet).ok()?;
        if !kind.matches(&payload) {
            return None;
        }
        let differs = |written: char, found: char| !written.eq_ignore_ascii_case(&found);
        let edits = space
            .pattern
            .places
            .iter()
            .zip(text.chars())
            .filter(|(place, found)| place.written.is_some_and(|c| differs(c, *found)))
            .count() as u32;
        Some(Self {
            text,
            kind: kind.name.to_string(),
            is_secret: kind.is_secret,
            edits: edits + u32::from(space.pattern.errors),
            payload,
            unit,
        })
    }

    /// Returns a digest that identifies the hit without revealing the string.
    pub(crate) fn fingerprint(&self) -> Sha256Digest {
        let mut hasher = Sha256::new();
        hasher.update(self.kind.as_bytes());
        hasher.update(&[0]);
        hasher.update(self.text.as_bytes());
        hasher.finalize()
    }
}
