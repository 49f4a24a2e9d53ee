//! The table of kernels, through which the engine calls their bodies.
//!
//! The entries of x86 and of ARM are in files of their own, those of other architectures at the end
//! of this one. An entry names a kernel, the token that proves that the CPU can run it, and its
//! function. `Rates` has the rates of all kernels on a family of CPUs: one row per family, which
//! says whether a rate was measured or is an estimate.

/// The rates of a kernel with all lanes busy. Only the ratios within a family matter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rate {
    /// SHA-1 and SHA-256, for messages of 16 KiB on one core. On x86 in GB/s.
    pub(crate) of: [f32; 2],
    /// The rates were not measured on a CPU of the family.
    pub(crate) is_estimate: bool,
}

/// Returns rates of SHA-1 and SHA-256 that were measured on a CPU of the family.
#[allow(dead_code, reason = "a target may have estimates alone")]
const fn measured(sha1: f32, sha256: f32) -> Rate {
    Rate {
        of: [sha1, sha256],
        is_estimate: false,
    }
}

/// Returns rates of SHA-1 and SHA-256 that follow from other CPUs or from tables of instructions.
#[allow(dead_code, reason = "a target may have measured rates alone")]
const fn estimate(sha1: f32, sha256: f32) -> Rate {
    Rate {
        of: [sha1, sha256],
        is_estimate: true,
    }
}

/// Returns rates that keep a kernel from being chosen, because it was measured neither on a CPU of the
/// family nor on one like it.
#[allow(dead_code, reason = "a target may have measured rates alone")]
const fn not_chosen() -> Rate {
    measured(0.0, 0.0)
}

/// Defines `Kernel` and `Rates` from a table: kernels of one message first, then kernels of
/// several messages.
macro_rules! kernel_table {
    (
        one { $($one:ident($one_token:ident), $compress:expr;)* }
        lanes { $($many:ident($token:ident) x $lanes:literal, $body:ident<$($parameter:tt),+>;)* }
    ) => {
        /// The rates of all kernels on a family of CPUs. Each field has the name of its kernel.
        #[derive(Clone, Copy, Debug)]
        #[allow(non_snake_case, reason = "the names of kernels")]
        pub(crate) struct Rates {
            $($one: $crate::table::Rate,)*
            $($many: $crate::table::Rate,)*
        }

        #[allow(dead_code, reason = "a target may have one family")]
        impl Rates {
            /// Returns the same rates as estimates for another family.
            const fn as_estimates(mut self) -> Self {
                $(self.$one.is_estimate = true;)*
                $(self.$many.is_estimate = true;)*
                self
            }
        }

        /// A way to run a compression function. Each variant holds the token that proves that this
        /// CPU has the features of the kernel, so a call is safe.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Kernel {
            $($one($one_token),)*
            $($many($token),)*
        }

        impl Kernel {
            /// Returns the kernels that this CPU can run.
            pub(crate) fn available() -> impl Iterator<Item = Self> {
                [
                    $($one_token::detect().map(Self::$one),)*
                    $($token::detect().map(Self::$many),)*
                ]
                .into_iter()
                .flatten()
            }

            /// Returns the backend of the kernel, which has the name of its token.
            pub(crate) fn backend(self) -> Backend {
                match self {
                    $(Self::$one(_) => Backend::$one_token,)*
                    $(Self::$many(_) => Backend::$token,)*
                }
            }

            /// Returns the number of messages that the kernel compresses at once.
            pub(crate) fn lanes(self) -> usize {
                match self {
                    $(Self::$one(_) => 1,)*
                    $(Self::$many(_) => $lanes,)*
                }
            }

            /// Returns the rate of the kernel on CPUs of a family.
            pub(crate) fn rate(self, family: Family) -> $crate::table::Rate {
                let rates = rates_of(family);
                match self {
                    $(Self::$one(_) => rates.$one,)*
                    $(Self::$many(_) => rates.$many,)*
                }
            }

            /// Compresses the first `n_blocks` blocks of `inputs[i]` into lane `i`, for each of
            /// the first [`Self::lanes`] lanes, which are counted through the sets.
            ///
            /// # Panics
            /// If one of these inputs is shorter than `n_blocks`, or there are too few sets.
            #[inline(always)]
            pub(crate) fn compress_lanes<A: Rounds>(
                self,
                states: &mut [LaneStates],
                inputs: &[[&[Block]; MAX_LANES]],
                n_blocks: usize,
            ) {
                match self {
                    $(Self::$one(_))|* => {
                        let mut state = states[0].lane(0);
                        self.compress::<A>(&mut state, &inputs[0][0][..n_blocks]);
                        states[0].set_lane(0, &state);
                    }
                    $(Self::$many(token) => {
                        #[cfg(test)]
                        crate::kernels::tests::note_run::<A>(self);
                        $body::compress_lanes::<A, $($parameter),+>(
                            token,
                            states.first_chunk_mut().expect("a set for each group"),
                            inputs.first_chunk().expect("a set for each group"),
                            n_blocks,
                        );
                    })*
                }
            }

            /// Compresses the first `n_blocks` blocks of `inputs[i]` and then the padding, for each
            /// of the first [`Self::lanes`] messages. Each starts with `start`, and its number and
            /// its state are passed to `done`.
            ///
            /// # Panics
            /// If one of these inputs is shorter than `n_blocks`, or there are too few sets.
            #[inline(always)]
            pub(crate) fn compress_equal<A: Rounds>(
                self,
                start: &State,
                inputs: &[[&[Block]; MAX_LANES]],
                n_blocks: usize,
                padding: &Padding,
                mut done: impl FnMut(usize, &State),
            ) {
                match self {
                    $(Self::$one(_))|* => {
                        let mut state = *start;
                        self.compress::<A>(&mut state, &inputs[0][0][..n_blocks]);
                        self.compress::<A>(&mut state, core::slice::from_ref(&padding.block));
                        done(0, &state);
                    }
                    $(Self::$many(token) => {
                        #[cfg(test)]
                        crate::kernels::tests::note_run::<A>(self);
                        $body::compress_equal::<A, $($parameter),+>(
                            token,
                            start,
                            inputs.first_chunk().expect("a set for each group"),
                            n_blocks,
                            padding,
                            done,
                        );
                    })*
                }
            }

            /// Compresses `blocks` of one message into `state`. If `blocks` is empty, no kernel
            /// runs.
            #[inline(always)]
            pub(crate) fn compress<A: Rounds>(self, state: &mut State, blocks: &[Block]) {
                if blocks.is_empty() {
                    return;
                }
                match self {
                    $(Self::$one(token) => {
                        #[cfg(test)]
                        crate::kernels::tests::note_run::<A>(self);
                        $compress(token, state, blocks);
                    })*
                    #[allow(unreachable_patterns, reason = "a target may have no such kernel")]
                    _ => self.compress_in_lanes::<A>(state, blocks),
                }
            }

            /// Compresses `blocks` of one message with a kernel of several messages. Only tests and
            /// benchmarks call it, never a plan.
            #[cold]
            #[inline(never)]
            fn compress_in_lanes<A: Rounds>(self, state: &mut State, blocks: &[Block]) {
                let mut states = [LaneStates::default(); N_SETS];
                states[0].set_lane(0, state);
                let inputs = [[blocks; MAX_LANES]; N_SETS];
                self.compress_lanes::<A>(&mut states, &inputs, blocks.len());
                *state = states[0].lane(0);
            }
        }
    };
}

pub(crate) mod checked;
pub(crate) mod groups;

cfg_if::cfg_if! {
    if #[cfg(any(target_arch = "x86", target_arch = "x86_64"))] {
        mod x86;
        pub(crate) use x86::Kernel;
    } else if #[cfg(target_arch = "aarch64")] {
        mod aarch64;
        pub(crate) use aarch64::Kernel;
    } else {
        use hashlane_simd::{Family, Portable};

        use crate::backend::Backend;
        use crate::kernels::lanes;
        use crate::kernels::rounds::{Padding, Rounds};
        use crate::types::{Block, LaneStates, MAX_LANES, N_SETS, State};

        cfg_if::cfg_if! {
            if #[cfg(all(target_family = "wasm", target_feature = "simd128"))] {
                use hashlane_simd::Simd128;

                kernel_table! {
                    one {
                        Portable(Portable), lanes::compress::<A>;
                    }
                    lanes {
                        Simd128X4(Simd128) x 4, lanes<_, 1>;
                    }
                }

                // Measured: Node.js 20 (V8) on an EPYC of the Zen 3 generation, rustc 1.95, 2026-11.
                const ANY: Rates = Rates {
                    Portable: measured(0.73, 0.24),
                    Simd128X4: measured(1.77, 0.49),
                };
            } else {
                kernel_table! {
                    one {
                        Portable(Portable), lanes::compress::<A>;
                    }
                    lanes {
                    }
                }

                // There is nothing to choose.
                const ANY: Rates = Rates {
                    Portable: estimate(0.86, 0.35),
                };
            }
        }

        /// Returns the rates of all kernels on CPUs of a family.
        fn rates_of(family: Family) -> &'static Rates {
            match family {
                Family::Any => &ANY,
            }
        }
    }
}
