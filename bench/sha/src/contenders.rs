//! The contenders: the engine's kernels by name, the engine with its default kernels, and the other
//! libraries.
//!
//! Every contender hashes the same messages in the same memory.

use std::fmt;

use hashlane_sha::sha1_checked::{self, Sha1Checked};
use hashlane_sha::{
    Algorithm, Backend, Engine, KernelName, Md5, Md5Kernel, Sha1, Sha1Digest, Sha256, digest,
};
use serde::Serialize;
use sha1::Digest as _;

use crate::batch::Batch;
#[cfg(ipsec_mb)]
use crate::ffi::ipsec_mb;
#[cfg(openssl)]
use crate::ffi::openssl;
use crate::ffi::sha1dc;

/// The kind of a contender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// One kernel of the engine, for any number of messages.
    Kernel,
    /// The engine, with its default kernels.
    Engine,
    /// A library that takes one message at a time.
    OneMessage,
    /// A library that takes many messages.
    ManyMessages,
}

/// An implementation to measure.
pub struct Contender {
    /// The id of its benchmark, without the message length: `sha1_x8_avx2`.
    pub id: String,
    /// The name in reports.
    pub name: String,
    /// The kind of contender.
    pub kind: Kind,
    hash: Box<dyn Hash>,
}

impl Contender {
    /// Hashes the messages of `batch`.
    pub fn run(&mut self, batch: &Batch<'_>) {
        self.hash.run(batch);
    }

    /// Hashes the messages of `batch`, and checks that the digests are `expected`.
    ///
    /// # Panics
    /// If the digests are wrong: the time of a wrong digest means nothing.
    pub fn check(&mut self, batch: &Batch<'_>, expected: &[u8]) {
        self.run(batch);
        let found = self.hash.digests();
        assert!(found == expected, "{}: wrong digests", self.id);
    }

    fn ours<A: Algorithm>(
        id: String,
        name: String,
        kind: Kind,
        function: impl Fn(&Batch<'_>, &mut [A::Digest]) + 'static,
    ) -> Self {
        let hash = Box::new(Ours::<A, _> {
            digests: Vec::new(),
            function,
        });
        Self {
            id,
            name,
            kind,
            hash,
        }
    }

    fn foreign<F: Function>(
        id: &str,
        name: &str,
        kind: Kind,
        function: impl FnMut(&Batch<'_>, &mut [u8]) + 'static,
    ) -> Self {
        Self {
            id: format!("{}_{id}", F::ID),
            name: name.into(),
            kind,
            hash: Box::new(Foreign {
                digests: Vec::new(),
                digest_len: digest_len::<F>(),
                function,
            }),
        }
    }

    /// Creates a contender from a function of one message.
    fn each<F: Function, D: AsRef<[u8]>>(
        id: &str,
        name: &str,
        function: impl Fn(&[u8]) -> D + 'static,
    ) -> Self {
        Self::foreign::<F>(id, name, Kind::OneMessage, move |batch, digests| {
            let digests = digests.chunks_exact_mut(digest_len::<F>());
            for (message, digest) in batch.messages().iter().zip(digests) {
                digest.copy_from_slice(function(message).as_ref());
            }
        })
    }

    #[cfg(openssl)]
    fn openssl<F: Function>(id: &str, name: &str, interface: openssl::Interface) -> Self {
        let id = format!("openssl_{id}");
        let name = format!("OpenSSL {name}");
        Self::foreign::<F>(&id, &name, Kind::OneMessage, move |batch, digests| {
            interface.hash(batch.bytes(), batch.message_len(), digests);
        })
    }
}

impl fmt::Debug for Contender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Contender")
            .field("id", &self.id)
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}

/// The implementation of a contender, with its buffer of digests.
trait Hash {
    fn run(&mut self, batch: &Batch<'_>);

    /// Returns the digests of the latest run, end to end.
    fn digests(&self) -> Vec<u8>;
}

struct Ours<A: Algorithm, F> {
    digests: Vec<A::Digest>,
    function: F,
}

impl<A: Algorithm, F: Fn(&Batch<'_>, &mut [A::Digest])> Hash for Ours<A, F> {
    fn run(&mut self, batch: &Batch<'_>) {
        let n_messages = batch.messages().len();
        self.digests.resize(n_messages, A::Digest::default());
        (self.function)(batch, &mut self.digests);
    }

    fn digests(&self) -> Vec<u8> {
        self.digests
            .iter()
            .flat_map(AsRef::as_ref)
            .copied()
            .collect()
    }
}

struct Foreign<F> {
    digests: Vec<u8>,
    digest_len: usize,
    function: F,
}

impl<F: FnMut(&Batch<'_>, &mut [u8])> Hash for Foreign<F> {
    fn run(&mut self, batch: &Batch<'_>) {
        let n_messages = batch.messages().len();
        self.digests.resize(n_messages * self.digest_len, 0);
        (self.function)(batch, &mut self.digests);
    }

    fn digests(&self) -> Vec<u8> {
        self.digests.clone()
    }
}

/// A hash function, with an independent implementation that checks the digests of all contenders.
pub trait Function {
    /// The implementation of `RustCrypto`.
    type RustCrypto: sha1::Digest;

    /// The start of the ids of contenders.
    const ID: &'static str;

    /// The name in reports.
    const TITLE: &'static str;

    /// Returns the digests of `batch`, end to end, from the independent implementation.
    fn expected(batch: &Batch<'_>) -> Vec<u8> {
        let messages = batch.messages().iter();
        messages.flat_map(Self::RustCrypto::digest).collect()
    }
}

/// Returns the length of a digest in bytes.
fn digest_len<F: Function>() -> usize {
    F::RustCrypto::output_size()
}

impl Function for Sha1 {
    type RustCrypto = sha1::Sha1;

    const ID: &'static str = Self::NAME;
    const TITLE: &'static str = "SHA-1";
}

impl Function for Sha256 {
    type RustCrypto = sha2::Sha256;

    const ID: &'static str = Self::NAME;
    const TITLE: &'static str = "SHA-256";
}

impl Function for Sha1Checked {
    type RustCrypto = sha1::Sha1;

    const ID: &'static str = "sha1_checked";
    const TITLE: &'static str = "SHA-1 with detection of attacks";
}

impl Function for Md5 {
    type RustCrypto = md5::Md5;

    const ID: &'static str = "md5";
    const TITLE: &'static str = "MD5";
}

/// An algorithm of the engine, with the other libraries that implement it.
pub trait Subject: Algorithm + Function {
    /// The name of the implementation of `RustCrypto` in reports.
    const RUSTCRYPTO: &'static str;

    /// Returns OpenSSL's ways to hash one message, its one-shot functions first. Empty if OpenSSL
    /// is not installed.
    fn openssl() -> Vec<Contender>;

    /// Returns the other libraries.
    fn others() -> Vec<Contender>;

    /// Returns `RustCrypto`, with updates of `update_len` bytes.
    fn rustcrypto_in_updates(update_len: usize) -> Contender {
        let id = format!("rustcrypto_updates_{update_len}");
        Contender::each::<Self, _>(&id, Self::RUSTCRYPTO, move |message| {
            let mut hasher = Self::RustCrypto::new();
            message
                .chunks(update_len)
                .for_each(|part| hasher.update(part));
            hasher.finalize()
        })
    }
}

impl Subject for Sha1 {
    const RUSTCRYPTO: &'static str = "RustCrypto sha1";

    fn openssl() -> Vec<Contender> {
        vec![
            #[cfg(openssl)]
            Contender::openssl::<Self>("one_shot", "SHA1()", openssl::SHA1_ONE_SHOT),
            #[cfg(openssl)]
            Contender::openssl::<Self>("evp_digest", "EVP_Digest", openssl::SHA1_EVP_DIGEST),
            #[cfg(openssl)]
            Contender::openssl::<Self>("evp_context", "EVP context", openssl::SHA1_EVP_CONTEXT),
            #[cfg(openssl)]
            Contender::openssl::<Self>("stream", "SHA1_Update", openssl::SHA1_STREAM),
        ]
    }

    fn others() -> Vec<Contender> {
        vec![
            Contender::each::<Self, _>("aws_lc_rs", "aws-lc-rs", |message| {
                use aws_lc_rs::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};
                digest(&SHA1_FOR_LEGACY_USE_ONLY, message)
            }),
            Contender::each::<Self, _>("ring", "ring", |message| {
                use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};
                digest(&SHA1_FOR_LEGACY_USE_ONLY, message)
            }),
            Contender::each::<Self, _>("rustcrypto", Self::RUSTCRYPTO, |message| {
                sha1::Sha1::digest(message)
            }),
            #[cfg(ipsec_mb)]
            Contender::foreign::<Self>("ipsec_mb", "ipsec-mb", Kind::ManyMessages, {
                let mut manager = ipsec_mb::Manager::new(false).expect("memory for a manager");
                move |batch, digests| manager.sha1(batch.bytes(), batch.message_len(), digests)
            }),
        ]
    }
}

impl Subject for Sha256 {
    const RUSTCRYPTO: &'static str = "RustCrypto sha2";

    fn openssl() -> Vec<Contender> {
        vec![
            #[cfg(openssl)]
            Contender::openssl::<Self>("one_shot", "SHA256()", openssl::SHA256_ONE_SHOT),
            #[cfg(openssl)]
            Contender::openssl::<Self>("evp_digest", "EVP_Digest", openssl::SHA256_EVP_DIGEST),
            #[cfg(openssl)]
            Contender::openssl::<Self>("evp_context", "EVP context", openssl::SHA256_EVP_CONTEXT),
            #[cfg(openssl)]
            Contender::openssl::<Self>("stream", "SHA256_Update", openssl::SHA256_STREAM),
        ]
    }

    fn others() -> Vec<Contender> {
        vec![
            Contender::each::<Self, _>("aws_lc_rs", "aws-lc-rs", |message| {
                aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, message)
            }),
            Contender::each::<Self, _>("ring", "ring", |message| {
                ring::digest::digest(&ring::digest::SHA256, message)
            }),
            Contender::each::<Self, _>("rustcrypto", Self::RUSTCRYPTO, |message| {
                sha2::Sha256::digest(message)
            }),
            #[cfg(ipsec_mb)]
            Contender::foreign::<Self>("ipsec_mb", "ipsec-mb", Kind::ManyMessages, {
                let mut manager = ipsec_mb::Manager::new(false).expect("memory for a manager");
                move |batch, digests| manager.sha256(batch.bytes(), batch.message_len(), digests)
            }),
            // For this algorithm, the SHA extensions and the vectors have similar speeds.
            #[cfg(ipsec_mb)]
            Contender::foreign::<Self>(
                "ipsec_mb_no_sha_ni",
                "ipsec-mb, vectors",
                Kind::ManyMessages,
                {
                    let mut manager = ipsec_mb::Manager::new(true).expect("memory for a manager");
                    move |batch, digests| {
                        manager.sha256(batch.bytes(), batch.message_len(), digests);
                    }
                },
            ),
        ]
    }
}

/// The name in reports of the engine with its default kernels.
pub const ENGINE: &str = "hashlane";

/// The name in reports of the engine without AVX-512 and the SHA extensions.
pub const ENGINE_AVX2: &str = "hashlane, AVX2 only";

/// The name in reports of the engine hashing one message at a time.
pub const ENGINE_SINGLE: &str = "hashlane, one by one";

/// Returns one kernel over many messages.
pub fn kernel<A: Algorithm>(name: KernelName) -> Contender {
    let engine = Engine::with_kernel::<A>(name.backend, name.lanes);
    let engine = engine.expect("only asked for kernels that are available");
    many::<A>(name.to_string(), name.to_string(), Kind::Kernel, engine)
}

/// Returns one single-message kernel over one message after the other, streamed.
pub fn kernel_stream<A: Algorithm>(name: KernelName) -> Contender {
    let engine = Engine::with_kernel::<A>(name.backend, name.lanes);
    let engine = engine.expect("only asked for kernels that are available");
    Contender::ours::<A>(
        name.to_string(),
        name.to_string(),
        Kind::Kernel,
        move |batch, digests| {
            for (message, digest) in batch.messages().iter().zip(digests) {
                let mut hasher = A::with_engine(engine);
                hasher.update(message);
                *digest = hasher.finalize();
            }
        },
    )
}

/// Returns every kernel that this CPU can run, over many messages.
pub fn kernels<A: Algorithm>() -> Vec<Contender> {
    KernelName::available::<A>().map(kernel::<A>).collect()
}

/// Returns the engine over many messages.
pub fn engine<A: Algorithm>() -> Contender {
    let id = format!("{}_many", A::NAME);
    many::<A>(id, ENGINE.into(), Kind::Engine, Engine::detect())
}

/// Returns the engine over many messages, limited to AVX2.
pub fn engine_avx2<A: Algorithm>() -> Option<Contender> {
    let id = format!("{}_many_avx2", A::NAME);
    let engine = Engine::with(Backend::Avx2).ok()?;
    Some(many::<A>(id, ENGINE_AVX2.into(), Kind::Engine, engine))
}

/// Returns the engine, one message after the other.
pub fn engine_single<A: Algorithm>() -> Contender {
    let id = format!("{}_single", A::NAME);
    Contender::ours::<A>(id, ENGINE_SINGLE.into(), Kind::Engine, |batch, digests| {
        for (message, to) in batch.messages().iter().zip(digests) {
            *to = digest::<A>(message);
        }
    })
}

/// Returns a hasher that takes each message in updates of `update_len` bytes.
pub fn in_updates<A: Algorithm>(update_len: usize) -> Contender {
    let id = format!("{}_updates_{update_len}", A::NAME);
    Contender::ours::<A>(id, ENGINE.into(), Kind::Engine, move |batch, digests| {
        for (message, to) in batch.messages().iter().zip(digests) {
            let mut hasher = A::new();
            message
                .chunks(update_len)
                .for_each(|part| hasher.update(part));
            *to = hasher.finalize();
        }
    })
}

/// Returns the engine over short messages of one length, with its best function for these.
pub fn engine_short<A: Algorithm>() -> Contender {
    let id = format!("{}_short", A::NAME);
    let engine = Engine::detect();
    Contender::ours::<A>(id, ENGINE.into(), Kind::Engine, move |batch, digests| {
        engine.digest_chunks::<A>(batch.bytes(), batch.message_len(), digests);
    })
}

fn many<A: Algorithm>(id: String, name: String, kind: Kind, engine: Engine) -> Contender {
    Contender::ours::<A>(id, name, kind, move |batch, digests| {
        engine.digest_many::<A>(batch.messages(), digests);
    })
}

/// Returns the kernels of SHA-1 with the detection of collision attacks, the engine, and the other
/// libraries that detect the same attacks.
pub fn checked() -> Vec<Contender> {
    let many = |id: String, name: String, kind, engine: Engine| Contender {
        id,
        name,
        kind,
        hash: Box::new(Ours::<Sha1, _> {
            digests: Vec::new(),
            function: move |batch: &Batch<'_>, digests: &mut [Sha1Digest]| {
                engine.digest_many_checked(batch.messages(), digests, |_| no_attack());
            },
        }),
    };
    let mut contenders: Vec<_> = sha1_checked::kernels()
        .map(|kernel| {
            let engine = Engine::with(kernel.backend).expect("this CPU can run it");
            many(kernel.to_string(), kernel.to_string(), Kind::Kernel, engine)
        })
        .collect();
    contenders.extend([
        many(
            "sha1_checked_many".into(),
            ENGINE.into(),
            Kind::Engine,
            Engine::detect(),
        ),
        one_by_one::<Sha1Checked, _>(|message| {
            sha1_checked::digest(message).unwrap_or_else(|_| no_attack())
        }),
        Contender::foreign::<Sha1Checked>("c", sha1dc::TITLE, Kind::OneMessage, {
            let mut context = sha1dc::Context::default();
            move |batch, digests| {
                let digests = digests.as_chunks_mut().0;
                for (message, digest) in batch.messages().iter().zip(digests) {
                    *digest = context.digest(message).unwrap_or_else(|| no_attack());
                }
            }
        }),
        Contender::each::<Sha1Checked, _>("sha1dc", "sha1dc, Rust", |message| {
            let digest = sha1dc_crate::digest(message).unwrap_or_else(|_| no_attack());
            <[u8; 20]>::from(digest)
        }),
    ]);
    contenders
}

fn no_attack() -> ! {
    unreachable!("random messages are no attacks")
}

/// Returns the kernels of MD5, the engine, and the other libraries.
pub fn md5() -> Vec<Contender> {
    let many = |name: String, kind, kernel: Md5Kernel| {
        let mut hashers = Vec::new();
        let id = format!("{name}_many");
        Contender::foreign::<Md5>(&id, &name, kind, move |batch, digests| {
            hashers.clear();
            hashers.resize(batch.messages().len(), Md5::default());
            Md5::update_many(kernel, &mut hashers, batch.messages());
            for (hasher, digest) in hashers.drain(..).zip(digests.as_chunks_mut().0) {
                *digest = hasher.finalize();
            }
        })
    };
    let mut contenders: Vec<_> = Md5Kernel::available()
        .map(|kernel| many(KernelName::from(kernel).to_string(), Kind::Kernel, kernel))
        .collect();
    contenders.extend([
        many(ENGINE.into(), Kind::Engine, Engine::detect().md5_kernel()),
        one_by_one::<Md5, _>(|message| {
            let mut hasher = Md5::default();
            hasher.update(message);
            hasher.finalize()
        }),
        #[cfg(openssl)]
        Contender::openssl::<Md5>("one_shot", "MD5()", openssl::MD5_ONE_SHOT),
        #[cfg(openssl)]
        Contender::openssl::<Md5>("evp_digest", "EVP_Digest", openssl::MD5_EVP_DIGEST),
        #[cfg(openssl)]
        Contender::openssl::<Md5>("evp_context", "EVP context", openssl::MD5_EVP_CONTEXT),
        #[cfg(openssl)]
        Contender::openssl::<Md5>("stream", "MD5_Update", openssl::MD5_STREAM),
        Contender::each::<Md5, _>("rustcrypto", "RustCrypto md-5", |message| {
            md5::Md5::digest(message)
        }),
    ]);
    contenders
}

/// Returns the engine over one message after the other, by a function of one message.
fn one_by_one<F: Function, D: AsRef<[u8]>>(function: impl Fn(&[u8]) -> D + 'static) -> Contender {
    Contender {
        kind: Kind::Engine,
        ..Contender::each::<F, _>("single", ENGINE_SINGLE, function)
    }
}

/// Returns the compared libraries, with their versions if available.
pub fn libraries() -> Vec<(&'static str, String)> {
    vec![
        #[cfg(openssl)]
        ("OpenSSL", openssl::version()),
        #[cfg(ipsec_mb)]
        ("ipsec-mb", ipsec_mb::version()),
        ("sha1dc in C", sha1dc::ORIGIN.into()),
    ]
}

/// Returns the libraries that are not compared, with the reasons.
pub fn absent() -> Vec<&'static str> {
    vec![
        #[cfg(not(openssl))]
        "OpenSSL (no libssl-dev 3.0 or later when this was built)",
        #[cfg(all(not(ipsec_mb), target_arch = "x86_64"))]
        "ipsec-mb (no libipsec-mb-dev 1.3 or later when this was built)",
    ]
}
