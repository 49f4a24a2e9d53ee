//! The checks of data against a hash device of dm-verity, and of a package against its signature file.
//!
//! A SAFETY comment names what the Safety section of the function says of an argument. Null and
//! misaligned pointers are refused before they are used.
#![allow(unsafe_code, reason = "exports functions to C")]

use std::ffi::{c_char, c_int};
use std::mem::offset_of;

use hashlane_trees::{CancelToken, Options, VerityVerdict, check_device, check_package};

use crate::border::{self, Versioned};
use crate::engine::{Engine, engine_or_detected};
use crate::error::Error;
use crate::tree::{failed, with_threads};

/// The result of `hashlane_verity_check()` and `hashlane_idsig_check()`. It never changes, and
/// threads may share it.
#[derive(Debug)]
pub struct VerityReport(VerityVerdict);

/// Checks data against a hash device of dm-verity, as `veritysetup verify` does, and writes the
/// report to `*report`, or NULL if the function fails. Free it with `hashlane_verity_report_free()`.
/// Damaged blocks are part of the report, not errors.
///
/// The superblock of the hash device has the parameters. The `root_len` bytes at `root` are the
/// root hash that the device must have, from a trusted place; `root` may be NULL. Without it, the
/// report only says that data and device belong together. Data of one block needs it. The root hash
/// does not cover the number of blocks: compare the length of the data, too. `hash_offset` is the
/// position of the superblock in bytes, usually 0. The device can be the file of the data.
/// `n_threads` is the number of threads, and 0 one for each CPU. `engine` may be NULL.
///
/// Fails with `HASHLANE_ERROR_TREE_PARAMETER` if `root` has another length than the digests of the
/// device, or is needed and NULL, with `HASHLANE_ERROR_UNUSABLE_FILE` if a file is too short or
/// changed, or if the device has no usable superblock, or with `HASHLANE_ERROR_SYSTEM`. All have
/// details.
///
/// Thread-safe.
///
/// # Safety
/// `data_path` and `device_path` end with a NUL. `root` is NULL or points to `root_len` readable
/// bytes. `report` points to a writable pointer. `engine` is NULL or comes from
/// `hashlane_engine_new()`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_verity_check(
    engine: *const Engine,
    data_path: *const c_char,
    device_path: *const c_char,
    hash_offset: u64,
    root: *const u8,
    root_len: usize,
    n_threads: usize,
    report: *mut *mut VerityReport,
) -> Error {
    let make = || {
        // SAFETY: `engine` is null or an engine that is not freed during the call.
        let engine = unsafe { engine_or_detected(engine) }?;
        // SAFETY: `data_path` ends with a NUL.
        let data = unsafe { border::path(data_path) }?;
        // SAFETY: `device_path` ends with a NUL.
        let device = unsafe { border::path(device_path) }?;
        // SAFETY: `root` points to `root_len` elements that do not change during the call.
        let root = unsafe { border::array(root, root_len) }?;
        let root = Some(root).filter(|root| !root.is_empty());
        let options = with_threads(Options::default().engine(engine), n_threads);
        let cancel = CancelToken::default();
        let verdict = check_device(data, (device, hash_offset), root, &options, &cancel, |_| ());
        verdict.map(VerityReport).map_err(failed)
    };
    // SAFETY: `report` points to a writable pointer.
    unsafe { border::give(report, make) }
}

/// Checks a package of Android against the root hash and the tree in its signature file of version
/// 4 (`.apk.idsig`), and writes the report to `*report`, or NULL if the function fails. Free it with
/// `hashlane_verity_report_free()`. The device of the report is the tree, whose block 0 is its
/// first one. Damaged blocks are part of the report, not errors.
///
/// The signatures are not checked, so the report only says that package and signature file belong
/// together. Without a tree, which is optional, only the root hash shows damage. `n_threads` is the
/// number of threads, and 0 one for each CPU. `engine` may be NULL.
///
/// Fails with `HASHLANE_ERROR_UNUSABLE_FILE` if a file changed or `idsig_path` is no signature file,
/// has the tree of a package of another length, or a root hash with a salt, or with
/// `HASHLANE_ERROR_SYSTEM`. Both have details.
///
/// Thread-safe.
///
/// # Safety
/// `package_path` and `idsig_path` end with a NUL. `report` points to a writable pointer. `engine` is
/// NULL or comes from `hashlane_engine_new()`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_idsig_check(
    engine: *const Engine,
    package_path: *const c_char,
    idsig_path: *const c_char,
    n_threads: usize,
    report: *mut *mut VerityReport,
) -> Error {
    let make = || {
        // SAFETY: `engine` is null or an engine that is not freed during the call.
        let engine = unsafe { engine_or_detected(engine) }?;
        // SAFETY: `package_path` ends with a NUL.
        let package = unsafe { border::path(package_path) }?;
        // SAFETY: `idsig_path` ends with a NUL.
        let idsig = unsafe { border::path(idsig_path) }?;
        let options = with_threads(Options::default().engine(engine), n_threads);
        let verdict = check_package(package, idsig, &options, &CancelToken::default(), |_| ());
        verdict.map(VerityReport).map_err(failed)
    };
    // SAFETY: `report` points to a writable pointer.
    unsafe { border::give(report, make) }
}

/// Frees a report. NULL is ignored.
///
/// # Safety
/// `report` comes from this library, is freed once, and is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_verity_report_free(report: *mut VerityReport) {
    // SAFETY: `report` is null or a handle that is not used again.
    unsafe { border::free(report) }
}

/// Returns 1 if no block is damaged, the root hash is the expected one or none is expected, and the
/// device has digests of all bytes of the data. Otherwise, and for NULL, returns 0.
///
/// Thread-safe.
///
/// # Safety
/// `report` is NULL or comes from this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_verity_report_is_right(report: *const VerityReport) -> c_int {
    let mut is_right = false;
    let _ = border::guard(|| {
        // SAFETY: `report` is a handle that is not freed during the call.
        is_right = unsafe { border::shared(report) }?.0.is_right();
        Ok(())
    });
    c_int::from(is_right)
}

/// The numbers of a report.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct VerityCounts {
    /// Set by the caller: the size of this structure in bytes.
    pub struct_size: usize,
    /// The number of blocks of the data that the device has digests of.
    pub n_blocks: u64,
    /// The number of bytes of the data that the device has no digests of.
    pub bytes_beyond: u64,
    /// The number of blocks of the data whose digests differ from those in the device.
    pub n_damaged: u64,
    /// The number of blocks of the device whose digests differ from those in the blocks above them.
    pub n_device_damaged: u64,
}

impl Versioned for VerityCounts {
    const SIZES: &'static [usize] = &[offset_of!(Self, n_device_damaged) + size_of::<u64>()];
}

/// Writes the numbers of a report to `*counts`, whose `struct_size` the caller has set.
///
/// Fails with `HASHLANE_ERROR_STRUCT_SIZE`.
///
/// Thread-safe.
///
/// # Safety
/// `report` comes from this library. `counts` points to `struct_size` readable and writable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_verity_report_counts(
    report: *const VerityReport,
    counts: *mut VerityCounts,
) -> Error {
    border::guard(|| {
        // SAFETY: `report` is a handle that is not freed during the call.
        let VerityReport(verdict) = unsafe { border::shared(report) }?;
        let found = VerityCounts {
            struct_size: size_of::<VerityCounts>(),
            n_blocks: verdict.report.n_blocks,
            bytes_beyond: verdict.bytes_beyond,
            n_damaged: verdict.report.data.n_blocks(),
            n_device_damaged: verdict.report.device.n_blocks(),
        };
        // SAFETY: `counts` has as many bytes as its `struct_size` says.
        unsafe { border::put_versioned(counts, found) }
    })
}

/// Writes the root hash of the device in hexadecimal digits to the `capacity` bytes at `text`,
/// followed by a NUL. Sets `*text_len` to the length of the text without the NUL, even if the text
/// does not fit; `text_len` may be NULL. The text has at most 128 digits.
///
/// Fails with `HASHLANE_ERROR_BUFFER_TOO_SMALL`.
///
/// Thread-safe.
///
/// # Safety
/// `report` comes from this library. `text` points to `capacity` writable bytes. `text_len` is NULL
/// or points to a writable number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_verity_report_root(
    report: *const VerityReport,
    text: *mut c_char,
    capacity: usize,
    text_len: *mut usize,
) -> Error {
    border::guard(|| {
        // SAFETY: `report` is a handle that is not freed during the call.
        let VerityReport(verdict) = unsafe { border::shared(report) }?;
        let root = verdict.report.root.to_string();
        // SAFETY: `text` has `capacity` writable bytes, and `text_len` is null or writable.
        unsafe { border::fill_text(text, capacity, root.as_bytes(), text_len) }
    })
}

/// Writes the first block of a range of damaged blocks to `*first`, and the last one to `*last`.
/// `in_device` is 0 for blocks of the data, and otherwise for those of the device. Block 0 of a hash
/// device starts with the superblock. To list all ranges, increment `index` from 0 until the function
/// fails with `HASHLANE_ERROR_INDEX_TOO_LARGE`. At most 1000 ranges of each are kept.
///
/// Thread-safe.
///
/// # Safety
/// `report` comes from this library. `first` and `last` point to writable numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_verity_report_damaged(
    report: *const VerityReport,
    in_device: c_int,
    index: usize,
    first: *mut u64,
    last: *mut u64,
) -> Error {
    border::guard(|| {
        // SAFETY: `report` is a handle that is not freed during the call.
        let VerityReport(verdict) = unsafe { border::shared(report) }?;
        let damage = if in_device == 0 {
            &verdict.report.data
        } else {
            &verdict.report.device
        };
        let range = damage.ranges().get(index).ok_or(Error::IndexTooLarge)?;
        // SAFETY: `first` points to a writable number.
        unsafe { border::put(first, *range.start()) }?;
        // SAFETY: `last` points to a writable number.
        unsafe { border::put(last, *range.end()) }
    })
}
