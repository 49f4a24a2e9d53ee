//! HMAC (RFC 2104, FIPS 198-1): keys, messages that arrive in parts, and the comparison of tags.

use hashlane_sha::{
    Engine, LaneHash, LaneHmac, LaneHmacKey, Md5, Sha1, Sha224, Sha256, Sha384, Sha512, TagError,
    hazmat,
};
use subtle::ConstantTimeEq as _;

use crate::algorithm::Algorithm;
use crate::digest::Digest;

/// Number of messages in a pass over many. It keeps the lanes busy, and takes some KiB of stack.
const SET: usize = 128;

/// A key for any number of messages. It is wiped from memory on drop.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the variants are the algorithms")]
#[non_exhaustive]
pub enum HmacKey {
    Md5(LaneHmacKey<Md5>),
    Sha1(hashlane_sha::HmacKey<Sha1>),
    Sha224(LaneHmacKey<Sha224>),
    Sha256(hashlane_sha::HmacKey<Sha256>),
    Sha384(LaneHmacKey<Sha384>),
    Sha512(LaneHmacKey<Sha512>),
}

/// The HMAC of a message that arrives in parts. It is wiped from memory on drop.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the variants are the algorithms")]
#[non_exhaustive]
pub enum Hmac {
    Md5(LaneHmac<Md5>),
    Sha1(hashlane_sha::Hmac<Sha1>),
    Sha224(LaneHmac<Sha224>),
    Sha256(hashlane_sha::Hmac<Sha256>),
    Sha384(LaneHmac<Sha384>),
    Sha512(LaneHmac<Sha512>),
}

impl HmacKey {
    /// Returns the key with these bytes, of any length. SHA-1 and SHA-256 use the kernels of `engine`. Returns `None` if the
    /// algorithm has no HMAC: see [`Algorithm::has_hmac`].
    pub fn with_engine(engine: Engine, algorithm: Algorithm, key: &[u8]) -> Option<Self> {
        Some(match algorithm {
            Algorithm::Md5 => Self::Md5(LaneHmacKey::new(key)),
            Algorithm::Sha1 => Self::Sha1(hashlane_sha::HmacKey::with_engine(engine, key)),
            Algorithm::Sha224 => Self::Sha224(LaneHmacKey::new(key)),
            Algorithm::Sha256 => Self::Sha256(hashlane_sha::HmacKey::with_engine(engine, key)),
            Algorithm::Sha384 => Self::Sha384(LaneHmacKey::new(key)),
            Algorithm::Sha512 => Self::Sha512(LaneHmacKey::new(key)),
            #[cfg(any(feature = "blake", feature = "crc32", feature = "crc64"))]
            _ => return None,
        })
    }

    /// Returns the hash function of the HMAC.
    pub fn algorithm(&self) -> Algorithm {
        match self {
            Self::Md5(_) => Algorithm::Md5,
            Self::Sha1(_) => Algorithm::Sha1,
            Self::Sha224(_) => Algorithm::Sha224,
            Self::Sha256(_) => Algorithm::Sha256,
            Self::Sha384(_) => Algorithm::Sha384,
            Self::Sha512(_) => Algorithm::Sha512,
        }
    }

    /// Starts a message.
    pub fn start(&self) -> Hmac {
        match self {
            Self::Md5(key) => Hmac::Md5(key.start()),
            Self::Sha1(key) => Hmac::Sha1(key.start()),
            Self::Sha224(key) => Hmac::Sha224(key.start()),
            Self::Sha256(key) => Hmac::Sha256(key.start()),
            Self::Sha384(key) => Hmac::Sha384(key.start()),
            Self::Sha512(key) => Hmac::Sha512(key.start()),
        }
    }

    /// Writes the MACs of whole messages of any lengths, in their order, on the kernels of `engine`: as many at once as it has
    /// lanes. Nothing is allocated.
    ///
    /// ```
    /// use hashlane_hashes::{Algorithm, HmacKey, Mac};
    /// use hashlane_sha::Engine;
    ///
    /// let engine = Engine::detect();
    /// let key = HmacKey::with_engine(engine, Algorithm::Sha512, b"Jefe").expect("SHA-512 has HMACs");
    /// let mut macs = [Mac::placeholder(); 2];
    /// key.mac_many(engine, &[b"what do ya want for nothing?", b"what else?"], &mut macs);
    /// assert_eq!(macs[0].as_bytes()[..4], [0x16, 0x4b, 0x7a, 0x7b]); // RFC 4231, test case 2
    /// ```
    ///
    /// # Panics
    /// If the numbers of messages and of `macs` differ.
    pub fn mac_many(&self, engine: Engine, messages: &[&[u8]], macs: &mut [Mac]) {
        assert_eq!(macs.len(), messages.len(), "one MAC for each message");
        for (messages, macs) in messages.chunks(SET).zip(macs.chunks_mut(SET)) {
            match self {
                Self::Md5(key) => lane_macs(key, engine, messages, macs),
                Self::Sha1(key) => plan_macs(key, engine, messages, macs),
                Self::Sha224(key) => lane_macs(key, engine, messages, macs),
                Self::Sha256(key) => plan_macs(key, engine, messages, macs),
                Self::Sha384(key) => lane_macs(key, engine, messages, macs),
                Self::Sha512(key) => lane_macs(key, engine, messages, macs),
            }
        }
    }
}

/// Writes the MACs of up to [`SET`] messages of an algorithm with the trait [`LaneHash`].
fn lane_macs<H: LaneHash>(
    key: &LaneHmacKey<H>,
    engine: Engine,
    messages: &[&[u8]],
    macs: &mut [Mac],
) {
    let mut computed = [H::ZERO; SET];
    let computed = &mut computed[..messages.len()];
    key.mac_many(H::kernel(&engine), messages, computed);
    for (mac, computed) in macs.iter_mut().zip(computed) {
        *mac = Mac(Digest::new(computed));
    }
}

/// Writes the MACs of up to [`SET`] messages of an algorithm with the trait [`hashlane_sha::Algorithm`].
fn plan_macs<A: hashlane_sha::Algorithm>(
    key: &hashlane_sha::HmacKey<A>,
    engine: Engine,
    messages: &[&[u8]],
    macs: &mut [Mac],
) {
    let mut computed = [hashlane_sha::Mac::placeholder(); SET];
    let computed = &mut computed[..messages.len()];
    engine.hmac_many(key, messages, computed);
    for (mac, computed) in macs.iter_mut().zip(computed) {
        *mac = Mac(Digest::new(computed.as_bytes()));
    }
}

impl Hmac {
    /// Appends `bytes` to the message.
    pub fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Md5(message) => message.update(bytes),
            Self::Sha1(message) => _ = message.update(bytes),
            Self::Sha224(message) => message.update(bytes),
            Self::Sha256(message) => _ = message.update(bytes),
            Self::Sha384(message) => message.update(bytes),
            Self::Sha512(message) => message.update(bytes),
        }
    }

    /// Returns the MAC of the message.
    pub fn finalize(self) -> Mac {
        Mac(match self {
            Self::Md5(message) => Digest::new(message.finalize()),
            Self::Sha1(message) => Digest::new(message.finalize().as_bytes()),
            Self::Sha224(message) => Digest::new(message.finalize()),
            Self::Sha256(message) => Digest::new(message.finalize().as_bytes()),
            Self::Sha384(message) => Digest::new(message.finalize()),
            Self::Sha512(message) => Digest::new(message.finalize()),
        })
    }
}

/// A message authentication code. Compare it with a received tag by [`Mac::is`] or [`Mac::verify`], not with `==` on slices.
#[derive(Clone, Copy)]
pub struct Mac(Digest);

impl Mac {
    /// Returns a value without bytes for [`HmacKey::mac_many`] to overwrite. It is the MAC of no message.
    pub fn placeholder() -> Self {
        Self(Digest::new([]))
    }

    /// Returns the bytes of the MAC.
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_ref()
    }

    /// Returns `true` if `tag` is the beginning of the MAC. The comparison takes constant time.
    pub fn is(&self, tag: &[u8]) -> bool {
        let beginning = self.as_bytes().get(..tag.len());
        beginning.is_some_and(|beginning| beginning.ct_eq(tag).into())
    }

    /// Checks that `tag` is the whole MAC, or its first `truncated_len` bytes.
    ///
    /// # Errors
    /// [`TagError::Refused`] if `truncated_len` is less than [`hazmat::min_tag_len`] or more than the MAC. [`TagError::Length`]
    /// or [`TagError::Mismatch`] for another tag.
    pub fn verify(&self, tag: &[u8], truncated_len: Option<usize>) -> Result<(), TagError> {
        let mac = self.as_bytes();
        hazmat::verify_tag(mac, tag, truncated_len.unwrap_or(mac.len()))
    }
}

/// Hides the value: a reader of a log could forge the message with it.
impl std::fmt::Debug for Mac {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Mac").finish_non_exhaustive()
    }
}
