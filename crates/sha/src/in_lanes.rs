//! Messages that arrive in parts and are compressed side by side, for the algorithms that have no plan: MD5 and SHA-512.

use core::fmt;

use zeroize::Zeroize;

use crate::context::{absorb, buffered};
use crate::types::{MAX_GROUPS, MAX_LANES};

/// The largest number of messages that a kernel compresses at once.
const MAX_MESSAGES: usize = MAX_GROUPS * MAX_LANES;

/// Number of messages in a pass over whole messages: a multiple of every number of lanes. It keeps the lanes busy, and takes 20 KB of
/// stack.
pub(crate) const SET: usize = 2 * MAX_MESSAGES;

/// A message in progress. `B` is the length of a block in bytes.
#[derive(Clone)]
pub(crate) struct Message<W: Zeroize, const B: usize> {
    /// MD5 uses the first four words.
    pub(crate) state: [W; 8],
    /// Bytes that do not fill a block yet.
    rest: [u8; B],
    /// Length of the message so far in bytes, modulo 2^64.
    len_bytes: u64,
}

impl<W: Copy + Zeroize, const B: usize> Message<W, B> {
    /// Returns the empty message.
    pub(crate) fn new(iv: [W; 8]) -> Self {
        Self {
            state: iv,
            rest: [0; B],
            len_bytes: 0,
        }
    }

    /// Appends bytes. Whole blocks are compressed by `compress`.
    pub(crate) fn update(&mut self, bytes: &[u8], compress: impl Fn(&mut [W; 8], &[[u8; B]])) {
        let blocks = self.absorb(bytes, &compress);
        compress(&mut self.state, blocks);
    }

    /// Appends bytes without compressing the whole blocks that it returns.
    fn absorb<'m>(
        &mut self,
        bytes: &'m [u8],
        compress: impl Fn(&mut [W; 8], &[[u8; B]]),
    ) -> &'m [[u8; B]] {
        let state = &mut self.state;
        absorb(&mut self.rest, &mut self.len_bytes, bytes, |blocks| {
            compress(state, blocks);
        })
    }

    /// Returns the padding of the message: a one, zeros, and its length in bits in the form that `length` returns.
    pub(crate) fn padding<const L: usize>(&self, length: impl Fn(u128) -> [u8; L]) -> Padding {
        let length = length(u128::from(self.len_bytes) * 8);
        let n_zeros = B - 1 - (buffered::<B>(self.len_bytes) + L) % B;
        let mut bytes = [0; MAX_PADDING_LEN];
        bytes[0] = 0x80;
        let len = 1 + n_zeros + L;
        bytes[len - L..len].copy_from_slice(&length);
        Padding { bytes, len }
    }
}

impl<W: Zeroize, const B: usize> Zeroize for Message<W, B> {
    fn zeroize(&mut self) {
        self.state.zeroize();
        self.rest.zeroize();
        self.len_bytes = 0;
    }
}

#[cfg(feature = "zeroize")]
impl<W: Zeroize, const B: usize> Drop for Message<W, B> {
    fn drop(&mut self) {
        self.zeroize();
    }
}

/// Shows only the length of the message: its bytes may be secret.
impl<W: Zeroize, const B: usize> fmt::Debug for Message<W, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Message")
            .field("len_bytes", &self.len_bytes)
            .finish_non_exhaustive()
    }
}

/// The longest padding in bytes: up to a block, and a length that does not fit in the block that the message ends in.
const MAX_PADDING_LEN: usize = 128 + 16;

/// What follows the last byte of a message.
#[derive(Clone, Copy)]
pub(crate) struct Padding {
    bytes: [u8; MAX_PADDING_LEN],
    len: usize,
}

impl Padding {
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

/// A kernel that compresses messages in lanes. `B` is the length of a block in bytes.
pub(crate) trait LaneKernel<const B: usize>: Copy {
    /// A word of the state.
    type Word: Copy + Default + Zeroize;

    /// Returns the number of lanes of a group.
    fn width(self) -> usize;

    /// Returns the largest number of groups that the kernel runs side by side.
    fn groups(self) -> usize;

    /// Compresses the first `n_blocks` blocks of each lane's input into its state, in `G` groups of lanes.
    fn compress_lanes<const G: usize>(
        self,
        states: &mut [[[Self::Word; MAX_LANES]; 8]; G],
        inputs: &[[&[[u8; B]]; MAX_LANES]; G],
        n_blocks: usize,
    );

    /// Compresses blocks of one message.
    fn compress(state: &mut [Self::Word; 8], blocks: &[[u8; B]]);
}

/// Appends a window to each message, as many at once as there are lanes. `of` returns the message of a hasher.
///
/// # Panics
/// If there are more windows than messages.
pub(crate) fn update_many<H, K: LaneKernel<B>, const B: usize>(
    kernel: K,
    hashers: &mut [H],
    of: impl Fn(&mut H) -> &mut Message<K::Word, B>,
    windows: &[&[u8]],
) {
    assert!(windows.len() <= hashers.len(), "each window has a message");
    let mut next = 0;
    // The messages in the lanes, and their blocks.
    let (mut running, mut n_running) = ([(0, &[][..]); MAX_MESSAGES], 0);
    let n_lanes = kernel.width() * kernel.groups();
    loop {
        while n_running < n_lanes && next < windows.len() {
            let blocks = of(&mut hashers[next]).absorb(windows[next], K::compress);
            if !blocks.is_empty() {
                running[n_running] = (next, blocks);
                n_running += 1;
            }
            next += 1;
        }
        if n_running == 0 {
            return;
        }
        let running_now = &mut running[..n_running];
        match n_running.div_ceil(kernel.width()) {
            1 => step::<H, K, B, 1>(kernel, hashers, &of, running_now),
            2 => step::<H, K, B, 2>(kernel, hashers, &of, running_now),
            _ => step::<H, K, B, MAX_GROUPS>(kernel, hashers, &of, running_now),
        }
        let mut i = 0;
        while i < n_running {
            if running[i].1.is_empty() {
                n_running -= 1;
                running.swap(i, n_running);
            } else {
                i += 1;
            }
        }
    }
}

/// Compresses as many blocks as the shortest of the messages in the lanes has, in `G` groups of lanes.
fn step<H, K: LaneKernel<B>, const B: usize, const G: usize>(
    kernel: K,
    hashers: &mut [H],
    of: &impl Fn(&mut H) -> &mut Message<K::Word, B>,
    running: &mut [(usize, &[[u8; B]])],
) {
    if let [(message, blocks)] = running {
        K::compress(&mut of(&mut hashers[*message]).state, blocks);
        *blocks = &[];
        return;
    }
    let lens = running.iter().map(|(_, blocks)| blocks.len());
    let n_blocks = lens.min().unwrap_or(0);
    let mut states = [[[K::Word::default(); MAX_LANES]; 8]; G];
    // Lanes without a message repeat the first one.
    let mut inputs = [[running[0].1; MAX_LANES]; G];
    let groups = running.chunks(kernel.width()).zip(&mut states);
    for ((group, states), inputs) in groups.zip(&mut inputs) {
        for (lane, (message, blocks)) in group.iter().enumerate() {
            inputs[lane] = blocks;
            let state = of(&mut hashers[*message]).state;
            for (word, lanes) in state.iter().zip(&mut *states) {
                lanes[lane] = *word;
            }
        }
    }
    kernel.compress_lanes(&mut states, &inputs, n_blocks);
    for (group, states) in running.chunks_mut(kernel.width()).zip(&states) {
        for (lane, (message, blocks)) in group.iter_mut().enumerate() {
            *blocks = &blocks[n_blocks..];
            for (word, lanes) in of(&mut hashers[*message]).state.iter_mut().zip(states) {
                *word = lanes[lane];
            }
        }
    }
}

/// Appends the padding to each message. `pad` returns it.
pub(crate) fn pad_many<H, K: LaneKernel<B>, const B: usize>(
    kernel: K,
    hashers: &mut [H],
    of: impl Fn(&mut H) -> &mut Message<K::Word, B>,
    pad: impl Fn(&Message<K::Word, B>) -> Padding,
) {
    // To clear the paddings of all groups would take as long as to hash a few messages.
    if kernel.groups() * kernel.width() <= MAX_LANES {
        pad_sets::<H, K, B, MAX_LANES>(kernel, hashers, of, pad);
    } else {
        pad_sets::<H, K, B, MAX_MESSAGES>(kernel, hashers, of, pad);
    }
}

/// Appends the padding to `N` messages at a time.
fn pad_sets<H, K: LaneKernel<B>, const B: usize, const N: usize>(
    kernel: K,
    hashers: &mut [H],
    of: impl Fn(&mut H) -> &mut Message<K::Word, B>,
    pad: impl Fn(&Message<K::Word, B>) -> Padding,
) {
    for set in hashers.chunks_mut(N) {
        let mut paddings = [Padding {
            bytes: [0; MAX_PADDING_LEN],
            len: 0,
        }; N];
        for (hasher, padding) in set.iter_mut().zip(&mut paddings) {
            *padding = pad(of(hasher));
        }
        let windows = paddings.each_ref().map(Padding::as_bytes);
        update_many(kernel, set, &of, &windows[..set.len()]);
    }
}

/// Defines the kernels of an algorithm: the number of lanes of each token, and the largest number of groups of them.
macro_rules! lane_kernels {
    (
        $(#[$doc:meta])*
        $kernel:ident, word: $word:ty, block: $block:ty,
        compress_lanes: $compress_lanes:path, compress: $compress:path, groups: $groups_of:path,
        $($(#[$cfg:meta])* $token:ident x $width:literal in $groups:literal,)*
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $kernel {
            token: Token,
            groups: usize,
        }

        #[derive(Clone, Copy, Debug)]
        enum Token {
            $($(#[$cfg])* $token(hashlane_simd::$token),)*
            Portable(hashlane_simd::Portable),
        }

        impl $kernel {
            /// Every kernel, also those that this CPU cannot run: the lanes of a group, and the largest number of groups.
            #[cfg(test)]
            pub(crate) const ALL: &[(crate::backend::Backend, usize, usize)] = &[
                $($(#[$cfg])* (crate::backend::Backend::$token, $width, $groups),)*
                (crate::backend::Backend::Portable, 1, 1),
            ];

            /// Returns the kernels that this CPU can run. The last one has one lane.
            pub fn available() -> impl Iterator<Item = Self> + Clone {
                let all = [
                    $($(#[$cfg])* hashlane_simd::$token::detect().map(|token| (Token::$token(token), $groups)),)*
                    Some((Token::Portable(hashlane_simd::Portable), 1)),
                ];
                all.into_iter().flatten().flat_map(|(token, most)| {
                    (1..=most).rev().map(move |groups| Self { token, groups })
                })
            }

            /// Returns the best of the wanted kernels on CPUs of a family: the first token, with the groups that pay there.
            pub(crate) fn best(
                family: hashlane_simd::Family,
                wanted: impl Fn(crate::backend::Backend) -> bool,
            ) -> Self {
                Self::available()
                    .find(|kernel| {
                        let backend = kernel.backend();
                        wanted(backend) && kernel.groups == $groups_of(family, backend)
                    })
                    .unwrap_or(Self::portable())
            }

            /// Returns the kernel that every CPU can run.
            pub(crate) fn portable() -> Self {
                Self { token: Token::Portable(hashlane_simd::Portable), groups: 1 }
            }

            /// Returns the number of messages that the kernel compresses at once.
            pub fn lanes(self) -> usize {
                self.groups * crate::in_lanes::LaneKernel::width(self)
            }

            /// Returns the backend of the kernel, which has the name of its token.
            pub(crate) fn backend(self) -> crate::backend::Backend {
                match self.token {
                    $($(#[$cfg])* Token::$token(_) => crate::backend::Backend::$token,)*
                    Token::Portable(_) => crate::backend::Backend::Portable,
                }
            }
        }

        impl crate::in_lanes::LaneKernel<{ size_of::<$block>() }> for $kernel {
            type Word = $word;

            fn width(self) -> usize {
                match self.token {
                    $($(#[$cfg])* Token::$token(_) => $width,)*
                    Token::Portable(_) => 1,
                }
            }

            fn groups(self) -> usize {
                self.groups
            }

            #[inline(never)]
            fn compress_lanes<const G: usize>(
                self,
                states: &mut [[[$word; crate::types::MAX_LANES]; 8]; G],
                inputs: &[[&[$block]; crate::types::MAX_LANES]; G],
                n_blocks: usize,
            ) {
                match self.token {
                    $($(#[$cfg])* Token::$token(s) if const { G <= $groups } => {
                        $compress_lanes(s, states, inputs, n_blocks);
                    })*
                    Token::Portable(s) if const { G == 1 } => {
                        $compress_lanes(s, states, inputs, n_blocks);
                    }
                    _ => unreachable!("a kernel runs no more groups than it has"),
                }
            }

            fn compress(state: &mut [$word; 8], blocks: &[$block]) {
                $compress(state, blocks);
            }
        }
    };
}
pub(crate) use lane_kernels;
