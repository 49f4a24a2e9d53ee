//! The hashes in the addresses that belong to a hit.

use hashlane_sha::{Sha256, digest};
use k256::elliptic_curve::sec1::ToSec1Point as _;
use k256::{PublicKey, SecretKey};
use ripemd::{Digest as _, Ripemd160};

use crate::hit::Hit;

/// Bytes of the hash in an address.
pub const ADDRESS_HASH_LEN: usize = 20;

/// RIPEMD-160 of SHA-256 of a public key or a script.
pub type AddressHash = [u8; ADDRESS_HASH_LEN];

impl Hit {
    /// Returns the hashes in the addresses that belong to this string.
    ///
    /// The hash of an address is its own. A private key has the hash of its public key and, if that
    /// is compressed, of the script of a witness program in a script address (BIP 141).
    /// Encrypted keys and seeds have none.
    pub fn address_hashes(&self) -> Vec<AddressHash> {
        if !self.is_secret {
            return self.payload.last_chunk().copied().into_iter().collect();
        }
        // Version, key, and one more byte if the public key is compressed.
        let is_compressed = match self.payload.len() {
            33 => false,
            34 => true,
            _ => return Vec::new(),
        };
        let Ok(key) = SecretKey::from_slice(&self.payload[1..33]) else {
            // Zero, or not less than the order of the curve.
            return Vec::new();
        };
        let public = hash_of_public_key(&key.public_key(), is_compressed);
        let mut hashes = vec![public];
        if is_compressed {
            let mut script = vec![0, ADDRESS_HASH_LEN as u8];
            script.extend_from_slice(&public);
            hashes.push(hash160(&script));
        }
        hashes
    }
}

fn hash_of_public_key(key: &PublicKey, is_compressed: bool) -> AddressHash {
    hash160(key.to_sec1_point(is_compressed).as_bytes())
}

fn hash160(bytes: &[u8]) -> AddressHash {
    Ripemd160::digest(digest::<Sha256>(bytes)).into()
}
