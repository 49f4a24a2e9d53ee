//! Torrents as people name them.

use hashlane_api::Refusal;
use hashlane_client::{Identity, InfoHash, Snapshot, TorrentKey, TorrentSnapshot};
use hashlane_metainfo::InfoHashes;

/// Digits of an info-hash that name a torrent, at least.
const MIN_DIGITS: usize = 4;

/// Maximum number of torrents that an error lists.
const MAX_CANDIDATES: usize = 10;

/// The names of all torrents, for a request with many.
pub(super) struct Names<'s> {
    all: &'s Snapshot,
    named: Vec<Known<'s>>,
}

/// The names of one torrent.
struct Known<'s> {
    torrent: &'s TorrentSnapshot,
    number: String,
    /// The info-hashes of both versions, in hexadecimal digits.
    hashes: [Option<String>; 2],
}

impl<'s> Known<'s> {
    fn new(torrent: &'s TorrentSnapshot) -> Self {
        let hashes = torrent.identity.info_hashes;
        Self {
            torrent,
            number: torrent.identity.number.to_string(),
            hashes: [
                hashes.and_then(InfoHashes::v1).map(|v1| v1.to_string()),
                hashes.and_then(InfoHashes::v2).map(|v2| v2.to_string()),
            ],
        }
    }

    fn is(&self, text: &str, digits: Option<&str>) -> bool {
        let mut hashes = self.hashes.iter().flatten();
        self.number == text
            || self.torrent.title() == text
            || digits.is_some_and(|digits| hashes.any(|hash| hash.starts_with(digits)))
    }
}

impl<'s> Names<'s> {
    pub(super) fn of(all: &'s Snapshot) -> Self {
        let named = all.torrents.iter().map(|torrent| Known::new(torrent));
        let named = named.collect();
        Self { all, named }
    }

    /// Returns the torrent that a text names: by its number, an info-hash of either version or its first digits, or the exact name
    /// that is shown. A whole info-hash wins over a name.
    pub(super) fn find(&self, text: &str) -> Result<&'s TorrentSnapshot, Refusal> {
        if let Ok(info_hash) = text.parse::<InfoHash>() {
            // The links of both versions can be torrents of their own beside the whole torrent.
            let only = Some(match info_hash {
                InfoHash::V1(v1) => InfoHashes::V1(v1),
                InfoHash::V2(v2) => InfoHashes::V2(v2),
            });
            let mut torrents = self.named.iter().map(|named| named.torrent);
            let found = torrents.find(|torrent| torrent.identity.info_hashes == only);
            let any = || {
                self.all
                    .find(TorrentKey::InfoHash(info_hash))
                    .map(|it| &**it)
            };
            let found = found.or_else(any);
            if let Some(found) = found {
                return Ok(found);
            }
        }
        let digits = text.to_ascii_lowercase();
        let are_digits =
            digits.len() >= MIN_DIGITS && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let digits = are_digits.then_some(&*digits);
        let found = self.named.iter().filter(|named| named.is(text, digits));
        let found: Vec<_> = found.map(|named| named.torrent).collect();
        match &found[..] {
            [torrent] => Ok(torrent),
            [] => Err(Refusal::Absent),
            several => Err(Refusal::Conflict(ambiguous(several))),
        }
    }
}

/// Returns the error for several torrents that a text can mean.
fn ambiguous(torrents: &[&TorrentSnapshot]) -> String {
    let shown = torrents.iter().take(MAX_CANDIDATES).map(|torrent| {
        let Identity { number, .. } = torrent.identity;
        let hash = torrent.identity.info_hash();
        let hash = hash.map_or_else(|| number.to_string(), |hash| hash.to_string());
        format!("{hash} ({})", torrent.title())
    });
    let shown: Vec<_> = shown.collect();
    let more = match torrents.len().saturating_sub(MAX_CANDIDATES) {
        0 => String::new(),
        n => format!(", and {n} more"),
    };
    format!(
        "{} torrents, name one of them by its info-hash: {}{more}",
        torrents.len(),
        shown.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn a_text_names_one_torrent_or_none() {
        let torrent = |number, byte: u8, title: &str| {
            let hash = [byte; 20].into();
            let mut torrent = TorrentSnapshot::new(number, title);
            torrent.identity.info_hashes = Some(InfoHashes::V1(hash));
            Arc::new(torrent)
        };
        let torrents = vec![
            torrent(1, 0x11, "one"),
            torrent(12, 0xAB, "1984"),
            torrent(1111, 0x12, "same"),
            torrent(1984, 0x13, "same"),
        ];
        let all = Snapshot {
            torrents,
            ..Snapshot::default()
        };
        let names = Names::of(&all);
        let number = |text: &str| names.find(text).map(|found| found.identity.number);
        let whole = "ab".repeat(20);
        for (text, expected) in [
            ("1", 1),
            ("12", 12),
            ("one", 1),
            ("ABAB", 12),
            (&whole, 12),
            ("1212", 1111),
        ] {
            assert_eq!(number(text), Ok(expected), "{text}");
        }
        for text in ["", "0012", "+1", "2", "aba", "One"] {
            assert_eq!(number(text), Err(Refusal::Absent), "{text}");
        }
        // A number and first digits; a number and a name; two names.
        for text in ["1111", "1984", "same"] {
            let refusal = number(text).unwrap_err().to_string();
            assert!(refusal.starts_with("2 torrents"), "{text}: {refusal}");
        }
    }
}
