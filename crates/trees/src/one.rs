//! The tree hash of one file, by its name.

use std::fmt;
use std::io;
use std::path::Path;

use hashlane_pipeline::{CancelToken, Error, Options};

use crate::btroot::BtRoot;
use crate::dmverity::{DmVerity, VerityParameters};
use crate::format::Format;
use crate::fsverity::Fsverity;
use crate::glacier::Glacier;
use crate::idsig::ApkIdsig;
use crate::name::TreeName;
use crate::run::{Event, Item, Outcome, hash_files};
use crate::s3::{S3, S3Checksum};

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
}

/// The reason why a file has no tree hash. A program must decide about each, so a new variant is a breaking change.
#[derive(Debug)]
pub enum TreeError {
    /// The tree hash does not have such parameters. The reason.
    Parameters(String),
    /// The file cannot be read, or is no regular file.
    Read(io::Error),
    /// The file has another length than the tree hash allows, or changed while it was read. The reason.
    File(String),
    /// Nothing can be hashed, for example without memory for threads.
    Run(Error),
    /// The run was cancelled.
    Cancelled,
}

impl fmt::Display for TreeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Parameters(reason) | Self::File(reason) => f.write_str(reason),
            Self::Read(error) => error.fmt(f),
            Self::Run(error) => error.fmt(f),
            Self::Cancelled => f.write_str("cancelled"),
        }
    }
}

impl std::error::Error for TreeError {}

impl From<Error> for TreeError {
    fn from(error: Error) -> Self {
        Self::Run(error)
    }
}

/// Returns the tree hash of a file as text, on all cores. `on_progress` gets the number of bytes hashed so far.
///
/// ```
/// use hashlane_trees::{CancelToken, Options, TreeName, TreeParameters, hash_file};
///
/// # let file = tempfile::NamedTempFile::new()?;
/// # let path = file.path();
/// let (parameters, options) = (TreeParameters::default(), Options::default());
/// let cancel = CancelToken::default();
/// let cid = hash_file(TreeName::of("cid").unwrap(), &parameters, path, &options, &cancel, |_| ())?;
/// assert_eq!(cid, "bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`TreeError`].
pub fn hash_file(
    name: TreeName,
    parameters: &TreeParameters,
    path: &Path,
    options: &Options,
    cancel: &CancelToken,
    on_progress: impl FnMut(u64),
) -> Result<String, TreeError> {
    let has_blocks = matches!(name, TreeName::DmVerity | TreeName::Fsverity(_));
    let has_parts = matches!(name, TreeName::S3(checksum) if checksum != S3Checksum::Crc64Nvme);
    for (parameter, is_superfluous) in [
        (
            "block length",
            !has_blocks && parameters.block_len.is_some(),
        ),
        ("salt", !has_blocks && parameters.salt.is_some()),
        ("part length", !has_parts && parameters.part_len.is_some()),
    ] {
        if is_superfluous {
            let name = name.name();
            return Err(TreeError::Parameters(format!(
                "{name} has no {parameter}: leave it out"
            )));
        }
    }
    let salt = || parameters.salt.clone().unwrap_or_default();
    let one = One {
        path,
        options,
        cancel,
        on_progress,
    };
    match name {
        TreeName::ApkIdsig => one.hash(&ApkIdsig::default()),
        TreeName::BtRoot => one.hash(&BtRoot),
        TreeName::Cid(format) => one.hash(&format),
        TreeName::DmVerity => {
            let usual = VerityParameters::default();
            let block_len = match parameters.block_len {
                // A length that does not fit is refused like others above the limit.
                Some(len) => u32::try_from(len).unwrap_or(u32::MAX),
                None => usual.data_block_len,
            };
            let verity = DmVerity::new(VerityParameters {
                data_block_len: block_len,
                hash_block_len: block_len,
                salt: salt(),
                ..usual
            });
            one.hash(&verity.map_err(refused)?)
        }
        TreeName::Fsverity(function) => {
            let block_len = parameters.block_len.unwrap_or(4096);
            let format = Fsverity::new(function, block_len, salt());
            one.hash(&format.map_err(refused)?)
        }
        TreeName::Git(format) => one.hash(&format),
        TreeName::Glacier => one.hash(&Glacier),
        TreeName::S3(checksum) => {
            let format = S3::new(checksum, parameters.part_len);
            one.hash(&format.map_err(refused)?)
        }
    }
}

fn refused(error: impl fmt::Display) -> TreeError {
    TreeError::Parameters(error.to_string())
}

/// A file to hash.
struct One<'f, P> {
    path: &'f Path,
    options: &'f Options,
    cancel: &'f CancelToken,
    on_progress: P,
}

impl<P: FnMut(u64)> One<'_, P> {
    fn hash<F: Format>(mut self, format: &F) -> Result<String, TreeError> {
        let mut found = Err(TreeError::Cancelled);
        let items = [Item::new(self.path, ())];
        hash_files(format, items, self.options, self.cancel, |event| {
            match event {
                Event::Outcome((), outcome) => {
                    found = match outcome {
                        Outcome::Hash(hash, _) => Ok(hash.to_string()),
                        Outcome::NotOpened(error)
                        | Outcome::NotRead(error)
                        | Outcome::NotWritten(error) => Err(TreeError::Read(error)),
                        Outcome::Changed => {
                            let reason = "changed while it was read: hash it again";
                            Err(TreeError::File(reason.into()))
                        }
                        Outcome::TooShort(min) => Err(TreeError::File(format!(
                            "has fewer than {min} bytes, the minimum of this tree hash"
                        ))),
                        Outcome::TooLong(max) => Err(TreeError::File(format!(
                            "is longer than {max} bytes: choose longer blocks or parts"
                        ))),
                    };
                }
                Event::Pause { hashed_bytes, .. } => (self.on_progress)(hashed_bytes),
            }
            Ok::<_, TreeError>(())
        })?;
        found
    }
}
