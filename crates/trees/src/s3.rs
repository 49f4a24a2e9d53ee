//! Checksums of objects in Amazon S3, and in stores with the same interface.
//!
//! Sources: the user guide of Amazon S3, "Checking object integrity", and `ETag` in its API reference.

use std::fmt;
use std::io;
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;

use data_encoding::{BASE64, HEXLOWER};
use hashlane_hashes::{Algorithm, Hasher};
use hashlane_pipeline::Frame;
use hashlane_sha::Engine;

use crate::crc64::Combined;
use crate::format::{Builder, Format, Tail, TreeHash, normalized_hex};

const MIB: u64 = 1 << 20;

/// Limits of the length of a part in bytes. The last part can be shorter.
const PART_LENS: RangeInclusive<u64> = 5 * MIB..=5 << 30;

/// Length of the parts of the AWS CLI and of boto3.
const USUAL_PART_LEN: u64 = 8 * MIB;

/// Length of the leaves of CRC-64 in bytes, which is no property of the checksum. All cores hash the leaves of a large file.
const CRC_LEAF_LEN: u64 = MIB;

/// Maximum number of parts.
const MAX_PARTS: u64 = 10_000;

/// A checksum of S3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum S3Checksum {
    /// The `ETag`, from MD5. Objects that are encrypted with other keys than those of S3 have another one.
    Etag,
    /// SHA-1, in parts: `COMPOSITE`.
    Sha1,
    /// SHA-256, in parts: `COMPOSITE`.
    Sha256,
    /// CRC-64/NVME of the whole object: `FULL_OBJECT`.
    Crc64Nvme,
}

impl S3Checksum {
    fn algorithm(self) -> Algorithm {
        match self {
            Self::Etag => Algorithm::Md5,
            Self::Sha1 => Algorithm::Sha1,
            Self::Sha256 => Algorithm::Sha256,
            Self::Crc64Nvme => Algorithm::Crc64Nvme,
        }
    }
}

/// The checksum of an object whose file is uploaded in parts of equal length. A file that is shorter than a part is uploaded
/// at once, as the AWS CLI and boto3 do: its checksum has no number of parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct S3 {
    checksum: S3Checksum,
    part_len: u64,
    /// Whether the caller has chosen the length of a part.
    is_chosen: bool,
    upload: Upload,
    other_lens: Option<PartLenUnknown>,
}

/// How a file is uploaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Upload {
    /// In parts, unless the file is shorter than a part.
    ByLength,
    Whole,
    InParts,
}

/// The length of a part is outside the limits of S3. The length in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartLenError(pub u64);

impl fmt::Display for PartLenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a part of {} bytes: use 5 MiB to 5 GiB", self.0)
    }
}

impl std::error::Error for PartLenError {}

/// The length of the parts does not follow from a checksum and the length of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartLenUnknown {
    n_parts: u64,
    /// The lengths in MiB with this number of parts. Empty if the parts have no whole number of MiB.
    lens: RangeInclusive<u64>,
}

impl fmt::Display for PartLenUnknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (n, first, last) = (self.n_parts, self.lens.start(), self.lens.end());
        if self.lens.is_empty() {
            write!(f, "no whole number of MiB makes {n} parts")
        } else {
            write!(f, "parts of {first} to {last} MiB make {n} parts")
        }
    }
}

impl std::error::Error for PartLenUnknown {}

impl S3 {
    /// Returns the format for parts of `part_len` bytes, or of 8 MiB.
    ///
    /// # Errors
    /// S3 has no such parts.
    pub fn new(checksum: S3Checksum, part_len: Option<u64>) -> Result<Self, PartLenError> {
        if let Some(len) = part_len.filter(|len| !PART_LENS.contains(len)) {
            return Err(PartLenError(len));
        }
        Ok(Self {
            checksum,
            part_len: part_len.unwrap_or(USUAL_PART_LEN),
            is_chosen: part_len.is_some(),
            upload: match checksum {
                S3Checksum::Crc64Nvme => Upload::Whole,
                _ => Upload::ByLength,
            },
            other_lens: None,
        })
    }

    /// Returns the format of the object with this checksum, whose file has `len_bytes` bytes. If the caller has not chosen the
    /// length of a part, it follows from the number of parts: a whole number of MiB.
    ///
    /// # Errors
    /// Several lengths are possible, and the usual one is not among them, or no whole number of MiB is possible.
    pub fn for_checksum(&self, checksum: &str, len_bytes: u64) -> Result<Self, PartLenUnknown> {
        let mut format = self.clone();
        let Some(n_parts) = n_parts(checksum) else {
            format.upload = Upload::Whole;
            return Ok(format);
        };
        format.upload = Upload::InParts;
        if self.is_chosen || n_parts <= 1 {
            format.part_len = if n_parts <= 1 && !self.is_chosen {
                len_bytes.max(*PART_LENS.start())
            } else {
                self.part_len
            };
            return Ok(format);
        }
        let (min, max) = (
            len_bytes.div_ceil(n_parts),
            len_bytes.saturating_sub(1) / (n_parts - 1),
        );
        let (min, max) = (min.max(*PART_LENS.start()), max.min(*PART_LENS.end()));
        if min > max {
            // No parts make this checksum: the file is another one. The longest parts have another number, too.
            format.part_len = *PART_LENS.end();
            return Ok(format);
        }
        let unknown = PartLenUnknown {
            n_parts,
            lens: min.div_ceil(MIB)..=max / MIB,
        };
        if unknown.lens.start() == unknown.lens.end() {
            format.part_len = unknown.lens.start() * MIB;
            return Ok(format);
        }
        if !unknown.lens.contains(&(self.part_len / MIB)) {
            return Err(unknown);
        }
        format.other_lens = Some(unknown);
        Ok(format)
    }

    /// Returns the lengths of parts that the object may have instead, if its checksum is another one.
    pub fn other_lens(&self) -> Option<&PartLenUnknown> {
        self.other_lens.as_ref()
    }

    fn is_whole(&self, len_bytes: u64) -> bool {
        match self.upload {
            Upload::Whole => true,
            Upload::InParts => false,
            Upload::ByLength => len_bytes < self.part_len,
        }
    }
}

/// Returns the number of parts that a checksum ends with.
fn n_parts(checksum: &str) -> Option<u64> {
    let (_, digits) = checksum.rsplit_once('-')?;
    let n = digits.parse().ok()?;
    let is_number = (1..=MAX_PARTS).contains(&n) && !digits.starts_with(['0', '+']);
    is_number.then_some(n)
}

impl Format for S3 {
    type Hash = TreeHash;

    fn leaf_hash(&self) -> Algorithm {
        self.checksum.algorithm()
    }

    fn leaf_len(&self) -> u64 {
        match self.upload {
            Upload::Whole if self.checksum == S3Checksum::Crc64Nvme => CRC_LEAF_LEN,
            Upload::Whole => u64::MAX,
            Upload::ByLength | Upload::InParts => self.part_len,
        }
    }

    fn tail(&self) -> Tail {
        Tail::Short
    }

    fn frame(&self, _: u64) -> Frame {
        Frame::default()
    }

    fn max_len(&self) -> u64 {
        match self.upload {
            Upload::Whole => u64::MAX,
            Upload::ByLength | Upload::InParts => MAX_PARTS * self.part_len,
        }
    }

    fn normalized(&self, text: &str) -> Option<String> {
        let text = text
            .strip_prefix('"')
            .and_then(|text| text.strip_suffix('"'))
            .unwrap_or(text);
        let (digest, suffix) = match (n_parts(text), self.checksum) {
            (Some(_), S3Checksum::Crc64Nvme) => return None,
            (Some(_), _) => text.split_at(text.rfind('-')?),
            (None, _) => (text, ""),
        };
        let digest_len = self.leaf_hash().digest_len();
        let digest = if self.checksum == S3Checksum::Etag {
            normalized_hex(digest, digest_len)?
        } else {
            let bytes = BASE64.decode(digest.as_bytes()).ok()?;
            (bytes.len() == digest_len).then(|| digest.to_owned())?
        };
        Some(digest + suffix)
    }

    fn builder(&self, engine: Engine, len_bytes: u64) -> Box<dyn Builder<TreeHash>> {
        Box::new(S3Builder {
            is_etag: self.checksum == S3Checksum::Etag,
            sum: match self.checksum.algorithm() {
                Algorithm::Crc64Nvme => Sum::Crc64(Combined::new(CRC_LEAF_LEN, len_bytes)),
                _ if self.is_whole(len_bytes) => Sum::Whole(Vec::new()),
                algorithm => Sum::Parts {
                    hasher: Box::new(Hasher::with_engine(engine, algorithm)),
                    n_parts: 0,
                },
            },
        })
    }

    fn for_result(
        &self,
        result: &str,
        path: &Path,
    ) -> Result<Option<Arc<dyn Format<Hash = TreeHash>>>, String> {
        // A file without a length is reported when it is opened.
        let len_bytes = path.metadata().map_or(0, |metadata| metadata.len());
        match self.for_checksum(result, len_bytes) {
            Ok(format) => Ok(Some(Arc::new(format))),
            Err(error) => Err(error.to_string()),
        }
    }

    fn doubt(&self) -> Option<String> {
        let reason = self.other_lens()?;
        Some(format!("{reason}, and those of 8 MiB have another result"))
    }
}

/// Computes the checksum of an object from those of its parts.
#[derive(Debug)]
struct S3Builder {
    is_etag: bool,
    sum: Sum,
}

#[derive(Debug)]
enum Sum {
    /// The digest of a file that is uploaded at once.
    Whole(Vec<u8>),
    /// The digest of the digests of the parts.
    Parts { hasher: Box<Hasher>, n_parts: u64 },
    /// The CRC of the whole file, also if it is uploaded in parts.
    Crc64(Combined),
}

impl Builder<TreeHash> for S3Builder {
    fn push(&mut self, digests: &[u8]) {
        match &mut self.sum {
            Sum::Whole(digest) => digest.extend_from_slice(digests),
            Sum::Parts { hasher, n_parts } => {
                hasher.update(digests);
                *n_parts += (digests.len() / hasher.algorithm().digest_len()) as u64;
            }
            Sum::Crc64(combined) => {
                for crc in digests.as_chunks().0 {
                    combined.push(u64::from_be_bytes(*crc));
                }
            }
        }
    }

    fn finish(self: Box<Self>) -> io::Result<TreeHash> {
        let (digest, n_parts) = match self.sum {
            Sum::Whole(digest) => (digest, None),
            Sum::Parts { hasher, n_parts } => (hasher.finalize().as_ref().to_vec(), Some(n_parts)),
            Sum::Crc64(combined) => (combined.finish().to_be_bytes().to_vec(), None),
        };
        // Hexadecimal digits for an `ETag` and base 64 otherwise, with the number of parts: `DIGEST-3`.
        let encoding = if self.is_etag { HEXLOWER } else { BASE64 };
        let text = encoding.encode(&digest);
        let text = n_parts.map_or(text.clone(), |n| format!("{text}-{n}"));
        Ok(TreeHash::new(digest, text))
    }
}
