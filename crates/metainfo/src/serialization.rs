//! Serialization by serde.
//!
//! | type | form |
//! |---|---|
//! | [`Torrent`] | its bytes: Base64 in human-readable formats such as JSON, and bytes in binary formats |
//! | [`InfoHashV1`], [`InfoHashV2`] | hexadecimal digits |
//! | [`InfoHashes`] | a map of `v1` and `v2`; that of a version that the torrent lacks is null, or absent in the input |
//! | [`Magnet`], [`PeerAddress`], [`FileSelection`] | their text |
//! | [`Lengths`] | a map of both lengths in bytes |
//! | [`PathComponent`] | text, or bytes if the name is not UTF-8 |
//! | [`TorrentPath`] | a list of components |
//! | [`Files`], [`File`] | a list of files; a map of the file's properties |
//! | [`PieceIndex`] | a number |
//! | [`ContentLayout`](crate::ContentLayout) | `original`, `subfolder` or `no_subfolder` |
//!
//! Everything that is deserialized passes the checks of its constructor or parser. Values that are only valid as parts
//! of something else are only serialized: paths and files are parts of a [`Torrent`], and piece indexes of [`Lengths`].
//! A torrent is its bytes, because its info-hash and all checks are about bytes, and no summary could be checked again.
//! The bytes, the metadata and links contain URLs of trackers with their passkeys.

use std::borrow::Cow;
use std::fmt;

use data_encoding::{BASE64, HEXLOWER_PERMISSIVE};
use serde::de::{Error as _, SeqAccess, Visitor};
use serde::ser::SerializeStruct as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{
    File, FileKind, FileSelection, Files, InfoHashV1, InfoHashV2, InfoHashes, Lengths, Magnet,
    PathComponent, PeerAddress, PieceIndex, Torrent, TorrentPath,
};

/// Serializes a type as its text, and deserializes it with its parser.
macro_rules! as_text {
    ($type:ty, $parse:expr) => {
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = Cow::<str>::deserialize(deserializer)?;
                ($parse)(&*text).map_err(D::Error::custom)
            }
        }
    };
}

as_text!(Magnet, str::parse::<Magnet>);
as_text!(PeerAddress, str::parse::<PeerAddress>);
as_text!(FileSelection, str::parse::<FileSelection>);
as_text!(InfoHashV1, |text| digits(text).map(InfoHashV1::from));
as_text!(InfoHashV2, |text| digits(text).map(InfoHashV2::from));

/// Decodes exactly `N` bytes of hexadecimal digits.
fn digits<const N: usize>(text: &str) -> Result<[u8; N], String> {
    let bytes = HEXLOWER_PERMISSIVE.decode(text.as_bytes()).ok();
    bytes
        .and_then(|bytes| bytes.try_into().ok())
        .ok_or_else(|| format!("an info-hash has {} hexadecimal digits", 2 * N))
}

/// The info-hashes of a torrent by version. No field is left out, because some binary formats have no names of fields.
#[derive(Serialize, Deserialize)]
struct HashMap {
    #[serde(default)]
    v1: Option<InfoHashV1>,
    #[serde(default)]
    v2: Option<InfoHashV2>,
}

impl Serialize for InfoHashes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (v1, v2) = (self.v1(), self.v2());
        HashMap { v1, v2 }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for InfoHashes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match HashMap::deserialize(deserializer)? {
            HashMap {
                v1: Some(v1),
                v2: Some(v2),
            } => Ok(Self::Hybrid(v1, v2)),
            HashMap {
                v1: Some(v1),
                v2: None,
            } => Ok(Self::V1(v1)),
            HashMap {
                v1: None,
                v2: Some(v2),
            } => Ok(Self::V2(v2)),
            HashMap { v1: None, v2: None } => Err(D::Error::custom("no info-hash")),
        }
    }
}

/// Both lengths in bytes, unchecked.
#[derive(Serialize, Deserialize)]
struct UncheckedLengths {
    total_length: u64,
    piece_length: u64,
}

impl Serialize for Lengths {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let lengths = UncheckedLengths {
            total_length: self.total_length(),
            piece_length: self.piece_length().get().into(),
        };
        lengths.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Lengths {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let lengths = UncheckedLengths::deserialize(deserializer)?;
        Self::new(lengths.total_length, lengths.piece_length).map_err(D::Error::custom)
    }
}

impl Serialize for PieceIndex {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u32(self.get())
    }
}

impl Serialize for PathComponent<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match str::from_utf8(self.as_bytes()) {
            Ok(name) => serializer.serialize_str(name),
            Err(_) => serializer.serialize_bytes(self.as_bytes()),
        }
    }
}

/// Borrows text or bytes of the input, and checks them. Fails where the format has to copy, as for escapes in JSON.
impl<'de: 'a, 'a> Deserialize<'de> for PathComponent<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = <&[u8]>::deserialize(deserializer)?;
        Self::try_from(name).map_err(D::Error::custom)
    }
}

impl Serialize for TorrentPath<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.components())
    }
}

impl Serialize for Files<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl Serialize for File<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (kind, target) = match self.kind() {
            FileKind::Regular => ("regular", None),
            FileKind::Padding => ("padding", None),
            FileKind::Symlink { target } => ("symlink", Some(target)),
        };
        let pieces_root = self.pieces_root().copied().map(InfoHashV2::from);
        let mut map = serializer.serialize_struct("File", 7)?;
        map.serialize_field("path", &self.path())?;
        map.serialize_field("kind", kind)?;
        map.serialize_field("length", &self.length())?;
        map.serialize_field("offset", &self.offset())?;
        map.serialize_field("attributes", &self.attributes())?;
        map.serialize_field("target", &target)?;
        map.serialize_field("pieces_root", &pieces_root)?;
        map.end()
    }
}

impl Serialize for Torrent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(&BASE64.encode_display(self.bytes()))
        } else {
            serializer.serialize_bytes(self.bytes())
        }
    }
}

impl<'de> Deserialize<'de> for Torrent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            let text = Cow::<str>::deserialize(deserializer)?;
            let bytes = BASE64.decode(text.as_bytes()).map_err(D::Error::custom)?;
            Self::parse(bytes).map_err(D::Error::custom)
        } else {
            deserializer.deserialize_byte_buf(TorrentVisitor)
        }
    }
}

/// Parses the bytes of a torrent.
struct TorrentVisitor;

impl<'de> Visitor<'de> for TorrentVisitor {
    type Value = Torrent;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the bytes of a .torrent file")
    }

    fn visit_bytes<E: serde::de::Error>(self, bytes: &[u8]) -> Result<Torrent, E> {
        Torrent::parse(bytes).map_err(E::custom)
    }

    fn visit_byte_buf<E: serde::de::Error>(self, bytes: Vec<u8>) -> Result<Torrent, E> {
        Torrent::parse(bytes).map_err(E::custom)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Torrent, A::Error> {
        let mut bytes = Vec::new();
        while let Some(byte) = items.next_element()? {
            bytes.push(byte);
        }
        self.visit_byte_buf(bytes)
    }
}
