//! HMAC with either algorithm (FIPS 198-1, RFC 2104).
//!
//! MAC = H((K0 ^ opad) || H((K0 ^ ipad) || message)), where K0 is the key in one block. Both
//! prefixes are whole blocks. A key is therefore stored as the two chaining values after the
//! prefixes. A MAC costs one or two compressions more than the digest of the message.

use core::fmt;
use core::marker::PhantomData;

use subtle::ConstantTimeEq;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::algorithm::sealed::Entries as _;
use crate::algorithm::{Algorithm, in_sets, kernel_alone};
use crate::context::Context;
use crate::engine::Engine;
use crate::kernels::rounds::Rounds as _;
use crate::table::Kernel;
use crate::types::{BLOCK_LEN, MAX_LANES, State};

/// Number of messages per pass of [`Engine::hmac_many`]. It keeps the lanes busy and takes a few
/// KiB of stack.
const MAC_SET: usize = 8 * MAX_LANES;

/// The longest block in bytes, that of the SHA-512 family.
pub(crate) const MAX_BLOCK_LEN: usize = 128;

/// Returns the states after the blocks K0 ^ ipad and K0 ^ opad (FIPS 198-1 section 4, steps 1 to 4
/// and 7). `after` computes a state from a block of `block_len` bytes. `digest` writes the digest of
/// the key, which replaces a key that is longer than a block.
pub(crate) fn after_pads<T>(
    key: &[u8],
    block_len: usize,
    digest: impl FnOnce(&mut [u8]),
    after: impl Fn(&[u8]) -> T,
) -> [T; 2] {
    let mut block = Zeroizing::new([0; MAX_BLOCK_LEN]);
    let block = &mut block[..block_len];
    if key.len() > block_len {
        digest(block);
    } else {
        block[..key.len()].copy_from_slice(key);
    }
    // The second pad takes the first one away.
    [0x36, 0x36 ^ 0x5c].map(|pad| {
        for byte in &mut *block {
            *byte ^= pad;
        }
        after(block)
    })
}

/// Returns the MAC of one message under a key that is used once. The key has any length; FIPS 198-1
/// requires at least half the length of a digest.
///
/// ```
/// use hashlane_sha::{Sha256, hmac};
/// let mac = hmac::<Sha256>(b"Jefe", b"what do ya want for nothing?");
/// assert!(mac.to_string().starts_with("5bdcc146bf60754e")); // RFC 4231, test case 2
/// ```
pub fn hmac<A: Algorithm>(key: &[u8], message: &[u8]) -> Mac<A> {
    let mut hmac = Hmac::<A>::new(key);
    hmac.update(message);
    hmac.finalize()
}

/// A message authentication code, which has the length of a digest.
///
/// The comparison of two `Mac` values takes the same time wherever they differ; the comparison of
/// their bytes does not. Check a received tag with [`Hmac::verify`] or [`Mac::verify`], not with
/// `==` on slices.
///
/// ```
/// use hashlane_sha::{Mac, Sha1, TagError, hmac};
/// let mac: Mac<Sha1> = hmac(&[0x0c; 20], b"Test With Truncation"); // RFC 2202, test case 5
/// let tag = [0x4c, 0x1a, 0x03, 0x42, 0x4b, 0x55, 0xe0, 0x7f, 0xe7, 0xf2, 0x7b, 0xe1];
/// assert_eq!(mac.verify_truncated(&tag, 12), Ok(()));
/// let length = TagError::Length { expected: 20, found: 12 };
/// assert_eq!(mac.verify(&tag), Err(length));
/// ```
pub struct Mac<A: Algorithm>(A::Digest);

#[expect(
    clippy::expl_impl_clone_on_copy,
    reason = "a derive would require `A: Copy`"
)]
impl<A: Algorithm> Clone for Mac<A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A: Algorithm> Copy for Mac<A> {}

impl<A: Algorithm> Mac<A> {
    /// Returns a value for [`Engine::hmac_many`] to overwrite: zeros. It is the MAC of no message,
    /// so it is not the `Default` of the type.
    pub fn placeholder() -> Self {
        Self(A::Digest::default())
    }

    /// Returns the bytes of the MAC.
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_ref()
    }

    /// Checks that `tag` is this MAC in its full length, [`Algorithm::DIGEST_LEN`] bytes.
    ///
    /// # Errors
    /// [`TagError::Length`] if `tag` is not as long as a digest, [`TagError::Mismatch`] if `tag` is
    /// another MAC.
    pub fn verify(&self, tag: &[u8]) -> Result<(), TagError> {
        self.verify_truncated(tag, A::DIGEST_LEN)
    }

    /// Checks that `tag` is the first `tag_len` bytes of this MAC, for protocols that truncate it.
    /// Take `tag_len` from the protocol: the sender chooses the length of the received tag.
    ///
    /// A tag must have at least ten bytes, and at least half the length of the MAC (RFC 2104
    /// section 5). The minimum is 10 bytes for SHA-1 and 16 bytes for SHA-256.
    ///
    /// # Errors
    /// - [`TagError::Refused`] if `tag_len` is too short, or longer than a MAC
    /// - [`TagError::Length`] if `tag` does not have `tag_len` bytes
    /// - [`TagError::Mismatch`] if `tag` belongs to another message or key
    pub fn verify_truncated(&self, tag: &[u8], tag_len: usize) -> Result<(), TagError> {
        verify_tag(self.as_bytes(), tag, tag_len)
    }
}

/// Returns the length in bytes of the shortest tag that [`verify_tag`] accepts for MACs of
/// `mac_len` bytes: half of the MAC, but at least ten bytes (RFC 2104 section 5).
pub const fn min_tag_len(mac_len: usize) -> usize {
    if mac_len < 20 { 10 } else { mac_len / 2 }
}

/// Checks in constant time that `tag` is the first `tag_len` bytes of a MAC of any algorithm, as
/// [`Mac::verify_truncated`](crate::Mac::verify_truncated) does.
///
/// ```
/// use hashlane_sha::{TagError, hazmat};
/// let mac = [7; 64]; // of HMAC-SHA512, for example
/// assert_eq!(hazmat::verify_tag(&mac, &[7; 32], 32), Ok(()));
/// let short = TagError::Refused { tag_len: 31, min: hazmat::min_tag_len(64), max: 64 };
/// assert_eq!(hazmat::verify_tag(&mac, &[7; 31], 31), Err(short));
/// ```
///
/// # Errors
/// The same as [`Mac::verify_truncated`](crate::Mac::verify_truncated).
pub fn verify_tag(mac: &[u8], tag: &[u8], tag_len: usize) -> Result<(), TagError> {
    let (min, max) = (min_tag_len(mac.len()), mac.len());
    if !(min..=max).contains(&tag_len) {
        return Err(TagError::Refused { tag_len, min, max });
    }
    if tag.len() != tag_len {
        let (expected, found) = (tag_len, tag.len());
        return Err(TagError::Length { expected, found });
    }
    if bool::from(mac[..tag_len].ct_eq(tag)) {
        Ok(())
    } else {
        Err(TagError::Mismatch)
    }
}

/// Compares in constant time.
impl<A: Algorithm> PartialEq for Mac<A> {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes().ct_eq(other.as_bytes()).into()
    }
}

impl<A: Algorithm> Eq for Mac<A> {}

/// Writes lower-case hexadecimal digits.
impl<A: Algorithm> fmt::Display for Mac<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// Hides the value: the right MAC of a forged message must not reach a log.
impl<A: Algorithm> fmt::Debug for Mac<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mac")
            .field("algorithm", &A::NAME)
            .finish_non_exhaustive()
    }
}

/// A prepared key for any number of messages: two chaining values.
///
/// The chaining values are as secret as the key. They are wiped from memory when the `HmacKey` is
/// dropped. The stack that was used to compute them is not wiped.
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
    /// The chaining value after the block K0 ^ ipad.
    inner: Zeroizing<State>,
    /// The chaining value after the block K0 ^ opad.
    outer: Zeroizing<State>,
    /// The kernel for a single message.
    kernel: Kernel,
    algorithm: PhantomData<A>,
}

impl<A: Algorithm> HmacKey<A> {
    /// Prepares a key of any length, on the best backend of this CPU (see [`Engine::detect`]).
    pub fn new(key: &[u8]) -> Self {
        Self::on_kernel(kernel_alone::<A>(), key)
    }

    /// Prepares a key of any length, on the kernels of `engine`.
    pub fn with_engine(engine: Engine, key: &[u8]) -> Self {
        Self::on_kernel(engine.kernel_alone::<A>(), key)
    }

    /// Starts the MAC of a message that arrives in parts.
    pub fn start(&self) -> Hmac<A> {
        Hmac {
            inner: Zeroizing::new(Context::after(*self.inner, BLOCK_LEN as u64, self.kernel)),
            outer: self.outer.clone(),
            algorithm: PhantomData,
        }
    }

    fn on_kernel(kernel: Kernel, key: &[u8]) -> Self {
        let digest = |block: &mut [u8]| {
            let mut context = Zeroizing::new(Context::after(A::Entries::IV, 0, kernel));
            context.update::<A>(key);
            let mut digest = context.finalize::<A>();
            block[..A::DIGEST_LEN].copy_from_slice(digest.as_ref());
            digest.as_mut().zeroize();
        };
        let [inner, outer] = after_pads(key, BLOCK_LEN, digest, |block| {
            let mut state = Zeroizing::new(A::Entries::IV);
            A::Entries::compress(kernel, &mut state, block.as_chunks().0);
            state
        });
        Self {
            inner,
            outer,
            kernel,
            algorithm: PhantomData,
        }
    }
}

impl<A: Algorithm> ZeroizeOnDrop for HmacKey<A> {}

/// Hides the key.
impl<A: Algorithm> fmt::Debug for HmacKey<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HmacKey")
            .field("algorithm", &A::NAME)
            .finish_non_exhaustive()
    }
}

/// The MAC of a message that arrives in parts, made by [`HmacKey::start`], or by [`Hmac::new`] for
/// a key that is used once. The state is wiped from memory on drop.
///
/// ```
/// use hashlane_sha::{Hmac, Sha256, TagError, hmac};
///
/// let tag = hmac::<Sha256>(b"key", b"message");
/// let mut hmac = Hmac::<Sha256>::new(b"key");
/// hmac.update(b"mess");
/// hmac.update(b"age");
/// assert_eq!(hmac.clone().verify(tag.as_bytes()), Ok(()));
/// assert_eq!(hmac.verify(&[0; 32]), Err(TagError::Mismatch));
/// ```
#[derive(Clone)]
pub struct Hmac<A: Algorithm> {
    inner: Zeroizing<Context>,
    outer: Zeroizing<State>,
    algorithm: PhantomData<A>,
}

impl<A: Algorithm> Hmac<A> {
    /// Starts the MAC of a message under a key of any length, on the best backend of this CPU.
    pub fn new(key: &[u8]) -> Self {
        HmacKey::new(key).start()
    }

    /// Appends `bytes` to the message. Returns the MAC in progress, so that calls can be chained.
    pub fn update(&mut self, bytes: &[u8]) -> &mut Self {
        self.inner.update::<A>(bytes);
        self
    }

    /// Returns the MAC of the message.
    pub fn finalize(mut self) -> Mac<A> {
        let digest = self.inner.finalize::<A>();
        *self.inner = Context::after(*self.outer, BLOCK_LEN as u64, self.inner.kernel);
        self.inner.update::<A>(digest.as_ref());
        Mac(self.inner.finalize::<A>())
    }

    /// Checks that `tag` is the MAC of the message, as [`Mac::verify`] does.
    ///
    /// # Errors
    /// The same as [`Mac::verify`].
    pub fn verify(self, tag: &[u8]) -> Result<(), TagError> {
        self.finalize().verify(tag)
    }

    /// Checks that `tag` is the first `tag_len` bytes of the MAC, as [`Mac::verify_truncated`]
    /// does.
    ///
    /// # Errors
    /// The same as [`Mac::verify_truncated`].
    pub fn verify_truncated(self, tag: &[u8], tag_len: usize) -> Result<(), TagError> {
        self.finalize().verify_truncated(tag, tag_len)
    }
}

impl<A: Algorithm> ZeroizeOnDrop for Hmac<A> {}

/// Shows the length of the message and hides the key.
impl<A: Algorithm> fmt::Debug for Hmac<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hmac")
            .field("algorithm", &A::NAME)
            .field("len_bytes", &(self.inner.len_bytes - BLOCK_LEN as u64))
            .finish_non_exhaustive()
    }
}

/// The reason why a tag was rejected. All lengths are in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TagError {
    /// The tag belongs to another message or key.
    Mismatch,
    /// The tag does not have the expected length.
    Length {
        /// The expected length.
        expected: usize,
        /// The length of the tag.
        found: usize,
    },
    /// The requested tag length is too short to be safe, or longer than a MAC.
    Refused {
        /// The requested tag length.
        tag_len: usize,
        /// The shortest length that is allowed.
        min: usize,
        /// The length of the whole MAC.
        max: usize,
    },
}

impl fmt::Display for TagError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mismatch => f.write_str("the tag does not match the message"),
            Self::Length { expected, found } => {
                write!(f, "expected a tag of {expected} bytes, found {found}")
            }
            Self::Refused { tag_len, min, max } => {
                write!(
                    f,
                    "a tag length of {tag_len} bytes is refused: use {min} to {max}"
                )
            }
        }
    }
}

impl core::error::Error for TagError {}

impl Engine {
    /// Writes the MACs of many messages of any lengths under one key, in the order of the messages.
    ///
    /// Nothing is allocated. The kernels of this engine run, regardless of the engine that `key`
    /// was made with.
    ///
    /// ```
    /// use hashlane_sha::{Engine, HmacKey, Mac, Sha256, hmac};
    ///
    /// let key = HmacKey::<Sha256>::new(b"key");
    /// let messages: [&[u8]; 3] = [b"", b"abc", b"of any length"];
    /// let mut macs = [Mac::placeholder(); 3];
    /// Engine::detect().hmac_many(&key, &messages, &mut macs);
    /// assert_eq!(macs[1], hmac::<Sha256>(b"key", b"abc"));
    /// assert!(macs[2].verify(&[0; 32]).is_err());
    /// ```
    ///
    /// # Panics
    /// If the numbers of messages and of `macs` differ. The MACs are unspecified then.
    pub fn hmac_many<'m, A: Algorithm>(
        &self,
        key: &HmacKey<A>,
        messages: impl IntoIterator<Item = &'m (impl AsRef<[u8]> + ?Sized + 'm)>,
        macs: &mut [Mac<A>],
    ) {
        let prefix_len = BLOCK_LEN as u64;
        let mut messages = messages.into_iter();
        // Hash the messages of a set first, then their digests, which are equally long.
        for macs in macs.chunks_mut(MAC_SET) {
            let mut set = in_sets(messages.by_ref().take(macs.len()));
            let mut inner = [A::Digest::default(); MAC_SET];
            let inner = &mut inner[..macs.len()];
            A::Entries::digest_many_after(self, &key.inner, prefix_len, &mut set, inner);
            let mut set = in_sets(&*inner);
            let mut outer = [A::Digest::default(); MAC_SET];
            let outer = &mut outer[..macs.len()];
            A::Entries::digest_many_after(self, &key.outer, prefix_len, &mut set, outer);
            for (mac, digest) in macs.iter_mut().zip(&*outer) {
                *mac = Mac(*digest);
            }
        }
        assert!(messages.next().is_none(), "one MAC for each message");
    }
}
