//! What is known of a string besides what is left of it.

use std::collections::HashSet;
use std::io::BufRead as _;

use anyhow::{Context as _, bail};
use hashlane_base58::{ADDRESS_HASH_LEN, AddressHash, Alphabet, Hit, decode_check};

use super::Recover;
use crate::Env;

/// The longest line of a file of addresses that is read, in bytes. The rest of a longer one is passed over.
const MAX_LINE_LEN: usize = 200;

/// Decides which of several hits is meant.
pub(super) struct Judge {
    /// Hashes of addresses, one of which must belong to it.
    hashes: Option<HashSet<AddressHash>>,
    /// Strings, one of which it can be.
    texts: HashSet<String>,
    prefix: String,
}

impl Judge {
    pub(super) fn new(args: &Recover, env: &Env) -> anyhow::Result<Self> {
        let mut hashes: Option<HashSet<AddressHash>> = None;
        let mut texts = HashSet::new();
        if let Some(path) = &args.known {
            let known = hashes.get_or_insert_default();
            read(&env.resolve(path), known, &mut texts)
                .with_context(|| path.display().to_string())?;
        }
        if let Some(hash) = &args.pubkey_hash {
            hashes.get_or_insert_default().insert(*hash);
        }
        let prefix = args.prefix.clone().unwrap_or_default();
        Ok(Self {
            hashes,
            texts,
            prefix,
        })
    }

    /// Whether a hit is what is known of the string.
    pub(super) fn accepts(&self, hit: &Hit) -> bool {
        if !hit.text.starts_with(&self.prefix) {
            return false;
        }
        let Some(hashes) = &self.hashes else {
            return true;
        };
        self.texts.contains(hit.text.as_str())
            || hit
                .address_hashes()
                .iter()
                .any(|hash| hashes.contains(hash))
    }
}

/// Reads addresses, one a line.
fn read(
    path: &std::path::Path,
    hashes: &mut HashSet<AddressHash>,
    texts: &mut HashSet<String>,
) -> anyhow::Result<()> {
    let file = std::io::BufReader::new(std::fs::File::open(path)?);
    for (number, line) in file.lines().enumerate() {
        let line = line?;
        let address = line.trim();
        if address.is_empty() || address.starts_with('#') {
            continue;
        }
        if address.len() > MAX_LINE_LEN {
            bail!(
                "line {}: is no address, but {} bytes long",
                number + 1,
                address.len()
            );
        }
        if let Some(hash) = hash_of(address) {
            hashes.insert(hash);
        } else if let Some(text) = is_base58check(address).then(|| address.to_owned()) {
            texts.insert(text);
        } else {
            bail!(
                "line {}: {address:?} is no address: its checksum does not fit",
                number + 1
            );
        }
    }
    Ok(())
}

/// The hash in an address: behind a version of one or two bytes, or in a witness program.
fn hash_of(address: &str) -> Option<AddressHash> {
    if let Ok((_, _, program)) = bech32::segwit::decode(address) {
        return program.try_into().ok();
    }
    let of = |alphabet| {
        let payload = decode_check(address, alphabet).ok()?;
        let version_len = payload.len().checked_sub(ADDRESS_HASH_LEN)?;
        (1..=2)
            .contains(&version_len)
            .then(|| payload.last_chunk().copied())?
    };
    Alphabet::ALL.into_iter().find_map(of)
}

fn is_base58check(text: &str) -> bool {
    Alphabet::ALL
        .into_iter()
        .any(|alphabet| decode_check(text, alphabet).is_ok())
}
