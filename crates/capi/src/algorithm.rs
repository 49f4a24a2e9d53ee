//! The numbers of the algorithms.
#![allow(unsafe_code, reason = "exports functions to C")]

use hashlane_hashes::{Algorithm, MAX_DIGEST_LEN};

use crate::error::Error;

/// The number of an algorithm, for example `HASHLANE_SHA256`.
///
/// All functions accept all algorithms. `hashlane_digest_many()`, `hashlane_digest_chunks()` and
/// `hashlane_hmac_many()` hash many messages at once, each in a lane of a vector. Queues do so for
/// SHA-1 and SHA-256, and hash one message at a time for the others.
pub type AlgorithmId = u32;

/// SHA-1 (FIPS 180-4). Attackers can make messages with equal digests.
pub const HASHLANE_SHA1: AlgorithmId = 1;
/// SHA-256 (FIPS 180-4).
pub const HASHLANE_SHA256: AlgorithmId = 2;
/// SHA-224 (FIPS 180-4).
pub const HASHLANE_SHA224: AlgorithmId = 3;
/// SHA-384 (FIPS 180-4).
pub const HASHLANE_SHA384: AlgorithmId = 4;
/// SHA-512 (FIPS 180-4).
pub const HASHLANE_SHA512: AlgorithmId = 5;
/// MD5 (RFC 1321). Attackers can make messages with equal digests.
pub const HASHLANE_MD5: AlgorithmId = 6;

/// The length of a SHA-1 digest in bytes.
pub const HASHLANE_SHA1_LEN: usize = 20;
/// The length of a SHA-256 digest in bytes.
pub const HASHLANE_SHA256_LEN: usize = 32;
/// The length of a SHA-224 digest in bytes.
pub const HASHLANE_SHA224_LEN: usize = 28;
/// The length of a SHA-384 digest in bytes.
pub const HASHLANE_SHA384_LEN: usize = 48;
/// The length of a SHA-512 digest in bytes.
pub const HASHLANE_SHA512_LEN: usize = 64;
/// The length of an MD5 digest in bytes.
pub const HASHLANE_MD5_LEN: usize = 16;
/// The length of the longest digest of all algorithms in bytes.
pub const HASHLANE_MAX_DIGEST_LEN: usize = 64;

const _: () = {
    assert!(HASHLANE_SHA1_LEN == Algorithm::Sha1.digest_len());
    assert!(HASHLANE_SHA256_LEN == Algorithm::Sha256.digest_len());
    assert!(HASHLANE_SHA224_LEN == Algorithm::Sha224.digest_len());
    assert!(HASHLANE_SHA384_LEN == Algorithm::Sha384.digest_len());
    assert!(HASHLANE_SHA512_LEN == Algorithm::Sha512.digest_len());
    assert!(HASHLANE_MD5_LEN == Algorithm::Md5.digest_len());
    assert!(HASHLANE_MAX_DIGEST_LEN == MAX_DIGEST_LEN);
};

/// Returns the algorithm with this number.
pub(crate) fn algorithm(id: AlgorithmId) -> Result<Algorithm, Error> {
    match id {
        HASHLANE_SHA1 => Ok(Algorithm::Sha1),
        HASHLANE_SHA256 => Ok(Algorithm::Sha256),
        HASHLANE_SHA224 => Ok(Algorithm::Sha224),
        HASHLANE_SHA384 => Ok(Algorithm::Sha384),
        HASHLANE_SHA512 => Ok(Algorithm::Sha512),
        HASHLANE_MD5 => Ok(Algorithm::Md5),
        _ => Err(Error::UnknownAlgorithm),
    }
}

/// Returns the length in bytes of a digest or MAC of the algorithm, or 0 if no algorithm has this
/// number.
///
/// Thread-safe.
#[unsafe(no_mangle)]
pub extern "C" fn hashlane_digest_len(algorithm_id: AlgorithmId) -> usize {
    algorithm(algorithm_id).map_or(0, Algorithm::digest_len)
}
