//! HMAC with either algorithm: FIPS 198-1, RFC 2104.
//!
//! MAC = H((K0 ^ opad) || H((K0 ^ ipad) || message)), where K0 is the key in one block. Both
//! prefixes are whole blocks, so a key is no more than the two chaining values behind them, and a
//! message costs one compression beyond its own.

use core::fmt;
use core::marker::PhantomData;

use subtle::ConstantTimeEq;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::algorithm::{Algorithm, kernel_alone};
use crate::context::Context;
use crate::engine::Engine;
use crate::kernels::compression::Seal;
use crate::many::LengthMismatch;
use crate::table::Kernel;
use crate::types::{BLOCK_LEN, MAX_LANES, State};

/// Fewer bytes of a tag are refused, whatever the algorithm: 80 bits (RFC 2104 section 5).
const MIN_TAG_LEN: usize = 10;

/// The MAC of one message under one key, for when both are used once. The key has any length;
/// FIPS 198-1 wants at least half as many bytes as a digest has.
///
/// To check a MAC, don't compare it with `==`, which tells an attacker how much of it was right by
/// the time it takes: see [`Hmac::verify`].
///
/// ```
/// use hashlane_sha::{Sha256, hmac};
/// let mac = hmac::<Sha256>(b"Jefe", b"what do ya want for nothing?");
/// assert!(mac.to_string().starts_with("5bdcc146bf60754e")); // RFC 4231, test case 2
/// ```
pub fn hmac<A: Algorithm>(key: &[u8], message: &[u8]) -> A::Digest {
    let mut hmac = Hmac::<A>::new(key);
    hmac.update(message);
    hmac.finalize()
}

/// A key, made ready once for any number of messages: two chaining values.
///
/// They are wiped from memory when it is dropped, as they are as good as the key. (What was on the
/// stack while they were computed is not.)
///
/// ```
/// use hashlane_sha::{HmacKey, Sha1};
/// let key = HmacKey::<Sha1>::new(b"Jefe");
/// let mut hmac = key.start();
/// hmac.update(b"what do ya want ");
/// hmac.update(b"for nothing?");
/// assert!(hmac.finalize().to_string().starts_with("effcdf6ae5eb2fa2")); // RFC 2202, test case 2
/// ```
///
/// For many messages at once, see [`Engine::hmac_many`].
#[derive(Clone)]
pub struct HmacKey<A: Algorithm> {
    /// After the block K0 ^ ipad.
    inner: Zeroizing<State>,
    /// After the block K0 ^ opad.
    outer: Zeroizing<State>,
    /// The one that runs for one message alone.
    kernel: Kernel,
    algorithm: PhantomData<A>,
}

impl<A: Algorithm> HmacKey<A> {
    /// A key of any length, on the best backend of this CPU (see [`Engine::detect`]).
    pub fn new(key: &[u8]) -> Self {
        Self::on_kernel(kernel_alone::<A>(), key)
    }

    /// A key of any length, on the kernels of `engine`.
    pub fn with_engine(engine: Engine, key: &[u8]) -> Self {
        Self::on_kernel(engine.kernel_alone::<A>(), key)
    }

    /// Starts the MAC of a message that comes in parts.
    pub fn start(&self) -> Hmac<A> {
        Hmac {
            inner: Zeroizing::new(Context::after(*self.inner, BLOCK_LEN as u64, self.kernel)),
            outer: self.outer.clone(),
            algorithm: PhantomData,
        }
    }

    fn on_kernel(kernel: Kernel, key: &[u8]) -> Self {
        // FIPS 198-1 section 4, steps 1 to 3: a key longer than a block stands for its digest.
        let mut block = Zeroizing::new([0; BLOCK_LEN]);
        if key.len() > BLOCK_LEN {
            let mut context = Zeroizing::new(Context::new::<A>(kernel));
            context.update::<A>(key);
            let mut digest = context.finalize::<A>();
            block[..A::DIGEST_LEN].copy_from_slice(digest.as_ref());
            digest.as_mut().zeroize();
        } else {
            block[..key.len()].copy_from_slice(key);
        }
        let after = |pad: u8| {
            let mut padded = block.clone();
            padded.iter_mut().for_each(|byte| *byte ^= pad);
            let mut state = Zeroizing::new(A::iv(Seal(())));
            A::compress(kernel, &mut state, core::slice::from_ref(&*padded));
            state
        };
        Self {
            inner: after(0x36),
            outer: after(0x5c),
            kernel,
            algorithm: PhantomData,
        }
    }
}

impl<A: Algorithm> ZeroizeOnDrop for HmacKey<A> {}

/// Shows nothing of the key.
impl<A: Algorithm> fmt::Debug for HmacKey<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HmacKey")
            .field("algorithm", &A::NAME)
            .finish_non_exhaustive()
    }
}

/// The MAC of a message that comes in parts. [`HmacKey::start`] makes one, and so does
/// [`Hmac::new`] where a key is used once. Wiped from memory when dropped.
///
/// ```
/// use hashlane_sha::{Hmac, Sha256, TagError, hmac};
///
/// let tag = hmac::<Sha256>(b"key", b"message");
/// let mut hmac = Hmac::<Sha256>::new(b"key");
/// hmac.update(b"mess");
/// hmac.update(b"age");
/// assert_eq!(hmac.clone().verify(tag.as_ref()), Ok(()));
/// assert_eq!(hmac.verify(&[0; 32]), Err(TagError::Mismatch));
/// ```
#[derive(Clone)]
pub struct Hmac<A: Algorithm> {
    inner: Zeroizing<Context>,
    outer: Zeroizing<State>,
    algorithm: PhantomData<A>,
}

impl<A: Algorithm> Hmac<A> {
    /// An empty message under a key of any length, on the best backend of this CPU.
    pub fn new(key: &[u8]) -> Self {
        HmacKey::new(key).start()
    }

    /// Appends `bytes` to the message.
    pub fn update(&mut self, bytes: &[u8]) {
        self.inner.update::<A>(bytes);
    }

    /// The MAC of the message, as long as a digest. Give it to others, but don't compare it with
    /// what others gave: that is what [`Hmac::verify`] does.
    pub fn finalize(mut self) -> A::Digest {
        let digest = self.inner.finalize::<A>();
        *self.inner = Context::after(*self.outer, BLOCK_LEN as u64, self.inner.kernel);
        self.inner.update::<A>(digest.as_ref());
        self.inner.finalize::<A>()
    }

    /// Checks that `tag` is the MAC of the message, all [`Algorithm::DIGEST_LEN`] bytes of it. How
    /// long that takes does not depend on where they differ.
    ///
    /// # Errors
    /// [`TagError::Length`] if `tag` is not as long as a digest, [`TagError::Mismatch`] if it is
    /// another one.
    pub fn verify(self, tag: &[u8]) -> Result<(), TagError> {
        self.verify_truncated(tag, A::DIGEST_LEN)
    }

    /// Checks that `tag` is the first `tag_len` bytes of the MAC, for protocols that cut it off. It
    /// is the protocol that says how many: the length of what arrived is the sender's choice.
    ///
    /// # Errors
    /// Those of [`verify_tag`].
    pub fn verify_truncated(self, tag: &[u8], tag_len: usize) -> Result<(), TagError> {
        verify_tag::<A>(&self.finalize(), tag, tag_len)
    }
}

impl<A: Algorithm> ZeroizeOnDrop for Hmac<A> {}

/// Shows how much went in, and nothing of the key.
impl<A: Algorithm> fmt::Debug for Hmac<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hmac")
            .field("algorithm", &A::NAME)
            .field("len_bytes", &(self.inner.len_bytes - BLOCK_LEN as u64))
            .finish_non_exhaustive()
    }
}

/// Checks that `tag` is the first `tag_len` bytes of `mac`, in a time that does not depend on where
/// they differ. [`Hmac::verify`] is the same for one message; this is for the MACs that
/// [`Engine::hmac_many`] made.
///
/// A tag has at least ten bytes and half of the MAC's (RFC 2104 section 5): 10 for SHA-1, 16 for
/// SHA-256.
///
/// ```
/// use hashlane_sha::{Sha1, TagError, hmac, verify_tag};
/// let mac = hmac::<Sha1>(&[0x0c; 20], b"Test With Truncation"); // RFC 2202, test case 5
/// let tag = [0x4c, 0x1a, 0x03, 0x42, 0x4b, 0x55, 0xe0, 0x7f, 0xe7, 0xf2, 0x7b, 0xe1];
/// assert_eq!(verify_tag::<Sha1>(&mac, &tag, 12), Ok(()));
/// let length = TagError::Length { expected: 20, found: 12 };
/// assert_eq!(verify_tag::<Sha1>(&mac, &tag, 20), Err(length));
/// ```
///
/// # Errors
/// - [`TagError::Refused`] if tags of `tag_len` bytes are too short, or longer than a MAC
/// - [`TagError::Length`] if `tag` does not have `tag_len` bytes
/// - [`TagError::Mismatch`] if it is another one.
pub fn verify_tag<A: Algorithm>(
    mac: &A::Digest,
    tag: &[u8],
    tag_len: usize,
) -> Result<(), TagError> {
    let (min, max) = (MIN_TAG_LEN.max(A::DIGEST_LEN / 2), A::DIGEST_LEN);
    if !(min..=max).contains(&tag_len) {
        return Err(TagError::Refused { tag_len, min, max });
    }
    if tag.len() != tag_len {
        let (expected, found) = (tag_len, tag.len());
        return Err(TagError::Length { expected, found });
    }
    if bool::from(mac.as_ref()[..tag_len].ct_eq(tag)) {
        Ok(())
    } else {
        Err(TagError::Mismatch)
    }
}

/// A tag is not that of the message. All lengths are in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TagError {
    /// The tag is that of another message or key.
    Mismatch,
    /// The tag has not the length that was asked for.
    Length {
        /// What was asked for.
        expected: usize,
        /// What the tag has.
        found: usize,
    },
    /// Tags of the length that was asked for are too easily guessed, or cannot be.
    Refused {
        /// What was asked for.
        tag_len: usize,
        /// The shortest that is allowed.
        min: usize,
        /// The whole MAC.
        max: usize,
    },
}

impl fmt::Display for TagError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mismatch => f.write_str("the tag is not that of the message"),
            Self::Length { expected, found } => {
                write!(f, "expected a tag of {expected} bytes, found {found}")
            }
            Self::Refused { tag_len, min, max } => {
                write!(
                    f,
                    "tags of {tag_len} bytes are refused: {min} to {max} are allowed"
                )
            }
        }
    }
}

impl core::error::Error for TagError {}

impl Engine {
    /// MACs of many messages of any lengths under one key, in the order of the messages. Nothing is
    /// allocated. It runs on the kernels of this engine, whatever `key` was made with.
    ///
    /// ```
    /// use hashlane_sha::{Engine, HmacKey, Sha256, Sha256Digest, hmac, verify_tag};
    ///
    /// let key = HmacKey::<Sha256>::new(b"key");
    /// let messages: [&[u8]; 3] = [b"", b"abc", b"of any length"];
    /// let mut macs = [Sha256Digest::default(); 3];
    /// Engine::detect().hmac_many(&key, &messages, &mut macs).expect("as many MACs as messages");
    /// assert_eq!(macs[1], hmac::<Sha256>(b"key", b"abc"));
    /// assert!(verify_tag::<Sha256>(&macs[2], &[0; 32], 32).is_err());
    /// ```
    ///
    /// # Errors
    /// [`LengthMismatch`] when `macs` is not as long as `messages`; nothing is hashed then.
    pub fn hmac_many<A: Algorithm>(
        &self,
        key: &HmacKey<A>,
        messages: &[&[u8]],
        macs: &mut [A::Digest],
    ) -> Result<(), LengthMismatch> {
        LengthMismatch::check(messages.len(), macs.len())?;
        let prefix_len = BLOCK_LEN as u64;
        A::digest_many_after(Seal(()), self, &key.inner, prefix_len, messages, macs);
        // The second pass is over digests, which all have one length, so that lanes run dry only at
        // the end of the last set. Each set moves aside, as its place is where the MACs go.
        for macs in macs.chunks_mut(MAX_LANES) {
            let mut digests = [A::Digest::default(); MAX_LANES];
            let digests = &mut digests[..macs.len()];
            digests.copy_from_slice(macs);
            let mut messages: [&[u8]; MAX_LANES] = [&[]; MAX_LANES];
            let messages = &mut messages[..macs.len()];
            for (message, digest) in messages.iter_mut().zip(&*digests) {
                *message = digest.as_ref();
            }
            A::digest_many_after(Seal(()), self, &key.outer, prefix_len, messages, macs);
        }
        Ok(())
    }
}
