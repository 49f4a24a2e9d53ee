//! Tree hashes of files.
//!
//! A SAFETY comment names what the Safety section of the function says of an argument. Null and
//! misaligned pointers are refused before they are used.
#![allow(unsafe_code, reason = "exports functions to C")]

use std::ffi::c_char;
use std::num::NonZeroUsize;

use hashlane_trees::{CancelToken, Options, TreeError, TreeName, TreeParameters, hash_file};

use crate::border;
use crate::engine::{Engine, engine_or_detected};
use crate::error::Error;

/// Writes the tree hash of a file as text to the `capacity` bytes at `text`, followed by a NUL. Sets
/// `*text_len` to the length of the text without the NUL, even if the text does not fit;
/// `text_len` may be NULL. No text is longer than 255 bytes.
///
/// `name` is the name of the tree hash, as for the option `-a` of the command `hashlane sum`, for
/// example `fsverity`, `dmverity`, `cid`, `git` or `s3-etag`. `size` is the length of a block of
/// `fsverity` and `dmverity`, or of a part of `s3-etag`, `s3-sha1` and `s3-sha256`, in bytes; 0 is
/// the usual length. The `salt_len` bytes at `salt` are the salt of `fsverity` and `dmverity`;
/// `salt` may be NULL if there are none. `n_threads` is the number of threads, and 0 one for each
/// CPU. `engine` may be NULL.
///
/// Fails with `HASHLANE_ERROR_UNKNOWN_TREE`, `HASHLANE_ERROR_TREE_PARAMETER`,
/// `HASHLANE_ERROR_UNUSABLE_FILE`, `HASHLANE_ERROR_SYSTEM` or `HASHLANE_ERROR_BUFFER_TOO_SMALL`.
/// All but the last have details.
///
/// Thread-safe.
///
/// # Safety
/// `name` and `path` end with a NUL. `salt` is NULL or points to `salt_len` readable bytes. `text`
/// points to `capacity` writable bytes. `text_len` is NULL or points to a writable number.
/// `engine` is NULL or comes from `hashlane_engine_new()`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_tree_digest(
    engine: *const Engine,
    name: *const c_char,
    path: *const c_char,
    size: u64,
    salt: *const u8,
    salt_len: usize,
    n_threads: usize,
    text: *mut c_char,
    capacity: usize,
    text_len: *mut usize,
) -> Error {
    border::guard(|| {
        // SAFETY: `engine` is null or an engine that is not freed during the call.
        let engine = unsafe { engine_or_detected(engine) }?;
        // SAFETY: `name` ends with a NUL.
        let named = unsafe { border::text(name) }?.to_string_lossy();
        // SAFETY: `path` ends with a NUL.
        let path = unsafe { border::path(path) }?;
        let mut salt_bytes = None;
        if salt_len > 0 {
            // SAFETY: `salt` points to `salt_len` elements that do not change during the call.
            salt_bytes = Some(unsafe { border::array(salt, salt_len) }?.to_vec());
        }
        let tree = TreeName::of(&named).ok_or_else(|| {
            Error::UnknownTree.with_details(format_args!("{named}: no tree hash has this name"))
        })?;
        let size = Some(size).filter(|size| *size > 0);
        let has_parts = matches!(tree, TreeName::S3(_));
        let parameters = TreeParameters {
            block_len: size.filter(|_| !has_parts),
            salt: salt_bytes,
            part_len: size.filter(|_| has_parts),
        };
        let mut options = Options::default().engine(engine);
        if let Some(n_threads) = NonZeroUsize::new(n_threads) {
            options = options.threads(n_threads);
        }
        let cancel = CancelToken::default();
        let found = hash_file(tree, &parameters, path, &options, &cancel, |_| ());
        let found = found.map_err(|error| {
            let code = match &error {
                TreeError::Parameters(_) => return Error::TreeParameter.with_details(error),
                TreeError::Read(_) => Error::System,
                TreeError::File(_) => Error::UnusableFile,
                TreeError::Run(_) => Error::OutOfMemory,
                TreeError::Cancelled => Error::Cancelled,
            };
            code.with_details(format_args!("{}: {error}", path.display()))
        })?;
        // SAFETY: `text` has `capacity` writable bytes, and `text_len` is null or writable.
        unsafe { border::fill_text(text, capacity, found.as_bytes(), text_len) }
    })
}
