//! The baseline for the search for Base58Check strings.

use crate::ffi::openssl;

/// OpenSSL's ways to hash one message at once, for a double hash.
pub const OPENSSL_NAMES: [&str; 2] = ["OpenSSL SHA256()", "OpenSSL EVP_Digest()"];

/// Hashes `n` messages of 21 bytes twice each, one after the other, with one of [`OPENSSL_NAMES`].
/// The result depends on all messages.
///
/// # Panics
/// If the index is out of range.
pub fn openssl_double_hashes(which: usize, n: usize) -> u8 {
    let interface = [openssl::SHA256_ONE_SHOT, openssl::SHA256_EVP_DIGEST][which];
    let mut message = [0_u8; 21];
    let (mut first, mut second) = ([0; 32], [0; 32]);
    let mut all = 0;
    for i in 0..n {
        message[..8].copy_from_slice(&(i as u64).to_le_bytes());
        interface.hash(&message, message.len(), &mut first);
        interface.hash(&first, first.len(), &mut second);
        all ^= second[0];
    }
    all
}
