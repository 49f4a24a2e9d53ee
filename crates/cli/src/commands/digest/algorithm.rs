//! The algorithms of `digest` and `mac`.

use hashlane_sha::{Algorithm as OfEngine, Engine, Hmac, HmacKey, Sha1, Sha256};
use hashlane_sums::DigestAlgorithm as Hash;
use hmac::digest::block_api::EagerHash;
use hmac::{KeyInit as _, Mac as _};
use md5::Md5;
use sha2::{Sha224, Sha384, Sha512};

/// An algorithm of `digest`: its name after `-a`, and the hash function.
pub(super) const DIGESTS: [(&str, Hash); 6] = [
    ("sha1", Hash::Sha1),
    ("md5", Hash::Md5),
    ("sha224", Hash::Sha224),
    ("sha256", Hash::Sha256),
    ("sha384", Hash::Sha384),
    ("sha512", Hash::Sha512),
];

/// An algorithm of `mac`.
#[derive(Clone, Copy, Debug)]
pub(super) struct MacAlgorithm {
    /// The name after `-a`.
    pub(super) name: &'static str,
    /// Length of a MAC in bits.
    pub(super) mac_bits: usize,
    /// Starts a message under a key.
    pub(super) start: Start,
}

/// The algorithms of `mac`. The engine computes SHA-1 and SHA-256, and `RustCrypto` the other algorithms.
pub(super) const MACS: [MacAlgorithm; 6] = [
    MacAlgorithm::new("sha1_hmac", 160, start_own::<Sha1>),
    MacAlgorithm::new("md5_hmac", 128, start_other::<Md5>),
    MacAlgorithm::new("sha224_hmac", 224, start_other::<Sha224>),
    MacAlgorithm::new("sha256_hmac", 256, start_own::<Sha256>),
    MacAlgorithm::new("sha384_hmac", 384, start_other::<Sha384>),
    MacAlgorithm::new("sha512_hmac", 512, start_other::<Sha512>),
];

/// Shortest MAC of any algorithm, in bits (RFC 2104 section 5).
const MIN_MAC_BITS: usize = 80;

/// Starts a message under a key.
type Start = fn(Engine, &[u8]) -> Box<dyn Message>;

impl MacAlgorithm {
    const fn new(name: &'static str, mac_bits: usize, start: Start) -> Self {
        Self {
            name,
            mac_bits,
            start,
        }
    }

    /// Returns the length of a MAC in bytes. `bits` is the length of truncated MACs: at least half of the whole length,
    /// and at least 80 bits (RFC 2104 section 5).
    ///
    /// # Errors
    /// Returns the reason why MACs cannot have this length.
    pub(super) fn mac_len(&self, bits: Option<usize>) -> Result<usize, String> {
        let (min, max) = (MIN_MAC_BITS.max(self.mac_bits / 2), self.mac_bits);
        match bits.unwrap_or(max) {
            bits if (min..=max).contains(&bits) && bits.is_multiple_of(8) => Ok(bits / 8),
            bits => Err(format!(
                "--bits {bits}: a MAC of {} has {min} to {max} bits, in whole bytes",
                self.name
            )),
        }
    }
}

/// A message whose MAC is being computed.
pub(super) trait Message {
    /// Appends bytes.
    fn update(&mut self, bytes: &[u8]);

    /// Returns the MAC.
    fn finish(self: Box<Self>) -> Vec<u8>;
}

impl<A: OfEngine> Message for Hmac<A> {
    fn update(&mut self, bytes: &[u8]) {
        Hmac::update(self, bytes);
    }

    fn finish(self: Box<Self>) -> Vec<u8> {
        self.finalize().as_bytes().to_vec()
    }
}

struct Other<D: EagerHash>(hmac::Hmac<D>);

impl<D: EagerHash> Message for Other<D> {
    fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(self: Box<Self>) -> Vec<u8> {
        self.0.finalize().into_bytes().to_vec()
    }
}

fn start_own<A: OfEngine + 'static>(engine: Engine, key: &[u8]) -> Box<dyn Message> {
    Box::new(HmacKey::<A>::with_engine(engine, key).start())
}

fn start_other<D: EagerHash + 'static>(_: Engine, key: &[u8]) -> Box<dyn Message> {
    let hmac = hmac::Hmac::<D>::new_from_slice(key).expect("HMAC takes keys of any length");
    Box::new(Other(hmac))
}
