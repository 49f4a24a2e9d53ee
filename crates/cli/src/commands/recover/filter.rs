//! Facts about the original string that rule out hits: `--known`, `--pubkey-hash` and `--prefix`.

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;

use anyhow::{Context as _, bail};
use hashlane_base58::{ADDRESS_HASH_LEN, AddressHash, Alphabet, Hit, decode_check};

/// Maximum length of a line in a file of addresses, in bytes.
const MAX_LINE_LEN: u64 = 200;

/// A filter of hits.
#[derive(Default)]
pub(super) struct Filter {
    known: Option<Known>,
    prefix: String,
}

/// Known addresses.
#[derive(Default)]
struct Known {
    /// The hashes in the addresses that contain one.
    hashes: HashSet<AddressHash>,
    /// Base58Check strings and witness addresses without such a hash.
    texts: HashSet<String>,
}

impl Filter {
    /// Reads the file of known addresses, if there is one.
    pub(super) fn new(
        known_path: Option<&Path>,
        pubkey_hash: Option<AddressHash>,
        prefix: Option<&str>,
    ) -> anyhow::Result<Self> {
        let mut filter = Self {
            known: None,
            prefix: prefix.unwrap_or_default().to_owned(),
        };
        if let Some(path) = known_path {
            let known = read(path).with_context(|| path.display().to_string())?;
            filter.known = Some(known);
        }
        if let Some(hash) = pubkey_hash {
            filter.known.get_or_insert_default().hashes.insert(hash);
        }
        Ok(filter)
    }

    /// Returns `true` if a hit agrees with all facts.
    pub(super) fn accepts(&self, hit: &Hit) -> bool {
        if !hit.text.starts_with(&self.prefix) {
            return false;
        }
        let Some(Known { hashes, texts }) = &self.known else {
            return true;
        };
        let own = hit.address_hashes();
        texts.contains(hit.text.as_str())
            || own.iter().any(|hash| hashes.contains(hash))
            || hit.addresses().iter().any(|own| texts.contains(&own.text))
    }

    /// Returns `true` if a witness address in lower case agrees with all facts.
    pub(super) fn accepts_witness(&self, address: &str) -> bool {
        if !address.starts_with(&self.prefix.to_ascii_lowercase()) {
            return false;
        }
        self.known.as_ref().is_none_or(|Known { hashes, texts }| {
            let hash = address_hash(address);
            texts.contains(address) || hash.is_some_and(|hash| hashes.contains(&hash))
        })
    }
}

/// Reads addresses, one per line.
fn read(path: &Path) -> anyhow::Result<Known> {
    let mut known = Known::default();
    let mut file = BufReader::new(File::open(path)?);
    let mut line = Vec::new();
    for number in 1_u64.. {
        line.clear();
        let n_read = (&mut file)
            .take(MAX_LINE_LEN + 1)
            .read_until(b'\n', &mut line)
            .with_context(|| format!("line {number}"))?;
        if n_read == 0 {
            break;
        }
        let is_whole = line.ends_with(b"\n") || n_read as u64 <= MAX_LINE_LEN;
        let text = String::from_utf8_lossy(&line);
        let address = text.trim();
        if address.starts_with('#') {
            if !is_whole {
                file.skip_until(b'\n')?;
            }
            continue;
        }
        if !is_whole {
            bail!("line {number}: not an address: it exceeds the maximum of {MAX_LINE_LEN} bytes");
        }
        if address.is_empty() {
            continue;
        }
        if let Some(hash) = address_hash(address) {
            known.hashes.insert(hash);
        } else if bech32::segwit::decode(address).is_ok() {
            known.texts.insert(address.to_ascii_lowercase());
        } else if is_base58check(address) {
            known.texts.insert(address.to_owned());
        } else {
            bail!("line {number}: {address:?} is not an address: the checksum does not fit");
        }
    }
    Ok(known)
}

/// Returns the hash in an address: after a version of one or two bytes, or in a witness program.
fn address_hash(address: &str) -> Option<AddressHash> {
    if let Ok((_, _, program)) = bech32::segwit::decode(address) {
        return program.try_into().ok();
    }
    let in_base58 = |alphabet| {
        let payload = decode_check(address, alphabet).ok()?;
        let version_len = payload.len().checked_sub(ADDRESS_HASH_LEN)?;
        (1..=2)
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
