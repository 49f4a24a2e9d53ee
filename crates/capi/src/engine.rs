//! Backends by name, and engines, which choose the kernel for each number of messages.
//!
//! A SAFETY comment names what the Safety section of the function says of an argument. Null and
//! misaligned pointers are refused before they are used.
#![allow(unsafe_code, reason = "exports functions to C")]

use std::ffi::{CStr, CString, c_char};
use std::ptr;
use std::sync::LazyLock;

use hashlane_hashes::Algorithm;
use hashlane_sha::{Backend, Sha1, Sha256};

use crate::algorithm::{AlgorithmId, algorithm};
use crate::border;
use crate::error::Error;

/// A choice of kernels, one for each number of messages. An engine never changes, and threads may
/// share it.
///
/// Functions with an engine accept NULL for the best engine of this CPU, which is chosen once per
/// process.
#[derive(Debug)]
pub struct Engine(pub(crate) hashlane_sha::Engine);

/// The backends with their names as C strings, in the order of [`Backend::all`].
static BACKENDS: LazyLock<Vec<(Backend, CString)>> = LazyLock::new(|| {
    let named = |backend: Backend| Some((backend, CString::new(backend.name()).ok()?));
    Backend::all().filter_map(named).collect()
});

/// Returns the engine of an argument, or the detected engine for null.
///
/// # Safety
/// The same as for [`border::shared`].
pub(crate) unsafe fn engine_or_detected(
    engine: *const Engine,
) -> Result<hashlane_sha::Engine, Error> {
    // SAFETY: `engine` is null or an engine that is not freed during the call.
    let engine = unsafe { border::optional(engine) }?;
    Ok(engine.map_or_else(hashlane_sha::Engine::detect, |engine| engine.0))
}

/// Returns the name of a backend, for example `sha-ni`, or NULL if `index` is not less than the
/// number of backends. Indexes from 0 on list every backend of the library, including those that
/// this CPU cannot run. The text is constant and is never freed.
///
/// Thread-safe.
#[unsafe(no_mangle)]
pub extern "C" fn hashlane_backend_name(index: usize) -> *const c_char {
    BACKENDS
        .get(index)
        .map_or(ptr::null(), |(_, name)| name.as_ptr())
}

/// Writes a new engine to `*engine`. The engine uses the backend with this name, and `portable` for
/// the numbers of messages for which `portable` is faster. If `backend` is NULL, the engine uses
/// the best backends of this CPU.
///
/// Fails with `HASHLANE_ERROR_UNKNOWN_BACKEND` or `HASHLANE_ERROR_UNAVAILABLE_BACKEND`. `*engine`
/// is then NULL. Free the engine with `hashlane_engine_free()`.
///
/// Thread-safe.
///
/// # Safety
/// `backend` is NULL or ends with a NUL. `engine` points to a writable pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_engine_new(
    backend: *const c_char,
    engine: *mut *mut Engine,
) -> Error {
    let make = || {
        if backend.is_null() {
            return Ok(Engine(hashlane_sha::Engine::detect()));
        }
        // SAFETY: `backend` is not null, and the caller promises that it ends with a NUL.
        let name = unsafe { CStr::from_ptr(backend) }.to_str();
        let backend: Backend = name
            .map_err(|_| Error::UnknownBackend)?
            .parse()
            .map_err(|_| Error::UnknownBackend)?;
        hashlane_sha::Engine::with(backend)
            .map(Engine)
            .map_err(|_| Error::UnavailableBackend)
    };
    // SAFETY: `engine` points to a writable pointer.
    unsafe { border::give(engine, make) }
}

/// Frees an engine. Hashers, keys and queues that were made with the engine stay usable. NULL is
/// ignored.
///
/// # Safety
/// `engine` comes from `hashlane_engine_new()`, is freed once, and is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_engine_free(engine: *mut Engine) {
    // SAFETY: `engine` is null or a handle that is not used again.
    unsafe { border::free(engine) }
}

/// Returns the name of the backend that hashes `n_messages` available messages at once, for example
/// `avx512`, or NULL if the engine does not hash with this algorithm. The text is constant and is
/// never freed.
///
/// Thread-safe.
///
/// # Safety
/// `engine` is NULL or comes from `hashlane_engine_new()`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_engine_backend(
    engine: *const Engine,
    algorithm_id: AlgorithmId,
    n_messages: usize,
) -> *const c_char {
    let mut name = ptr::null();
    let _ = border::guard(|| {
        // SAFETY: `engine` is null or an engine that is not freed during the call.
        let engine = unsafe { engine_or_detected(engine) }?;
        let kernel = match algorithm(algorithm_id)? {
            Algorithm::Sha1 => engine.kernel::<Sha1>(n_messages),
            Algorithm::Sha256 => engine.kernel::<Sha256>(n_messages),
            _ => return Ok(()),
        };
        let named = BACKENDS
            .iter()
            .find(|(backend, _)| *backend == kernel.backend);
        name = named.map_or(ptr::null(), |(_, name)| name.as_ptr());
        Ok(())
    });
    name
}

/// Returns the number of messages that keep every lane busy, at least 1, or 0 if no algorithm has
/// this number. `hashlane_digest_many()` is fastest with at least this many messages. The number is
/// 1 for algorithms other than SHA-1 and SHA-256.
///
/// Thread-safe.
///
/// # Safety
/// `engine` is NULL or comes from `hashlane_engine_new()`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_engine_lanes(
    engine: *const Engine,
    algorithm_id: AlgorithmId,
) -> usize {
    let mut lanes = 0;
    let _ = border::guard(|| {
        // SAFETY: `engine` is null or an engine that is not freed during the call.
        let engine = unsafe { engine_or_detected(engine) }?;
        lanes = match algorithm(algorithm_id)? {
            Algorithm::Sha1 => engine.lanes::<Sha1>(),
            Algorithm::Sha256 => engine.lanes::<Sha256>(),
            _ => 1,
        };
        Ok(())
    });
    lanes
}
