//! SHA-256 of SHA-256 of many short messages, compared with a checksum: the inner loop of a search
//! for Base58Check strings.
//!
//! A Base58Check string is a number, payload · 2³² + checksum, where the checksum is the first word
//! of the payload's double hash. Whoever looks for one that was damaged has a great many candidates
//! that are each a sum: of a *base*, which changes seldom, and of an *addend* out of a table. So the
//! messages need not be laid out and transposed: a lane adds a column of the table to the words of
//! the base. What comes of the last few digits of the string, its *tail*, is the checksum alone: what
//! it must be follows from the hash, so that one hash serves all of a candidate's tails.

use core::ops::Range;

use crate::types::MAX_LANES;

/// Maximum number of words of a message: 47 bytes, and the first bit of the padding.
pub const MAX_MESSAGE_WORDS: usize = 12;

/// How many words the messages have, and which of them addends can reach.
///
/// The kernels are compiled for each of a few shapes, so that what depends only on words before
/// those that vary, and on the zeros after them, is computed once or not at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape(pub(crate) Kind);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// 20 to 23 bytes: addresses.
    Words6,
    /// 32 to 35 bytes: private keys.
    Words9,
    /// Whatever else there is, with all words in reach.
    Any,
}

impl Kind {
    /// Words of a message, and how many of them, from the end, vary.
    pub(crate) const fn words(self) -> (usize, usize) {
        match self {
            Self::Words6 => (6, 3),
            Self::Words9 => (9, 5),
            Self::Any => (MAX_MESSAGE_WORDS, MAX_MESSAGE_WORDS),
        }
    }
}

impl Shape {
    /// Returns the narrowest shape for messages of `n_words` words, the first bit of the padding included,
    /// if the addends reach word `first` and all later words.
    ///
    /// # Panics
    /// If `n_words` is more than [`MAX_MESSAGE_WORDS`], or `first` is not less than `n_words`.
    pub fn new(n_words: usize, first: usize) -> Self {
        assert!(
            first < n_words && n_words <= MAX_MESSAGE_WORDS,
            "word {first} of {n_words}"
        );
        let kinds = [Kind::Words6, Kind::Words9];
        let fits = |kind: &Kind| {
            let (n, varying) = kind.words();
            n == n_words && n - varying <= first
        };
        Self(kinds.into_iter().find(fits).unwrap_or(Kind::Any))
    }

    /// Returns the words that [`Addends`] must have columns for. There can be more than were asked for,
    /// even after the last one.
    pub fn words(self) -> Range<usize> {
        let (n, varying) = self.0.words();
        n - varying..n
    }
}

/// A table of addends, as columns of words, that [`Sha256dKernel::find`](crate::hazmat::Sha256dKernel::find)
/// adds to a base.
#[derive(Clone, Copy, Debug)]
pub struct Addends<'a> {
    shape: Shape,
    len: usize,
    low: &'a [u32],
    words: [&'a [u32]; MAX_MESSAGE_WORDS],
}

impl<'a> Addends<'a> {
    /// Number of words that follow the last addend in a column. Their values do not matter.
    pub const MARGIN: usize = MAX_LANES;

    /// A table: what each addend adds to the low word, modulo 2³², and what to the words of the message,
    /// a column for each of [`Shape::words`]. There is a carry from each word of the message to the one
    /// before it, but none out of the low word. Bits of the message that are padding must be zero.
    ///
    /// # Panics
    /// If there are more or fewer columns than the shape has, or if one is not as long as another, or
    /// shorter than [`Self::MARGIN`].
    pub fn new(
        shape: Shape,
        low: &'a [u32],
        words: impl ExactSizeIterator<Item = &'a [u32]>,
    ) -> Self {
        let (_, varying) = shape.0.words();
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

    /// How many addends there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(crate) fn kind(&self) -> Kind {
        self.shape.0
    }

    /// The sixteen low words from `index` on, where an addend is.
    #[inline(always)]
    pub(crate) fn low_from(&self, index: usize) -> &[u32; MAX_LANES] {
        sixteen(self.low, index)
    }

    /// Word number `word` of those that vary, of the sixteen addends from `index` on.
    #[inline(always)]
    pub(crate) fn words_from(&self, word: usize, index: usize) -> &[u32; MAX_LANES] {
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

/// What the addends are added to, and what makes a match.
#[derive(Clone, Copy, Debug)]
pub struct Query<'a> {
    /// The message to which nothing is added, as the padded block's big-endian words (FIPS 180-4
    /// section 5.1.1). All words between those of the shape and the last are zero.
    pub block: [u32; 16],
    /// The low word to which nothing is added.
    pub low: u32,
    /// What is left of the checksum when the low word is subtracted from it, modulo 2³², must come
    /// to zero when each of these, in this order, is subtracted from it where that leaves it
    /// positive or zero.
    pub tail: &'a [u32],
}

/// A message whose checksum fits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Match {
    /// The number of the addend.
    pub index: usize,
    /// The checksum minus the low word, modulo 2³².
    pub tail: u32,
}

/// The matches of one run of a kernel, which must not call a function that is not part of it.
pub(crate) struct Found {
    matches: [Match; 4 * MAX_LANES],
    len: usize,
}

impl Found {
    pub(crate) fn new() -> Self {
        Self {
            matches: [Match::default(); 4 * MAX_LANES],
            len: 0,
        }
    }

    /// The matches, after which there is room again.
    pub(crate) fn take(&mut self) -> &[Match] {
        let len = core::mem::take(&mut self.len);
        &self.matches[..len]
    }

    /// Whether there is room for one match in each lane.
    #[inline(always)]
    pub(crate) fn has_room(&self) -> bool {
        self.len + MAX_LANES <= self.matches.len()
    }

    /// Takes the lanes that have a bit in `lanes`.
    #[inline(always)]
    pub(crate) fn push(&mut self, first: usize, mut lanes: u32, tails: &[u32; MAX_LANES]) {
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
