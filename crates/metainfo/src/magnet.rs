//! Magnet links (BEP 9, BEP 52, BEP 53).

mod error;
mod peer;
mod selection;

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;

use data_encoding::{BASE32_NOPAD_NOCASE, HEXLOWER_PERMISSIVE};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

pub use error::MagnetError;
pub use peer::{PeerAddress, PeerAddressError};
pub use selection::{FileSelection, FileSelectionError};

use crate::{InfoHashV1, InfoHashV2, InfoHashes, Torrent};

/// All characters except the unreserved ones of RFC 3986, so that `&` is the only character of a
/// link that a shell may need quotes for.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
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
/// A link is refused if its info-hashes (`xt`) or its file selection (`so`) are invalid. All other
/// parameters are hints. Invalid hints are ignored, as in other programs. If a name or length
/// appears several times, the first one is used. Duplicate URLs are removed.
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
    /// Returns a link with info-hashes and nothing else.
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
        let metadata = torrent.metadata();
        let mut link = Self::new(torrent.info_hashes());
        link.name = Some(String::from_utf8_lossy(torrent.name().as_bytes()).into_owned());
        link.length = Some(torrent.content_length());
        link.trackers = urls(metadata.trackers.into_iter().flatten());
        link.web_seeds = urls(metadata.web_seeds);
        let nodes = metadata.nodes.iter();
        let nodes = nodes.filter_map(|(host, port)| PeerAddress::new(host, *port).ok());
        link.dht_nodes = nodes.collect();
        link
    }
}

/// The parameters of a link that have been read so far.
#[derive(Default)]
struct Parameters<'l> {
    v1: Option<InfoHashV1>,
    v2: Option<InfoHashV2>,
    name: Option<String>,
    length: Option<u64>,
    trackers: Vec<Cow<'l, str>>,
    web_seeds: Vec<Cow<'l, str>>,
    peers: Vec<PeerAddress>,
    dht_nodes: Vec<PeerAddress>,
    /// The ranges of all `so` parameters.
    selected: Vec<std::ops::RangeInclusive<u32>>,
}

impl FromStr for Magnet {
    type Err = MagnetError;

    fn from_str(link: &str) -> Result<Self, MagnetError> {
        const SCHEME: &str = "magnet:";
        let scheme = link.get(..SCHEME.len());
        if !scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case(SCHEME)) {
            return Err(MagnetError::NotMagnet);
        }
        let offset = SCHEME.len();
        let Some(query) = link[offset..].strip_prefix('?') else {
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
}

impl<'l> Parameters<'l> {
    /// Reads the parameter whose value starts at byte `offset` of the link.
    fn read(&mut self, key: &str, value: &'l str, offset: usize) -> Result<(), MagnetError> {
        // `tr.1`, `tr.2` and so on are several parameters of one kind. Links in capitals come from
        // QR codes, which encode capitals in less space.
        let key = key.to_ascii_lowercase();
        let kind = match key.split_once('.') {
            Some((kind, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => kind,
            _ => &key,
        };
        let decoded = || percent_decode_str(value).decode_utf8();
        match kind {
            "xt" => self.read_topic(&percent_decode_str(value).decode_utf8_lossy(), offset)?,
            "dn" if self.name.is_none() => {
                // `+` for a space, as in web forms, is common in links.
                let spaced = value.replace('+', " ");
                let name = percent_decode_str(&spaced).decode_utf8_lossy();
                self.name = Some(name.into_owned());
            }
            "xl" if self.length.is_none() => {
                self.length = decoded().ok().and_then(|text| text.parse().ok());
            }
            "tr" => self.trackers.extend(decoded()),
            "ws" => self.web_seeds.extend(decoded()),
            "x.pe" => self
                .peers
                .extend(decoded().ok().and_then(|text| text.parse().ok())),
            "dht" => {
                let node = decoded().ok().and_then(|text| text.parse().ok());
                self.dht_nodes.extend(node);
            }
            "so" => {
                let list = percent_decode_str(value).decode_utf8_lossy();
                for range in selection::read_ranges(&list) {
                    let refused = |reason| MagnetError::SelectOnly { offset, reason };
                    self.selected.push(range.map_err(refused)?);
                }
            }
            _ => {}
        }
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

    fn finish(self) -> Result<Magnet, MagnetError> {
        let info_hashes = match (self.v1, self.v2) {
            (Some(v1), Some(v2)) => InfoHashes::Hybrid(v1, v2),
            (Some(v1), None) => InfoHashes::V1(v1),
            (None, Some(v2)) => InfoHashes::V2(v2),
            (None, None) => return Err(MagnetError::NoInfoHash),
        };
        Ok(Magnet {
            info_hashes,
            name: self.name,
            length: self.length,
            trackers: urls(self.trackers),
            web_seeds: urls(self.web_seeds),
            peers: self.peers,
            dht_nodes: self.dht_nodes,
            select_only: FileSelection::from_ranges(self.selected),
        })
    }
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

/// Returns the texts that can be URLs, without duplicates.
fn urls(texts: impl IntoIterator<Item = impl AsRef<str>>) -> Vec<String> {
    let mut known = HashSet::new();
    let texts = texts.into_iter().map(|text| escaped_url(text.as_ref()));
    texts
        .filter(|text| is_url(text) && known.insert(text.clone()))
        .collect()
}

/// Percent-encodes white space and control characters inside a URL, as browsers do, and removes them
/// around the URL. Torrents name web seeds by paths with spaces, and other programs use these.
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

#[cfg(test)]
mod tests {
    use super::*;

    const V1: &str = "3ff6fe577e89feeb7c20674a06744c2f30efcd5f";
    const V1_BASE32: &str = "H73P4V36RH7OW7BAM5FAM5CMF4YO7TK7";
    const V2: &str = "597b180c1a170a585dfc5e85d834d69013ceda174b8f357d5bb1a0ca509faf0a";

    fn read(link: &str) -> Magnet {
        link.parse()
            .unwrap_or_else(|error| panic!("{link}: {error}"))
    }

    #[test]
    fn info_hashes() {
        let v1 = |text: &str| read(text).info_hashes.v1().map(|hash| hash.to_string());
        for link in [
            format!("magnet:?xt=urn:btih:{V1}"),
            format!("MAGNET:?DN=X&XT.1=URN:BTIH:{}", V1.to_uppercase()),
            format!("magnet:?xt=urn:btih:{V1_BASE32}"),
            format!("magnet:?xt=urn:btih:{}", V1_BASE32.to_lowercase()),
            format!("magnet:?xt=urn%3Abtih%3A{V1}&xt=urn:btih:{V1_BASE32}"),
            format!("magnet:?xt=urn:sha1:abc&xt=urn:btih:{V1}"),
        ] {
            assert_eq!(v1(&link).as_deref(), Some(V1), "{link}");
            assert_eq!(read(&link).info_hashes.v2(), None);
        }
        let both = read(&format!("magnet:?xt=urn:btmh:1220{V2}&xt=urn:btih:{V1}"));
        assert_eq!(
            both.info_hashes
                .v1()
                .map(|hash| hash.to_string())
                .as_deref(),
            Some(V1)
        );
        assert_eq!(
            both.info_hashes
                .v2()
                .map(|hash| hash.to_string())
                .as_deref(),
            Some(V2)
        );
        let expected = format!("magnet:?xt=urn:btih:{V1}&xt=urn:btmh:1220{V2}");
        assert_eq!(both.to_string(), expected);
        let v2 = read(&format!("magnet:?xt=urn:btmh:1220{V2}"));
        assert_eq!(v2.info_hashes.v1(), None);
        assert_eq!(v2.to_string(), format!("magnet:?xt=urn:btmh:1220{V2}"));
    }

    #[test]
    fn hints() {
        let link = format!(
            "magnet:?xt=urn:btih:{V1}&dn=a+b%20c%26%ff&dn=second&xl=123&xl=4&tr=http%3A%2F%2Fa%2F%3Fb\
             &tr.1=udp://b:80&tr=nonsense&tr=http://a/?b&ws=http://w&ws=%ff&x.pe=1.2.3.4:5\
             &x.pe=[::1]:6&x.pe=nonsense&dht=router.example:6881&so=0,2,4,6-8&so=9&unknown=1&&x"
        );
        let magnet = read(&link);
        assert_eq!(magnet.name.as_deref(), Some("a b c&\u{fffd}"));
        assert_eq!(magnet.length, Some(123));
        assert_eq!(magnet.trackers, ["http://a/?b", "udp://b:80"]);
        assert_eq!(magnet.web_seeds, ["http://w"]);
        let peers: Vec<String> = magnet.peers.iter().map(ToString::to_string).collect();
        assert_eq!(peers, ["1.2.3.4:5", "[::1]:6"]);
        assert_eq!(magnet.dht_nodes[0].to_string(), "router.example:6881");
        let selection = magnet.select_only.as_ref().map(ToString::to_string);
        assert_eq!(selection.as_deref(), Some("0,2,4,6-9"));
        let text = magnet.to_string();
        let expected = format!(
            "magnet:?xt=urn:btih:{V1}&dn=a%20b%20c%26%EF%BF%BD&xl=123&tr=http%3A%2F%2Fa%2F%3Fb\
             &tr=udp%3A%2F%2Fb%3A80&ws=http%3A%2F%2Fw&x.pe=1.2.3.4:5&x.pe=[::1]:6\
             &dht=router.example:6881&so=0,2,4,6-9"
        );
        assert_eq!(text, expected);
        assert_eq!(read(&text), magnet);
    }

    #[test]
    fn urls_with_white_space_are_escaped() {
        let link = format!(
            "magnet:?xt=urn:btih:{V1}&ws=http%3A%2F%2Fw%2Fa%20b%09c&ws=http://w/a%2520b%2509c\
             &tr=%20http://t/%0A&ws=no%20url"
        );
        let magnet = read(&link);
        assert_eq!(magnet.web_seeds, ["http://w/a%20b%09c"]);
        assert_eq!(magnet.trackers, ["http://t/"]);
        assert_eq!(read(&magnet.to_string()), magnet);
    }

    #[test]
    fn refusals() {
        let length = |urn, expected, found| MagnetError::InfoHashLength {
            offset: 11,
            urn,
            expected,
            found,
        };
        let digit = |urn, encoding| MagnetError::InfoHashDigit {
            offset: 11,
            urn,
            encoding,
        };
        let btih = "40 (hexadecimal) or 32 (base 32)";
        for (link, expected) in [
            (String::new(), MagnetError::NotMagnet),
            ("http://a".into(), MagnetError::NotMagnet),
            ("magne\u{fc}".into(), MagnetError::NotMagnet),
            ("magnet:".into(), MagnetError::NoParameters { offset: 7 }),
            (
                "magnet:xt=a".into(),
                MagnetError::NoParameters { offset: 7 },
            ),
            ("magnet:?".into(), MagnetError::NoInfoHash),
            ("magnet:?xt=urn:sha1:a".into(), MagnetError::NoInfoHash),
            ("magnet:?xt=urn:btih:".into(), length(BTIH, btih, 0)),
            (format!("magnet:?xt=urn:btih:{V1}0"), length(BTIH, btih, 41)),
            (
                format!("magnet:?xt=urn:btih:{}g", &V1[1..]),
                digit(BTIH, "hexadecimal"),
            ),
            (
                format!("magnet:?xt=urn:btih:{}1", &V1_BASE32[1..]),
                digit(BTIH, "base 32"),
            ),
            (
                format!("magnet:?xt=urn:btmh:1220{V2}00"),
                length(BTMH, "68 (hexadecimal)", 70),
            ),
            (
                format!("magnet:?xt=urn:btmh:1220{}g", &V2[1..]),
                digit(BTMH, "hexadecimal"),
            ),
            (
                format!("magnet:?xt=urn:btmh:1114{V1}"),
                MagnetError::UnknownMultihash { offset: 11 },
            ),
            (
                format!("magnet:?xt=urn:btih:{V1}&xt=urn:btih:{}", "0".repeat(40)),
                MagnetError::ConflictingInfoHashes {
                    offset: 64,
                    urn: BTIH,
                },
            ),
        ] {
            assert_eq!(link.parse::<Magnet>(), Err(expected), "{link}");
        }
        let link = format!("magnet:?xt=urn:btih:{V1}&so=1,x");
        let error = link.parse::<Magnet>();
        assert!(
            matches!(error, Err(MagnetError::SelectOnly { offset: 64, .. })),
            "{error:?}"
        );
    }
}
