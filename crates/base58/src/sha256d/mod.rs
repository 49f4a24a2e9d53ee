//! Double SHA-256 of many short messages, compared with a checksum: the inner loop of a search for
//! Base58Check strings.
//!
//! A Base58Check string encodes the number payload · 2³² + checksum. The checksum is the first word
//! of the payload's double hash. A search for a damaged string has very many candidates. Each
//! candidate is the sum of a *base*, which rarely changes, and an *addend* from a table. A lane
//! adds a column of the table to the words of the base, so messages need not be laid out and
//! transposed. The last few digits of a string, its *tail*, affect only the checksum. The hash
//! determines which checksum is right, so one hash serves all tails of a candidate.

#![allow(
    clippy::inline_always,
    reason = "what is not inlined into a #[target_feature] entry is compiled without the feature"
)]

mod addends;
mod kernels;
#[cfg(test)]
mod tests;

pub use addends::{Addends, MAX_MESSAGE_WORDS, Match, Query, Shape};

use std::fmt;
use std::ops::Range;

use hashlane_sha::{Backend, KernelName};

use addends::Found;

/// Defines [`Token`] from a table. A token has the name of its backend.
macro_rules! kernel_table {
    ($($token:ident x $lanes:literal, $find:path;)*) => {
        /// The tokens with a kernel. A token proves that this CPU has the features of the kernel.
        #[derive(Clone, Copy, PartialEq, Eq)]
        enum Token {
            $($token(hashlane_simd::$token),)*
        }

        impl Token {
            fn available() -> impl Iterator<Item = Self> {
                [$(hashlane_simd::$token::detect().map(Self::$token),)*].into_iter().flatten()
            }

            fn backend(self) -> Backend {
                match self {
                    $(Self::$token(_) => Backend::$token,)*
                }
            }

            fn lanes(self) -> usize {
                match self {
                    $(Self::$token(_) => $lanes,)*
                }
            }

            /// Searches the addends in `range` until its end or until `found` is full. Returns the
            /// index to continue at.
            #[inline(always)]
            fn find(
                self,
                query: &Query<'_>,
                addends: &Addends<'_>,
                range: Range<usize>,
                found: &mut Found,
            ) -> usize {
                match self {
                    $(Self::$token(token) => $find(token, query, addends, range, found),)*
                }
            }
        }
    };
}

cfg_if::cfg_if! {
    if #[cfg(any(target_arch = "x86", target_arch = "x86_64"))] {
        kernel_table! {
            Portable x 1, kernels::find_in_few_lanes;
            Sse2 x 4, kernels::find_in_few_lanes;
            Avx x 4, kernels::find_in_few_lanes;
            Avx2 x 8, kernels::find_in_lanes;
            Avx512Vl x 8, kernels::find_in_lanes;
            Avx512 x 16, kernels::find_in_lanes;
            ShaNi x 4, kernels::find_in_streams::<4>;
        }
    } else if #[cfg(target_arch = "aarch64")] {
        kernel_table! {
            Portable x 1, kernels::find_in_few_lanes;
            Neon x 4, kernels::find_in_few_lanes;
            NeonSha3 x 4, kernels::find_in_few_lanes;
            ArmSha x 2, kernels::find_in_streams::<2>;
        }
    } else if #[cfg(all(target_family = "wasm", target_feature = "simd128"))] {
        kernel_table! {
            Portable x 1, kernels::find_in_few_lanes;
            Simd128 x 4, kernels::find_in_few_lanes;
        }
    } else {
        kernel_table! {
            Portable x 1, kernels::find_in_few_lanes;
        }
    }
}

/// A kernel of the search.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Sha256dKernel(Token);

impl Sha256dKernel {
    /// Returns the kernels that this CPU can run.
    pub fn available() -> impl Iterator<Item = Self> {
        Token::available().map(Self)
    }

    /// Returns the backend that the kernel belongs to.
    pub fn backend(self) -> Backend {
        self.0.backend()
    }

    /// Returns the number of messages that the kernel hashes at once.
    pub fn lanes(self) -> usize {
        self.0.lanes()
    }

    /// Returns the name, whose algorithm is `sha256d`.
    pub fn name(self) -> KernelName {
        KernelName {
            algorithm: "sha256d",
            lanes: self.lanes(),
            backend: self.backend(),
        }
    }

    /// Calls `on_match` for the addends in `range` whose messages match `query`, in ascending
    /// order. Matches among the next [`Self::lanes`] - 1 addends after the range may be passed too.
    ///
    /// # Panics
    /// If `range` ends after the last addend, or if a word of the block between the message and its
    /// length is not zero.
    #[inline(never)]
    pub fn find(
        self,
        query: &Query<'_>,
        addends: &Addends<'_>,
        range: Range<usize>,
        on_match: &mut dyn FnMut(Match),
    ) {
        assert!(
            range.end <= addends.len(),
            "{range:?} of {} addends",
            addends.len()
        );
        let (n_words, _) = addends.words().number();
        assert!(
            query.block[n_words..15].iter().all(|word| *word == 0),
            "words after the {n_words} words of the message"
        );
        let mut found = Found::new();
        let mut next = range.start;
        while next < range.end {
            next = self.0.find(query, addends, next..range.end, &mut found);
            for found in found
                .take()
                .iter()
                .filter(|found| found.index < addends.len())
            {
                on_match(*found);
            }
        }
    }
}

/// Writes the name, for example `sha256d_x16_avx512`.
impl fmt::Display for Sha256dKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.name(), f)
    }
}

impl fmt::Debug for Sha256dKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
