//! The parameters of tree hashes, and the format that a name and parameters stand for.

use std::fmt;

use hashlane_files::Globs;
use hashlane_hashes::Algorithm;

use crate::btroot::BtRoot;
use crate::dmverity::{DmVerity, VerityError, VerityFormat, VerityParameters};
use crate::format::{Format, TreeHash};
use crate::fsverity::{Fsverity, FsverityError};
use crate::glacier::Glacier;
use crate::idsig::ApkIdsig;
use crate::name::TreeName;
use crate::outputs::TreeFiles;
use crate::s3::{PartLenError, S3, S3Checksum};
use crate::verity_check::RootHashError;

/// Parameters of tree hashes. Those that a tree hash does not have must be absent. Callers make them, so a new field is a
/// breaking change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TreeParameters {
    /// Length of a block in bytes: of [`TreeName::Fsverity`] and [`TreeName::DmVerity`].
    pub block_len: Option<u64>,
    /// Salt: of [`TreeName::Fsverity`] and [`TreeName::DmVerity`].
    pub salt: Option<Vec<u8>>,
    /// Length of a part in bytes: of [`TreeName::S3`].
    pub part_len: Option<u64>,
    /// Hash function: of [`TreeName::DmVerity`]. Names of [`TreeName::Fsverity`] have theirs.
    pub function: Option<Algorithm>,
    /// Format: of [`TreeName::DmVerity`].
    pub verity_format: Option<VerityFormat>,
    /// Length of a block of the hash device in bytes, if it is another than that of the data: of [`TreeName::DmVerity`].
    pub hash_block_len: Option<u64>,
    /// Number of blocks at the start of the file that are hashed: of [`TreeName::DmVerity`]. Bytes after them are not hashed.
    pub data_blocks: Option<u64>,
    /// Position of the superblock in the hash device in bytes: of [`TreeName::DmVerity`], if the hash device is written.
    pub hash_offset: Option<u64>,
    /// UUID of the hash device: of [`TreeName::DmVerity`], if the hash device is written. It does not change the root hash.
    pub uuid: Option<[u8; 16]>,
    /// Patterns of files and folders in a folder that are left out, by their paths in the folder: of [`TreeName::Git`] and
    /// [`TreeName::Cid`]. [`hash_folder`](crate::hash_folder) ignores them.
    pub excludes: Globs,
}

/// Parameters that a tree hash does not have. A program must decide about each, so a new variant is a breaking change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParameterError {
    /// The tree hash has no such parameter. The name of the parameter.
    Superfluous(TreeName, &'static str),
    /// The text is no result of the tree hash with these parameters.
    Result(TreeName, String),
    /// fs-verity has no such parameters.
    Fsverity(FsverityError),
    /// dm-verity has no such parameters.
    DmVerity(VerityError),
    /// S3 has no such parts.
    S3(PartLenError),
    /// The root hash cannot be compared with that of the hash device.
    RootHash(RootHashError),
}

impl fmt::Display for ParameterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Superfluous(name, parameter) => {
                write!(f, "{} has no {parameter}: leave it out", name.name())
            }
            Self::Result(name, text) => {
                write!(f, "{text:?} is no result of {}", name.name())?;
                f.write_str(" with these parameters")
            }
            Self::Fsverity(error) => error.fmt(f),
            Self::DmVerity(error) => error.fmt(f),
            Self::S3(error) => error.fmt(f),
            Self::RootHash(RootHashError::Required) => {
                f.write_str("a hash device has no digest of data of one block: use a root hash")
            }
            Self::RootHash(error) => write!(f, "the root hash {error}"),
        }
    }
}

impl std::error::Error for ParameterError {}

impl TreeName {
    /// Returns the format that the name and the parameters stand for. It writes `files`, if there are any, so it must then
    /// hash one file.
    ///
    /// # Errors
    /// The tree hash does not have such parameters or files.
    pub fn format(
        self,
        parameters: &TreeParameters,
        files: &TreeFiles,
    ) -> Result<Box<dyn Format<Hash = TreeHash>>, ParameterError> {
        parameters.check_superfluous(self, files)?;
        Ok(match self {
            Self::ApkIdsig => {
                let mut format = ApkIdsig::default();
                if let Some(tree) = &files.merkle_tree {
                    format = format.with_tree(tree.stream());
                }
                Box::new(format)
            }
            Self::BtRoot => Box::new(BtRoot),
            Self::Cid(format) => Box::new(format),
            Self::DmVerity => {
                let mut format = parameters.dmverity()?;
                if let Some(device) = &files.hash_device {
                    format = format.with_device(device.stream());
                }
                Box::new(format)
            }
            Self::Fsverity(function) => {
                let mut format = parameters.fsverity(function)?;
                if let Some(tree) = &files.merkle_tree {
                    format = format.with_tree(tree.stream());
                }
                if let Some(descriptor) = &files.descriptor {
                    format = format.with_descriptor(descriptor.stream());
                }
                Box::new(format)
            }
            Self::Git(format) => Box::new(format),
            Self::Glacier => Box::new(Glacier),
            Self::S3(checksum) => {
                let format = S3::new(checksum, parameters.part_len);
                Box::new(format.map_err(ParameterError::S3)?)
            }
        })
    }
}

impl TreeParameters {
    /// Returns fs-verity with these parameters.
    ///
    /// # Errors
    /// fs-verity does not have such parameters.
    fn fsverity(&self, function: Algorithm) -> Result<Fsverity, ParameterError> {
        let salt = self.salt.clone().unwrap_or_default();
        Fsverity::new(function, self.block_len.unwrap_or(4096), salt)
            .map_err(ParameterError::Fsverity)
    }

    /// Returns dm-verity with these parameters.
    ///
    /// # Errors
    /// dm-verity does not have such parameters.
    fn dmverity(&self) -> Result<DmVerity, ParameterError> {
        let usual = VerityParameters::default();
        // A length that does not fit is refused like others above the limit.
        let block_len = |len| u32::try_from(len).unwrap_or(u32::MAX);
        let data_block_len = self.block_len.map_or(usual.data_block_len, block_len);
        DmVerity::new(VerityParameters {
            function: self.function.unwrap_or(usual.function),
            format: self.verity_format.unwrap_or(usual.format),
            data_block_len,
            hash_block_len: self.hash_block_len.map_or(data_block_len, block_len),
            salt: self.salt.clone().unwrap_or_default(),
            data_blocks: self.data_blocks,
            hash_offset: self.hash_offset.unwrap_or(0),
            uuid: self.uuid,
        })
        .map_err(ParameterError::DmVerity)
    }

    fn check_superfluous(&self, name: TreeName, files: &TreeFiles) -> Result<(), ParameterError> {
        let is_dmverity = name == TreeName::DmVerity;
        let is_fsverity = matches!(name, TreeName::Fsverity(_));
        let has_blocks = is_dmverity || is_fsverity;
        let has_folders = matches!(name, TreeName::Cid(_) | TreeName::Git(_));
        let has_tree = is_fsverity || name == TreeName::ApkIdsig;
        let has_parts = matches!(name, TreeName::S3(checksum) if checksum != S3Checksum::Crc64Nvme);
        for (parameter, is_given, exists) in [
            ("block length", self.block_len.is_some(), has_blocks),
            ("salt", self.salt.is_some(), has_blocks),
            ("part length", self.part_len.is_some(), has_parts),
            (
                "choice of a hash function",
                self.function.is_some(),
                is_dmverity,
            ),
            (
                "choice of a format",
                self.verity_format.is_some(),
                is_dmverity,
            ),
            (
                "length of a block of the hash device",
                self.hash_block_len.is_some(),
                is_dmverity,
            ),
            ("number of blocks", self.data_blocks.is_some(), is_dmverity),
            (
                "position in a hash device",
                self.hash_offset.is_some(),
                is_dmverity && files.hash_device.is_some(),
            ),
            ("UUID", self.uuid.is_some(), is_dmverity),
            (
                "UUID without a hash device",
                self.uuid.is_some(),
                files.hash_device.is_some(),
            ),
            ("choice of files", !self.excludes.is_empty(), has_folders),
            ("file for its tree", files.merkle_tree.is_some(), has_tree),
            ("descriptor", files.descriptor.is_some(), is_fsverity),
            ("hash device", files.hash_device.is_some(), is_dmverity),
        ] {
            if is_given && !exists {
                return Err(ParameterError::Superfluous(name, parameter));
            }
        }
        Ok(())
    }
}
