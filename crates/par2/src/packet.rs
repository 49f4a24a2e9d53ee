//! Packets, read from bytes and written.

use hashlane_hashes::{Algorithm, Hasher};
use hashlane_sha::Engine;

/// An MD5 digest.
pub type Md5 = [u8; 16];

/// A SHA-256 digest.
pub type Sha256 = [u8; 32];

/// The first bytes of each packet.
pub(crate) const MAGIC: [u8; 8] = *b"PAR2\0PKT";

/// Length of a header in bytes.
pub(crate) const HEADER_LEN: usize = 64;

/// The first byte of a packet that its digest covers.
pub(crate) const HASHED_FROM: usize = 32;

/// Maximum number of slices of a set, which is the number of constants.
pub const MAX_SLICES: usize = 32768;

/// Maximum number of recovery slices of a set. The exponent 65,535 gives the same slice as 0.
pub const MAX_RECOVERY_SLICES: usize = 65535;

/// Maximum length of a packet without recovery data. A list of all slices of a file takes 640 KiB, and a list of a million
/// files outside the recovery set 16 MiB.
pub(crate) const MAX_LEN: u64 = 17 << 20;

/// The identity of a set: the digest of its main packet's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SetId(pub Md5);

/// The identity of a file in a set: the digest of its first 16 KiB's digest, its length and its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileId(pub Md5);

impl FileId {
    /// Returns the identity of a file, from the digest of its first 16 KiB, its length and its name.
    pub fn of(md5_16k: &Md5, len: u64, name: &[u8]) -> Self {
        Self(md5(&[md5_16k, &len.to_le_bytes(), name]))
    }
}

/// The order of files in a main packet: that of little-endian integers.
impl Ord for FileId {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.iter().rev().cmp(other.0.iter().rev())
    }
}

impl PartialOrd for FileId {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// The types of packets that the specification defines, and one of Hashlane.
mod kind {
    pub(super) const MAIN: [u8; 16] = *b"PAR 2.0\0Main\0\0\0\0";
    pub(super) const FILE: [u8; 16] = *b"PAR 2.0\0FileDesc";
    pub(super) const SLICES: [u8; 16] = *b"PAR 2.0\0IFSC\0\0\0\0";
    pub(super) const RECOVERY: [u8; 16] = *b"PAR 2.0\0RecvSlic";
    pub(super) const CREATOR: [u8; 16] = *b"PAR 2.0\0Creator\0";
    pub(super) const UNICODE_NAME: [u8; 16] = *b"PAR 2.0\0UniFileN";
    pub(super) const COMMENT: [u8; 16] = *b"PAR 2.0\0CommASCI";
    pub(super) const UNICODE_COMMENT: [u8; 16] = *b"PAR 2.0\0CommUni\0";
    /// Other programs skip packets that they do not know.
    pub(super) const SHA256: [u8; 16] = *b"HashlaneSHA-256\0";
}

/// The header of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Length of the whole packet in bytes: a multiple of 4, at least 64.
    pub len: u64,
    /// The digest of the bytes after it: set, type and body.
    pub md5: Md5,
    /// The set that the packet belongs to.
    pub set: SetId,
    kind: [u8; 16],
}

impl Header {
    /// Reads a header. Returns `None` if the bytes do not start with one whose length is possible.
    pub fn read(bytes: &[u8; HEADER_LEN]) -> Option<Self> {
        let (magic, rest) = bytes.split_first_chunk()?;
        let (len, rest) = rest.split_first_chunk()?;
        let (md5, rest) = rest.split_first_chunk()?;
        let (set, rest) = rest.split_first_chunk()?;
        let len = u64::from_le_bytes(*len);
        let is_possible = *magic == MAGIC && len >= HEADER_LEN as u64 && len.is_multiple_of(4);
        is_possible.then_some(Self {
            len,
            md5: *md5,
            set: SetId(*set),
            kind: rest.try_into().ok()?,
        })
    }

    /// Returns `true` if the packet holds a recovery slice, which may be long.
    pub fn is_recovery(&self) -> bool {
        self.kind == kind::RECOVERY
    }
}

/// The checksums of a slice, whose missing bytes at the end of a file count as zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SliceChecksum {
    /// The MD5 digest.
    pub md5: Md5,
    /// The CRC-32 of ISO 3309.
    pub crc32: u32,
}

/// The content of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Packet {
    /// The length of slices, and the files.
    Main {
        /// Length of a slice in bytes.
        slice_len: u64,
        /// The files that can be recovered, in order.
        files: Vec<FileId>,
        /// The files whose digests are recorded only.
        other_files: Vec<FileId>,
    },
    /// A file.
    File {
        /// The identity.
        id: FileId,
        /// The digest of the file.
        md5: Md5,
        /// The digest of the first 16 KiB.
        md5_16k: Md5,
        /// Length in bytes.
        len: u64,
        /// The name, in ASCII or UTF-8. Folders are separated by slashes.
        name: Vec<u8>,
    },
    /// The checksums of the slices of a file.
    Slices {
        /// The file.
        file: FileId,
        /// The checksums.
        checksums: Vec<SliceChecksum>,
    },
    /// A recovery slice, which follows the exponent until the end of the packet.
    Recovery {
        /// The exponent.
        exponent: u32,
    },
    /// The program that made the set.
    Creator(Vec<u8>),
    /// The name of a file in UTF-16.
    UnicodeName {
        /// The file.
        file: FileId,
        /// The name.
        name: String,
    },
    /// A comment.
    Comment(Vec<u8>),
    /// A comment in UTF-16.
    UnicodeComment {
        /// The digest of the comment in ASCII that says the same, or zeros.
        of: Md5,
        /// The comment.
        text: String,
    },
    /// The SHA-256 digest of a file. Only Hashlane writes such packets.
    Sha256 {
        /// The file.
        file: FileId,
        /// The digest.
        sha256: Sha256,
    },
    /// A packet of another type.
    Unknown,
}

/// Length of the part of a recovery packet's body before the slice.
pub(crate) const EXPONENT_LEN: usize = 4;

impl Packet {
    /// Reads the body of a packet, which is everything after the header. The digest must have been compared. Of a recovery
    /// packet, four bytes suffice. Returns `None` if the body is not of the header's type.
    pub fn read(header: &Header, body: &[u8]) -> Option<Self> {
        Some(match header.kind {
            kind::MAIN => Self::read_main(body)?,
            kind::FILE => {
                let (id, rest) = body.split_first_chunk()?;
                let (md5, rest) = rest.split_first_chunk()?;
                let (md5_16k, rest) = rest.split_first_chunk()?;
                let (len, name) = rest.split_first_chunk()?;
                Self::File {
                    id: FileId(*id),
                    md5: *md5,
                    md5_16k: *md5_16k,
                    len: u64::from_le_bytes(*len),
                    name: unpadded(name).to_vec(),
                }
            }
            kind::SLICES => {
                let (file, rest) = body.split_first_chunk()?;
                let (checksums, rest) = rest.as_chunks::<20>();
                if !rest.is_empty() {
                    return None;
                }
                let checksum = |bytes: &[u8; 20]| {
                    let (md5, crc32) = bytes.split_first_chunk()?;
                    let crc32 = u32::from_le_bytes(crc32.try_into().ok()?);
                    Some(SliceChecksum { md5: *md5, crc32 })
                };
                Self::Slices {
                    file: FileId(*file),
                    checksums: checksums.iter().filter_map(checksum).collect(),
                }
            }
            kind::RECOVERY => Self::Recovery {
                exponent: u32::from_le_bytes(*body.first_chunk()?),
            },
            kind::CREATOR => Self::Creator(unpadded(body).to_vec()),
            kind::UNICODE_NAME => {
                let (file, name) = body.split_first_chunk()?;
                Self::UnicodeName {
                    file: FileId(*file),
                    name: from_utf16(name)?,
                }
            }
            kind::COMMENT => Self::Comment(unpadded(body).to_vec()),
            kind::UNICODE_COMMENT => {
                let (of, text) = body.split_first_chunk()?;
                Self::UnicodeComment {
                    of: *of,
                    text: from_utf16(text)?,
                }
            }
            kind::SHA256 => {
                let (file, sha256) = body.split_first_chunk()?;
                Self::Sha256 {
                    file: FileId(*file),
                    sha256: sha256.try_into().ok()?,
                }
            }
            _ => Self::Unknown,
        })
    }

    fn read_main(body: &[u8]) -> Option<Self> {
        let (slice_len, rest) = body.split_first_chunk()?;
        let (n_files, rest) = rest.split_first_chunk()?;
        let (ids, rest) = rest.as_chunks::<16>();
        let n_files = usize::try_from(u32::from_le_bytes(*n_files)).ok()?;
        let (files, other_files) = ids.split_at_checked(n_files)?;
        let ids = |ids: &[Md5]| ids.iter().map(|id| FileId(*id)).collect();
        rest.is_empty().then(|| Self::Main {
            slice_len: u64::from_le_bytes(*slice_len),
            files: ids(files),
            other_files: ids(other_files),
        })
    }

    /// Returns the type and the body.
    fn body(&self) -> ([u8; 16], Vec<u8>) {
        match self {
            Self::Main {
                slice_len,
                files,
                other_files,
            } => {
                let mut body = slice_len.to_le_bytes().to_vec();
                let n_files = u32::try_from(files.len()).unwrap_or(u32::MAX);
                body.extend(n_files.to_le_bytes());
                body.extend(files.iter().chain(other_files).flat_map(|id| id.0));
                (kind::MAIN, body)
            }
            Self::File {
                id,
                md5,
                md5_16k,
                len,
                name,
            } => {
                let mut body = [id.0, *md5, *md5_16k].concat();
                body.extend(len.to_le_bytes());
                body.extend(name);
                (kind::FILE, body)
            }
            Self::Slices { file, checksums } => {
                let mut body = file.0.to_vec();
                for checksum in checksums {
                    body.extend(checksum.md5);
                    body.extend(checksum.crc32.to_le_bytes());
                }
                (kind::SLICES, body)
            }
            Self::Recovery { exponent } => (kind::RECOVERY, exponent.to_le_bytes().to_vec()),
            Self::Creator(text) => (kind::CREATOR, text.clone()),
            Self::UnicodeName { file, name } => {
                let mut body = file.0.to_vec();
                body.extend(name.encode_utf16().flat_map(u16::to_le_bytes));
                (kind::UNICODE_NAME, body)
            }
            Self::Comment(text) => (kind::COMMENT, text.clone()),
            Self::UnicodeComment { of, text } => {
                let mut body = of.to_vec();
                body.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
                (kind::UNICODE_COMMENT, body)
            }
            Self::Sha256 { file, sha256 } => (kind::SHA256, [&file.0[..], sha256].concat()),
            Self::Unknown => ([0; 16], Vec::new()),
        }
    }

    /// Writes the packet. A recovery packet lacks its slice: it follows the header.
    pub fn write(&self, set: SetId) -> Vec<u8> {
        let (kind, mut body) = self.body();
        body.resize(body.len().next_multiple_of(4), 0);
        let md5 = md5(&[&set.0, &kind, &body]);
        let mut packet = header(set, kind, md5, body.len() as u64);
        packet.extend(body);
        packet
    }

    /// Writes a recovery packet with its slice.
    pub fn write_recovery(set: SetId, exponent: u32, slice: &[u8]) -> Vec<u8> {
        let mut hasher = recovery_hasher(set, exponent);
        hasher.update(slice);
        let len = slice.len().next_multiple_of(4);
        hasher.update(&[0; 3][..len - slice.len()]);
        let mut packet = recovery_header(set, exponent, hasher.finalize(), len as u64);
        packet.extend(slice);
        packet.resize(packet.len() + len - slice.len(), 0);
        packet
    }

    /// Returns the identity of the set whose main packet this is.
    pub fn set_id(&self) -> SetId {
        SetId(md5(&[&self.body().1]))
    }
}

fn header(set: SetId, kind: [u8; 16], md5: Md5, body_len: u64) -> Vec<u8> {
    let mut header = MAGIC.to_vec();
    header.extend((HEADER_LEN as u64 + body_len).to_le_bytes());
    header.extend([md5, set.0, kind].concat());
    header
}

/// Returns the hasher of a recovery packet, before its slice.
pub(crate) fn recovery_hasher(set: SetId, exponent: u32) -> hashlane_sha::Md5 {
    let mut hasher = hashlane_sha::Md5::default();
    hasher.update(&set.0);
    hasher.update(&kind::RECOVERY);
    hasher.update(&exponent.to_le_bytes());
    hasher
}

/// Returns the part of a recovery packet before its slice.
pub(crate) fn recovery_header(set: SetId, exponent: u32, md5: Md5, slice_len: u64) -> Vec<u8> {
    let mut packet = header(set, kind::RECOVERY, md5, EXPONENT_LEN as u64 + slice_len);
    packet.extend(exponent.to_le_bytes());
    packet
}

/// Returns the MD5 digest of all parts together.
pub(crate) fn md5(parts: &[&[u8]]) -> Md5 {
    let mut hasher = md5_hasher();
    for part in parts {
        hasher.update(part);
    }
    digest(hasher)
}

/// Returns a hasher of one message of MD5.
pub(crate) fn md5_hasher() -> Hasher {
    Hasher::with_engine(Engine::detect(), Algorithm::Md5)
}

/// Returns the digest of a hasher of MD5.
pub(crate) fn digest(hasher: Hasher) -> Md5 {
    let mut md5 = [0; 16];
    md5.copy_from_slice(hasher.finalize().as_bytes());
    md5
}

/// Returns a text without its padding.
fn unpadded(text: &[u8]) -> &[u8] {
    let end = text
        .iter()
        .rposition(|byte| *byte != 0)
        .map_or(0, |last| last + 1);
    &text[..end]
}

fn from_utf16(text: &[u8]) -> Option<String> {
    let (words, rest) = text.as_chunks::<2>();
    let words = words.iter().map(|word| u16::from_le_bytes(*word));
    let text: String = char::decode_utf16(words).collect::<Result<_, _>>().ok()?;
    rest.is_empty()
        .then(|| text.trim_end_matches('\0').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SET: SetId = SetId([7; 16]);

    fn examples() -> Vec<Packet> {
        let id = FileId([3; 16]);
        vec![
            Packet::Main {
                slice_len: 4,
                files: vec![id, FileId([5; 16])],
                other_files: vec![FileId([6; 16])],
            },
            Packet::File {
                id,
                md5: [1; 16],
                md5_16k: [2; 16],
                len: 1 << 40,
                name: "a/b é.txt".into(),
            },
            Packet::Slices {
                file: id,
                checksums: vec![
                    SliceChecksum {
                        md5: [8; 16],
                        crc32: 9,
                    },
                    SliceChecksum {
                        md5: [9; 16],
                        crc32: u32::MAX,
                    },
                ],
            },
            Packet::Recovery { exponent: 65534 },
            Packet::Creator(b"x".into()),
            Packet::UnicodeName {
                file: id,
                name: "😀é".into(),
            },
            Packet::Comment(b"why".into()),
            Packet::UnicodeComment {
                of: [4; 16],
                text: "warum".into(),
            },
            Packet::Sha256 {
                file: id,
                sha256: [9; 32],
            },
        ]
    }

    #[test]
    fn packets_are_read_as_written() {
        for packet in examples() {
            let bytes = packet.write(SET);
            let (head, body) = bytes.split_first_chunk().unwrap();
            let header = Header::read(head).unwrap();
            assert_eq!(header.len, bytes.len() as u64);
            assert_eq!(header.set, SET);
            assert_eq!(header.md5, md5(&[&bytes[HASHED_FROM..]]));
            assert_eq!(Packet::read(&header, body), Some(packet));
        }
    }

    /// No prefix of a body makes the parser panic or read beyond it.
    #[test]
    fn shortened_bodies_are_refused_or_shorter() {
        for packet in examples() {
            let bytes = packet.write(SET);
            let header = Header::read(bytes.first_chunk().unwrap()).unwrap();
            let body = &bytes[HEADER_LEN..];
            for len in 0..body.len() {
                let found = Packet::read(&header, &body[..len]);
                let is_text = matches!(
                    packet,
                    Packet::Creator(_)
                        | Packet::Comment(_)
                        | Packet::File { .. }
                        | Packet::UnicodeName { .. }
                        | Packet::UnicodeComment { .. }
                        | Packet::Slices { .. }
                        | Packet::Main { .. }
                        | Packet::Recovery { .. }
                );
                assert!(found.is_none() || is_text, "{packet:?} {len}");
            }
        }
        // A main packet that lists more files than it has.
        let main = Packet::Main {
            slice_len: 4,
            files: vec![FileId([3; 16])],
            other_files: vec![],
        };
        let mut bytes = main.write(SET);
        let header = Header::read(bytes.first_chunk().unwrap()).unwrap();
        bytes[HEADER_LEN + 8] = 2;
        assert_eq!(Packet::read(&header, &bytes[HEADER_LEN..]), None);
    }

    #[test]
    fn headers_with_impossible_lengths_are_refused() {
        let bytes = Packet::Creator(b"abcd".into()).write(SET);
        for (len, is_read) in [(64, true), (68, true), (66, false), (60, false), (0, false)] {
            let mut head: [u8; HEADER_LEN] = *bytes.first_chunk().unwrap();
            head[8..16].copy_from_slice(&u64::to_le_bytes(len));
            assert_eq!(Header::read(&head).is_some(), is_read, "{len}");
        }
        let mut head: [u8; HEADER_LEN] = *bytes.first_chunk().unwrap();
        head[7] = b'x';
        assert_eq!(Header::read(&head), None);
    }

    #[test]
    fn files_are_ordered_as_little_endian_integers() {
        let id = |first: u8, last: u8| {
            let mut id = [0; 16];
            (id[0], id[15]) = (first, last);
            FileId(id)
        };
        assert!(id(9, 1) < id(0, 2));
        assert!(id(1, 1) < id(2, 1));
    }
}
