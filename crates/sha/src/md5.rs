//! MD5 (RFC 1321), for one message and for many that arrive in parts.

use zeroize::Zeroize;

use crate::in_lanes::{Message, Padding, lane_kernels, pad_many, update_many};
use crate::kernels::md5::{compress, compress_lanes};
use crate::table::groups;
use crate::types::{BLOCK_LEN, Block};

/// The initial state (RFC 1321 section 3.3). The last four words are not used.
const IV: [u32; 8] = [
    0x6745_2301,
    0xefcd_ab89,
    0x98ba_dcfe,
    0x1032_5476,
    0,
    0,
    0,
    0,
];

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
pub struct Md5(Message<u32, BLOCK_LEN>);

impl Default for Md5 {
    fn default() -> Self {
        Self(Message::new(IV))
    }
}

impl Md5 {
    /// Appends `bytes` to the message.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes, compress);
    }

    /// Returns the digest of the message.
    pub fn finalize(mut self) -> [u8; 16] {
        let padding = padding(&self.0);
        self.update(padding.as_bytes());
        self.digest()
    }

    /// Appends a window to each of the first messages, as many at once as there are lanes.
    ///
    /// # Panics
    /// If there are more windows than messages.
    pub fn update_many(kernel: Md5Kernel, messages: &mut [Self], windows: &[&[u8]]) {
        update_many(kernel, messages, |md5| &mut md5.0, windows);
    }

    /// Writes the digest of each message, and makes the messages empty.
    ///
    /// # Panics
    /// If there are more messages than digests.
    pub fn finalize_many(kernel: Md5Kernel, messages: &mut [Self], digests: &mut [[u8; 16]]) {
        pad_many(kernel, messages, |md5| &mut md5.0, padding);
        let digests = &mut digests[..messages.len()];
        for (message, digest) in messages.iter_mut().zip(digests) {
            *digest = core::mem::take(message).digest();
        }
    }

    fn digest(&self) -> [u8; 16] {
        let mut digest = [0; 16];
        for (bytes, word) in digest.as_chunks_mut::<4>().0.iter_mut().zip(self.0.state) {
            *bytes = word.to_le_bytes();
        }
        digest
    }
}

/// Wipes the message from memory. The hasher is empty afterwards.
impl Zeroize for Md5 {
    fn zeroize(&mut self) {
        self.0.zeroize();
        self.0.state = IV;
    }
}

/// Returns the padding, with the length modulo 2^64.
fn padding(message: &Message<u32, BLOCK_LEN>) -> Padding {
    message.padding(|n_bits| (n_bits as u64).to_le_bytes())
}

lane_kernels! {
    /// The kernel that hashes many messages of MD5 at once.
    Md5Kernel, word: u32, block: Block,
    compress_lanes: compress_lanes, compress: compress, groups: groups::of_md5,
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    Avx512 x 16 in 3,
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    Avx512Vl x 8 in 1,
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    Avx2 x 8 in 2,
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    Sse2 x 4 in 1,
    #[cfg(target_arch = "aarch64")]
    Neon x 4 in 1,
    #[cfg(all(target_family = "wasm", target_feature = "simd128"))]
    Simd128 x 4 in 1,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel_name::KernelName;
    use crate::kernels::tests::for_each_kernel;

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

    #[test]
    #[should_panic(expected = "range end index 2")]
    fn each_message_needs_a_digest() {
        let mut messages = [Md5::default(), Md5::default()];
        Md5::finalize_many(Md5Kernel::portable(), &mut messages, &mut [[0; 16]]);
    }

    /// Every kernel against an independent implementation: all lengths around the ends of blocks, unequal lengths, and parts.
    #[test]
    fn kernels_have_the_digests_of_another_implementation() {
        use md5::Digest as _;

        let byte = |i: usize| (i * 31 + i / 977) as u8;
        for_each_kernel(Md5Kernel::ALL, &Md5Kernel::available(), |kernel| {
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
                        Md5::update_many(kernel, &mut hashers, &windows);
                    }
                    for (message, hasher) in messages.iter().zip(hashers) {
                        let expected: [u8; 16] = md5::Md5::digest(message).into();
                        let (name, len) = (KernelName::from(kernel), message.len());
                        assert_eq!(hasher.finalize(), expected, "{name}: {len} bytes");
                    }
                }
            }
        });
    }
}
