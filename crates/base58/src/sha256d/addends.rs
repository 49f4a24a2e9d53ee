//! The plain types of the search for checksums: a table of addends, a query, and its matches.

use std::ops::Range;

use hashlane_simd::MAX_LANES;

/// The maximum number of words in a message: 47 bytes and the first bit of the padding.
pub const MAX_MESSAGE_WORDS: usize = 12;

/// The number of words in a message, and the words that addends can change.
///
/// A kernel is compiled for each of a few shapes. The compiler then moves computations that depend
/// only on constant words out of the loop, and removes those that depend only on zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape(Words);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Words {
    /// 20 to 23 bytes: addresses.
    Six,
    /// 32 to 35 bytes: private keys.
    Nine,
    /// All other messages. Addends can change all words.
    Any,
}

impl Words {
    /// Returns the number of words in a message, and the number of words at its end that vary.
    pub(super) const fn number(self) -> (usize, usize) {
        match self {
            Self::Six => (6, 3),
            Self::Nine => (9, 5),
            Self::Any => (MAX_MESSAGE_WORDS, MAX_MESSAGE_WORDS),
        }
    }
}

impl Shape {
    /// Returns the narrowest shape for messages of `n_words` words whose addends change word
    /// `first` and later words. `n_words` includes the first bit of the padding.
    ///
    /// # Panics
    /// If `n_words` is greater than [`MAX_MESSAGE_WORDS`], or if `first` is not less than
    /// `n_words`.
    pub fn new(n_words: usize, first: usize) -> Self {
        assert!(
            first < n_words && n_words <= MAX_MESSAGE_WORDS,
            "word {first} of {n_words}"
        );
        let narrow = [Words::Six, Words::Nine];
        let fits = |words: &Words| {
            let (n, varying) = words.number();
            n == n_words && n - varying <= first
        };
        Self(narrow.into_iter().find(fits).unwrap_or(Words::Any))
    }

    /// Returns the words for which [`Addends`] must have columns. The range can be wider than the
    /// words given to [`Self::new`], also at its end.
    pub fn words(self) -> Range<usize> {
        let (n, varying) = self.0.number();
        n - varying..n
    }
}

/// A table of addends in columns of words.
/// [`Sha256dKernel::find`](crate::Sha256dKernel::find) adds them to a base.
#[derive(Clone, Copy, Debug)]
pub struct Addends<'a> {
    shape: Shape,
    len: usize,
    low: &'a [u32],
    words: [&'a [u32]; MAX_MESSAGE_WORDS],
}

impl<'a> Addends<'a> {
    /// Number of words after the last addend in a column. Their values do not matter. The last
    /// messages of a kernel can lie beyond the last addend, and kernels load [`MAX_LANES`] words
    /// from the addend of a message on.
    pub const MARGIN: usize = 2 * MAX_LANES;

    /// Returns a table of addends.
    ///
    /// `low` holds the value that each addend adds to the low word, modulo 2³². `words` holds the
    /// values that each addend adds to the words of the message, in one column for each of
    /// [`Shape::words`]. A sum carries from each word of the message into the word before it. The
    /// low word does not carry. The padding bits of a message must be zero in all columns.
    ///
    /// # Panics
    /// If the number of columns differs from the shape's, or if a column is shorter than
    /// [`Self::MARGIN`] or differs in length from `low`.
    pub fn new(
        shape: Shape,
        low: &'a [u32],
        words: impl ExactSizeIterator<Item = &'a [u32]>,
    ) -> Self {
        let (_, varying) = shape.0.number();
        assert_eq!(words.len(), varying, "columns");
        let mut columns: [&[u32]; MAX_MESSAGE_WORDS] = [&[]; MAX_MESSAGE_WORDS];
        for (column, words) in columns.iter_mut().zip(words) {
            assert_eq!(words.len(), low.len(), "words in a column");
            *column = words;
        }
        let len = low.len().checked_sub(Self::MARGIN);
        Self {
            shape,
            len: len.expect("a column ends in a margin"),
            low,
            words: columns,
        }
    }

    /// Returns the number of addends.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns `true` if the table has no addends.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the shape of the messages.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Returns the values to add to the low word.
    pub fn low(&self) -> &'a [u32] {
        &self.low[..self.len]
    }

    /// Returns the values to add to each of [`Shape::words`].
    pub fn columns(&self) -> impl Iterator<Item = &'a [u32]> {
        let columns = self.words[..self.shape.words().len()].iter();
        columns.map(|column| &column[..self.len])
    }

    pub(super) fn words(&self) -> Words {
        self.shape.0
    }

    /// Returns sixteen low words from addend `index` on.
    #[inline(always)]
    pub(super) fn low_from(&self, index: usize) -> &[u32; MAX_LANES] {
        sixteen(self.low, index)
    }

    /// Returns the column of the varying word `word` for sixteen addends from `index` on.
    #[inline(always)]
    pub(super) fn words_from(&self, word: usize, index: usize) -> &[u32; MAX_LANES] {
        sixteen(self.words[word], index)
    }
}

#[inline(always)]
fn sixteen(column: &[u32], index: usize) -> &[u32; MAX_LANES] {
    let Some(words) = column[index..].first_chunk() else {
        panic!("a column ends in a margin");
    };
    words
}

/// The base of the addends, and the condition for a match. Callers make queries, so a new field is
/// a breaking change.
#[derive(Clone, Copy, Debug)]
pub struct Query<'a> {
    /// The base message as the big-endian words of its padded block (FIPS 180-4 section 5.1.1). All
    /// words between the words of the shape and the last word are zero.
    pub block: [u32; 16],
    /// The base of the low word.
    pub low: u32,
    /// The steps that reduce the tail of a match to zero.
    ///
    /// The tail is the checksum minus the low word, modulo 2³². Each step, in this order, is
    /// subtracted from the tail unless it is greater than what is left.
    pub tail: &'a [u32],
}

/// A message with a matching checksum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Match {
    /// The index of the addend.
    pub index: usize,
    /// The checksum minus the low word, modulo 2³².
    pub tail: u32,
}

/// The matches of one run of a kernel. Matches are buffered, because a kernel must not call code that
/// is compiled without its CPU features.
pub(super) struct Found {
    matches: [Match; 4 * MAX_LANES],
    len: usize,
}

impl Found {
    pub(super) fn new() -> Self {
        Self {
            matches: [Match::default(); 4 * MAX_LANES],
            len: 0,
        }
    }

    /// Returns the matches and empties the buffer.
    pub(super) fn take(&mut self) -> &[Match] {
        let len = std::mem::take(&mut self.len);
        &self.matches[..len]
    }

    /// Returns `true` if there is room for one match in each lane.
    #[inline(always)]
    pub(super) fn has_room(&self) -> bool {
        self.len + MAX_LANES <= self.matches.len()
    }

    /// Adds a match for each bit that is set in `lanes`.
    #[inline(always)]
    pub(super) fn push(&mut self, first: usize, mut lanes: u32, tails: &[u32; MAX_LANES]) {
        while lanes != 0 && self.len < self.matches.len() {
            let lane = lanes.trailing_zeros() as usize % MAX_LANES;
            lanes &= lanes - 1;
            self.matches[self.len] = Match {
                index: first + lane,
                tail: tails[lane],
            };
            self.len += 1;
        }
    }
}
