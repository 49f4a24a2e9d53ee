//! Facts about the original string that rule out hits: `--known`, `--pubkey-hash` and `--prefix`.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;

use anyhow::{Context as _, bail};
use hashlane_base58::{AddressHash, Filter, Known};

use crate::input;

/// Maximum length of a line in a file of addresses, in bytes.
const MAX_LINE_LEN: u64 = 200;

/// Returns the filter of these facts. Reads the file of known addresses, if there is one.
pub(super) fn filter(
    known_path: Option<&Path>,
    pubkey_hash: Option<AddressHash>,
    prefix: Option<&str>,
) -> anyhow::Result<Filter> {
    let mut filter = Filter {
        known: None,
        prefix: prefix.unwrap_or_default().to_owned(),
    };
    if let Some(path) = known_path {
        let known = read(path).with_context(|| path.display().to_string())?;
        filter.known = Some(known);
    }
    if let Some(hash) = pubkey_hash {
        filter.known.get_or_insert_default().insert_hash(hash);
    }
    Ok(filter)
}

/// Reads addresses, one per line.
fn read(path: &Path) -> anyhow::Result<Known> {
    let mut known = Known::default();
    let mut file = BufReader::new(input::open(path)?);
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
        if !known.insert(address) {
            bail!("line {number}: {address:?} is not an address: the checksum does not fit");
        }
    }
    Ok(known)
}
