//! Protocol versions, and info-hashes: digests of the info dictionary, which identify torrents (BEP 3, BEP 52).

use std::fmt;

use data_encoding::HEXLOWER;
use hashlane_sha::{Sha1, Sha256};

/// The protocol versions of a torrent. There are no other versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Version {
    /// Version 1 (BEP 3).
    V1,
    /// Version 2 (BEP 52).
    V2,
    /// Both (BEP 52, "Upgrade Path").
    Hybrid,
}

impl Version {
    /// Returns `true` if pieces have SHA-1 digests (BEP 3).
    pub fn has_v1(self) -> bool {
        matches!(self, Self::V1 | Self::Hybrid)
    }

    /// Returns `true` if files have merkle trees (BEP 52).
    pub fn has_v2(self) -> bool {
        matches!(self, Self::V2 | Self::Hybrid)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::V1 => "version 1",
            Self::V2 => "version 2",
            Self::Hybrid => "hybrid (version 1 and 2)",
        })
    }
}

/// The info-hash of version 1 (BEP 3): the SHA-1 digest of the bytes of the info dictionary.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InfoHashV1([u8; 20]);

impl InfoHashV1 {
    /// Hashes the bytes of an info dictionary.
    pub(crate) fn of(info: &[u8]) -> Self {
        Self(hashlane_sha::digest::<Sha1>(info).into())
    }
}

/// The info-hash of version 2 (BEP 52): the SHA-256 digest of the bytes of the info dictionary.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InfoHashV2([u8; 32]);

impl InfoHashV2 {
    /// Hashes the bytes of an info dictionary.
    pub(crate) fn of(info: &[u8]) -> Self {
        Self(hashlane_sha::digest::<Sha256>(info).into())
    }
}

/// Conversions from and to bytes, and text as lower-case hexadecimal.
macro_rules! digest_newtype {
    ($name:ident, $len:literal) => {
        impl From<[u8; $len]> for $name {
            fn from(bytes: [u8; $len]) -> Self {
                Self(bytes)
            }
        }

        impl From<$name> for [u8; $len] {
            fn from(info_hash: $name) -> Self {
                info_hash.0
            }
        }

        impl AsRef<[u8]> for $name {
            fn as_ref(&self) -> &[u8] {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&HEXLOWER.encode(&self.0))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self)
            }
        }
    };
}

digest_newtype!(InfoHashV1, 20);
digest_newtype!(InfoHashV2, 32);

/// The info-hashes of a torrent, one for each of its protocol versions. There are no others, see [`Version`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InfoHashes {
    /// A version 1 torrent.
    V1(InfoHashV1),
    /// A version 2 torrent.
    V2(InfoHashV2),
    /// A hybrid torrent. Both digests cover the same bytes.
    Hybrid(InfoHashV1, InfoHashV2),
}

impl InfoHashes {
    /// Returns the info-hash of version 1, if the torrent has one.
    pub fn v1(self) -> Option<InfoHashV1> {
        match self {
            Self::V1(v1) | Self::Hybrid(v1, _) => Some(v1),
            Self::V2(_) => None,
        }
    }

    /// Returns the info-hash of version 2, if the torrent has one.
    pub fn v2(self) -> Option<InfoHashV2> {
        match self {
            Self::V2(v2) | Self::Hybrid(_, v2) => Some(v2),
            Self::V1(_) => None,
        }
    }

    /// Hashes an info dictionary for this version, or both versions.
    pub(crate) fn of(info: &[u8], version: Version) -> Self {
        match version {
            Version::V1 => Self::V1(InfoHashV1::of(info)),
            Version::V2 => Self::V2(InfoHashV2::of(info)),
            Version::Hybrid => Self::Hybrid(InfoHashV1::of(info), InfoHashV2::of(info)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_lower_case_hexadecimal() {
        // SHA-1 of the empty message, FIPS 180-4.
        let empty = InfoHashV1::of(b"");
        assert_eq!(
            empty.to_string(),
            "da39a3ee5e6b4b0d3255bfef95601890afd80709"
        );
        assert_eq!(format!("{empty:?}"), format!("InfoHashV1({empty})"));
        assert_eq!(
            format!("{empty:>42.8}|{:<10}", Version::V1),
            format!("{:34}da39a3ee|version 1 ", "")
        );
        let v2 = InfoHashV2::from([0xA5; 32]);
        assert_eq!(v2.to_string(), "a5".repeat(32));
        assert_eq!(<[u8; 32]>::from(v2), [0xA5; 32]);
        assert_eq!(v2.as_ref(), [0xA5; 32]);
    }
}
