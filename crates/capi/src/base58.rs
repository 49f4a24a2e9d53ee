//! Base58Check: encoding, decoding, and recovery of damaged strings.
//!
//! A SAFETY comment names what the Safety section of the function says of an argument. Null and
//! misaligned pointers are refused before they are used.
#![allow(unsafe_code, reason = "exports functions to C")]

use std::cell::Cell;
use std::ffi::{c_char, c_int, c_void};
use std::num::NonZeroUsize;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hashlane_base58::{
    Alphabet, CpuBackend, Damage, Event, Hit, Kind, Options, Search, SearchError, decode_check,
    encode_check,
};
use zeroize::Zeroizing;

use crate::border;
use crate::error::Error;

/// The number of an alphabet: `HASHLANE_BASE58_BITCOIN` or `HASHLANE_BASE58_RIPPLE`.
pub type AlphabetId = u32;

/// The alphabet of Bitcoin and of nearly all other systems.
pub const HASHLANE_BASE58_BITCOIN: AlphabetId = 1;
/// The alphabet of the XRP Ledger.
pub const HASHLANE_BASE58_RIPPLE: AlphabetId = 2;

/// The maximum length in bytes of a payload and of a text to encode or decode. The time grows with
/// the square of the length.
pub const HASHLANE_BASE58_MAX_LEN: usize = 1024;

fn alphabet(id: AlphabetId) -> Result<Alphabet, Error> {
    match id {
        HASHLANE_BASE58_BITCOIN => Ok(Alphabet::Bitcoin),
        HASHLANE_BASE58_RIPPLE => Ok(Alphabet::Ripple),
        _ => Err(Error::UnknownAlphabet),
    }
}

/// Writes the Base58Check string of the `payload_len` bytes at `payload` (version first) to the
/// `capacity` bytes at `text`, followed by a NUL. Sets `*text_len` to the length of the string
/// without the NUL, even if the string does not fit; `text_len` may be NULL.
///
/// Fails with `HASHLANE_ERROR_LENGTH_TOO_LARGE` for more than `HASHLANE_BASE58_MAX_LEN` bytes, or
/// with `HASHLANE_ERROR_BUFFER_TOO_SMALL`.
///
/// Thread-safe.
///
/// # Safety
/// `payload` points to `payload_len` readable bytes, and `text` to `capacity` writable bytes.
/// `text_len` is NULL or points to a writable number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_base58check_encode(
    alphabet_id: AlphabetId,
    payload: *const c_void,
    payload_len: usize,
    text: *mut c_char,
    capacity: usize,
    text_len: *mut usize,
) -> Error {
    border::guard(|| {
        let alphabet = alphabet(alphabet_id)?;
        if payload_len > HASHLANE_BASE58_MAX_LEN {
            return Err(Error::LengthTooLarge);
        }
        // SAFETY: `payload` points to `payload_len` elements that do not change during the call.
        let payload = unsafe { border::array(payload.cast(), payload_len) }?;
        let encoded = Zeroizing::new(encode_check(payload, alphabet));
        // SAFETY: `encoded` is memory of this call.
        unsafe { border::fill_text(text, capacity, encoded.as_bytes(), text_len) }
    })
}

/// Writes the payload of a Base58Check string (version first, without the checksum) to the
/// `capacity` bytes at `payload`. Sets `*payload_len` to the length of the payload, even if the
/// payload does not fit; `payload_len` may be NULL.
///
/// Fails with `HASHLANE_ERROR_LENGTH_TOO_LARGE` for more than `HASHLANE_BASE58_MAX_LEN` characters,
/// or with `HASHLANE_ERROR_BUFFER_TOO_SMALL`. Fails with `HASHLANE_ERROR_INVALID_TEXT`, with
/// details, if the checksum does not match or a character is not in the alphabet.
///
/// Thread-safe.
///
/// # Safety
/// `text` ends with a NUL. `payload` points to `capacity` writable bytes.
/// `payload_len` is NULL or points to a writable number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_base58check_decode(
    alphabet_id: AlphabetId,
    text: *const c_char,
    payload: *mut c_void,
    capacity: usize,
    payload_len: *mut usize,
) -> Error {
    border::guard(|| {
        let alphabet = alphabet(alphabet_id)?;
        // SAFETY: `text` ends with a NUL.
        let text = unsafe { border::text(text) }?;
        if text.count_bytes() > HASHLANE_BASE58_MAX_LEN {
            return Err(Error::LengthTooLarge);
        }
        let text = text
            .to_str()
            .map_err(|error| Error::InvalidText.with_details(error))?;
        let decoded =
            decode_check(text, alphabet).map_err(|error| Error::InvalidText.with_details(error))?;
        // SAFETY: `decoded` is memory of this call.
        unsafe { border::fill(payload.cast(), capacity, &decoded, payload_len) }
    })
}

/// Letters may have lost their case. A flag of `hashlane_recover()`.
pub const HASHLANE_DAMAGE_CASE: u32 = 1;
/// Characters may have been replaced by similar ones. A flag of `hashlane_recover()`.
pub const HASHLANE_DAMAGE_GLYPHS: u32 = 2;

/// A string whose checksum matches. The pointers are valid until the callback returns. Later
/// versions may append fields.
///
/// The structure has no `struct_size`, because the library allocates it. A program that reads a
/// field of a later version needs that version of the library.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RecoverHit {
    /// The string, followed by a NUL.
    pub text: *const c_char,
    /// The name of the kind, for example `p2pkh`, followed by a NUL.
    pub kind: *const c_char,
    /// The payload, version first, without the checksum.
    pub payload: *const u8,
    /// The length of the payload in bytes.
    pub payload_len: usize,
    /// The number of characters that differ from the damaged text, not counting letter case and
    /// unknown characters.
    pub n_edits: u32,
    /// 1 if the string is a private key or a seed, otherwise 0.
    pub is_secret: c_int,
}

/// A function that receives the hits and the progress of a search, with the `context` of the call.
/// `hit` is NULL if there is only progress. `progress` is the completed fraction of the work (0 to
/// 1). The function returns 0 to continue, and any other number to cancel the search. It runs on
/// the thread of the call.
///
/// The function must return. It must not throw an exception through the library or leave with
/// `longjmp()`.
pub type RecoverCallback = Option<
    unsafe extern "C" fn(context: *mut c_void, hit: *const RecoverHit, progress: f64) -> c_int,
>;

/// Interval between calls of a callback while a search is prepared.
const CALLBACK_INTERVAL: Duration = Duration::from_millis(100);

/// Returns the kinds with these names.
///
/// # Safety
/// `names` meets the conditions of [`border::array`], and each name those of [`border::text`].
unsafe fn kinds_of(names: *const *const c_char, n_kinds: usize) -> Result<Vec<Kind>, Error> {
    if n_kinds == 0 {
        return Ok(Kind::all());
    }
    // SAFETY: `names` points to `n_kinds` elements that do not change during the call.
    let names = unsafe { border::array(names, n_kinds) }?;
    let kind = |name: &*const c_char| {
        // SAFETY: `name` ends with a NUL.
        let name = unsafe { border::text(*name) }?.to_string_lossy();
        Kind::named(&name).ok_or_else(|| Error::UnknownKind.with_details(name))
    };
    names.iter().map(kind).collect()
}

fn search_error(error: &SearchError) -> Error {
    match error {
        SearchError::TooLarge { .. } => Error::SearchTooLarge.with_details(error),
        _ => Error::InvalidText.with_details(error),
    }
}

/// Calls the callback with a hit. Returns `true` if it cancels.
///
/// # Safety
/// It must be allowed to call the callback as its type describes.
unsafe fn report(
    callback: unsafe extern "C" fn(*mut c_void, *const RecoverHit, f64) -> c_int,
    context: *mut c_void,
    hit: &Hit,
    progress: f64,
) -> bool {
    let with_nul = |text: &str| Zeroizing::new([text.as_bytes(), &[0]].concat());
    let (text, kind) = (with_nul(&hit.text), with_nul(&hit.kind));
    let found = RecoverHit {
        text: text.as_ptr().cast(),
        kind: kind.as_ptr().cast(),
        payload: hit.payload.as_ptr(),
        payload_len: hit.payload.len(),
        n_edits: hit.edits,
        is_secret: c_int::from(hit.is_secret),
    };
    // SAFETY: The pointers are valid for this call.
    unsafe { callback(context, &raw const found, progress) != 0 }
}

/// Searches for all Base58Check strings that a damaged text can have been. In the text, `?` is an
/// unknown character, and `[abc]` is one of several characters. `damage` is 0 or a combination of
/// flags `HASHLANE_DAMAGE_...`. `n_errors` is the number of wrong, missing, extra or transposed
/// characters to allow: at most 2 at unknown positions, and characters that no such string has, for
/// example `0`, `O`, `I` and `l`. `kinds` are `n_kinds` names, for example `wif`; if `n_kinds` is 0,
/// all kinds are searched. `n_threads` is the number of threads, or 0 for one per CPU. `callback`
/// receives each hit.
///
/// Returns `HASHLANE_ERROR_NONE` if everything was searched, even without a hit. Fails with
/// `HASHLANE_ERROR_CANCELLED`, or, with details, with `HASHLANE_ERROR_UNKNOWN_KIND`, with
/// `HASHLANE_ERROR_INVALID_TEXT` if the text is not a pattern, or with
/// `HASHLANE_ERROR_SEARCH_TOO_LARGE` if there are too many candidates or too many hits.
///
/// Thread-safe.
///
/// # Safety
/// `text` and the names end with a NUL, and `kinds` points to `n_kinds` pointers. `callback` may be
/// called as its type describes until the function returns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_recover(
    text: *const c_char,
    damage: u32,
    n_errors: u32,
    kinds: *const *const c_char,
    n_kinds: usize,
    n_threads: usize,
    callback: RecoverCallback,
    context: *mut c_void,
) -> Error {
    border::guard(|| {
        let callback = callback.ok_or(Error::NullPointer)?;
        // SAFETY: `text` ends with a NUL.
        let text = unsafe { border::text(text) }?;
        let text = text
            .to_str()
            .map_err(|error| Error::InvalidText.with_details(error))?;
        // SAFETY: `kinds` points to `n_kinds` texts that end with a NUL.
        let kinds = unsafe { kinds_of(kinds, n_kinds) }?;
        // A flag of a later version would make the search wider than this one.
        if damage & !(HASHLANE_DAMAGE_CASE | HASHLANE_DAMAGE_GLYPHS) != 0 {
            return Err(Error::UnknownDamage);
        }
        let damage = Damage {
            case: damage & HASHLANE_DAMAGE_CASE != 0,
            glyphs: damage & HASHLANE_DAMAGE_GLYPHS != 0,
            errors: u8::try_from(n_errors).unwrap_or(u8::MAX),
            ..Damage::default()
        };
        let cancel = AtomicBool::new(false);
        let called = Cell::new(Instant::now());
        let is_over = || {
            if called.get().elapsed() < CALLBACK_INTERVAL {
                return false;
            }
            called.set(Instant::now());
            // SAFETY: the caller passes a function that can be called with these arguments during
            // the call.
            unsafe { callback(context, ptr::null(), 0.0) != 0 }
        };
        let search = match Search::new_until(text, damage, &kinds, &is_over) {
            Err(SearchError::Ended) => return Err(Error::Cancelled),
            search => search.map_err(|error| search_error(&error))?,
        };
        let backend = CpuBackend::fastest(None, NonZeroUsize::new(n_threads));
        let backend = backend.ok_or(Error::UnavailableBackend)?;
        let mut done = 0.0;
        let on_event = |event| {
            if cancel.load(Ordering::Relaxed) {
                return;
            }
            let is_over = match event {
                // SAFETY: as for the calls of `callback` above.
                Event::Hit(hit) => unsafe { report(callback, context, &hit, done) },
                Event::Progress(progress) => {
                    #[allow(clippy::cast_precision_loss, reason = "a part from 0 to 1")]
                    let part = progress.done as f64 / progress.total.max(1) as f64;
                    done = part;
                    // SAFETY: the caller passes a function that can be called with these arguments
                    // during the call.
                    unsafe { callback(context, ptr::null(), done) != 0 }
                }
            };
            if is_over {
                cancel.store(true, Ordering::Relaxed);
            }
        };
        let outcome = search
            .run(&backend, &Options::default(), &cancel, on_event)
            .map_err(|error| search_error(&error))?;
        if outcome.has_too_many_hits {
            return Err(Error::SearchTooLarge.with_details("too many strings match"));
        }
        if cancel.load(Ordering::Relaxed) {
            return Err(Error::Cancelled);
        }
        Ok(())
    })
}
