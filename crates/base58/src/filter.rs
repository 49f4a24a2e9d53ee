//! Facts about the original string that rule out hits.

use std::collections::{BTreeSet, HashSet};

use hashlane_sha::{Sha256, Sha256Digest};

use crate::addresses::AddressHash;
use crate::check::{Alphabet, decode_check};
use crate::hit::Hit;
use crate::kind::ADDRESS_HASH_LEN;

/// Facts about the original string, which rule out hits that do not agree with all of them. The default rules out none.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// The addresses, if known. The string belongs to one of them.
    pub known: Option<Known>,
    /// The first characters of the string.
    pub prefix: String,
}

/// Known addresses.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// The hashes in the addresses that contain one.
    hashes: HashSet<AddressHash>,
    /// Base58Check strings, witness addresses without such a hash, and addresses of Ethereum in lower case.
    texts: HashSet<String>,
}

impl Known {
    /// Returns the hashes in the addresses.
    pub(crate) fn hashes(&self) -> impl ExactSizeIterator<Item = &AddressHash> {
        self.hashes.iter()
    }

    /// Adds an address: a Base58Check string, a witness address, or an address of Ethereum in any letter case. Returns `false`,
    /// and adds nothing, if the checksum does not fit; that of Ethereum is not checked.
    #[must_use]
    pub fn insert(&mut self, address: &str) -> bool {
        if let Some(hash) = address_hash(address) {
            self.hashes.insert(hash);
        } else if bech32::segwit::decode(address).is_ok() || is_ethereum(address) {
            self.texts.insert(address.to_ascii_lowercase());
        } else if is_base58check(address) {
            self.texts.insert(address.to_owned());
        } else {
            return false;
        }
        true
    }

    /// Adds all addresses with this hash.
    pub fn insert_hash(&mut self, hash: AddressHash) {
        self.hashes.insert(hash);
    }
}

impl Filter {
    /// Returns a digest of all facts.
    pub fn digest(&self) -> Sha256Digest {
        let mut hasher = Sha256::new();
        hasher.update(self.prefix.as_bytes());
        if let Some(Known { hashes, texts }) = &self.known {
            let hashes: BTreeSet<&AddressHash> = hashes.iter().collect();
            let texts: BTreeSet<&String> = texts.iter().collect();
            // No prefix and no address has this byte.
            hasher.update(&[0]);
            for hash in hashes {
                hasher.update(hash);
            }
            hasher.update(&[0]);
            for text in texts {
                hasher.update(text.as_bytes());
                hasher.update(&[0]);
            }
        }
        hasher.finalize()
    }

    /// Returns `true` if a hit agrees with all facts.
    pub fn accepts(&self, hit: &Hit) -> bool {
        if !hit.text.starts_with(&self.prefix) {
            return false;
        }
        let Some(Known { hashes, texts }) = &self.known else {
            return true;
        };
        let own = hit.address_hashes();
        let in_texts = || {
            texts.contains(hit.text.as_str())
                || hit.addresses().iter().any(|own| texts.contains(&own.text))
        };
        own.iter().any(|hash| hashes.contains(hash)) || (!texts.is_empty() && in_texts())
    }

    /// Returns `true` if a text whose value does not depend on the letter case agrees with all facts.
    pub fn accepts_in_any_case(&self, text: &str) -> bool {
        let address = zeroize::Zeroizing::new(text.to_ascii_lowercase());
        if !address.starts_with(&self.prefix.to_ascii_lowercase()) {
            return false;
        }
        self.known.as_ref().is_none_or(|Known { hashes, texts }| {
            let hash = address_hash(&address);
            texts.contains(address.as_str()) || hash.is_some_and(|hash| hashes.contains(&hash))
        })
    }
}

/// Returns `true` for `0x` and the digits of an address.
fn is_ethereum(address: &str) -> bool {
    let digits = address.strip_prefix("0x").unwrap_or_default();
    digits.len() == 2 * ADDRESS_HASH_LEN && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
}

/// Returns the hash in an address: after a version of one to three bytes, or in a witness program.
fn address_hash(address: &str) -> Option<AddressHash> {
    if let Ok((_, _, program)) = bech32::segwit::decode(address) {
        return program.try_into().ok();
    }
    let in_base58 = |alphabet| {
        let payload = decode_check(address, alphabet).ok()?;
        let version_len = payload.len().checked_sub(ADDRESS_HASH_LEN)?;
        (1..=3)
            .contains(&version_len)
            .then(|| payload.last_chunk().copied())?
    };
    Alphabet::ALL.into_iter().find_map(in_base58)
}

fn is_base58check(text: &str) -> bool {
    Alphabet::ALL
        .into_iter()
        .any(|alphabet| decode_check(text, alphabet).is_ok())
}
