//! Magnet links (BEP 9, BEP 52, BEP 53).

mod error;
mod peer;
mod selection;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;

use data_encoding::{BASE32_NOPAD_NOCASE, HEXLOWER_PERMISSIVE};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

pub use error::{IgnoredHint, IgnoredReason, MagnetError};
pub use peer::{PeerAddress, PeerAddressError};
pub use selection::{FileSelection, FileSelectionError};

use crate::{InfoHashV1, InfoHashV2, InfoHashes, Torrent};

/// All characters except the unreserved ones of RFC 3986, so that `&` is the only character of a
/// link that a shell may need quotes for.
pub(crate) const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// Prefix of an info-hash of version 1 (BEP 9).
const BTIH: &str = "urn:btih:";

/// Prefix of a multihash, which holds an info-hash of version 2 (BEP 52).
const BTMH: &str = "urn:btmh:";

/// Start of a SHA-256 multihash: the code of the function, and the length of 32 bytes.
const SHA256_MULTIHASH: [u8; 2] = [0x12, 0x20];

/// A magnet link: the info-hashes of a torrent, and hints where to find it.
///
/// A link is refused if its info-hashes (`xt`) are invalid. All other parameters are hints. Invalid
/// hints are ignored, as in other programs, and [`read`](Self::read) returns them. If a name or
/// length appears several times, the first one is used. Duplicate URLs are removed.
///
/// Bare info-hashes are read as links without hints: 40 or 64 hexadecimal digits, or 32 digits of
/// base 32. The scheme may also be `stream-magnet:`, and slashes may follow it. A link that
/// is percent-encoded as a whole is decoded first.
///
/// The displayed text is the canonical form: the info-hashes in lower-case hexadecimal first, then
/// [`name`](Self::name), [`length`](Self::length) and the other fields in order. Parsing that text
/// gives an equal link.
///
/// ```
/// use hashlane_metainfo::Magnet;
///
/// let link = "magnet:?xt=urn:btih:3ff6fe577e89feeb7c20674a06744c2f30efcd5f&dn=union+addresses";
/// let magnet: Magnet = link.parse()?;
/// assert_eq!(magnet.name.as_deref(), Some("union addresses"));
/// assert!(magnet.to_string().ends_with("&dn=union%20addresses"));
/// # Ok::<(), hashlane_metainfo::MagnetError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Magnet {
    /// Info-hashes of the torrent (`xt`).
    pub info_hashes: InfoHashes,
    /// Name to show until the torrent is available (`dn`).
    pub name: Option<String>,
    /// Length of the content in bytes (`xl`).
    pub length: Option<u64>,
    /// Tracker URLs (`tr`), all in one tier.
    pub trackers: Vec<String>,
    /// URLs of the content on web servers (`ws`, BEP 19).
    pub web_seeds: Vec<String>,
    /// Peers that have the torrent (`x.pe`, BEP 9).
    pub peers: Vec<PeerAddress>,
    /// DHT nodes (`dht`, an extension of libtorrent).
    pub dht_nodes: Vec<PeerAddress>,
    /// Selected files (`so`, BEP 53); `None` selects all.
    pub select_only: Option<FileSelection>,
}

impl Magnet {
    /// Parses a link or a bare info-hash. Also returns the ignored hints, in order.
    ///
    /// # Errors
    ///
    /// Returns a [`MagnetError`] if the text is neither, or if an info-hash in it is invalid.
    pub fn read(text: &str) -> Result<(Self, Vec<IgnoredHint>), MagnetError> {
        if let Some(info_hashes) = bare_info_hash(text) {
            return Ok((Self::new(info_hashes), Vec::new()));
        }
        if has_encoded_scheme(text) {
            return Self::read(&percent_decode_str(text).decode_utf8_lossy());
        }
        let offset = scheme_len(text).ok_or(MagnetError::NotMagnet)?;
        let query = text[offset..].trim_start_matches('/');
        let offset = text.len() - query.len();
        let Some(query) = query.strip_prefix('?') else {
            return Err(MagnetError::NoParameters { offset });
        };
        let mut parameters = Parameters::default();
        let mut offset = offset + 1;
        for parameter in query.split('&') {
            if let Some((key, value)) = parameter.split_once('=') {
                parameters.read(key, value, offset + key.len() + 1)?;
            }
            offset += parameter.len() + 1;
        }
        parameters.finish()
    }

    /// Returns `true` if a text starts with the scheme of magnet links. The rest may be invalid.
    pub fn has_scheme(text: &str) -> bool {
        scheme_len(text).is_some() || has_encoded_scheme(text)
    }

    /// Returns `true` if a text is a bare info-hash. A file may also have such a name.
    pub fn is_info_hash(text: &str) -> bool {
        bare_info_hash(text).is_some()
    }

    /// Returns a link with info-hashes only.
    pub fn new(info_hashes: InfoHashes) -> Self {
        Self {
            info_hashes,
            name: None,
            length: None,
            trackers: Vec::new(),
            web_seeds: Vec::new(),
            peers: Vec::new(),
            dht_nodes: Vec::new(),
            select_only: None,
        }
    }

    /// Returns the link of a torrent, with its name, length, trackers, web seeds and DHT nodes.
    pub fn of(torrent: &Torrent) -> Self {
        let keys = torrent.metadata_ref();
        let mut link = Self::new(torrent.info_hashes());
        link.name = Some(String::from_utf8_lossy(torrent.name().as_bytes()).into_owned());
        link.length = Some(torrent.content_length());
        let trackers = keys.trackers().flat_map(|tier| tier.urls());
        link.trackers = urls(trackers.map(|url| url.to_string()));
        link.web_seeds = urls(keys.web_seeds().map(|url| url.to_string()));
        let nodes = keys.nodes();
        let nodes = nodes.filter_map(|(host, port)| PeerAddress::new(&host.to_string(), port).ok());
        link.dht_nodes = nodes.collect();
        link
    }
}

/// The parameters of a link that have been read so far.
#[derive(Default)]
struct Parameters {
    v1: Option<InfoHashV1>,
    v2: Option<InfoHashV2>,
    name: Option<String>,
    length: Option<u64>,
    trackers: Vec<String>,
    web_seeds: Vec<String>,
    peers: Vec<PeerAddress>,
    dht_nodes: Vec<PeerAddress>,
    /// The ranges of all `so` parameters.
    selected: Vec<std::ops::RangeInclusive<u32>>,
    ignored: Vec<IgnoredHint>,
}

impl FromStr for Magnet {
    type Err = MagnetError;

    fn from_str(text: &str) -> Result<Self, MagnetError> {
        Self::read(text).map(|(magnet, _)| magnet)
    }
}

/// Returns the length of a scheme at the start of a text.
fn scheme_len(text: &str) -> Option<usize> {
    let schemes = ["magnet:", "stream-magnet:"].into_iter();
    let mut found = schemes.filter(|scheme| strip_prefix_ignoring_case(text, scheme).is_some());
    found.next().map(str::len)
}

/// Returns `true` for a whole link in percent-encoding, as a part of another URL has it: `magnet%3A%3Fxt%3D...`.
fn has_encoded_scheme(text: &str) -> bool {
    strip_prefix_ignoring_case(text, "magnet%3a").is_some()
}

fn bare_info_hash(text: &str) -> Option<InfoHashes> {
    if text.len() == 64 {
        let bytes = HEXLOWER_PERMISSIVE.decode(text.as_bytes()).ok()?;
        let bytes: [u8; 32] = bytes.try_into().ok()?;
        return Some(InfoHashes::V2(bytes.into()));
    }
    let bytes = read_btih(text, 0).ok()?;
    Some(InfoHashes::V1(bytes.into()))
}

impl Parameters {
    /// Reads the parameter whose value starts at byte `offset` of the link.
    fn read(&mut self, key: &str, value: &str, offset: usize) -> Result<(), MagnetError> {
        // `tr.1`, `tr.2` and so on are several parameters of one kind. Links in capitals come from
        // QR codes, which encode capitals in less space.
        let key = key.to_ascii_lowercase();
        let kind = match key.split_once('.') {
            Some((kind, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => kind,
            _ => &key,
        };
        let decoded = || percent_decode_str(value).decode_utf8().ok();
        let address = || decoded().and_then(|text| text.parse().ok());
        let result = match kind {
            "xt" => return self.read_topic(&percent_decode_str(value).decode_utf8_lossy(), offset),
            "dn" if self.name.is_none() => {
                // `+` for a space, as in web forms, is common in links.
                let spaced = value.replace('+', " ");
                let name = percent_decode_str(&spaced).decode_utf8_lossy();
                self.name = Some(name.into_owned());
                Ok(())
            }
            "xl" if self.length.is_none() => {
                self.length = decoded().and_then(|text| text.parse().ok());
                self.length.map(drop).ok_or(IgnoredReason::Length)
            }
            "tr" => add(&mut self.trackers, decoded().as_deref().and_then(url))
                .ok_or(IgnoredReason::Url),
            "ws" => add(&mut self.web_seeds, decoded().as_deref().and_then(url))
                .ok_or(IgnoredReason::Url),
            "x.pe" => add(&mut self.peers, address()).ok_or(IgnoredReason::Address),
            "dht" => add(&mut self.dht_nodes, address()).ok_or(IgnoredReason::Address),
            "so" => self.read_selection(&percent_decode_str(value).decode_utf8_lossy()),
            _ => Ok(()),
        };
        if let Err(reason) = result {
            self.ignored.push(IgnoredHint { offset, reason });
        }
        Ok(())
    }

    /// Reads a selection of files. An invalid item makes the whole list invalid, because the rest would be another
    /// selection. libtorrent ignores a list with other characters too, but skips a range that ends before it starts.
    fn read_selection(&mut self, list: &str) -> Result<(), IgnoredReason> {
        let ranges = selection::read_ranges(list).collect::<Result<Vec<_>, _>>();
        self.selected
            .extend(ranges.map_err(IgnoredReason::Selection)?);
        Ok(())
    }

    /// Reads an info-hash. Names of other networks are ignored.
    fn read_topic(&mut self, topic: &str, offset: usize) -> Result<(), MagnetError> {
        if let Some(digits) = strip_prefix_ignoring_case(topic, BTIH) {
            let info_hash = InfoHashV1::from(read_btih(digits, offset)?);
            return set(&mut self.v1, info_hash, BTIH, offset);
        }
        if let Some(digits) = strip_prefix_ignoring_case(topic, BTMH) {
            let info_hash = InfoHashV2::from(read_btmh(digits, offset)?);
            return set(&mut self.v2, info_hash, BTMH, offset);
        }
        Ok(())
    }

    fn finish(self) -> Result<(Magnet, Vec<IgnoredHint>), MagnetError> {
        let info_hashes = match (self.v1, self.v2) {
            (Some(v1), Some(v2)) => InfoHashes::Hybrid(v1, v2),
            (Some(v1), None) => InfoHashes::V1(v1),
            (None, Some(v2)) => InfoHashes::V2(v2),
            (None, None) => return Err(MagnetError::NoInfoHash),
        };
        let magnet = Magnet {
            info_hashes,
            name: self.name,
            length: self.length,
            trackers: without_duplicates(self.trackers),
            web_seeds: without_duplicates(self.web_seeds),
            peers: self.peers,
            dht_nodes: self.dht_nodes,
            select_only: FileSelection::from_ranges(self.selected),
        };
        Ok((magnet, self.ignored))
    }
}

/// Adds a value to a list, and returns `None` if there is no value.
fn add<T>(list: &mut Vec<T>, value: Option<T>) -> Option<()> {
    value.map(|value| list.push(value))
}

fn set<T: PartialEq>(
    known: &mut Option<T>,
    info_hash: T,
    urn: &'static str,
    offset: usize,
) -> Result<(), MagnetError> {
    match known {
        Some(known) if *known != info_hash => {
            Err(MagnetError::ConflictingInfoHashes { offset, urn })
        }
        _ => {
            *known = Some(info_hash);
            Ok(())
        }
    }
}

/// Reads 40 hexadecimal digits, or 32 digits of base 32 as in old links.
fn read_btih(digits: &str, offset: usize) -> Result<[u8; 20], MagnetError> {
    let (decoded, encoding) = match digits.len() {
        40 => (HEXLOWER_PERMISSIVE.decode(digits.as_bytes()), "hexadecimal"),
        32 => (BASE32_NOPAD_NOCASE.decode(digits.as_bytes()), "base 32"),
        found => {
            return Err(MagnetError::InfoHashLength {
                offset,
                urn: BTIH,
                expected: "40 (hexadecimal) or 32 (base 32)",
                found,
            });
        }
    };
    let decoded = decoded.ok().and_then(|bytes| bytes.try_into().ok());
    decoded.ok_or(MagnetError::InfoHashDigit {
        offset,
        urn: BTIH,
        encoding,
    })
}

/// Reads a SHA-256 multihash in hexadecimal.
fn read_btmh(digits: &str, offset: usize) -> Result<[u8; 32], MagnetError> {
    let decoded = HEXLOWER_PERMISSIVE.decode(digits.as_bytes());
    let Ok(bytes) = decoded else {
        return Err(MagnetError::InfoHashDigit {
            offset,
            urn: BTMH,
            encoding: "hexadecimal",
        });
    };
    let Some(digest) = bytes.strip_prefix(&SHA256_MULTIHASH) else {
        return Err(MagnetError::UnknownMultihash { offset });
    };
    digest.try_into().map_err(|_| MagnetError::InfoHashLength {
        offset,
        urn: BTMH,
        expected: "68 (hexadecimal)",
        found: digits.len(),
    })
}

fn strip_prefix_ignoring_case<'t>(text: &'t str, prefix: &str) -> Option<&'t str> {
    let start = text.get(..prefix.len())?;
    start
        .eq_ignore_ascii_case(prefix)
        .then(|| &text[prefix.len()..])
}

/// Returns the texts that are URLs, without duplicates.
fn urls(texts: impl IntoIterator<Item = impl AsRef<str>>) -> Vec<String> {
    let urls = texts.into_iter().filter_map(|text| url(text.as_ref()));
    without_duplicates(urls.collect())
}

fn without_duplicates(mut texts: Vec<String>) -> Vec<String> {
    let mut known = HashSet::new();
    texts.retain(|text| known.insert(text.clone()));
    texts
}

/// Returns a text as a URL, with [white space escaped](escaped_url).
fn url(text: &str) -> Option<String> {
    let url = escaped_url(text);
    is_url(&url).then_some(url)
}

/// Percent-encodes white space and control characters inside a URL, as browsers do, and removes them around the URL.
/// Some torrents have web seeds with spaces in their paths, and other programs use such web seeds.
fn escaped_url(text: &str) -> String {
    let text = text.trim_matches(|c: char| c.is_control() || c.is_whitespace());
    let mut url = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() || c.is_whitespace() {
            url.extend(utf8_percent_encode(c.encode_utf8(&mut [0; 4]), ENCODED));
        } else {
            url.push(c);
        }
    }
    url
}

/// Returns `true` if a text starts with a scheme (RFC 3986) and contains no white space or control
/// characters. Trackers and web seeds use many schemes, so any scheme is accepted.
pub fn is_url(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once("://") else {
        return false;
    };
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    is_scheme && !rest.is_empty() && !text.contains(|c: char| c.is_control() || c.is_whitespace())
}

/// Returns the host of a URL with its port if it has one, without a user name and a password. A text without a scheme is read as what
/// follows the scheme.
pub fn host_and_port(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    authority.rsplit('@').next().unwrap_or(authority)
}

impl fmt::Display for Magnet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let encoded = |text| utf8_percent_encode(text, ENCODED);
        f.write_str("magnet:?")?;
        match self.info_hashes {
            InfoHashes::V1(v1) => write!(f, "xt={BTIH}{v1}")?,
            InfoHashes::V2(v2) => write!(f, "xt={BTMH}1220{v2}")?,
            InfoHashes::Hybrid(v1, v2) => write!(f, "xt={BTIH}{v1}&xt={BTMH}1220{v2}")?,
        }
        if let Some(name) = &self.name {
            write!(f, "&dn={}", encoded(name))?;
        }
        if let Some(length) = self.length {
            write!(f, "&xl={length}")?;
        }
        for (key, urls) in [("tr", &self.trackers), ("ws", &self.web_seeds)] {
            for url in urls {
                write!(f, "&{key}={}", encoded(url))?;
            }
        }
        for (key, addresses) in [("x.pe", &self.peers), ("dht", &self.dht_nodes)] {
            for address in addresses {
                write!(f, "&{key}={address}")?;
            }
        }
        if let Some(selection) = &self.select_only {
            write!(f, "&so={selection}")?;
        }
        Ok(())
    }
}
