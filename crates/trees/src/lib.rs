#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
//!
//! # Modules
//!
//! Each module uses only modules above it.
//!
//! | file | contents |
//! |---|---|
//! | `format.rs` | what a format says about its leaves, and the traits `Format` and `Builder` |
//! | `hasher.rs` | digests of leaves, side by side |
//! | `segment.rs` | leaves of several files as messages of the pipeline |
//! | `run.rs` | hashes files, and delivers the result of each in order |
//! | `levels.rs` | the levels of a tree whose nodes are blocks of digests |
//! | `fsverity.rs` | fs-verity |
//! | `pairs.rs` | binary trees over SHA-256 digests |
//! | `dmverity.rs` | dm-verity: root hash and hash device |
//! | `idsig.rs` | the tree in Android's signature files of version 4 |
//! | `verity_check.rs` | the check of data against a hash device, or of a package against its signature file |
//! | `glacier.rs` | the tree hash of Amazon S3 Glacier |
//! | `btroot.rs` | the root of a file in torrents of version 2 |
//! | `crc64.rs` | CRC-64 of a file from those of its leaves |
//! | `s3.rs` | checksums of objects in Amazon S3 |
//! | `chunks.rs` | digests of all chunks of a file |
//! | `git.rs` | blobs and trees of Git |
//! | `cid.rs` | content identifiers of IPFS: files and folders in `UnixFS` |
//! | `name.rs` | the names of the tree hashes |
//! | `outputs.rs` | the files that some tree hashes write besides their result |
//! | `parameters.rs` | the format that a name and parameters stand for |
//! | `error.rs` | the reasons why a file or folder has no tree hash |
//! | `folder.rs` | the results of folders |
//! | `one.rs` | the tree hash of one file or folder by its name, and the check of it |

mod btroot;
mod chunks;
mod cid;
mod crc64;
mod dmverity;
mod error;
mod folder;
mod format;
mod fsverity;
mod git;
mod glacier;
mod hasher;
mod idsig;
mod levels;
mod name;
mod one;
mod outputs;
mod pairs;
mod parameters;
mod run;
mod s3;
mod segment;
mod verity_check;

pub use hashlane_files::{GlobError, Globs, Overwrite};
pub use hashlane_hashes::Algorithm;

pub use btroot::BtRoot;
pub use chunks::{ChunkList, Chunks};
pub use cid::{Cid, FolderTooLarge};
pub use dmverity::{DmVerity, VerityError, VerityFormat, VerityParameters};
pub use error::TreeError;
pub use folder::hash_folder;
pub use format::{Builder, FolderRules, Format, GitMode, HashedEntry, Tail, TreeHash};
pub use fsverity::{Fsverity, FsverityError};
pub use git::Git;
pub use glacier::Glacier;
pub use hashlane_pipeline::{CancelToken, Error, Event, Failure, IoMode, Options, Outcome};
pub use idsig::{ApkIdsig, Idsig};
pub use name::TreeName;
pub use one::{check_device, check_package, check_path, hash_path};
pub use outputs::{OutputError, TreeFiles, TreeOutputs};
pub use parameters::{ParameterError, TreeParameters};
pub use run::{Item, hash_files};
pub use s3::{PartLenError, PartLenUnknown, S3, S3Checksum};
pub use verity_check::{
    Damage, HashDeviceError, RootHashError, VerityCheck, VerityReport, VerityVerdict,
};
