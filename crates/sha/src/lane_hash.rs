//! The trait of MD5, SHA-224 and the hashes of the SHA-512 family: many messages in lanes, each in parts, and their HMACs.

use core::fmt;

use zeroize::{Zeroize, Zeroizing};

use crate::engine::Engine;
use crate::hasher::Sha256;
use crate::hmac::{MAX_BLOCK_LEN, after_pads};
use crate::in_lanes::SET;
use crate::md5::{Md5, Md5Kernel};
use crate::sha224::Sha224;
use crate::sha512::{Sha384, Sha512, Sha512_256, Sha512Kernel};
use crate::types::MAX_LANES;

/// MD5, SHA-224, SHA-384, SHA-512 or SHA-512/256. Many messages are hashed at once, in lanes, and each can arrive in parts.
///
/// [`Sha1`](crate::Sha1) and [`Sha256`] have the trait [`Algorithm`](crate::Algorithm), which can do more. This trait is
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
///
/// let mut whole = [[0; 64]; 2];
/// Sha512::digest_many(kernel, &[b"abc", b""], &mut whole);
/// assert_eq!(whole, digests);
/// ```
pub trait LaneHash:
    Clone + Default + Zeroize + fmt::Debug + Send + Sync + sealed::Sealed + 'static
{
    /// The code that hashes many messages.
    type Kernel: Copy + fmt::Debug + Send + Sync;

    /// The digest.
    type Digest: AsRef<[u8]> + AsMut<[u8]> + Copy + fmt::Debug + Send + 'static;

    /// A digest of zeros.
    const ZERO: Self::Digest;

    /// The length of a block in bytes, and of the block of a key of HMAC.
    const BLOCK_LEN: usize;

    /// Appends `bytes` to the message.
    fn update(&mut self, bytes: &[u8]);

    /// Returns the digest of the message.
    fn finalize(self) -> Self::Digest;

    /// Returns the kernel of an engine.
    fn kernel(engine: &Engine) -> Self::Kernel;

    /// Returns the number of messages that a kernel hashes at once.
    fn lanes(kernel: Self::Kernel) -> usize;

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

    /// Writes the digests of whole messages of any lengths, in their order. Nothing is allocated.
    ///
    /// # Panics
    /// If the numbers of messages and of `digests` differ.
    fn digest_many(kernel: Self::Kernel, messages: &[&[u8]], digests: &mut [Self::Digest]) {
        Self::digest_many_after(kernel, &Self::default(), messages, digests);
    }

    /// Writes the digests of whole messages, each after the bytes that `start` has taken, for example a salt.
    ///
    /// # Panics
    /// If the numbers of messages and of `digests` differ.
    fn digest_many_after(
        kernel: Self::Kernel,
        start: &Self,
        messages: &[&[u8]],
        digests: &mut [Self::Digest],
    ) {
        assert_eq!(digests.len(), messages.len(), "one digest for each message");
        in_parts(kernel, start, messages, digests);
    }
}

/// A prepared key of HMAC (RFC 2104, FIPS 198-1) for any number of messages. It is wiped from memory on drop.
///
/// ```
/// use hashlane_sha::{Engine, LaneHash, LaneHmacKey, Sha512};
/// let key = LaneHmacKey::<Sha512>::new(b"Jefe");
/// let mut macs = [Sha512::ZERO; 2];
/// let messages: [&[u8]; 2] = [b"what do ya want for nothing?", b"what else?"];
/// key.mac_many(Sha512::kernel(&Engine::detect()), &messages, &mut macs);
/// assert_eq!(macs[0][..4], [0x16, 0x4b, 0x7a, 0x7b]); // RFC 4231, test case 2
/// ```
#[derive(Clone)]
pub struct LaneHmacKey<H: LaneHash> {
    inner: H,
    outer: H,
}

impl<H: LaneHash> LaneHmacKey<H> {
    /// Prepares a key of any length.
    pub fn new(key: &[u8]) -> Self {
        let digest = |block: &mut [u8]| {
            let mut hash = H::default();
            hash.update(key);
            let mut digest = hash.finalize();
            block[..digest.as_ref().len()].copy_from_slice(digest.as_ref());
            digest.as_mut().zeroize();
        };
        let [inner, outer] = after_pads(key, H::BLOCK_LEN, digest, |block| {
            let mut hash = H::default();
            hash.update(block);
            hash
        });
        Self { inner, outer }
    }

    /// Starts the MAC of a message that arrives in parts.
    pub fn start(&self) -> LaneHmac<H> {
        LaneHmac(self.clone())
    }

    /// Returns the start of each message. The digest of the whole message goes to a clone of [`Self::outer`].
    pub fn inner(&self) -> &H {
        &self.inner
    }

    /// Returns the start of the message that ends with the digest of the inner one.
    pub fn outer(&self) -> &H {
        &self.outer
    }

    /// Writes the MACs of whole messages of any lengths, in their order.
    ///
    /// # Panics
    /// If the numbers of messages and of `macs` differ.
    pub fn mac_many(&self, kernel: H::Kernel, messages: &[&[u8]], macs: &mut [H::Digest]) {
        assert_eq!(macs.len(), messages.len(), "one MAC for each message");
        for (messages, macs) in messages.chunks(SET).zip(macs.chunks_mut(SET)) {
            let mut inner = Zeroizing::new([0; SET * MAX_BLOCK_LEN / 2]);
            let digest_len = H::ZERO.as_ref().len();
            H::digest_many_after(kernel, &self.inner, messages, macs);
            for (inner, mac) in inner.chunks_mut(digest_len).zip(&*macs) {
                inner.copy_from_slice(mac.as_ref());
            }
            let mut windows = [&[][..]; SET];
            for (window, inner) in windows.iter_mut().zip(inner.chunks(digest_len)) {
                *window = inner;
            }
            H::digest_many_after(kernel, &self.outer, &windows[..messages.len()], macs);
        }
    }
}

impl<H: LaneHash> Drop for LaneHmacKey<H> {
    fn drop(&mut self) {
        self.inner.zeroize();
        self.outer.zeroize();
    }
}

impl<H: LaneHash> zeroize::ZeroizeOnDrop for LaneHmacKey<H> {}

/// Hides the key.
impl<H: LaneHash> fmt::Debug for LaneHmacKey<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LaneHmacKey").finish_non_exhaustive()
    }
}

/// The MAC of a message that arrives in parts, made by [`LaneHmacKey::start`]. It is wiped from memory on drop.
///
/// ```
/// use hashlane_sha::{LaneHmacKey, Md5};
/// let mut hmac = LaneHmacKey::<Md5>::new(b"Jefe").start();
/// hmac.update(b"what do ya want ");
/// hmac.update(b"for nothing?");
/// assert_eq!(hmac.finalize()[..4], [0x75, 0x0c, 0x78, 0x3e]); // RFC 2202, test case 2
/// ```
#[derive(Clone)]
pub struct LaneHmac<H: LaneHash>(LaneHmacKey<H>);

impl<H: LaneHash> LaneHmac<H> {
    /// Appends `bytes` to the message.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.inner.update(bytes);
    }

    /// Returns the MAC of the message.
    pub fn finalize(mut self) -> H::Digest {
        let mut inner = core::mem::take(&mut self.0.inner).finalize();
        self.0.outer.update(inner.as_ref());
        inner.as_mut().zeroize();
        core::mem::take(&mut self.0.outer).finalize()
    }
}

impl<H: LaneHash> zeroize::ZeroizeOnDrop for LaneHmac<H> {}

/// Hides the message and the key.
impl<H: LaneHash> fmt::Debug for LaneHmac<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LaneHmac").finish_non_exhaustive()
    }
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! lane_hash {
    ($hash:ident, kernel: $Kernel:ident by $kernel:path, block_len: $block_len:literal, digest_len: $len:literal, $($more:tt)*) => {
        impl sealed::Sealed for $hash {}

        impl LaneHash for $hash {
            type Kernel = $Kernel;
            type Digest = [u8; $len];
            const ZERO: [u8; $len] = [0; $len];
            const BLOCK_LEN: usize = $block_len;

            fn update(&mut self, bytes: &[u8]) {
                self.update(bytes);
            }

            fn finalize(self) -> [u8; $len] {
                self.finalize()
            }

            fn kernel(engine: &Engine) -> $Kernel {
                $kernel(engine)
            }

            fn update_many(kernel: $Kernel, messages: &mut [Self], windows: &[&[u8]]) {
                Self::update_many(kernel, messages, windows);
            }

            fn finalize_many(kernel: $Kernel, messages: &mut [Self], digests: &mut [[u8; $len]]) {
                Self::finalize_many(kernel, messages, digests);
            }

            $($more)*
        }
    };
}

/// Returns the number of lanes of a kernel of its own.
macro_rules! lanes {
    ($Kernel:ident) => {
        fn lanes(kernel: $Kernel) -> usize {
            kernel.lanes()
        }
    };
}

lane_hash!(Md5, kernel: Md5Kernel by Engine::md5_kernel, block_len: 64, digest_len: 16, lanes! { Md5Kernel });
lane_hash!(Sha384, kernel: Sha512Kernel by Engine::sha512_kernel, block_len: 128, digest_len: 48, lanes! { Sha512Kernel });
lane_hash!(Sha512, kernel: Sha512Kernel by Engine::sha512_kernel, block_len: 128, digest_len: 64, lanes! { Sha512Kernel });
lane_hash!(Sha512_256, kernel: Sha512Kernel by Engine::sha512_kernel, block_len: 128, digest_len: 32, lanes! { Sha512Kernel });
lane_hash!(Sha224, kernel: Engine by Engine::clone, block_len: 64, digest_len: 28,
    fn lanes(engine: Engine) -> usize {
        engine.lanes::<Sha256>()
    }

    fn digest_many_after(
        engine: Engine,
        start: &Self,
        messages: &[&[u8]],
        digests: &mut [[u8; 28]],
    ) {
        assert_eq!(digests.len(), messages.len(), "one digest for each message");
        if !Self::digest_many_after_blocks(engine, start, messages, digests) {
            in_parts(engine, start, messages, digests);
        }
    }
);

/// Half as many messages.
const HALF_SET: usize = SET / 2;

/// Writes the digests of whole messages, each after the bytes that `start` has taken.
fn in_parts<H: LaneHash>(
    kernel: H::Kernel,
    start: &H,
    messages: &[&[u8]],
    digests: &mut [H::Digest],
) {
    for (messages, digests) in messages.chunks(SET).zip(digests.chunks_mut(SET)) {
        // To prepare a whole set would take as long as to hash a few messages.
        if messages.len() <= MAX_LANES {
            set_in_parts::<H, MAX_LANES>(kernel, start, messages, digests);
        } else if messages.len() <= HALF_SET {
            set_in_parts::<H, HALF_SET>(kernel, start, messages, digests);
        } else {
            set_in_parts::<H, SET>(kernel, start, messages, digests);
        }
    }
}

/// Writes the digests of at most `N` whole messages.
fn set_in_parts<H: LaneHash, const N: usize>(
    kernel: H::Kernel,
    start: &H,
    messages: &[&[u8]],
    digests: &mut [H::Digest],
) {
    let mut states: [H; N] = core::array::from_fn(|_| start.clone());
    let states = &mut states[..messages.len()];
    H::update_many(kernel, states, messages);
    H::finalize_many(kernel, states, digests);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Messages of equal and of unequal lengths, around the ends of blocks, in more than one set.
    fn messages() -> Vec<Vec<u8>> {
        (0..3 * SET + 5).map(|i| vec![i as u8; i * 3]).collect()
    }

    /// Digests after a prefix of every length, and MACs under keys of every length, against an independent implementation.
    fn equals_another_implementation<H, D, M>()
    where
        H: LaneHash,
        D: sha2::Digest,
        M: hmac::Mac + hmac::KeyInit,
    {
        let kernel = H::kernel(&Engine::detect());
        assert!(H::lanes(kernel) >= 1);
        let messages = messages();
        let messages: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
        let mut digests = vec![H::ZERO; messages.len()];
        for len in [0, 1, 63, 64, 65, 128, 200] {
            let prefix = vec![7; len];
            let mut start = H::default();
            start.update(&prefix);
            H::digest_many_after(kernel, &start, &messages, &mut digests);
            for (message, digest) in messages.iter().zip(&digests) {
                let expected = D::new_with_prefix(&prefix).chain_update(message).finalize();
                assert_eq!(
                    digest.as_ref(),
                    expected.as_slice(),
                    "{len} bytes, then {}",
                    message.len()
                );
            }
            let key = LaneHmacKey::<H>::new(&prefix);
            key.mac_many(kernel, &messages, &mut digests);
            for (message, mac) in messages.iter().zip(&digests) {
                let mut parts = key.start();
                let (first, rest) = message.split_at(message.len() / 3);
                parts.update(first);
                parts.update(rest);
                assert_eq!(parts.finalize().as_ref(), mac.as_ref(), "in parts");
                let mut expected =
                    <M as hmac::KeyInit>::new_from_slice(&prefix).expect("any length");
                expected.update(message);
                let expected = expected.finalize().into_bytes();
                assert_eq!(
                    mac.as_ref(),
                    expected.as_slice(),
                    "key of {len} bytes, then {}",
                    message.len()
                );
            }
        }
        H::digest_many(kernel, &messages[..1], &mut digests[..1]);
        assert_eq!(digests[0].as_ref(), D::digest([]).as_slice());
    }

    #[test]
    fn whole_messages_have_the_digests_and_macs_of_another_implementation() {
        equals_another_implementation::<Md5, md5::Md5, hmac::Hmac<md5::Md5>>();
        equals_another_implementation::<Sha224, sha2::Sha224, hmac::Hmac<sha2::Sha224>>();
        equals_another_implementation::<Sha384, sha2::Sha384, hmac::Hmac<sha2::Sha384>>();
        equals_another_implementation::<Sha512, sha2::Sha512, hmac::Hmac<sha2::Sha512>>();
        equals_another_implementation::<Sha512_256, sha2::Sha512_256, hmac::Hmac<sha2::Sha512_256>>(
        );
    }

    #[test]
    #[should_panic(expected = "one digest for each message")]
    fn each_message_needs_a_digest() {
        let kernel = Engine::detect().sha512_kernel();
        Sha512::digest_many(kernel, &[b"a", b"b"], &mut [Sha512::ZERO]);
    }

    #[test]
    fn a_key_is_hidden() {
        assert_eq!(
            format!("{:?}", LaneHmacKey::<Sha512>::new(b"secret")),
            "LaneHmacKey { .. }"
        );
        assert_eq!(
            format!("{:?}", LaneHmacKey::<Sha512>::new(b"secret").start()),
            "LaneHmac { .. }"
        );
    }
}
