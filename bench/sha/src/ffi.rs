//! The C functions of `shim/`. All unsafe code of this package is here.
#![allow(unsafe_code)]

/// Runs `n_times_64` * 64 additions. Each addition depends on the previous one.
pub(crate) fn add_chain(n_times_64: usize) -> u64 {
    // SAFETY: the function computes with its arguments and touches no memory.
    unsafe { bench_add_chain(n_times_64, 1) }
}

unsafe extern "C" {
    fn bench_add_chain(n_times_64: usize, summand: u64) -> u64;
}

/// Checks the precondition of every hashing function of the shims: `digests` has room for one
/// digest of each message of `len` bytes in `messages`. Returns the number of messages.
#[cfg(any(openssl, ipsec_mb))]
fn count(messages: &[u8], len: usize, digests: &[u8], digest_len: usize) -> usize {
    let n = digests.len() / digest_len;
    assert_eq!(digests.len(), n * digest_len, "whole digests");
    assert_eq!(messages.len(), n * len, "one message for each digest");
    n
}

/// OpenSSL, one message after the other.
#[cfg(openssl)]
pub(crate) mod openssl {
    use std::ffi::{CStr, c_char};

    /// A way to hash.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Interface {
        function: unsafe extern "C" fn(*const u8, usize, usize, *mut u8),
        digest_len: usize,
    }

    impl Interface {
        /// Writes the digests of the messages of `len` bytes that lie end to end in `messages`.
        pub(crate) fn hash(self, messages: &[u8], len: usize, digests: &mut [u8]) {
            let n = super::count(messages, len, digests, self.digest_len);
            // SAFETY: the function reads n messages of len bytes and writes n digests of digest_len
            // bytes, and `count` found room for both. `interfaces!` pairs it with its digest_len.
            unsafe { (self.function)(messages.as_ptr(), len, n, digests.as_mut_ptr()) }
        }
    }

    /// Returns the library's version string.
    pub(crate) fn version() -> String {
        // SAFETY: the function returns a static string that ends with a zero byte.
        let version = unsafe { CStr::from_ptr(bench_openssl_version()) };
        version.to_string_lossy().into_owned()
    }

    macro_rules! interfaces {
        ($($name:ident = $function:ident, $digest_len:literal;)*) => {
            $(pub(crate) const $name: Interface = Interface {
                function: $function,
                digest_len: $digest_len,
            };)*

            unsafe extern "C" {
                $(fn $function(messages: *const u8, len: usize, n: usize, digests: *mut u8);)*
            }
        };
    }

    interfaces!(
        SHA1_ONE_SHOT = bench_openssl_sha1_one_shot, 20;
        SHA1_STREAM = bench_openssl_sha1_stream, 20;
        SHA1_EVP_DIGEST = bench_openssl_sha1_evp_digest, 20;
        SHA1_EVP_CONTEXT = bench_openssl_sha1_evp_context, 20;
        MD5_ONE_SHOT = bench_openssl_md5_one_shot, 16;
        MD5_STREAM = bench_openssl_md5_stream, 16;
        MD5_EVP_DIGEST = bench_openssl_md5_evp_digest, 16;
        MD5_EVP_CONTEXT = bench_openssl_md5_evp_context, 16;
        SHA256_ONE_SHOT = bench_openssl_sha256_one_shot, 32;
        SHA256_STREAM = bench_openssl_sha256_stream, 32;
        SHA256_EVP_DIGEST = bench_openssl_sha256_evp_digest, 32;
        SHA256_EVP_CONTEXT = bench_openssl_sha256_evp_context, 32;
    );

    unsafe extern "C" {
        fn bench_openssl_version() -> *const c_char;
    }
}

/// The C code of M. Stevens and D. Shumow that `sha1dcsum` and Git run, as libgit2 contains it.
pub(crate) mod sha1dc {
    // The crate compiles and links the C code.
    use libgit2_sys as _;

    use std::ffi::{c_char, c_int};

    /// The name in reports.
    pub(crate) const TITLE: &str = "sha1dc in C";

    /// The origin of the code in reports.
    pub(crate) const ORIGIN: &str = "as in libgit2 1.9, with -O3";

    /// Memory for an `SHA1_CTX` of `sha1dc/sha1.h`, which is no public header: 2,400 bytes of
    /// numbers of at most 64 bits and a pointer. The rest is a reserve.
    #[repr(C)]
    #[derive(Debug)]
    pub(crate) struct Context([u64; 1024]);

    impl Default for Context {
        fn default() -> Self {
            Self([0; 1024])
        }
    }

    impl Context {
        /// Returns the SHA-1 of a message, or `None` if it is part of an attack.
        pub(crate) fn digest(&mut self, message: &[u8]) -> Option<[u8; 20]> {
            let mut digest = [0; 20];
            // SAFETY: the context has room for an `SHA1_CTX`, which the first call initialises. The
            // functions read the message and write 20 bytes.
            let is_attack = unsafe {
                SHA1DCInit(self);
                SHA1DCUpdate(self, message.as_ptr().cast(), message.len());
                SHA1DCFinal(&raw mut digest, self)
            };
            (is_attack == 0).then_some(digest)
        }
    }

    unsafe extern "C" {
        fn SHA1DCInit(context: *mut Context);
        fn SHA1DCUpdate(context: *mut Context, bytes: *const c_char, len: usize);
        fn SHA1DCFinal(digest: *mut [u8; 20], context: *mut Context) -> c_int;
    }
}

/// ipsec-mb, many messages at once.
#[cfg(ipsec_mb)]
pub(crate) mod ipsec_mb {
    use std::ffi::{CStr, c_char, c_int, c_void};
    use std::ptr::NonNull;

    /// The library's state: the selected code, and its queues.
    #[derive(Debug)]
    pub(crate) struct Manager(NonNull<c_void>);

    impl Manager {
        /// Returns a manager for the CPU's best features, optionally without the SHA extensions.
        pub(crate) fn new(without_sha_ni: bool) -> Option<Self> {
            // SAFETY: the function has no preconditions.
            NonNull::new(unsafe { bench_ipsec_mb_new(c_int::from(without_sha_ni)) }).map(Self)
        }

        /// Writes the SHA-1 digests of the messages of `len` bytes that lie end to end.
        pub(crate) fn sha1(&mut self, messages: &[u8], len: usize, digests: &mut [u8]) {
            let n = super::count(messages, len, digests, 20);
            let (messages, digests) = (messages.as_ptr(), digests.as_mut_ptr());
            // SAFETY: `self` holds a manager. The function reads n messages of len bytes and writes
            // n digests of 20 bytes. `count` found room for both. The function returns with empty
            // queues.
            unsafe { bench_ipsec_mb_sha1(self.0.as_ptr(), messages, len, n, digests) }
        }

        /// Writes the SHA-256 digests of the messages of `len` bytes that lie end to end.
        pub(crate) fn sha256(&mut self, messages: &[u8], len: usize, digests: &mut [u8]) {
            let n = super::count(messages, len, digests, 32);
            let (messages, digests) = (messages.as_ptr(), digests.as_mut_ptr());
            // SAFETY: as in `sha1`, with digests of 32 bytes.
            unsafe { bench_ipsec_mb_sha256(self.0.as_ptr(), messages, len, n, digests) }
        }
    }

    impl Drop for Manager {
        fn drop(&mut self) {
            // SAFETY: `new` created the manager, and no other code holds it.
            unsafe { bench_ipsec_mb_free(self.0.as_ptr()) }
        }
    }

    /// Returns the library's version.
    pub(crate) fn version() -> String {
        // SAFETY: the function returns a static string that ends with a zero byte.
        let version = unsafe { CStr::from_ptr(bench_ipsec_mb_version()) };
        version.to_string_lossy().into_owned()
    }

    unsafe extern "C" {
        fn bench_ipsec_mb_new(without_sha_ni: c_int) -> *mut c_void;
        fn bench_ipsec_mb_free(manager: *mut c_void);
        fn bench_ipsec_mb_version() -> *const c_char;
        fn bench_ipsec_mb_sha1(
            manager: *mut c_void,
            messages: *const u8,
            len: usize,
            n: usize,
            digests: *mut u8,
        );
        fn bench_ipsec_mb_sha256(
            manager: *mut c_void,
            messages: *const u8,
            len: usize,
            n: usize,
            digests: *mut u8,
        );
    }
}

/// The functions of a built libhashlane.
pub(crate) mod capi {
    use std::ffi::{c_int, c_void};
    use std::path::Path;

    use libloading::{Library, Symbol};

    /// `hashlane_digest()` of `hashlane.h`.
    type Digest = unsafe extern "C" fn(*const c_void, u32, *const c_void, usize, *mut u8) -> c_int;

    /// An open library.
    #[derive(Debug)]
    pub(crate) struct Capi(Library);

    impl Capi {
        pub(crate) fn open(path: &Path) -> Result<Self, libloading::Error> {
            // SAFETY: the caller names a libhashlane, whose initialisation is that of Rust's
            // runtime.
            unsafe { Library::new(path) }.map(Self)
        }

        /// Writes the digest of each message of `len` bytes, one after the other. `algorithm` is 1
        /// for SHA-1 (digests of 20 bytes) and 2 for SHA-256 (digests of 32 bytes).
        pub(crate) fn digests(
            &self,
            algorithm: u32,
            messages: &[u8],
            len: usize,
            digests: &mut [u8],
        ) -> Result<(), libloading::Error> {
            let digest_len = [20, 32][algorithm as usize - 1];
            // SAFETY: the header declares the function with this type.
            let digest: Symbol<'_, Digest> = unsafe { self.0.get("hashlane_digest") }?;
            for (message, digest_of) in messages
                .chunks_exact(len)
                .zip(digests.chunks_exact_mut(digest_len))
            {
                // SAFETY: the engine is NULL, `message` has the given length, and `digest_of` has
                // room for a digest.
                let error = unsafe {
                    digest(
                        std::ptr::null(),
                        algorithm,
                        message.as_ptr().cast(),
                        len,
                        digest_of.as_mut_ptr(),
                    )
                };
                assert_eq!(error, 0, "hashlane_digest");
            }
            Ok(())
        }
    }
}
