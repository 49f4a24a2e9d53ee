//! The model of all kinds of texts: what a kind answers about a damaged text.

use zeroize::Zeroizing;

/// A kind of text with a checksum: its alphabet, its layout, its checksum and the damage that it finds.
///
/// A kind is one file. [`KINDS`](crate::KINDS) lists all of them.
pub trait Kind: Sync {
    /// Returns how much a text resembles this kind, or `None` if it is of another kind. `is_last` states that the text is of no
    /// kind of another crate.
    fn recognize(&self, text: &str, is_last: bool) -> Option<Likeness>;

    /// Returns the number of strings that [`Self::originals`] compares with the checksum, without searching.
    ///
    /// # Errors
    /// The reason if the text has too much damage, or nothing that can be checked.
    fn count(&self, text: &str, errors: u8) -> Result<Count, Refusal>;

    /// Returns all possible originals of a text with at most this many errors, in any order, and their count.
    ///
    /// # Errors
    /// As [`Self::count`].
    fn originals(&self, text: &str, errors: u8) -> Result<(Vec<Repaired>, Count), Refusal>;

    /// Returns the maximum number of errors of a search.
    fn max_errors(&self) -> u8;

    /// Returns `true` if the checksum corrects errors without a search. The number of errors is then that of the code.
    fn is_solved(&self) -> bool {
        false
    }
}

/// The resemblance of a text to a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Likeness {
    /// The text is of this kind: the name in words, for example `Ethereum address`.
    Certain(String),
    /// Texts of other kinds look the same. Only a correct checksum shows that the text is of this kind.
    Possible,
}

/// The size of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Count {
    /// Number of strings that are compared with the checksum.
    pub candidates: f64,
    /// Expected number of these strings that fit by accident.
    pub accidental_hits: f64,
}

impl Count {
    /// Fails if there are too many candidates.
    pub(crate) fn within(self, maximum: f64) -> Result<Self, Refusal> {
        if self.candidates <= maximum {
            return Ok(self);
        }
        let found = self.candidates;
        Err(Refusal(format!(
            "too much is unknown: {found:.0} candidates exceed the maximum of {maximum:.0}"
        )))
    }
}

/// The reason why a text cannot be recovered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refusal(pub(crate) String);

impl Refusal {
    /// Returns the sentence about a text that was recognized.
    pub(crate) fn of(self, what: &str) -> Self {
        Self(format!("this looks like {}: {self}", with_article(what)))
    }
}

/// Returns the name of a kind with its article.
pub fn with_article(what: &str) -> String {
    let article = if what.starts_with(['a', 'e', 'i', 'o', 'A', 'E', 'I', 'O']) {
        "an"
    } else {
        "a"
    };
    format!("{article} {what}")
}

/// A possible original of a damaged text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repaired {
    /// The text. It is wiped when it is dropped.
    pub text: Zeroizing<String>,
    /// The kind in words, for example `Ethereum address (EIP-55)`.
    pub what: String,
    /// `true` for a private key, a seed or a share of one.
    pub is_secret: bool,
    /// Number of wrong, missing, extra and exchanged characters, or words. Unknown ones do not count.
    pub edits: u32,
    /// The positions in the text of characters, or words, that were wrong, missing or unknown, from 0.
    pub changed: Vec<usize>,
}

impl Repaired {
    /// Returns what is counted and numbered: `word` or `character`.
    pub fn unit(&self) -> &'static str {
        if self.text.contains(' ') {
            "word"
        } else {
            "character"
        }
    }
}

/// The result for a recognized text.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Answer {
    /// The kind in words. A hit can name it more exactly.
    pub what: String,
    /// `true` if the text is its own only hit.
    pub is_intact: bool,
    /// The possible originals, those with the fewest edits first.
    pub hits: Vec<Repaired>,
    /// Number of possible originals that facts rule out.
    pub n_rejected: usize,
    /// The size of the search.
    pub count: Count,
    /// Number of errors that were searched for, or `None` if the checksum corrects errors without a search.
    pub errors: Option<u8>,
}
