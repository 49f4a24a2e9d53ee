//! Which addresses belong to what was found.

use hashlane_sha::{Sha256, digest};
use k256::elliptic_curve::sec1::ToSec1Point as _;
use k256::{PublicKey, SecretKey};
use ripemd::{Digest as _, Ripemd160};

use crate::Hit;

/// Bytes of the hash that an address is made of.
pub const ADDRESS_HASH_LEN: usize = 20;

/// RIPEMD-160 of SHA-256 of a public key or a script.
pub type AddressHash = [u8; ADDRESS_HASH_LEN];

impl Hit {
    /// The hashes in the addresses that belong to it: its own if it is an address; of a private key
    /// those of its public key and, if that is compressed, of the script that makes it a witness
    /// program inside of a script address (BIP 141). None of what is encrypted, or a seed.
    pub fn address_hashes(&self) -> Vec<AddressHash> {
        if !self.is_secret {
            return self.payload.last_chunk().copied().into_iter().collect();
        }
        // Version, key, and a byte behind it if the public key is compressed.
        let is_compressed = match self.payload.len() {
            33 => false,
            34 => true,
            _ => return Vec::new(),
        };
        let Ok(key) = SecretKey::from_slice(&self.payload[1..33]) else {
            // Zero, or not less than the order of the curve.
            return Vec::new();
        };
        let public = of_public_key(&key.public_key(), is_compressed);
        let mut hashes = vec![public];
        if is_compressed {
            let mut script = vec![0, ADDRESS_HASH_LEN as u8];
            script.extend_from_slice(&public);
            hashes.push(hash160(&script));
        }
        hashes
    }
}

fn of_public_key(key: &PublicKey, is_compressed: bool) -> AddressHash {
    hash160(key.to_sec1_point(is_compressed).as_bytes())
}

fn hash160(bytes: &[u8]) -> AddressHash {
    Ripemd160::digest(digest::<Sha256>(bytes)).into()
}
