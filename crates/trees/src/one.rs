//! The tree hash of one file or folder by its name, and the checks of it.

use std::fs::File;
use std::io;
use std::path::Path;

use hashlane_files::Globs;
use hashlane_pipeline::{CancelToken, Event, Failure, Options, Outcome};

use crate::error::TreeError;
use crate::folder::hash_folder;
use crate::format::Format;
use crate::idsig::Idsig;
use crate::name::TreeName;
use crate::outputs::{TreeFiles, TreeOutputs};
use crate::parameters::{ParameterError, TreeParameters};
use crate::run::{Item, hash_files};
use crate::verity_check::{HashDeviceError, VerityCheck, VerityVerdict};

/// Returns the tree hash of a file as text, or of a folder if the tree hash has folders, on all cores. The files of `outputs`
/// are written whole after the result is known, as [`TreeFiles::put`] does. `on_progress` gets the number of bytes hashed so far.
///
/// ```
/// use hashlane_trees::{CancelToken, Options, TreeName, TreeOutputs, TreeParameters, hash_path};
///
/// # let file = tempfile::NamedTempFile::new()?;
/// # let path = file.path();
/// let (name, parameters) = (TreeName::of("cid").unwrap(), TreeParameters::default());
/// let (outputs, options) = (TreeOutputs::default(), Options::default());
/// let cancel = CancelToken::default();
/// let cid = hash_path(name, &parameters, &outputs, path, &options, &cancel, |_| ())?;
/// assert_eq!(cid, "bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`TreeError`].
pub fn hash_path(
    name: TreeName,
    parameters: &TreeParameters,
    outputs: &TreeOutputs,
    path: &Path,
    options: &Options,
    cancel: &CancelToken,
    on_progress: impl FnMut(u64),
) -> Result<String, TreeError> {
    let files = TreeFiles::create(outputs, path)?;
    let format = name.format(parameters, &files)?;
    let one = One {
        path,
        excludes: &parameters.excludes,
        files: &files,
        options,
        cancel,
        on_progress,
    };
    let hash = one.hash(&*format)?;
    files.put()?;
    Ok(hash.to_string())
}

/// Returns `true` if a file or folder has this tree hash. The length of the parts of [`TreeName::S3`] follows from the
/// checksum if possible. `on_progress` gets the number of bytes hashed so far.
///
/// # Errors
/// [`TreeError`], also if `expected` is no result of the tree hash with these parameters, or if the length of the parts is not
/// known.
pub fn check_path(
    name: TreeName,
    parameters: &TreeParameters,
    path: &Path,
    expected: &str,
    options: &Options,
    cancel: &CancelToken,
    on_progress: impl FnMut(u64),
) -> Result<bool, TreeError> {
    let files = TreeFiles::default();
    let format = name.format(parameters, &files)?;
    let Some(expected) = format.normalized(expected) else {
        return Err(ParameterError::Result(name, expected.to_owned()).into());
    };
    let unknown = |reason| TreeError::File {
        path: path.to_owned(),
        reason: format!("{reason}: choose the length of a part"),
    };
    let other = format.for_result(&expected, path).map_err(unknown)?;
    let format = other.as_deref().unwrap_or(&*format);
    let one = One {
        path,
        excludes: &parameters.excludes,
        files: &files,
        options,
        cancel,
        on_progress,
    };
    let is_right = one.hash(format)?.to_string() == expected;
    match format.doubt().filter(|_| !is_right) {
        Some(reason) => Err(unknown(reason)),
        None => Ok(is_right),
    }
}

/// Checks data against a hash device of dm-verity, whose superblock at byte `hash_offset` has the parameters, and its root hash
/// against `root`, if there is one. The device can be the file of the data. `on_progress` gets the number of bytes hashed so far.
///
/// # Errors
/// [`TreeError`], also if the hash device cannot be used, or if it does not suffice without a root hash.
pub fn check_device(
    data: &Path,
    (device, hash_offset): (&Path, u64),
    root: Option<&[u8]>,
    options: &Options,
    cancel: &CancelToken,
    on_progress: impl FnMut(u64),
) -> Result<VerityVerdict, TreeError> {
    let file = File::open(device).map_err(TreeError::read(device))?;
    let check = VerityCheck::new(file, hash_offset).map_err(unusable(device))?;
    check.check_root(root).map_err(ParameterError::RootHash)?;
    verdict(&check, (data, device), root, options, cancel, on_progress)
}

/// Checks a package of Android against the root hash and the tree in its signature file of version 4. The signatures are not
/// checked. Without a tree, which is optional, only the root hash shows damage. `on_progress` gets the number of bytes hashed so
/// far.
///
/// # Errors
/// [`TreeError`], also if the signature file cannot be used, or has the tree of a package of another length.
pub fn check_package(
    package: &Path,
    idsig: &Path,
    options: &Options,
    cancel: &CancelToken,
    on_progress: impl FnMut(u64),
) -> Result<VerityVerdict, TreeError> {
    let file = File::open(idsig).map_err(TreeError::read(idsig))?;
    let signature = Idsig::new(file).map_err(|error| match error.kind() {
        io::ErrorKind::InvalidData => HashDeviceError::Superblock(error.to_string()),
        _ => HashDeviceError::Read(error),
    });
    let signature = signature.map_err(unusable(idsig))?;
    let root = signature.root().clone();
    let metadata = package.metadata().map_err(TreeError::read(package))?;
    let check = VerityCheck::of_idsig(signature, metadata.len()).map_err(unusable(idsig))?;
    let (paths, root) = ((package, idsig), Some(root.as_bytes()));
    verdict(&check, paths, root, options, cancel, on_progress)
}

/// Returns a function that makes an error of a hash device or signature file that of the file at `path`.
fn unusable(path: &Path) -> impl FnOnce(HashDeviceError) -> TreeError {
    |error| match error {
        HashDeviceError::Read(error) => TreeError::read(path)(error),
        error => TreeError::File {
            path: path.to_owned(),
            reason: error.to_string(),
        },
    }
}

/// Checks data against the tree in a device, and the root hash against `root`, if there is one.
fn verdict(
    check: &VerityCheck,
    (data, device): (&Path, &Path),
    root: Option<&[u8]>,
    options: &Options,
    cancel: &CancelToken,
    on_progress: impl FnMut(u64),
) -> Result<VerityVerdict, TreeError> {
    match outcome(check, data, options, cancel, on_progress)? {
        Ok((report, len_bytes)) => Ok(check.judge(report, data, len_bytes, root)),
        // The tree is read, not written.
        Err(Failure::NotWritten(error)) => Err(TreeError::read(device)(error)),
        Err(failure) => Err(TreeError::of_failure(data, failure)),
    }
}

/// A file or folder to hash.
struct One<'f, P> {
    path: &'f Path,
    /// What is left out of a folder.
    excludes: &'f Globs,
    /// The files that the format writes.
    files: &'f TreeFiles,
    options: &'f Options,
    cancel: &'f CancelToken,
    on_progress: P,
}

impl<P: FnMut(u64)> One<'_, P> {
    /// Hashes a file or folder.
    fn hash<H>(mut self, format: &dyn Format<Hash = H>) -> Result<H, TreeError> {
        let path = self.path;
        if format.folders().is_some() && path.is_dir() {
            let on_progress = |hashed_bytes, _: Option<&Path>| {
                (self.on_progress)(hashed_bytes);
                Ok::<_, TreeError>(())
            };
            let takes = |file: &Path| {
                let inside = file.strip_prefix(path).unwrap_or(file);
                !self.excludes.is_match_or_inside(inside)
            };
            let (hash, _) =
                hash_folder(format, path, takes, self.options, self.cancel, on_progress)?;
            return Ok(hash);
        }
        match outcome(format, path, self.options, self.cancel, self.on_progress)? {
            Ok((hash, _)) => Ok(hash),
            Err(Failure::NotWritten(error)) => Err(self.files.failed(error).into()),
            Err(failure) => Err(TreeError::of_failure(path, failure)),
        }
    }
}

/// Hashes a file.
fn outcome<H>(
    format: &dyn Format<Hash = H>,
    path: &Path,
    options: &Options,
    cancel: &CancelToken,
    mut on_progress: impl FnMut(u64),
) -> Result<Outcome<H>, TreeError> {
    let mut found = Err(TreeError::Cancelled);
    hash_files(format, [Item::new(path, ())], options, cancel, |event| {
        match event {
            Event::Outcome((), outcome) => found = Ok(outcome),
            Event::Pause { hashed_bytes, .. } => on_progress(hashed_bytes),
        }
        Ok::<_, TreeError>(())
    })?;
    found
}
