//! SHA-384, SHA-512 and SHA-512/256 (FIPS 180-4 sections 6.4 to 6.7), for one message and for many that arrive in parts.

use hashlane_simd::{LONG_BLOCK_LEN, LongBlock};
use zeroize::Zeroize;

use crate::in_lanes::{Message, Padding, lane_kernels, pad_many, update_many};
use crate::kernels::sha512::{IV_384, IV_512, IV_512_256, compress_lanes, compress_one};
use crate::table::groups;

/// Returns the padding, with the length as 128 bits (FIPS 180-4 section 5.1.2).
fn padding(message: &Message<u64, LONG_BLOCK_LEN>) -> Padding {
    message.padding(u128::to_be_bytes)
}

/// Defines the hash with an initial hash value and a length of its digests.
macro_rules! hash {
    ($(#[$doc:meta])* $name:ident, iv: $iv:ident, digest_len: $len:literal) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $name(Message<u64, LONG_BLOCK_LEN>);

        impl Default for $name {
            fn default() -> Self {
                Self(Message::new($iv))
            }
        }

        impl $name {
            /// Discards the message. The hasher is empty afterwards.
            pub fn reset(&mut self) {
                *self = Self::default();
            }

            /// Appends `bytes` to the message.
            pub fn update(&mut self, bytes: &[u8]) {
                self.0.update(bytes, compress_one);
            }

            /// Returns the digest of the message.
            pub fn finalize(mut self) -> [u8; $len] {
                let padding = padding(&self.0);
                self.update(padding.as_bytes());
                self.digest()
            }

            /// Appends a window to each of the first messages, as many at once as there are lanes.
            ///
            /// # Panics
            /// If there are more windows than messages.
            pub fn update_many(kernel: Sha512Kernel, messages: &mut [Self], windows: &[&[u8]]) {
                update_many(kernel, messages, |hash| &mut hash.0, windows);
            }

            /// Writes the digest of each message, and makes the messages empty.
            ///
            /// # Panics
            /// If there are more messages than digests.
            pub fn finalize_many(
                kernel: Sha512Kernel,
                messages: &mut [Self],
                digests: &mut [[u8; $len]],
            ) {
                pad_many(kernel, messages, |hash| &mut hash.0, padding);
                let digests = &mut digests[..messages.len()];
                for (message, digest) in messages.iter_mut().zip(digests) {
                    *digest = core::mem::take(message).digest();
                }
            }

            fn digest(&self) -> [u8; $len] {
                let mut digest = [0; $len];
                for (bytes, word) in digest.as_chunks_mut::<8>().0.iter_mut().zip(self.0.state) {
                    *bytes = word.to_be_bytes();
                }
                digest
            }
        }

        /// Wipes the message from memory. The hasher is empty afterwards.
        impl Zeroize for $name {
            fn zeroize(&mut self) {
                self.0.zeroize();
                self.0.state = $iv;
            }
        }
    };
}

hash! {
    /// A SHA-384 message that arrives in parts.
    Sha384, iv: IV_384, digest_len: 48
}
hash! {
    /// A SHA-512 message that arrives in parts.
    Sha512, iv: IV_512, digest_len: 64
}
hash! {
    /// A SHA-512/256 message that arrives in parts.
    Sha512_256, iv: IV_512_256, digest_len: 32
}

lane_kernels! {
    /// The kernel that hashes many messages of SHA-384, SHA-512 or SHA-512/256 at once.
    Sha512Kernel, word: u64, block: LongBlock,
    compress_lanes: compress_lanes, compress: compress_one, groups: groups::of_sha512,
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    Avx512 x 8 in 2,
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    Avx512Vl x 4 in 1,
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    Avx2 x 4 in 1,
    // With registers of 64 bits, one message after another is faster: 0.48 instead of 0.42 GB/s (EPYC, Zen 3, 2026-11).
    #[cfg(target_arch = "x86")]
    Sse2 x 2 in 1,
    // It also has the SHA-512 instructions: one message after another, by `compress_one`.
    #[cfg(target_arch = "aarch64")]
    NeonSha3 x 1 in 1,
    #[cfg(target_arch = "aarch64")]
    Neon x 2 in 1,
    #[cfg(all(target_family = "wasm", target_feature = "simd128"))]
    Simd128 x 2 in 1,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel_name::KernelName;
    use crate::kernels::tests::for_each_kernel;

    /// Digests of "abc" (FIPS 180-4, examples of NIST's Cryptographic Standards and Guidelines).
    #[test]
    fn known_answers() {
        let first = |digest: &[u8]| digest.first_chunk().copied().map(u64::from_be_bytes);
        let (mut sha384, mut sha512) = (Sha384::default(), Sha512::default());
        let mut sha512_256 = Sha512_256::default();
        sha384.update(b"abc");
        sha512.update(b"abc");
        sha512_256.update(b"abc");
        assert_eq!(first(&sha384.finalize()), Some(0xcb00_753f_45a3_5e8b));
        assert_eq!(first(&sha512.finalize()), Some(0xddaf_35a1_9361_7aba));
        assert_eq!(first(&sha512_256.finalize()), Some(0x5304_8e26_8194_1ef9));
    }

    /// Every kernel against an independent implementation: all lengths around the ends of blocks, unequal lengths, and parts.
    #[test]
    fn kernels_have_the_digests_of_another_implementation() {
        use sha2::Digest as _;

        let byte = |i: usize| (i * 31 + i / 977) as u8;
        for_each_kernel(Sha512Kernel::ALL, &Sha512Kernel::available(), |kernel| {
            for n_messages in 0..=2 * kernel.lanes() + 1 {
                for step in [0, 1, 37] {
                    let lens = (0..n_messages).map(|i| 600 + step * i);
                    let lens = lens.chain((step == 0).then_some(0..270).into_iter().flatten());
                    let messages: Vec<Vec<u8>> = lens
                        .enumerate()
                        .map(|(i, len)| (0..len).map(|at| byte(at * 3 + i)).collect())
                        .collect();
                    let mut hashers = vec![Sha512::default(); messages.len()];
                    for part in 0..2 {
                        let windows = messages.iter().enumerate().map(|(i, message)| {
                            let (first, second) = message.split_at(message.len().min(7 * i));
                            [first, second][part]
                        });
                        let windows: Vec<&[u8]> = windows.collect();
                        Sha512::update_many(kernel, &mut hashers, &windows);
                    }
                    let mut padded = hashers.clone();
                    pad_many(kernel, &mut padded, |hash| &mut hash.0, padding);
                    for ((message, hasher), padded) in messages.iter().zip(hashers).zip(padded) {
                        let expected: [u8; 64] = sha2::Sha512::digest(message).into();
                        let (name, len) = (KernelName::from(kernel), message.len());
                        assert_eq!(hasher.finalize(), expected, "{name}: {len} bytes");
                        assert_eq!(
                            padded.digest(),
                            expected,
                            "{name}: {len} bytes, padded in lanes"
                        );
                    }
                }
            }
        });
    }

    #[test]
    fn shorter_digests_are_those_of_another_implementation() {
        use sha2::Digest as _;

        let kernel = Sha512Kernel::available().next().expect("the portable one");
        let messages: Vec<Vec<u8>> = (0..300).map(|len| vec![len as u8; len]).collect();
        let windows: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
        let mut sha384 = vec![Sha384::default(); messages.len()];
        let mut sha512_256 = vec![Sha512_256::default(); messages.len()];
        let mut digests = (vec![[0; 48]; messages.len()], vec![[0; 32]; messages.len()]);
        Sha384::update_many(kernel, &mut sha384, &windows);
        Sha384::finalize_many(kernel, &mut sha384, &mut digests.0);
        Sha512_256::update_many(kernel, &mut sha512_256, &windows);
        Sha512_256::finalize_many(kernel, &mut sha512_256, &mut digests.1);
        for (i, message) in messages.iter().enumerate() {
            assert_eq!(digests.0[i], *sha2::Sha384::digest(message), "{i}");
            assert_eq!(digests.1[i], *sha2::Sha512_256::digest(message), "{i}");
        }
    }

    #[test]
    fn a_wiped_message_is_empty() {
        let mut hash = Sha512::default();
        hash.update(&[7; 200]);
        hash.zeroize();
        assert_eq!(hash.finalize(), Sha512::default().finalize());
    }
}
