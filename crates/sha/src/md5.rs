//! MD5 (RFC 1321), for one message and for many that arrive in parts.

use hashlane_simd::Portable;

use crate::backend::Backend;
use crate::context::{absorb, buffered};
use crate::kernels::md5::{Md5Lanes as States, compress_lanes};
use crate::types::{BLOCK_LEN, Block, MAX_LANES};

/// The initial state (RFC 1321 section 3.3).
const IV: [u32; 4] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];

/// An MD5 message that arrives in parts. Attackers can make messages with equal digests.
///
/// ```
/// use hashlane_sha::Md5;
/// let mut md5 = Md5::default();
/// md5.update(b"ab");
/// md5.update(b"c");
/// assert_eq!(md5.finalize()[..4], [0x90, 0x01, 0x50, 0x98]);
/// ```
#[derive(Clone, Debug)]
pub struct Md5 {
    state: [u32; 4],
    /// Bytes that do not fill a block yet.
    rest: Block,
    /// Length of the message so far in bytes, modulo 2^64.
    len_bytes: u64,
}

impl Default for Md5 {
    fn default() -> Self {
        Self {
            state: IV,
            rest: [0; BLOCK_LEN],
            len_bytes: 0,
        }
    }
}

impl Md5 {
    /// Appends `bytes` to the message.
    pub fn update(&mut self, bytes: &[u8]) {
        let blocks = self.absorb(bytes);
        compress(&mut self.state, blocks);
    }

    /// Returns the digest of the message.
    pub fn finalize(mut self) -> [u8; 16] {
        let n_bits = self.len_bytes.wrapping_mul(8);
        let n_zeros = BLOCK_LEN - (buffered(self.len_bytes) + 9) % BLOCK_LEN;
        let mut padding = [0; 2 * BLOCK_LEN];
        padding[0] = 0x80;
        let end = 1 + n_zeros % BLOCK_LEN;
        padding[end..end + 8].copy_from_slice(&n_bits.to_le_bytes());
        self.update(&padding[..end + 8]);
        let mut digest = [0; 16];
        for (bytes, word) in digest.as_chunks_mut::<4>().0.iter_mut().zip(self.state) {
            *bytes = word.to_le_bytes();
        }
        digest
    }

    /// Appends bytes without compressing the whole blocks that it returns.
    fn absorb<'m>(&mut self, bytes: &'m [u8]) -> &'m [Block] {
        let state = &mut self.state;
        absorb(&mut self.rest, &mut self.len_bytes, bytes, |blocks| {
            compress(state, blocks);
        })
    }
}

/// Compresses blocks of one message.
fn compress(state: &mut [u32; 4], blocks: &[Block]) {
    if blocks.is_empty() {
        return;
    }
    let mut states = state.map(|word| [word; MAX_LANES]);
    compress_lanes(Portable, &mut states, &[blocks; MAX_LANES], blocks.len());
    *state = states.map(|lanes| lanes[0]);
}

/// The kernel that hashes many messages of MD5 at once.
///
/// ```
/// use hashlane_sha::{Engine, Md5};
/// let mut messages = [Md5::default(), Md5::default()];
/// Engine::detect().md5_kernel().update_many(&mut messages, &[b"abc", b""]);
/// assert_eq!(messages[0].clone().finalize()[..4], [0x90, 0x01, 0x50, 0x98]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Md5Kernel(Token);

/// Lists the kernels, the best first, and the call of each.
macro_rules! kernels {
    ($($(#[$cfg:meta])* $token:ident x $lanes:literal,)*) => {
        #[derive(Clone, Copy, Debug)]
        enum Token {
            $($(#[$cfg])* $token(hashlane_simd::$token),)*
            Portable(Portable),
        }

        impl Md5Kernel {
            /// Returns the kernels that this CPU can run, the best first. The last one has one lane.
            pub fn available() -> impl Iterator<Item = Self> {
                let all = [
                    $($(#[$cfg])* hashlane_simd::$token::detect().map(Token::$token),)*
                    Some(Token::Portable(Portable)),
                ];
                all.into_iter().flatten().map(Self)
            }

            /// Returns the number of messages that the kernel compresses at once.
            pub fn lanes(self) -> usize {
                match self.0 {
                    $($(#[$cfg])* Token::$token(_) => $lanes,)*
                    Token::Portable(_) => 1,
                }
            }

            /// Returns the backend of the kernel, which has the name of its token.
            pub(crate) fn backend(self) -> Backend {
                match self.0 {
                    $($(#[$cfg])* Token::$token(_) => Backend::$token,)*
                    Token::Portable(_) => Backend::Portable,
                }
            }

            #[inline(never)]
            fn compress_lanes(
                self,
                states: &mut States,
                inputs: &[&[Block]; MAX_LANES],
                n_blocks: usize,
            ) {
                match self.0 {
                    $($(#[$cfg])* Token::$token(s) => compress_lanes(s, states, inputs, n_blocks),)*
                    Token::Portable(s) => compress_lanes(s, states, inputs, n_blocks),
                }
            }
        }
    };
}

kernels! {
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    Avx512 x 16,
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    Avx512Vl x 8,
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    Avx2 x 8,
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    Sse2 x 4,
    #[cfg(target_arch = "aarch64")]
    Neon x 4,
    #[cfg(all(target_family = "wasm", target_feature = "simd128"))]
    Simd128 x 4,
}

impl Md5Kernel {
    /// Returns the kernel that every CPU can run.
    pub(crate) fn portable() -> Self {
        Self(Token::Portable(Portable))
    }

    /// Appends a window to each message, as many at once as there are lanes.
    ///
    /// # Panics
    /// If there are more windows than messages.
    pub fn update_many(self, messages: &mut [Md5], windows: &[&[u8]]) {
        assert!(windows.len() <= messages.len(), "each window has a message");
        let mut next = 0;
        // The messages in the lanes, and their blocks.
        let (mut running, mut n_running) = ([(0, &[][..]); MAX_LANES], 0);
        loop {
            while n_running < self.lanes() && next < windows.len() {
                let blocks = messages[next].absorb(windows[next]);
                if !blocks.is_empty() {
                    running[n_running] = (next, blocks);
                    n_running += 1;
                }
                next += 1;
            }
            if n_running == 0 {
                return;
            }
            self.step(messages, &mut running[..n_running]);
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
    fn step(self, messages: &mut [Md5], running: &mut [(usize, &[Block])]) {
        if let [(message, blocks)] = running {
            compress(&mut messages[*message].state, blocks);
            *blocks = &[];
            return;
        }
        let lens = running.iter().map(|(_, blocks)| blocks.len());
        let n_blocks = lens.min().unwrap_or(0);
        let mut states = [[0; MAX_LANES]; 4];
        // Lanes without a message repeat the first one.
        let mut inputs = [running[0].1; MAX_LANES];
        for (lane, (message, blocks)) in running.iter().enumerate() {
            inputs[lane] = blocks;
            for (word, lanes) in messages[*message].state.iter().zip(&mut states) {
                lanes[lane] = *word;
            }
        }
        self.compress_lanes(&mut states, &inputs, n_blocks);
        for (lane, (message, blocks)) in running.iter_mut().enumerate() {
            *blocks = &blocks[n_blocks..];
            for (word, lanes) in messages[*message].state.iter_mut().zip(&states) {
                *word = lanes[lane];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel_name::KernelName;

    /// Messages and digests of RFC 1321, section A.5.
    const KNOWN: [(&str, &str); 4] = [
        ("", "d41d8cd98f00b204e9800998ecf8427e"),
        ("abc", "900150983cd24fb0d6963f7d28e17f72"),
        (
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
            "d174ab98d277d9f5a5611c2c9f419d9f",
        ),
        (
            "12345678901234567890123456789012345678901234567890123456789012345678901234567890",
            "57edf4a22be3c955ac49da2e2107b67a",
        ),
    ];

    #[test]
    fn known_answers() {
        for (message, digest) in KNOWN {
            let mut md5 = Md5::default();
            md5.update(message.as_bytes());
            let found = u128::from_be_bytes(md5.finalize());
            assert_eq!(format!("{found:032x}"), digest, "{message}");
        }
    }

    /// Every kernel against an independent implementation: all lengths around the ends of blocks, unequal lengths, and parts.
    #[test]
    fn kernels_have_the_digests_of_another_implementation() {
        use md5::Digest as _;

        let byte = |i: usize| (i * 31 + i / 977) as u8;
        for kernel in Md5Kernel::available() {
            for n_messages in 0..=2 * kernel.lanes() + 1 {
                for step in [0, 1, 37] {
                    let lens = (0..n_messages).map(|i| 300 + step * i);
                    let lens = lens.chain((step == 0).then_some(0..140).into_iter().flatten());
                    let messages: Vec<Vec<u8>> = lens
                        .enumerate()
                        .map(|(i, len)| (0..len).map(|at| byte(at * 3 + i)).collect())
                        .collect();
                    let mut hashers = vec![Md5::default(); messages.len()];
                    for part in 0..2 {
                        let windows = messages.iter().enumerate().map(|(i, message)| {
                            let (first, second) = message.split_at(message.len().min(7 * i));
                            [first, second][part]
                        });
                        let windows: Vec<&[u8]> = windows.collect();
                        kernel.update_many(&mut hashers, &windows);
                    }
                    for (message, hasher) in messages.iter().zip(hashers) {
                        let expected: [u8; 16] = md5::Md5::digest(message).into();
                        let (name, len) = (KernelName::from(kernel), message.len());
                        assert_eq!(hasher.finalize(), expected, "{name}: {len} bytes");
                    }
                }
            }
        }
    }
}
