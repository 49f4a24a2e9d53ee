//! Option values that are one of a few words.

use clap::ValueEnum;
use hashlane_metainfo::Version;
use hashlane_verify::FileOrder;
use serde::Deserialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Format {
    /// SHA-1 digests of pieces (BEP 3), which every program supports
    V1,
    /// SHA-256 merkle trees of files (BEP 52)
    V2,
    /// Both, with padding between files (BEP 47)
    Hybrid,
}

impl From<Format> for Version {
    fn from(format: Format) -> Self {
        match format {
            Format::V1 => Self::V1,
            Format::V2 => Self::V2,
            Format::Hybrid => Self::Hybrid,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Links {
    /// Store links as links (BEP 47); none may point outside the content
    Store,
    /// Store the files and folders that links point to; none may point outside the content
    FollowInside,
    /// Store the files and folders that links point to, also outside the content
    FollowOutside,
    /// Leave links out
    Skip,
}

impl From<Links> for hashlane_verify::Links {
    fn from(links: Links) -> Self {
        match links {
            Links::Store => Self::Store,
            Links::FollowInside => Self::Follow,
            Links::FollowOutside => Self::FollowOutside,
            Links::Skip => Self::Skip,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Sort {
    /// Folder by folder, by the bytes of the names: a/b before a.txt
    Path,
    /// By the bytes of the whole path, as mktorrent does: a.txt before a/b
    WholePath,
    /// Smallest file first
    Smallest,
    /// Largest file first
    Largest,
}

impl From<Sort> for FileOrder {
    fn from(sort: Sort) -> Self {
        match sort {
            Sort::Path => Self::Path,
            Sort::WholePath => Self::WholePath,
            Sort::Smallest => Self::Smallest,
            Sort::Largest => Self::Largest,
        }
    }
}
