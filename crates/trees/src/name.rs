//! The names of the tree hashes.

use hashlane_hashes::Algorithm;

use crate::cid::Cid;
use crate::git::Git;
use crate::s3::S3Checksum;

/// A tree hash. A program must decide about each, so a new name is a breaking change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TreeName {
    /// `apk-idsig`: the root in Android's signature files of version 4.
    ApkIdsig,
    /// `btroot`: the root of a file in torrents of version 2.
    BtRoot,
    /// `cid`, `cid-v0` and `cid-v1-2025`: a content identifier of IPFS.
    Cid(Cid),
    /// `dmverity`: dm-verity.
    DmVerity,
    /// `fsverity` and `fsverity-sha512`: fs-verity.
    Fsverity(Algorithm),
    /// `git` and `git-sha256`: an object of Git.
    Git(Git),
    /// `glacier`: the tree hash of Amazon S3 Glacier.
    Glacier,
    /// `s3-crc64nvme`, `s3-etag`, `s3-sha1` and `s3-sha256`: a checksum of Amazon S3.
    S3(S3Checksum),
}

impl TreeName {
    /// All names in alphabetical order, with what they mean.
    const ALL: [(&str, Self); 15] = [
        ("apk-idsig", Self::ApkIdsig),
        ("btroot", Self::BtRoot),
        ("cid", Self::Cid(Cid::V1)),
        ("cid-v0", Self::Cid(Cid::V0)),
        ("cid-v1-2025", Self::Cid(Cid::V1Of2025)),
        ("dmverity", Self::DmVerity),
        ("fsverity", Self::Fsverity(Algorithm::Sha256)),
        ("fsverity-sha512", Self::Fsverity(Algorithm::Sha512)),
        ("git", Self::Git(Git::Sha1)),
        ("git-sha256", Self::Git(Git::Sha256)),
        ("glacier", Self::Glacier),
        ("s3-crc64nvme", Self::S3(S3Checksum::Crc64Nvme)),
        ("s3-etag", Self::S3(S3Checksum::Etag)),
        ("s3-sha1", Self::S3(S3Checksum::Sha1)),
        ("s3-sha256", Self::S3(S3Checksum::Sha256)),
    ];

    /// Returns all names in alphabetical order.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Self::ALL.into_iter().map(|(name, _)| name)
    }

    /// Returns the tree hash of this name in any letter case, or `None` if no tree hash has it.
    pub fn of(name: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, tree)| tree)
    }

    /// Returns the name, or an empty text for a variant with a hash function that its format does not have.
    pub fn name(self) -> &'static str {
        let mut all = Self::ALL.into_iter();
        all.find(|(_, known)| *known == self)
            .map_or("", |(name, _)| name)
    }
}
