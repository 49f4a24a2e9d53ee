//! The names of torrents.

use std::fmt;
use std::str::FromStr;

use data_encoding::HEXLOWER;
use hashlane_metainfo::{InfoHashV1, InfoHashV2, InfoHashes};
use serde::{Deserialize, Serialize};

/// The name of a torrent in the folder: its info-hash of version 1, or of version 2 if it has no other.
///
/// A hybrid torrent has both, and other programs know it by that of version 1. As text, the name is lower-case
/// hexadecimal, and no other text is a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Name {
    /// The info-hash of version 1.
    V1(InfoHashV1),
    /// The info-hash of version 2.
    V2(InfoHashV2),
}

impl From<InfoHashes> for Name {
    fn from(info_hashes: InfoHashes) -> Self {
        match info_hashes {
            InfoHashes::V1(v1) | InfoHashes::Hybrid(v1, _) => Self::V1(v1),
            InfoHashes::V2(v2) => Self::V2(v2),
        }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::V1(v1) => v1.fmt(f),
            Self::V2(v2) => v2.fmt(f),
        }
    }
}

/// A text that is no name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an info-hash of 40 or 64 hexadecimal digits in lower case")]
pub struct InvalidName;

impl FromStr for Name {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        let bytes = HEXLOWER.decode(text.as_bytes()).map_err(|_| InvalidName)?;
        if let Ok(v1) = <[u8; 20]>::try_from(&bytes[..]) {
            return Ok(Self::V1(v1.into()));
        }
        let v2 = <[u8; 32]>::try_from(&bytes[..]).map_err(|_| InvalidName)?;
        Ok(Self::V2(v2.into()))
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.to_string()
    }
}

impl TryFrom<String> for Name {
    type Error = InvalidName;

    fn try_from(text: String) -> Result<Self, InvalidName> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_info_hashes_in_lower_case() {
        for text in ["a5".repeat(20), "a5".repeat(32)] {
            assert_eq!(text.parse::<Name>().map(|name| name.to_string()), Ok(text));
        }
        for text in [
            "",
            "a5",
            &"A5".repeat(20),
            &"a5".repeat(21),
            &"x5".repeat(20),
        ] {
            assert_eq!(text.parse::<Name>(), Err(InvalidName), "{text}");
        }
    }
}
