//! The trait of MD5 and of the hashes of the SHA-512 family: many messages in lanes, each in parts.

use core::fmt;

use crate::engine::Engine;
use crate::md5::{Md5, Md5Kernel};
use crate::sha512::{Sha384, Sha512, Sha512_256, Sha512Kernel};

/// MD5, SHA-384, SHA-512 or SHA-512/256. Many messages are hashed at once, in lanes, and each can arrive in parts.
///
/// [`Sha1`](crate::Sha1) and [`Sha256`](crate::Sha256) have the trait [`Algorithm`](crate::Algorithm), which can do more. This trait is
/// sealed.
///
/// ```
/// use hashlane_sha::{Engine, LaneHash, Sha512};
///
/// let kernel = Sha512::kernel(&Engine::detect());
/// let mut messages = [Sha512::default(), Sha512::default()];
/// Sha512::update_many(kernel, &mut messages, &[b"abc", b""]);
/// let mut digests = [[0; 64]; 2];
/// Sha512::finalize_many(kernel, &mut messages, &mut digests);
/// assert_eq!(digests[0][..4], [0xdd, 0xaf, 0x35, 0xa1]);
/// ```
pub trait LaneHash: Clone + Default + fmt::Debug + Send + Sync + sealed::Sealed + 'static {
    /// The code that hashes many messages.
    type Kernel: Copy + fmt::Debug + Send + Sync;

    /// The digest.
    type Digest: AsRef<[u8]> + Copy + fmt::Debug + Send + 'static;

    /// A digest of zeros.
    const ZERO: Self::Digest;

    /// Appends `bytes` to the message.
    fn update(&mut self, bytes: &[u8]);

    /// Returns the digest of the message.
    fn finalize(self) -> Self::Digest;

    /// Returns the kernel of an engine.
    fn kernel(engine: &Engine) -> Self::Kernel;

    /// Appends a window to each of the first messages, as many at once as the kernel has lanes.
    ///
    /// # Panics
    /// If there are more windows than messages.
    fn update_many(kernel: Self::Kernel, messages: &mut [Self], windows: &[&[u8]]);

    /// Writes the digest of each message, and makes the messages empty.
    ///
    /// # Panics
    /// If there are more messages than digests.
    fn finalize_many(kernel: Self::Kernel, messages: &mut [Self], digests: &mut [Self::Digest]);
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! lane_hash {
    ($hash:ident, kernel: $kernel:ident $Kernel:ident, digest_len: $len:literal) => {
        impl sealed::Sealed for $hash {}

        impl LaneHash for $hash {
            type Kernel = $Kernel;
            type Digest = [u8; $len];
            const ZERO: [u8; $len] = [0; $len];

            fn update(&mut self, bytes: &[u8]) {
                self.update(bytes);
            }

            fn finalize(self) -> [u8; $len] {
                self.finalize()
            }

            fn kernel(engine: &Engine) -> $Kernel {
                engine.$kernel()
            }

            fn update_many(kernel: $Kernel, messages: &mut [Self], windows: &[&[u8]]) {
                Self::update_many(kernel, messages, windows);
            }

            fn finalize_many(kernel: $Kernel, messages: &mut [Self], digests: &mut [[u8; $len]]) {
                Self::finalize_many(kernel, messages, digests);
            }
        }
    };
}

lane_hash!(Md5, kernel: md5_kernel Md5Kernel, digest_len: 16);
lane_hash!(Sha384, kernel: sha512_kernel Sha512Kernel, digest_len: 48);
lane_hash!(Sha512, kernel: sha512_kernel Sha512Kernel, digest_len: 64);
lane_hash!(Sha512_256, kernel: sha512_kernel Sha512Kernel, digest_len: 32);
