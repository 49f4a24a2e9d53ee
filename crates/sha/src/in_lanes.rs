//! Messages that arrive in parts and are compressed side by side, for the algorithms that have no plan: MD5 and SHA-512.

use core::fmt;

use zeroize::Zeroize;

use crate::context::{absorb, buffered};
use crate::types::MAX_LANES;

/// Number of messages in a pass over whole messages. It keeps the lanes busy, and takes 13 KB of stack.
pub(crate) const SET: usize = 4 * MAX_LANES;

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

    /// Returns the number of messages that the kernel compresses at once.
    fn lanes(self) -> usize;

    /// Compresses the first `n_blocks` blocks of each lane's input into its state.
    fn compress_lanes(
        self,
        states: &mut [[Self::Word; MAX_LANES]; 8],
        inputs: &[&[[u8; B]]; MAX_LANES],
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
    let (mut running, mut n_running) = ([(0, &[][..]); MAX_LANES], 0);
    loop {
        while n_running < kernel.lanes() && next < windows.len() {
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
        step(kernel, hashers, &of, &mut running[..n_running]);
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

/// Compresses as many blocks as the shortest of the messages in the lanes has.
fn step<H, K: LaneKernel<B>, const B: usize>(
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
    let mut states = [[K::Word::default(); MAX_LANES]; 8];
    // Lanes without a message repeat the first one.
    let mut inputs = [running[0].1; MAX_LANES];
    for (lane, (message, blocks)) in running.iter().enumerate() {
        inputs[lane] = blocks;
        let state = of(&mut hashers[*message]).state;
        for (word, lanes) in state.iter().zip(&mut states) {
            lanes[lane] = *word;
        }
    }
    kernel.compress_lanes(&mut states, &inputs, n_blocks);
    for (lane, (message, blocks)) in running.iter_mut().enumerate() {
        *blocks = &blocks[n_blocks..];
        for (word, lanes) in of(&mut hashers[*message]).state.iter_mut().zip(&states) {
            *word = lanes[lane];
        }
    }
}

/// Appends the padding to each message in the lanes. `pad` returns it.
pub(crate) fn pad_many<H, K: LaneKernel<B>, const B: usize>(
    kernel: K,
    hashers: &mut [H],
    of: impl Fn(&mut H) -> &mut Message<K::Word, B>,
    pad: impl Fn(&Message<K::Word, B>) -> Padding,
) {
    for set in hashers.chunks_mut(MAX_LANES) {
        let mut paddings = [Padding {
            bytes: [0; MAX_PADDING_LEN],
            len: 0,
        }; MAX_LANES];
        for (hasher, padding) in set.iter_mut().zip(&mut paddings) {
            *padding = pad(of(hasher));
        }
        let windows = paddings.each_ref().map(Padding::as_bytes);
        update_many(kernel, set, &of, &windows[..set.len()]);
    }
}

/// Defines the kernels of an algorithm, the best first, and the call of each.
macro_rules! lane_kernels {
    (
        $(#[$doc:meta])*
        $kernel:ident, word: $word:ty, block: $block:ty,
        compress_lanes: $compress_lanes:path, compress: $compress:path,
        $($(#[$cfg:meta])* $token:ident x $lanes:literal,)*
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $kernel(Token);

        #[derive(Clone, Copy, Debug)]
        enum Token {
            $($(#[$cfg])* $token(hashlane_simd::$token),)*
            Portable(hashlane_simd::Portable),
        }

        impl $kernel {
            /// Returns the kernels that this CPU can run, the best first. The last one has one lane.
            pub fn available() -> impl Iterator<Item = Self> {
                let all = [
                    $($(#[$cfg])* hashlane_simd::$token::detect().map(Token::$token),)*
                    Some(Token::Portable(hashlane_simd::Portable)),
                ];
                all.into_iter().flatten().map(Self)
            }

            /// Returns the kernel that every CPU can run.
            pub(crate) fn portable() -> Self {
                Self(Token::Portable(hashlane_simd::Portable))
            }

            /// Returns the number of messages that the kernel compresses at once.
            pub fn lanes(self) -> usize {
                match self.0 {
                    $($(#[$cfg])* Token::$token(_) => $lanes,)*
                    Token::Portable(_) => 1,
                }
            }

            /// Returns the backend of the kernel, which has the name of its token.
            pub(crate) fn backend(self) -> crate::backend::Backend {
                match self.0 {
                    $($(#[$cfg])* Token::$token(_) => crate::backend::Backend::$token,)*
                    Token::Portable(_) => crate::backend::Backend::Portable,
                }
            }
        }

        impl crate::in_lanes::LaneKernel<{ size_of::<$block>() }> for $kernel {
            type Word = $word;

            fn lanes(self) -> usize {
                self.lanes()
            }

            #[inline(never)]
            fn compress_lanes(
                self,
                states: &mut [[$word; crate::types::MAX_LANES]; 8],
                inputs: &[&[$block]; crate::types::MAX_LANES],
                n_blocks: usize,
            ) {
                match self.0 {
                    $($(#[$cfg])* Token::$token(s) => $compress_lanes(s, states, inputs, n_blocks),)*
                    Token::Portable(s) => $compress_lanes(s, states, inputs, n_blocks),
                }
            }

            fn compress(state: &mut [$word; 8], blocks: &[$block]) {
                $compress(state, blocks);
            }
        }
    };
}
pub(crate) use lane_kernels;
