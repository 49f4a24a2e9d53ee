//! The kernels that detect collision attacks on SHA-1.

use crate::backend::Backend;
use crate::kernels::sha1_checked::{self, Attacks, Met, Screened};
use crate::kernels::sha1_vectors::LaneDifferences;
use crate::table::Kernel;
use crate::types::{Block, LaneStates, MAX_LANES, State};

/// Defines [`CheckedKernel`] from a list of tokens and lanes, from the fastest to the slowest.
macro_rules! checked_kernels {
    ($($token:ident x $lanes:literal,)*) => {
        $(use hashlane_simd::$token;)*

        /// A set of vector instructions for SHA-1 with detection. Each variant holds the token that
        /// proves that this CPU has the instructions.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum CheckedKernel {
            $($token($token),)*
        }

        impl CheckedKernel {
            /// Returns the kernels that this CPU can run, from the fastest to the slowest.
            pub(crate) fn available() -> impl Iterator<Item = Self> {
                [$($token::detect().map(Self::$token),)*].into_iter().flatten()
            }

            /// Returns the kernel for one block, which every CPU can run.
            pub(crate) fn portable() -> Self {
                Self::Portable(Portable)
            }

            /// Returns the backend of the kernel, which has the name of its token.
            pub(crate) fn backend(self) -> Backend {
                match self {
                    $(Self::$token(_) => Backend::$token,)*
                }
            }

            /// Returns the number of blocks that the kernel compresses at once.
            pub(crate) fn lanes(self) -> usize {
                match self {
                    $(Self::$token(_) => $lanes,)*
                }
            }

            /// Compresses the first `n_blocks` blocks of `inputs[i]` into lane `i`, for each of the
            /// first [`Self::lanes`] lanes, and tests the conditions of the blocks.
            ///
            /// # Panics
            /// If one of these inputs is shorter than `n_blocks`, or `n_blocks` exceeds
            /// [`sha1_checked::MAX_BLOCKS`].
            pub(crate) fn compress_lanes(
                self,
                states: &mut LaneStates,
                inputs: &[&[Block]; MAX_LANES],
                n_blocks: usize,
                screened: &mut Screened,
            ) {
                match self {
                    $(Self::$token(token) => {
                        sha1_checked::compress_lanes(token, states, inputs, n_blocks, screened);
                    })*
                }
            }

            /// Tests the conditions of the first block of `inputs[i]`, for each of the first
            /// [`Self::lanes`] lanes.
            ///
            /// # Panics
            /// If one of these inputs is empty.
            pub(crate) fn screen_blocks(
                self,
                inputs: &[&[Block]; MAX_LANES],
                met: &mut Met,
            ) {
                match self {
                    $(Self::$token(token) => {
                        sha1_checked::screen_blocks(token, inputs, met);
                    })*
                }
            }

            /// Returns which of the first [`Self::lanes`] lanes have a block of an attack.
            ///
            /// # Panics
            /// If one of these inputs is empty.
            pub(crate) fn attacks(
                self,
                before: &LaneStates,
                inputs: &[&[Block]; MAX_LANES],
                differences: &LaneDifferences,
            ) -> Attacks {
                match self {
                    $(Self::$token(token) => {
                        sha1_checked::attacks(token, before, inputs, differences)
                    })*
                }
            }
        }
    };
}

cfg_if::cfg_if! {
    if #[cfg(any(target_arch = "x86", target_arch = "x86_64"))] {
        checked_kernels!(Avx512 x 16, Avx512Vl x 8, Avx2 x 8, Sse2 x 4, Portable x 1,);

        use hashlane_simd::ShaNi;

        use crate::kernels::x86_sha1_checked;

        /// A kernel that tests the conditions of one message while it compresses the blocks.
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct FusedKernel(ShaNi, Avx2);

        impl FusedKernel {
            /// Returns the kernel with the instructions of a kernel for one message, if there is one.
            pub(crate) fn of(kernel: Kernel) -> Option<Self> {
                match kernel {
                    Kernel::ShaNiX1(token) => Some(Self(token, Avx2::detect()?)),
                    _ => None,
                }
            }

            /// Compresses blocks of one message: see [`x86_sha1_checked::compress`].
            pub(crate) fn compress(
                self,
                state: &mut State,
                blocks: &[Block],
                found: impl FnMut(&State, &Block, u64, &mut State) -> bool,
            ) {
                x86_sha1_checked::compress(self.0, self.1, state, blocks, found);
            }
        }
    } else if #[cfg(target_arch = "aarch64")] {
        checked_kernels!(NeonSha3 x 4, Neon x 4, Portable x 1,);
    } else if #[cfg(all(target_family = "wasm", target_feature = "simd128"))] {
        checked_kernels!(Simd128 x 4, Portable x 1,);
    } else {
        checked_kernels!(Portable x 1,);
    }
}

cfg_if::cfg_if! {
    if #[cfg(not(any(target_arch = "x86", target_arch = "x86_64")))] {
        /// A kernel that tests the conditions of one message while it compresses the blocks: none.
        #[derive(Clone, Copy, Debug)]
        pub(crate) enum FusedKernel {}

        impl FusedKernel {
            /// Returns the kernel with the instructions of a kernel for one message, if there is one.
            pub(crate) fn of(_: Kernel) -> Option<Self> {
                None
            }

            /// Compresses blocks of one message.
            pub(crate) fn compress(
                self,
                _: &mut State,
                _: &[Block],
                _: impl FnMut(&State, &Block, u64, &mut State) -> bool,
            ) {
                match self {}
            }
        }
    }
}
