//! The algorithms of `digest` and `mac`: SHA-1 and SHA-256 of the engine, the others of
//! `RustCrypto`.

use hashlane_sha::{Algorithm as OfEngine, Engine, Hmac, HmacKey, Sha1, Sha256};
use hmac::digest::block_api::EagerHash;
use hmac::{KeyInit as _, Mac as _};
use md5::Md5;
use sha2::{Digest as _, Sha384, Sha512};

/// The program that an algorithm belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Digest,
    Mac,
}

/// A hash function, used as such or in HMAC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Function {
    Sha1,
    Md5,
    Sha256,
    Sha384,
    Sha512,
}

/// An algorithm of one of the programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Algorithm {
    /// The name after `-a`.
    pub(super) name: &'static str,
    kind: Kind,
    function: Function,
}

const ALGORITHMS: [Algorithm; 10] = [
    Algorithm::new("sha1", Kind::Digest, Function::Sha1),
    Algorithm::new("md5", Kind::Digest, Function::Md5),
    Algorithm::new("sha256", Kind::Digest, Function::Sha256),
    Algorithm::new("sha384", Kind::Digest, Function::Sha384),
    Algorithm::new("sha512", Kind::Digest, Function::Sha512),
    Algorithm::new("sha1_hmac", Kind::Mac, Function::Sha1),
    Algorithm::new("md5_hmac", Kind::Mac, Function::Md5),
    Algorithm::new("sha256_hmac", Kind::Mac, Function::Sha256),
    Algorithm::new("sha384_hmac", Kind::Mac, Function::Sha384),
    Algorithm::new("sha512_hmac", Kind::Mac, Function::Sha512),
];

impl Algorithm {
    const fn new(name: &'static str, kind: Kind, function: Function) -> Self {
        Self {
            name,
            kind,
            function,
        }
    }

    /// Returns the algorithms of a program.
    pub(super) fn all(kind: Kind) -> impl Iterator<Item = Self> {
        let all = ALGORITHMS.into_iter();
        all.filter(move |algorithm| algorithm.kind == kind)
    }

    /// Returns the shortest and the longest key in bits, as Solaris lists them. A longer key is hashed first
    /// (FIPS 198-1).
    pub(super) fn key_bits(self) -> (u32, u32) {
        match self.function {
            Function::Sha1 | Function::Md5 | Function::Sha256 => (8, 512),
            Function::Sha384 | Function::Sha512 => (8, 1024),
        }
    }

    /// Starts a message. `key` is that of a MAC, and not used otherwise.
    pub(super) fn start(self, engine: Engine, key: &[u8]) -> Box<dyn Hashing> {
        match (self.kind, self.function) {
            (Kind::Digest, Function::Sha1) => Box::new(Own(Sha1::with_engine(engine))),
            (Kind::Digest, Function::Sha256) => Box::new(Own(Sha256::with_engine(engine))),
            (Kind::Digest, Function::Md5) => Box::new(Other(Md5::new())),
            (Kind::Digest, Function::Sha384) => Box::new(Other(Sha384::new())),
            (Kind::Digest, Function::Sha512) => Box::new(Other(Sha512::new())),
            (Kind::Mac, Function::Sha1) => own_mac::<Sha1>(engine, key),
            (Kind::Mac, Function::Sha256) => own_mac::<Sha256>(engine, key),
            (Kind::Mac, Function::Md5) => other_mac::<Md5>(key),
            (Kind::Mac, Function::Sha384) => other_mac::<Sha384>(key),
            (Kind::Mac, Function::Sha512) => other_mac::<Sha512>(key),
        }
    }
}

/// A message that is being hashed.
pub(super) trait Hashing {
    /// Appends bytes.
    fn update(&mut self, bytes: &[u8]);

    /// Returns the digest or MAC.
    fn finish(self: Box<Self>) -> Vec<u8>;
}

struct Own<A>(A);

impl<A: OfEngine> Hashing for Own<A> {
    fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(self: Box<Self>) -> Vec<u8> {
        self.0.finalize().as_ref().to_vec()
    }
}

impl<A: OfEngine> Hashing for Hmac<A> {
    fn update(&mut self, bytes: &[u8]) {
        Hmac::update(self, bytes);
    }

    fn finish(self: Box<Self>) -> Vec<u8> {
        self.finalize().as_bytes().to_vec()
    }
}

struct Other<D>(D);

impl<D: sha2::Digest> Hashing for Other<D> {
    fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(self: Box<Self>) -> Vec<u8> {
        self.0.finalize().to_vec()
    }
}

struct OtherMac<D: EagerHash>(hmac::Hmac<D>);

impl<D: EagerHash> Hashing for OtherMac<D> {
    fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(self: Box<Self>) -> Vec<u8> {
        self.0.finalize().into_bytes().to_vec()
    }
}

fn own_mac<A: OfEngine + 'static>(engine: Engine, key: &[u8]) -> Box<dyn Hashing> {
    Box::new(HmacKey::<A>::with_engine(engine, key).start())
}

fn other_mac<D: EagerHash + 'static>(key: &[u8]) -> Box<dyn Hashing> {
    let hmac = hmac::Hmac::<D>::new_from_slice(key).expect("HMAC takes keys of any length");
    Box::new(OtherMac(hmac))
}
