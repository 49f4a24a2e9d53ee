//! Tree hashes of files and folders.
//!
//! A SAFETY comment names what the Safety section of the function says of an argument. Null and
//! misaligned pointers are refused before they are used.
#![allow(unsafe_code, reason = "exports functions to C")]

use std::ffi::c_char;
use std::mem::offset_of;
use std::num::NonZeroUsize;
use std::path::Path;

use hashlane_trees::{
    CancelToken, Globs, Options, Overwrite, TreeError, TreeName, TreeOutputs, TreeParameters,
    VerityFormat, check_path, hash_path,
};

use crate::algorithm::{AlgorithmId, algorithm};
use crate::border::{self, Filled, Versioned};
use crate::engine::{Engine, engine_or_detected};
use crate::error::Error;

/// The parameters of tree hashes, and how they are computed. A field that is 0 or NULL has its
/// usual value.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TreeOptions {
    /// Set by the caller: the size of this structure in bytes.
    pub struct_size: usize,
    /// The salt of `fsverity`, `fsverity-sha512` and `dmverity`. Usually none.
    pub salt: *const u8,
    /// The length of the salt in bytes.
    pub salt_len: usize,
    /// The number of threads that read and hash. Usually one for each CPU.
    pub n_threads: usize,
    /// The length of a block of `fsverity`, `fsverity-sha512` and `dmverity` in bytes. Usually
    /// 4096.
    pub block_len: u64,
    /// The length of a part of `s3-etag`, `s3-sha1` and `s3-sha256` in bytes. Usually 8 MiB, and
    /// for `hashlane_tree_check()` what follows from the number of parts.
    pub part_len: u64,
    /// The length of a block of the hash device of `dmverity` in bytes. Usually `block_len`.
    pub hash_block_len: u64,
    /// The number of blocks of `dmverity` at the start of the file. Bytes after them are not hashed.
    /// Usually all: a file whose length is no multiple of that of a block is then an error.
    pub data_blocks: u64,
    /// The position of the superblock in the `hash_device` to write in bytes: a multiple of 512.
    pub hash_offset: u64,
    /// The hash function of `dmverity`: `HASHLANE_SHA1`, `HASHLANE_SHA256` or `HASHLANE_SHA512`.
    /// Usually SHA-256. fs-verity with SHA-512 has the name `fsverity-sha512`.
    pub hash: AlgorithmId,
    /// 1 for format 0 of `dmverity`, that of Chrome OS. Usually format 1.
    pub is_chrome_os: u32,
    /// The 16 bytes of the UUID of the `hash_device` to write. Usually made of the root hash.
    pub uuid: *const u8,
    /// The patterns of files and folders to leave out of a folder, as of the option `-x` of the
    /// command `hashlane sum`, in UTF-8: of `git`, `git-sha256` and the names with `cid`.
    pub excludes: *const *const c_char,
    /// The number of patterns.
    pub n_excludes: usize,
    /// The path of a file to write the tree of `fsverity`, `fsverity-sha512` or `apk-idsig` to.
    pub out_merkle_tree: *const c_char,
    /// The path of a file to write the descriptor of `fsverity` or `fsverity-sha512` to.
    pub out_descriptor: *const c_char,
    /// The path of a file to write the hash device of `dmverity` to: the superblock and the tree.
    pub hash_device: *const c_char,
    /// 1 to replace files that exist. Usually such a file is an error. The number has 64 bits, so
    /// that the structure does not end with padding.
    pub overwrite: u64,
}

impl Versioned for TreeOptions {
    const SIZES: &'static [usize] = &[
        offset_of!(Self, is_chrome_os) + size_of::<u32>(),
        offset_of!(Self, overwrite) + size_of::<u64>(),
    ];
}

// SAFETY: the fields are numbers, and pointers that are used with the lengths and the ends that the
// caller promises.
unsafe impl Filled for TreeOptions {}

/// A tree hash to compute.
struct Request<'a> {
    name: TreeName,
    path: &'a Path,
    parameters: TreeParameters,
    outputs: TreeOutputs,
    options: Options,
}

impl Request<'_> {
    /// Reads the arguments that all functions have.
    ///
    /// # Safety
    /// `engine` is null or an engine, `name` and `path` are null or end with a NUL, and none of
    /// them changes during the lifetime. `options` meets the conditions of [`border::get_versioned`], and
    /// its `salt` and `excludes` those of [`border::array`]. Its `uuid` is null or has 16 bytes. Its
    /// paths and patterns are null or end with a NUL.
    unsafe fn new(
        engine: *const Engine,
        name: *const c_char,
        path: *const c_char,
        options: *const TreeOptions,
    ) -> Result<Self, Error> {
        // SAFETY: `engine` is null or an engine that is not freed during the call.
        let engine = unsafe { engine_or_detected(engine) }?;
        // SAFETY: `name` ends with a NUL.
        let named = unsafe { border::text(name) }?.to_string_lossy();
        // SAFETY: `path` ends with a NUL.
        let path = unsafe { border::path(path) }?;
        // SAFETY: `options` is null or has as many bytes as its `struct_size` says.
        let given = unsafe { border::get_versioned(options) }?;
        // SAFETY: `salt` points to `salt_len` elements that do not change during the call.
        let salt = unsafe { border::array(given.salt, given.salt_len) }?;
        // SAFETY: `uuid` is null or points to 16 bytes that do not change during the call.
        let uuid = unsafe { border::array(given.uuid, if given.uuid.is_null() { 0 } else { 16 }) }?;
        // SAFETY: `excludes` points to `n_excludes` texts that do not change during the call.
        let excludes = unsafe { globs(given.excludes, given.n_excludes) }?;
        // SAFETY: the paths are null or end with a NUL.
        let outputs = unsafe { outputs(&given) }?;
        let name = TreeName::of(&named).ok_or_else(|| {
            Error::UnknownTree.with_details(format_args!("{named}: no tree hash has this name"))
        })?;
        let parameters = TreeParameters {
            block_len: Some(given.block_len).filter(|len| *len > 0),
            salt: Some(salt.to_vec()).filter(|salt| !salt.is_empty()),
            part_len: Some(given.part_len).filter(|len| *len > 0),
            function: match given.hash {
                0 => None,
                id => Some(algorithm(id)?),
            },
            verity_format: match given.is_chrome_os {
                0 => None,
                1 => Some(VerityFormat::ChromeOs),
                other => {
                    let details = format_args!("is_chrome_os is {other}: use 0 or 1");
                    return Err(Error::TreeParameter.with_details(details));
                }
            },
            hash_block_len: Some(given.hash_block_len).filter(|len| *len > 0),
            data_blocks: Some(given.data_blocks).filter(|n_blocks| *n_blocks > 0),
            hash_offset: Some(given.hash_offset).filter(|offset| *offset > 0),
            uuid: uuid.try_into().ok(),
            excludes,
        };
        Ok(Self {
            name,
            path,
            parameters,
            outputs,
            options: with_threads(Options::default().engine(engine), given.n_threads),
        })
    }
}

/// Returns the files that the options name.
///
/// # Safety
/// The paths meet the conditions of [`border::path`].
unsafe fn outputs(given: &TreeOptions) -> Result<TreeOutputs, Error> {
    let path = |path: *const c_char| {
        if path.is_null() {
            return Ok(None);
        }
        // SAFETY: the caller promises a path that ends with a NUL.
        Ok::<_, Error>(Some(unsafe { border::path(path) }?.to_owned()))
    };
    Ok(TreeOutputs {
        merkle_tree: path(given.out_merkle_tree)?,
        descriptor: path(given.out_descriptor)?,
        hash_device: path(given.hash_device)?,
        overwrite: match given.overwrite {
            0 => Overwrite::No,
            1 => Overwrite::Yes,
            other => {
                let details = format_args!("overwrite is {other}: use 0 or 1");
                return Err(Error::TreeParameter.with_details(details));
            }
        },
    })
}

/// Returns the set of patterns.
///
/// # Safety
/// `patterns` meets the conditions of [`border::array`], and each pattern those of
/// [`border::text`].
unsafe fn globs(patterns: *const *const c_char, n_patterns: usize) -> Result<Globs, Error> {
    let mut globs = Globs::ignoring_case();
    // SAFETY: `patterns` points to `n_patterns` elements.
    for pattern in unsafe { border::array(patterns, n_patterns) }? {
        // SAFETY: the pattern ends with a NUL.
        let pattern = unsafe { border::text(*pattern) }?.to_string_lossy();
        globs.add(&pattern).map_err(|error| {
            Error::TreeParameter.with_details(format_args!("the pattern {pattern:?}: {error}"))
        })?;
    }
    Ok(globs)
}

/// Returns the options with a number of threads, or for 0 as they are.
pub(crate) fn with_threads(options: Options, n_threads: usize) -> Options {
    match NonZeroUsize::new(n_threads) {
        Some(n_threads) => options.threads(n_threads),
        None => options,
    }
}

/// Returns the code of an error, which has details.
pub(crate) fn failed(error: TreeError) -> Error {
    let code = match &error {
        TreeError::Parameters(_) => Error::TreeParameter,
        TreeError::Read { .. } | TreeError::Write(_) => Error::System,
        TreeError::File { .. } | TreeError::Entry { .. } => Error::UnusableFile,
        TreeError::Run(_) => Error::OutOfMemory,
        TreeError::Cancelled => Error::Cancelled,
    };
    code.with_details(error)
}

/// Writes the tree hash of a file or folder as text to the `capacity` bytes at `text`, followed by
/// a NUL. Sets `*text_len` to the length of the text without the NUL, even if the text does not
/// fit; `text_len` may be NULL. No text is longer than 255 bytes.
///
/// `name` is the name of the tree hash, as for the option `-a` of the command `hashlane sum`, for
/// example `fsverity`, `dmverity`, `cid`, `git` or `s3-etag`. `path` is the path of a regular file.
/// For `git`, `git-sha256` and the names with `cid`, it may be that of a folder: the text is then
/// that of the tree that Git gives to the folder without `.git`, or the CID of the folder.
/// `options` may be NULL for the usual parameters, and `engine` may be NULL.
///
/// The files that `options` names are written as a whole and on the disk when the function
/// succeeds. If it fails with another error than `HASHLANE_ERROR_BUFFER_TOO_SMALL`, they are not
/// written, except that the first of two stays if the second one cannot get its name.
///
/// Fails with `HASHLANE_ERROR_UNKNOWN_TREE`, `HASHLANE_ERROR_UNKNOWN_ALGORITHM`,
/// `HASHLANE_ERROR_TREE_PARAMETER`, `HASHLANE_ERROR_UNUSABLE_FILE`, `HASHLANE_ERROR_SYSTEM`,
/// `HASHLANE_ERROR_STRUCT_SIZE` or `HASHLANE_ERROR_BUFFER_TOO_SMALL`. The details of
/// `HASHLANE_ERROR_UNUSABLE_FILE` and `HASHLANE_ERROR_SYSTEM` name the file, also in a folder.
/// `HASHLANE_ERROR_SYSTEM` is also that of a file that cannot be written, or exists and may not be
/// replaced.
///
/// Thread-safe.
///
/// # Safety
/// `name` and `path` end with a NUL. `options` is NULL or points to `struct_size` readable bytes.
/// Its `salt` is NULL or points to `salt_len` readable bytes, its `uuid` is NULL or points to 16
/// readable bytes, and its `excludes` is NULL or points to `n_excludes` texts. Its paths are NULL or
/// end with a NUL, and the texts end with a NUL. `text` points to `capacity`
/// writable bytes. `text_len` is NULL or points to a writable number. `engine` is NULL or comes
/// from `hashlane_engine_new()`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_tree_digest(
    engine: *const Engine,
    name: *const c_char,
    path: *const c_char,
    options: *const TreeOptions,
    text: *mut c_char,
    capacity: usize,
    text_len: *mut usize,
) -> Error {
    border::guard(|| {
        // SAFETY: the arguments are as the Safety section says, and do not change during the call.
        let request = unsafe { Request::new(engine, name, path, options) }?;
        let (parameters, cancel) = (&request.parameters, CancelToken::default());
        let (name, path) = (request.name, request.path);
        let (outputs, options) = (&request.outputs, &request.options);
        let found = hash_path(name, parameters, outputs, path, options, &cancel, |_| ());
        let found = found.map_err(failed)?;
        // SAFETY: `text` has `capacity` writable bytes, and `text_len` is null or writable.
        unsafe { border::fill_text(text, capacity, found.as_bytes(), text_len) }
    })
}

/// Checks that a file or folder has the tree hash `expected`. The case of hexadecimal digits makes
/// no difference, and neither do quotes around an `ETag`. The other arguments are those of
/// `hashlane_tree_digest()`.
///
/// Fails with `HASHLANE_ERROR_DIGEST_MISMATCH` if the file or folder has another tree hash, with
/// `HASHLANE_ERROR_TREE_PARAMETER` if `expected` is no result of the tree hash with these
/// parameters or if `options` names files to write, with `HASHLANE_ERROR_UNUSABLE_FILE` also if several lengths of parts are possible,
/// so that `part_len` is needed, and otherwise as `hashlane_tree_digest()` does.
///
/// Thread-safe.
///
/// # Safety
/// `name`, `path` and `expected` end with a NUL. `options` is as for `hashlane_tree_digest()`. `engine` is NULL
/// or comes from `hashlane_engine_new()`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_tree_check(
    engine: *const Engine,
    name: *const c_char,
    path: *const c_char,
    options: *const TreeOptions,
    expected: *const c_char,
) -> Error {
    border::guard(|| {
        // SAFETY: the arguments are as the Safety section says, and do not change during the call.
        let request = unsafe { Request::new(engine, name, path, options) }?;
        // SAFETY: `expected` ends with a NUL.
        let expected = unsafe { border::text(expected) }?.to_string_lossy();
        if request.outputs.paths().next().is_some() {
            let details = "a check writes no files: leave their paths out";
            return Err(Error::TreeParameter.with_details(details));
        }
        let cancel = CancelToken::default();
        let is_right = check_path(
            request.name,
            &request.parameters,
            request.path,
            &expected,
            &request.options,
            &cancel,
            |_| (),
        );
        if is_right.map_err(failed)? {
            return Ok(());
        }
        let (path, name) = (request.path.display(), request.name.name());
        let details = format_args!("{path}: has another {name} than {expected}");
        Err(Error::DigestMismatch.with_details(details))
    })
}
