//! The numbers of the algorithms, and the choice of a type by number.
#![allow(unsafe_code, reason = "exports functions to C")]

use hashlane_sha::{Algorithm, Sha1, Sha256};

/// The number of an algorithm: `HASHLANE_SHA1` or `HASHLANE_SHA256`.
pub type AlgorithmId = u32;

/// SHA-1 (FIPS 180-4). Its digests have 20 bytes.
pub const HASHLANE_SHA1: AlgorithmId = 1;
/// SHA-256 (FIPS 180-4). Its digests have 32 bytes.
pub const HASHLANE_SHA256: AlgorithmId = 2;

/// The length of a SHA-1 digest in bytes.
pub const HASHLANE_SHA1_LEN: usize = 20;
/// The length of a SHA-256 digest in bytes.
pub const HASHLANE_SHA256_LEN: usize = 32;
/// The length of the longest digest of all algorithms in bytes.
pub const HASHLANE_MAX_DIGEST_LEN: usize = 32;

const _: () = assert!(HASHLANE_SHA1_LEN == Sha1::DIGEST_LEN);
const _: () = assert!(HASHLANE_SHA256_LEN == Sha256::DIGEST_LEN);

/// Evaluates an expression with the type of the algorithm with this number. The expression is a
/// `Result`.
macro_rules! with_algorithm {
    ($id:expr, $name:ident => $result:expr) => {
        match $id {
            $crate::algorithm::HASHLANE_SHA1 => {
                type $name = hashlane_sha::Sha1;
                $result
            }
            $crate::algorithm::HASHLANE_SHA256 => {
                type $name = hashlane_sha::Sha256;
                $result
            }
            _ => Err($crate::error::Error::UnknownAlgorithm),
        }
    };
}
pub(crate) use with_algorithm;

/// A value whose type depends on the algorithm.
#[derive(Clone, Debug)]
pub(crate) enum Either<A, B> {
    Sha1(A),
    Sha256(B),
}

/// Evaluates an expression with the value of an [`Either`].
macro_rules! with_either {
    ($either:expr, $value:ident => $result:expr) => {
        match $either {
            $crate::algorithm::Either::Sha1($value) => $result,
            $crate::algorithm::Either::Sha256($value) => $result,
        }
    };
}
pub(crate) use with_either;

/// Returns the length in bytes of a digest or MAC of the algorithm, or 0 if no algorithm has this number.
///
/// Thread-safe.
#[unsafe(no_mangle)]
pub extern "C" fn hashlane_digest_len(algorithm: AlgorithmId) -> usize {
    with_algorithm!(algorithm, A => Ok(A::DIGEST_LEN)).unwrap_or(0)
}
