//! The identity of a torrent: its number, its info-hashes, and its name.

use std::fmt;
use std::str::FromStr;

use data_encoding::HEXLOWER_PERMISSIVE;
use hashlane_metainfo::{InfoHashV1, InfoHashV2, InfoHashes};
use serde::{Deserialize, Serialize};

/// The info-hash of one version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum InfoHash {
    /// Of version 1 (BEP 3).
    V1(InfoHashV1),
    /// Of version 2 (BEP 52).
    V2(InfoHashV2),
}

impl InfoHash {
    /// Returns the info-hash that names a torrent: the one of version 1, or of version 2 if there is no other.
    pub fn of(info_hashes: InfoHashes) -> Self {
        match info_hashes {
            InfoHashes::V1(v1) | InfoHashes::Hybrid(v1, _) => Self::V1(v1),
            InfoHashes::V2(v2) => Self::V2(v2),
        }
    }

    /// Returns `true` if this is one of the info-hashes of a torrent.
    pub fn is_among(self, info_hashes: InfoHashes) -> bool {
        match self {
            Self::V1(v1) => info_hashes.v1() == Some(v1),
            Self::V2(v2) => info_hashes.v2() == Some(v2),
        }
    }
}

impl fmt::Display for InfoHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::V1(v1) => v1.fmt(f),
            Self::V2(v2) => v2.fmt(f),
        }
    }
}

impl FromStr for InfoHash {
    type Err = InvalidKey;

    /// Reads 40 hexadecimal digits of version 1, or 64 of version 2, in either letter case.
    fn from_str(text: &str) -> Result<Self, InvalidKey> {
        let bytes = HEXLOWER_PERMISSIVE.decode(text.as_bytes());
        let bytes = bytes.map_err(|_| InvalidKey)?;
        if let Ok(v1) = <[u8; 20]>::try_from(&bytes[..]) {
            return Ok(Self::V1(v1.into()));
        }
        let v2 = <[u8; 32]>::try_from(&bytes[..]);
        v2.map(|v2| Self::V2(v2.into())).map_err(|_| InvalidKey)
    }
}

/// A torrent as a caller names it: by its number in the client, or by an info-hash of either version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum TorrentKey {
    /// The number of the torrent.
    Number(usize),
    /// An info-hash of the torrent.
    InfoHash(InfoHash),
}

impl From<usize> for TorrentKey {
    fn from(number: usize) -> Self {
        Self::Number(number)
    }
}

impl From<InfoHash> for TorrentKey {
    fn from(info_hash: InfoHash) -> Self {
        Self::InfoHash(info_hash)
    }
}

/// A text that names no torrent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an info-hash of 40 or 64 hexadecimal digits, and not the number of a torrent")]
pub struct InvalidKey;

impl FromStr for TorrentKey {
    type Err = InvalidKey;

    /// Reads an info-hash, or a number in decimal digits. A number never has as many digits as an info-hash.
    fn from_str(text: &str) -> Result<Self, InvalidKey> {
        let info_hash = text.parse().map(Self::InfoHash);
        info_hash.or_else(|_| text.parse().map(Self::Number).map_err(|_| InvalidKey))
    }
}

impl TryFrom<String> for TorrentKey {
    type Error = InvalidKey;

    fn try_from(text: String) -> Result<Self, InvalidKey> {
        text.parse()
    }
}

/// The identity of a torrent in a client.
///
/// As JSON, it has the fields `number`, `info_hash`, `info_hash_v1` and `info_hash_v2`. `info_hash` is that of
/// [`InfoHash::of`]. Absent info-hashes are null.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(into = "Fields", try_from = "Fields")]
pub struct Identity {
    /// The number of the torrent: the position of its task. Torrents that are added while the client runs follow. No
    /// other torrent of the client gets the number.
    pub number: usize,
    /// The info-hashes; `None` while they are unknown. Those of a magnet link are known at once, and those of its
    /// metadata replace them.
    pub info_hashes: Option<InfoHashes>,
}

impl Identity {
    /// Returns the identity of a torrent with unknown info-hashes.
    pub fn new(number: usize) -> Self {
        Self {
            number,
            info_hashes: None,
        }
    }

    /// Returns the info-hash that names the torrent, if it is known.
    pub fn info_hash(self) -> Option<InfoHash> {
        self.info_hashes.map(InfoHash::of)
    }

    /// Returns `true` if the key names this torrent.
    pub fn has(self, key: TorrentKey) -> bool {
        match key {
            TorrentKey::Number(number) => number == self.number,
            TorrentKey::InfoHash(info_hash) => {
                let mut info_hashes = self.info_hashes.into_iter();
                info_hashes.any(|of_torrent| info_hash.is_among(of_torrent))
            }
        }
    }
}

/// The fields of an identity in JSON.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Fields {
    /// Position on the command line, from 0; torrents that are added later follow. A daemon counts from 1. No other torrent gets
    /// the number.
    number: usize,
    /// The info-hash of version 1, or of version 2 if there is no other. Null while it is unknown.
    info_hash: Option<String>,
    /// The info-hash of version 1 in 40 hexadecimal digits. Null without version 1, and while it is unknown.
    info_hash_v1: Option<String>,
    /// The info-hash of version 2 in 64 hexadecimal digits. Null without version 2, and while it is unknown.
    info_hash_v2: Option<String>,
}

impl From<Identity> for Fields {
    fn from(identity: Identity) -> Self {
        let v1 = identity.info_hashes.and_then(InfoHashes::v1);
        let v2 = identity.info_hashes.and_then(InfoHashes::v2);
        Self {
            number: identity.number,
            info_hash: identity.info_hash().map(|info_hash| info_hash.to_string()),
            info_hash_v1: v1.map(|v1| v1.to_string()),
            info_hash_v2: v2.map(|v2| v2.to_string()),
        }
    }
}

impl TryFrom<Fields> for Identity {
    type Error = InvalidKey;

    fn try_from(fields: Fields) -> Result<Self, InvalidKey> {
        let parse = |text: Option<String>| text.map(|text| text.parse()).transpose();
        let info_hashes = match (parse(fields.info_hash_v1)?, parse(fields.info_hash_v2)?) {
            (Some(InfoHash::V1(v1)), Some(InfoHash::V2(v2))) => Some(InfoHashes::Hybrid(v1, v2)),
            (Some(InfoHash::V1(v1)), None) => Some(InfoHashes::V1(v1)),
            (None, Some(InfoHash::V2(v2))) => Some(InfoHashes::V2(v2)),
            (None, None) => None,
            _ => return Err(InvalidKey),
        };
        Ok(Self {
            number: fields.number,
            info_hashes,
        })
    }
}

/// A torrent as answers name it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Named {
    /// Number and info-hashes of the torrent.
    #[serde(flatten)]
    pub identity: Identity,
    /// The name that is shown.
    pub title: String,
}

/// The torrent that a request added, or that was present.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Added {
    /// The torrent.
    #[serde(flatten)]
    pub torrent: Named,
    /// Whether the program had the torrent already. Nothing was changed then.
    #[serde(rename = "present")]
    pub is_present: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn v1() -> InfoHashV1 {
        [0xA5; 20].into()
    }

    fn v2() -> InfoHashV2 {
        [0x11; 32].into()
    }

    #[test]
    fn keys_are_info_hashes_or_numbers() {
        let parse = str::parse::<TorrentKey>;
        let (v1, v2) = (InfoHash::V1(v1()), InfoHash::V2(v2()));
        assert_eq!(parse("17"), Ok(TorrentKey::Number(17)));
        assert_eq!(parse(&"A5".repeat(20)), Ok(TorrentKey::InfoHash(v1)));
        assert_eq!(parse(&v1.to_string()), Ok(TorrentKey::InfoHash(v1)));
        // Decimal digits of this number are an info-hash too.
        assert_eq!(parse(&"11".repeat(32)), Ok(TorrentKey::InfoHash(v2)));
        for text in ["", "-1", "x", "a5", &"5".repeat(39), &"zz".repeat(20)] {
            assert_eq!(parse(text), Err(InvalidKey), "{text}");
        }
    }

    #[test]
    fn either_version_names_a_torrent() {
        let hashes = [
            (InfoHashes::V1(v1()), [true, false]),
            (InfoHashes::V2(v2()), [false, true]),
            (InfoHashes::Hybrid(v1(), v2()), [true, true]),
        ];
        for (info_hashes, expected) in hashes {
            let identity = Identity {
                number: 3,
                info_hashes: Some(info_hashes),
            };
            let keys = [InfoHash::V1(v1()), InfoHash::V2(v2())];
            let has = keys.map(|key| identity.has(TorrentKey::InfoHash(key)));
            assert_eq!(has, expected, "{info_hashes:?}");
            assert!(identity.has(TorrentKey::Number(3)));
            assert!(!identity.has(TorrentKey::Number(4)));
            assert!(Identity::try_from(Fields::from(identity)) == Ok(identity));
            let info_hash = identity
                .info_hash()
                .map(|info_hash| identity.has(TorrentKey::InfoHash(info_hash)));
            assert_eq!(info_hash, Some(true));
        }
        let unknown = Identity::new(3);
        assert!(!unknown.has(TorrentKey::InfoHash(InfoHash::V1(v1()))));
        assert!(Identity::try_from(Fields::from(unknown)) == Ok(unknown));
    }

    #[test]
    fn a_version_in_the_field_of_the_other_is_refused() {
        let fields = Fields {
            number: 0,
            info_hash: None,
            info_hash_v1: Some(v2().to_string()),
            info_hash_v2: None,
        };
        assert_eq!(Identity::try_from(fields), Err(InvalidKey));
    }
}
