//! Calls of the C library in random order, as a C program makes them: handles that are null, misaligned, busy, shared by calls
//! or freed while a queue uses them, and pointers that are null or whose length no object can have. Each call returns the
//! expected error or the result of other libraries, and a call that fails changes nothing.

#![no_main]

use std::cell::RefCell;
use std::ffi::{c_int, c_void};
use std::ptr::{null, null_mut};

use arbitrary::Arbitrary;
use hashlane::algorithm::*;
use hashlane::digest::hashlane_digest;
use hashlane::engine::*;
use hashlane::error::Error;
use hashlane::hasher::*;
use hashlane::hmac::*;
use hashlane::many::*;
use hashlane::queue::*;
use hashlane::torrent::*;
use hmac::{KeyInit as _, Mac as _};
use libfuzzer_sys::fuzz_target;
use md5::Digest as _;

/// Maximum number of calls for one input.
const MAX_CALLS: usize = 60;
/// Number of handles of each type.
const N_HANDLES: usize = 4;
/// Content of an output before a call.
const UNTOUCHED: u8 = 0xa5;
/// Length of an output: the longest digest, and bytes that no call may change.
const OUTPUT_LEN: usize = 64 + 8;

/// A small torrent without content.
const METAINFO: &[u8] =
    b"d4:infod6:lengthi3e4:name3:abc12:piece lengthi16384e6:pieces20:01234567890123456789ee";

/// The way in which an argument is passed.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq)]
enum Passed {
    Well,
    WellToo,
    Null,
    Misaligned,
}

/// The way in which bytes are passed.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq)]
enum PassedBytes {
    Well,
    WellToo,
    Null,
    TooLong,
}

#[derive(Arbitrary, Debug)]
struct Bytes<'a> {
    bytes: &'a [u8],
    passed: PassedBytes,
}

impl Bytes<'_> {
    /// Returns the arguments of a call, and the error that they cause.
    fn arguments(&self) -> (*const c_void, usize, Option<Error>) {
        let start = self.bytes.as_ptr().cast();
        match self.passed {
            PassedBytes::Null => {
                let error = (!self.bytes.is_empty()).then_some(Error::NullPointer);
                (null(), self.bytes.len(), error)
            }
            PassedBytes::TooLong => (start, usize::MAX, Some(Error::LengthTooLarge)),
            _ => (start, self.bytes.len(), None),
        }
    }
}

#[derive(Arbitrary, Debug)]
enum Call<'a> {
    Engine {
        at: u8,
        backend: u8,
        passed: Passed,
    },
    Digest {
        engine: (u8, Passed),
        algorithm: u8,
        message: Bytes<'a>,
        into_null: bool,
    },
    DigestMany {
        engine: (u8, Passed),
        algorithm: u8,
        messages: Vec<&'a [u8]>,
        arrays: Passed,
    },
    DigestChunks {
        algorithm: u8,
        bytes: &'a [u8],
        message_len: u8,
        n_digests: Option<u8>,
    },
    NewHasher {
        at: u8,
        engine: (u8, Passed),
        algorithm: u8,
    },
    Clone {
        from: (u8, Passed),
        to: u8,
    },
    Update {
        hasher: (u8, Passed),
        part: Bytes<'a>,
    },
    Finish {
        hasher: (u8, Passed),
        into_null: bool,
    },
    Reset {
        hasher: (u8, Passed),
    },
    FreeHasher {
        at: u8,
    },
    NewKey {
        at: u8,
        engine: (u8, Passed),
        algorithm: u8,
        key: Bytes<'a>,
    },
    Mac {
        key: (u8, Passed),
        message: Bytes<'a>,
    },
    Verify {
        key: (u8, Passed),
        message: &'a [u8],
        flipped: Option<u8>,
        tag_len: u8,
        truncated_len: Option<u8>,
    },
    MacMany {
        key: (u8, Passed),
        messages: Vec<&'a [u8]>,
    },
    NewMac {
        at: u8,
        key: (u8, Passed),
    },
    MacUpdate {
        mac: (u8, Passed),
        part: Bytes<'a>,
    },
    MacFinish {
        mac: (u8, Passed),
        into_null: bool,
    },
    FreeMac {
        at: u8,
    },
    FreeKey {
        at: u8,
    },
    NewQueue {
        at: u8,
        engine: (u8, Passed),
        algorithm: u8,
        without_callback: bool,
    },
    Submit {
        queue: (u8, Passed),
        message: Bytes<'a>,
        frees_queue: bool,
    },
    SubmitPart {
        queue: (u8, Passed),
        hasher: (u8, Passed),
        part: Bytes<'a>,
        is_last: bool,
    },
    Flush {
        queue: (u8, Passed),
    },
    FreeQueue {
        at: u8,
    },
    Sizes {
        struct_size: u16,
        behind: [u8; 4],
        passed: Passed,
    },
}

/// A handle of the library, with what the model knows of it.
struct Handle<T, M> {
    handle: *mut T,
    model: M,
}

/// The message of a hasher.
#[derive(Clone)]
struct Message {
    algorithm: u32,
    bytes: Vec<u8>,
    /// The submitted part that must come back first: its index in [`SUBMITTED`], or `LOST` if it never comes back.
    part: Option<usize>,
}

const LOST: usize = usize::MAX;

/// A message or a part in a queue.
struct Submitted {
    queue: *mut LaneQueue,
    /// The queue, as long as it exists, for the call that frees it in its callback.
    frees_queue: bool,
    bytes: Box<[u8]>,
    digest: Option<Vec<u8>>,
    is_done: bool,
}

thread_local! {
    static SUBMITTED: RefCell<Vec<Submitted>> = const { RefCell::new(Vec::new()) };
    /// Queues that their callbacks have freed.
    static FREED: RefCell<Vec<*mut LaneQueue>> = const { RefCell::new(Vec::new()) };
}

unsafe extern "C" fn on_digest(
    tag: *mut c_void,
    start: *const c_void,
    len: usize,
    digest: *const u8,
) {
    let index = tag as usize;
    let (queue, frees_queue) = SUBMITTED.with_borrow_mut(|all| {
        let submitted = &mut all[index];
        assert!(!submitted.is_done, "a message comes back once");
        submitted.is_done = true;
        assert_eq!(len, submitted.bytes.len());
        assert!(len == 0 || start == submitted.bytes.as_ptr().cast());
        assert_eq!(digest.is_null(), submitted.digest.is_none());
        if let Some(expected) = &submitted.digest {
            // SAFETY: the library passes a digest of this length.
            let found = unsafe { std::slice::from_raw_parts(digest, expected.len()) };
            assert_eq!(found, &expected[..]);
        }
        (submitted.queue, submitted.frees_queue)
    });
    let is_freed = FREED.with_borrow(|freed| freed.contains(&queue));
    if is_freed {
        return;
    }
    // SAFETY: the queue exists.
    unsafe {
        assert_eq!(
            hashlane_queue_submit(queue, null_mut(), null(), 0),
            Error::Busy
        );
        assert_eq!(hashlane_queue_flush(queue), Error::Busy);
        if frees_queue {
            FREED.with_borrow_mut(|freed| freed.push(queue));
            hashlane_queue_free(queue);
        }
    }
}

/// Returns the number of an algorithm, sometimes one that does not exist.
fn algorithm(choice: u8) -> u32 {
    u32::from(choice % 8)
}

fn is_known(algorithm: u32) -> bool {
    (HASHLANE_SHA1..=HASHLANE_MD5).contains(&algorithm)
}

/// The digest by RustCrypto.
fn digest_of(algorithm: u32, message: &[u8]) -> Vec<u8> {
    match algorithm {
        HASHLANE_SHA1 => sha1::Sha1::digest(message).to_vec(),
        HASHLANE_SHA224 => sha2::Sha224::digest(message).to_vec(),
        HASHLANE_SHA256 => sha2::Sha256::digest(message).to_vec(),
        HASHLANE_SHA384 => sha2::Sha384::digest(message).to_vec(),
        HASHLANE_SHA512 => sha2::Sha512::digest(message).to_vec(),
        _ => md5::Md5::digest(message).to_vec(),
    }
}

/// The MAC by RustCrypto.
fn mac_of(algorithm: u32, key: &[u8], message: &[u8]) -> Vec<u8> {
    macro_rules! mac {
        ($hash:ty) => {{
            let mut mac = hmac::Hmac::<$hash>::new_from_slice(key).expect("any length");
            mac.update(message);
            mac.finalize().into_bytes().to_vec()
        }};
    }
    match algorithm {
        HASHLANE_SHA1 => mac!(sha1::Sha1),
        HASHLANE_SHA224 => mac!(sha2::Sha224),
        HASHLANE_SHA256 => mac!(sha2::Sha256),
        HASHLANE_SHA384 => mac!(sha2::Sha384),
        HASHLANE_SHA512 => mac!(sha2::Sha512),
        _ => mac!(md5::Md5),
    }
}

/// An output, and the check of what a call wrote to it.
struct Output([u8; OUTPUT_LEN]);

impl Output {
    fn new() -> Self {
        Self([UNTOUCHED; OUTPUT_LEN])
    }

    fn pointer(&mut self, is_null: bool) -> *mut u8 {
        if is_null {
            null_mut()
        } else {
            self.0.as_mut_ptr()
        }
    }

    fn check(&self, expected: &[u8]) {
        assert_eq!(&self.0[..expected.len()], expected);
        assert!(
            self.0[expected.len()..]
                .iter()
                .all(|byte| *byte == UNTOUCHED)
        );
    }
}

type Handles<T, M> = [Option<Handle<T, M>>; N_HANDLES];

/// Everything that the calls have made.
#[derive(Default)]
struct World {
    engines: Handles<Engine, ()>,
    hashers: Handles<Hasher, Message>,
    keys: Handles<HmacKey, (u32, Vec<u8>)>,
    macs: Handles<MacInProgress, (u32, Vec<u8>, Vec<u8>)>,
    queues: Handles<LaneQueue, u32>,
}

/// Memory for misaligned pointers.
static UNUSED: [u64; 16] = [0; 16];

fn misaligned<T>() -> *mut T {
    UNUSED
        .as_ptr()
        .cast::<u8>()
        .wrapping_add(1)
        .cast_mut()
        .cast()
}

/// Returns the argument for a handle and, if it is one, its place in `handles`. Or the error that the argument causes.
fn choose<T, M>(
    handles: &Handles<T, M>,
    (at, passed): (u8, Passed),
) -> (*mut T, Result<usize, Error>) {
    let at = usize::from(at) % N_HANDLES;
    match (&handles[at], passed) {
        (_, Passed::Misaligned) => (misaligned(), Err(Error::MisalignedPointer)),
        (Some(handle), Passed::Well | Passed::WellToo) => (handle.handle, Ok(at)),
        _ => (null_mut(), Err(Error::NullPointer)),
    }
}

impl World {
    /// Returns the argument for an engine, and the error that it causes. NULL is the best engine.
    fn engine(&self, engine: (u8, Passed)) -> (*const Engine, Option<Error>) {
        let (engine, chosen) = choose(&self.engines, engine);
        (
            engine,
            chosen.err().filter(|error| *error != Error::NullPointer),
        )
    }

    /// Marks the hashers whose parts have come back, and the queues that were freed in callbacks.
    fn settle(&mut self) {
        FREED.with_borrow(|freed| {
            for queue in &mut self.queues {
                if queue
                    .as_ref()
                    .is_some_and(|queue| freed.contains(&queue.handle))
                {
                    *queue = None;
                }
            }
        });
        let freed = FREED.take();
        SUBMITTED.with_borrow(|all| {
            for hasher in self.hashers.iter_mut().flatten() {
                let Some(part) = hasher.model.part.filter(|part| *part != LOST) else {
                    continue;
                };
                let submitted = &all[part];
                if submitted.is_done {
                    hasher.model.part = None;
                    if submitted.digest.is_some() {
                        hasher.model.bytes.clear();
                    }
                } else if freed.contains(&submitted.queue) {
                    hasher.model.part = Some(LOST);
                }
            }
        });
        freed.into_iter().for_each(forget);
    }

    fn free_queue(&mut self, at: usize) {
        let Some(queue) = self.queues[at].take() else {
            return;
        };
        // SAFETY: the handle is freed once.
        unsafe { hashlane_queue_free(queue.handle) };
        SUBMITTED.with_borrow(|all| {
            for hasher in self.hashers.iter_mut().flatten() {
                let is_in = |part: usize| {
                    part != LOST && all[part].queue == queue.handle && !all[part].is_done
                };
                if hasher.model.part.is_some_and(is_in) {
                    hasher.model.part = Some(LOST);
                }
            }
        });
        forget(queue.handle);
    }

    fn run(&mut self, call: &Call<'_>) {
        // SAFETY: arguments are as the Safety sections demand, or are refused by documented checks.
        unsafe { self.run_unchecked(call) };
        self.settle();
    }

    unsafe fn run_unchecked(&mut self, call: &Call<'_>) {
        match call {
            Call::Engine {
                at,
                backend,
                passed,
            } => {
                let at = usize::from(*at) % N_HANDLES;
                let name = hashlane_backend_name(usize::from(*backend) % 20);
                let mut engine = misaligned();
                let (place, refused) = match passed {
                    Passed::Null => (null_mut(), Some(Error::NullPointer)),
                    Passed::Misaligned => (misaligned(), Some(Error::MisalignedPointer)),
                    _ => (&raw mut engine, None),
                };
                let error = unsafe { hashlane_engine_new(name, place) };
                if let Some(refused) = refused {
                    return assert_eq!(error, refused);
                }
                assert!(matches!(error, Error::None | Error::UnavailableBackend));
                assert_eq!(engine.is_null(), error != Error::None);
                if let Some(old) = self.engines[at].take() {
                    unsafe { hashlane_engine_free(old.handle) };
                }
                if error == Error::None {
                    self.engines[at] = Some(Handle {
                        handle: engine,
                        model: (),
                    });
                }
            }
            Call::Digest {
                engine,
                algorithm: choice,
                message,
                into_null,
            } => {
                let algorithm = algorithm(*choice);
                let (engine, refused) = self.engine(*engine);
                let (start, len, fault) = message.arguments();
                let mut output = Output::new();
                let error = unsafe {
                    hashlane_digest(engine, algorithm, start, len, output.pointer(*into_null))
                };
                if *into_null || refused.is_some() || fault.is_some() || !is_known(algorithm) {
                    assert_ne!(error, Error::None);
                    return output.check(&[]);
                }
                assert_eq!(error, Error::None);
                output.check(&digest_of(algorithm, message.bytes));
            }
            Call::DigestMany {
                engine,
                algorithm: choice,
                messages,
                arrays,
            } => {
                let algorithm = algorithm(*choice);
                let (engine, refused) = self.engine(*engine);
                let starts: Vec<*const c_void> = messages
                    .iter()
                    .map(|message| message.as_ptr().cast())
                    .collect();
                let lens: Vec<usize> = messages.iter().map(|message| message.len()).collect();
                let mut digests = vec![UNTOUCHED; messages.len() * 64 + 1];
                let (starts, fault) = match arrays {
                    Passed::Null => (null(), Some(Error::NullPointer)),
                    Passed::Misaligned => (
                        misaligned::<*const c_void>().cast_const(),
                        Some(Error::MisalignedPointer),
                    ),
                    _ => (starts.as_ptr(), None),
                };
                let error = unsafe {
                    hashlane_digest_many(
                        engine,
                        algorithm,
                        starts,
                        lens.as_ptr(),
                        lens.len(),
                        digests.as_mut_ptr(),
                    )
                };
                let mut expected = Vec::new();
                if refused.is_some()
                    || !is_known(algorithm)
                    || (fault.is_some() && !messages.is_empty())
                {
                    assert_ne!(error, Error::None);
                } else {
                    assert_eq!(error, Error::None);
                    expected.extend(
                        messages
                            .iter()
                            .flat_map(|message| digest_of(algorithm, message)),
                    );
                }
                assert_eq!(&digests[..expected.len()], expected);
                assert!(
                    digests[expected.len()..]
                        .iter()
                        .all(|byte| *byte == UNTOUCHED)
                );
            }
            Call::DigestChunks {
                algorithm: choice,
                bytes,
                message_len,
                n_digests,
            } => {
                let algorithm = algorithm(*choice);
                let message_len = usize::from(*message_len);
                let right = if message_len == 0 {
                    0
                } else {
                    bytes.len().div_ceil(message_len)
                };
                let n_digests = n_digests.map_or(right, usize::from);
                let mut digests = vec![UNTOUCHED; right.max(n_digests) * 64 + 1];
                let error = unsafe {
                    hashlane_digest_chunks(
                        null(),
                        algorithm,
                        bytes.as_ptr().cast(),
                        bytes.len(),
                        message_len,
                        digests.as_mut_ptr(),
                        n_digests,
                    )
                };
                let expected: Vec<u8> = if message_len == 0 {
                    assert_eq!(error, Error::ZeroMessageLength);
                    Vec::new()
                } else if n_digests != right {
                    assert_eq!(error, Error::WrongCount);
                    Vec::new()
                } else if !is_known(algorithm) {
                    assert_eq!(error, Error::UnknownAlgorithm);
                    Vec::new()
                } else {
                    assert_eq!(error, Error::None);
                    bytes
                        .chunks(message_len)
                        .flat_map(|chunk| digest_of(algorithm, chunk))
                        .collect()
                };
                assert_eq!(&digests[..expected.len()], expected);
                assert!(
                    digests[expected.len()..]
                        .iter()
                        .all(|byte| *byte == UNTOUCHED)
                );
            }
            Call::NewHasher {
                at,
                engine,
                algorithm: choice,
            } => {
                let (engine, refused) = self.engine(*engine);
                let algorithm = algorithm(*choice);
                let mut hasher = misaligned();
                let error = unsafe { hashlane_hasher_new(engine, algorithm, &raw mut hasher) };
                let is_made = refused.is_none() && is_known(algorithm);
                assert_eq!(error == Error::None, is_made);
                assert_eq!(hasher.is_null(), !is_made);
                if is_made {
                    let model = Message {
                        algorithm,
                        bytes: Vec::new(),
                        part: None,
                    };
                    self.put_hasher(*at, hasher, model);
                }
            }
            Call::Clone { from, to } => {
                let (hasher, chosen) = choose(&self.hashers, *from);
                let mut copy = misaligned();
                let error = unsafe { hashlane_hasher_clone(hasher, &raw mut copy) };
                let model = self.usable(chosen).map(|model| model.clone());
                assert_eq!(error, model.as_ref().err().copied().unwrap_or(Error::None));
                assert_eq!(copy.is_null(), error != Error::None);
                if let Ok(model) = model {
                    self.put_hasher(*to, copy, model);
                }
            }
            Call::Update { hasher, part } => {
                let (hasher, chosen) = choose(&self.hashers, *hasher);
                let (start, len, fault) = part.arguments();
                let error = unsafe { hashlane_hasher_update(hasher, start, len) };
                match (self.usable(chosen), fault) {
                    (Ok(model), None) => {
                        assert_eq!(error, Error::None);
                        model.bytes.extend_from_slice(part.bytes);
                    }
                    (usable, fault) => {
                        assert!(
                            Some(error) == usable.err() || Some(error) == fault,
                            "{error:?}"
                        );
                    }
                }
            }
            Call::Finish { hasher, into_null } => {
                let (hasher, chosen) = choose(&self.hashers, *hasher);
                let mut output = Output::new();
                let error = unsafe { hashlane_hasher_finish(hasher, output.pointer(*into_null)) };
                match self.usable(chosen) {
                    Ok(_) if *into_null => assert_eq!(error, Error::NullPointer),
                    Ok(model) => {
                        assert_eq!(error, Error::None);
                        output.check(&digest_of(model.algorithm, &model.bytes));
                        model.bytes.clear();
                    }
                    Err(expected) => {
                        assert_eq!(error, expected);
                        output.check(&[]);
                    }
                }
            }
            Call::Reset { hasher } => {
                let (hasher, chosen) = choose(&self.hashers, *hasher);
                let error = unsafe { hashlane_hasher_reset(hasher) };
                match self.usable(chosen) {
                    Ok(model) => {
                        assert_eq!(error, Error::None);
                        model.bytes.clear();
                    }
                    Err(expected) => assert_eq!(error, expected),
                }
            }
            Call::FreeHasher { at } => {
                // Also while a queue has a part.
                if let Some(hasher) = self.hashers[usize::from(*at) % N_HANDLES].take() {
                    unsafe { hashlane_hasher_free(hasher.handle) };
                }
            }
            Call::NewKey {
                at,
                engine,
                algorithm: choice,
                key,
            } => {
                let (engine, refused) = self.engine(*engine);
                let algorithm = algorithm(*choice);
                let (start, len, fault) = key.arguments();
                let mut made = misaligned();
                let error =
                    unsafe { hashlane_hmac_key_new(engine, algorithm, start, len, &raw mut made) };
                let is_made = refused.is_none() && fault.is_none() && is_known(algorithm);
                assert_eq!(error == Error::None, is_made);
                assert_eq!(made.is_null(), !is_made);
                if is_made {
                    let place = &mut self.keys[usize::from(*at) % N_HANDLES];
                    let model = (algorithm, key.bytes.to_vec());
                    if let Some(old) = place.replace(Handle {
                        handle: made,
                        model,
                    }) {
                        unsafe { hashlane_hmac_key_free(old.handle) };
                    }
                }
            }
            Call::Mac { key, message } => {
                let (key, chosen) = choose(&self.keys, *key);
                let (start, len, fault) = message.arguments();
                let mut output = Output::new();
                let error =
                    unsafe { hashlane_hmac_key_mac(key, start, len, output.pointer(false)) };
                match (chosen, fault) {
                    (Ok(at), None) => {
                        assert_eq!(error, Error::None);
                        let (algorithm, key) = &self.keys[at].as_ref().expect("chosen").model;
                        output.check(&mac_of(*algorithm, key, message.bytes));
                    }
                    (chosen, fault) => {
                        assert!(
                            Some(error) == chosen.err() || Some(error) == fault,
                            "{error:?}"
                        );
                        output.check(&[]);
                    }
                }
            }
            Call::Verify {
                key,
                message,
                flipped,
                tag_len,
                truncated_len,
            } => {
                let (key, chosen) = choose(&self.keys, *key);
                let model = chosen.map(|at| &self.keys[at].as_ref().expect("chosen").model);
                let mut tag = match model {
                    Ok((algorithm, key)) => mac_of(*algorithm, key, message),
                    Err(_) => vec![0; 20],
                };
                let mac_len = tag.len();
                let mac = tag.clone();
                tag.resize(mac_len + 8, 0);
                if let Some(flipped) = flipped {
                    tag[usize::from(*flipped) % mac_len] ^= 1;
                }
                let tag_len = usize::from(*tag_len) % (mac_len + 8);
                let (start, len) = (message.as_ptr().cast(), message.len());
                let error = unsafe {
                    match truncated_len {
                        None => hashlane_hmac_key_verify(key, start, len, tag.as_ptr(), tag_len),
                        Some(truncated) => {
                            let truncated = usize::from(*truncated) % (mac_len + 8);
                            hashlane_hmac_key_verify_truncated(
                                key,
                                start,
                                len,
                                tag.as_ptr(),
                                tag_len,
                                truncated,
                            )
                        }
                    }
                };
                let wanted = truncated_len.map_or(mac_len, |len| usize::from(len) % (mac_len + 8));
                let expected = if let Err(expected) = model {
                    expected
                } else if wanted < 10.max(mac_len / 2) || wanted > mac_len {
                    Error::TruncatedLength
                } else if tag_len != wanted {
                    Error::TagLength
                } else if tag[..wanted] != mac[..wanted] {
                    Error::TagMismatch
                } else {
                    Error::None
                };
                assert_eq!(error, expected);
            }
            Call::MacMany { key, messages } => {
                let (key, chosen) = choose(&self.keys, *key);
                let starts: Vec<*const c_void> = messages
                    .iter()
                    .map(|message| message.as_ptr().cast())
                    .collect();
                let lens: Vec<usize> = messages.iter().map(|message| message.len()).collect();
                let mut macs = vec![UNTOUCHED; messages.len() * 64 + 1];
                let error = unsafe {
                    hashlane_hmac_many(
                        null(),
                        key,
                        starts.as_ptr(),
                        lens.as_ptr(),
                        lens.len(),
                        macs.as_mut_ptr(),
                    )
                };
                let expected: Vec<u8> = match chosen {
                    Ok(at) => {
                        let (algorithm, key) = &self.keys[at].as_ref().expect("chosen").model;
                        messages
                            .iter()
                            .flat_map(|message| mac_of(*algorithm, key, message))
                            .collect()
                    }
                    Err(_) => Vec::new(),
                };
                assert_eq!(error, chosen.err().unwrap_or(Error::None));
                assert_eq!(&macs[..expected.len()], expected);
                assert!(macs[expected.len()..].iter().all(|byte| *byte == UNTOUCHED));
            }
            Call::NewMac { at, key } => {
                let (key, chosen) = choose(&self.keys, *key);
                let mut made = misaligned();
                let error = unsafe { hashlane_mac_new(key, &raw mut made) };
                assert_eq!(error, chosen.err().unwrap_or(Error::None));
                assert_eq!(made.is_null(), chosen.is_err());
                if let Ok(key) = chosen {
                    let (algorithm, key) = self.keys[key].as_ref().expect("chosen").model.clone();
                    let model = (algorithm, key, Vec::new());
                    let place = &mut self.macs[usize::from(*at) % N_HANDLES];
                    if let Some(old) = place.replace(Handle {
                        handle: made,
                        model,
                    }) {
                        unsafe { hashlane_mac_free(old.handle) };
                    }
                }
            }
            Call::MacUpdate { mac, part } => {
                let (mac, chosen) = choose(&self.macs, *mac);
                let (start, len, fault) = part.arguments();
                let error = unsafe { hashlane_mac_update(mac, start, len) };
                match (chosen, fault) {
                    (Ok(at), None) => {
                        assert_eq!(error, Error::None);
                        let model = &mut self.macs[at].as_mut().expect("chosen").model;
                        model.2.extend_from_slice(part.bytes);
                    }
                    (chosen, fault) => {
                        assert!(
                            Some(error) == chosen.err() || Some(error) == fault,
                            "{error:?}"
                        );
                    }
                }
            }
            Call::MacFinish { mac, into_null } => {
                let (mac, chosen) = choose(&self.macs, *mac);
                let mut output = Output::new();
                let error = unsafe { hashlane_mac_finish(mac, output.pointer(*into_null)) };
                match chosen {
                    Ok(_) if *into_null => assert_eq!(error, Error::NullPointer),
                    Ok(at) => {
                        assert_eq!(error, Error::None);
                        let (algorithm, key, message) =
                            &mut self.macs[at].as_mut().expect("chosen").model;
                        output.check(&mac_of(*algorithm, key, message));
                        message.clear();
                    }
                    Err(_) => {
                        assert_ne!(error, Error::None);
                        output.check(&[]);
                    }
                }
            }
            Call::FreeMac { at } => {
                if let Some(mac) = self.macs[usize::from(*at) % N_HANDLES].take() {
                    unsafe { hashlane_mac_free(mac.handle) };
                }
            }
            Call::FreeKey { at } => {
                if let Some(key) = self.keys[usize::from(*at) % N_HANDLES].take() {
                    unsafe { hashlane_hmac_key_free(key.handle) };
                }
            }
            Call::NewQueue {
                at,
                engine,
                algorithm: choice,
                without_callback,
            } => {
                let (engine, refused) = self.engine(*engine);
                let algorithm = algorithm(*choice);
                let callback: DigestCallback = if *without_callback {
                    None
                } else {
                    Some(on_digest)
                };
                let mut queue = misaligned();
                let error =
                    unsafe { hashlane_queue_new(engine, algorithm, callback, &raw mut queue) };
                let is_made = refused.is_none() && !without_callback && is_known(algorithm);
                assert_eq!(error == Error::None, is_made);
                assert_eq!(queue.is_null(), !is_made);
                if is_made {
                    let at = usize::from(*at) % N_HANDLES;
                    self.free_queue(at);
                    self.queues[at] = Some(Handle {
                        handle: queue,
                        model: algorithm,
                    });
                }
            }
            Call::Submit {
                queue,
                message,
                frees_queue,
            } => {
                let (queue, chosen) = choose(&self.queues, *queue);
                let digest = |algorithm| Some(digest_of(algorithm, message.bytes));
                let algorithm = chosen.map(|at| self.queues[at].as_ref().expect("chosen").model);
                let (start, len, fault) = self.submitted(
                    queue,
                    message,
                    *frees_queue,
                    algorithm.ok().and_then(digest),
                );
                let error = unsafe { hashlane_queue_submit(queue, tag(), start, len) };
                if chosen.is_ok() && fault.is_none() {
                    assert_eq!(error, Error::None);
                } else {
                    assert!(
                        Some(error) == chosen.err() || Some(error) == fault,
                        "{error:?}"
                    );
                    SUBMITTED.with_borrow_mut(|all| {
                        assert!(all.pop().is_some_and(|last| !last.is_done))
                    });
                }
            }
            Call::SubmitPart {
                queue,
                hasher,
                part,
                is_last,
            } => {
                let (queue, queue_chosen) = choose(&self.queues, *queue);
                let (hasher, hasher_chosen) = choose(&self.hashers, *hasher);
                let of_queue =
                    queue_chosen.map(|at| self.queues[at].as_ref().expect("chosen").model);
                let usable = match self.usable(hasher_chosen) {
                    // The algorithm is compared first, unless the message is in a queue.
                    Ok(model) if of_queue.is_ok_and(|algorithm| algorithm != model.algorithm) => {
                        Err(Error::WrongAlgorithm)
                    }
                    usable => usable
                        .map(|model| (model.algorithm, [&model.bytes[..], part.bytes].concat())),
                };
                let digest = match &usable {
                    Ok((algorithm, message)) if *is_last => Some(digest_of(*algorithm, message)),
                    _ => None,
                };
                let (start, len, fault) = self.submitted(queue, part, false, digest);
                let error = unsafe {
                    hashlane_queue_submit_part(
                        queue,
                        tag(),
                        hasher,
                        start,
                        len,
                        c_int::from(*is_last),
                    )
                };
                match (of_queue, usable, fault) {
                    (Ok(_), Ok((_, message)), None) => {
                        assert_eq!(error, Error::None);
                        let index = SUBMITTED.with_borrow(|all| all.len() - 1);
                        let at = hasher_chosen.expect("usable");
                        let model = &mut self.hashers[at].as_mut().expect("usable").model;
                        model.bytes = message;
                        model.part = Some(index);
                    }
                    (of_queue, usable, fault) => {
                        let causes = [of_queue.err(), usable.err(), fault];
                        assert!(causes.contains(&Some(error)), "{error:?}");
                        SUBMITTED.with_borrow_mut(|all| {
                            assert!(all.pop().is_some_and(|last| !last.is_done))
                        });
                    }
                }
            }
            Call::Flush { queue } => {
                let (queue, chosen) = choose(&self.queues, *queue);
                let error = unsafe { hashlane_queue_flush(queue) };
                assert_eq!(error, chosen.err().unwrap_or(Error::None));
                if chosen.is_ok() {
                    SUBMITTED.with_borrow(|all| {
                        assert!(
                            all.iter()
                                .all(|submitted| submitted.is_done || submitted.queue != queue)
                        );
                    });
                }
            }
            Call::FreeQueue { at } => self.free_queue(usize::from(*at) % N_HANDLES),
            Call::Sizes {
                struct_size,
                behind,
                passed,
            } => {
                let mut torrent = null_mut();
                let start = METAINFO.as_ptr().cast();
                assert_eq!(
                    unsafe { hashlane_torrent_parse(start, METAINFO.len(), &raw mut torrent) },
                    Error::None
                );
                let known = size_of::<TorrentSizes>();
                let mut memory = [0_u64; 1024];
                memory[0] = u64::from(*struct_size);
                let bytes = memory.as_mut_ptr().cast::<u8>();
                for (index, byte) in behind.iter().enumerate() {
                    unsafe { bytes.add(known + 5 * index).write(*byte) };
                }
                let before = memory;
                let (sizes, fault) = match passed {
                    Passed::Null => (null_mut(), Some(Error::NullPointer)),
                    Passed::Misaligned => (misaligned(), Some(Error::MisalignedPointer)),
                    _ => (memory.as_mut_ptr().cast(), None),
                };
                let error = unsafe { hashlane_torrent_get_sizes(torrent, sizes) };
                unsafe { hashlane_torrent_free(torrent) };
                let struct_size = usize::from(*struct_size);
                let has_more = behind
                    .iter()
                    .enumerate()
                    .any(|(at, byte)| *byte != 0 && known + 5 * at < struct_size);
                if let Some(fault) = fault {
                    assert_eq!(error, fault);
                } else if struct_size < known || struct_size > 4096 || has_more {
                    assert_eq!(error, Error::StructSize);
                    assert_eq!(memory, before);
                } else {
                    assert_eq!(error, Error::None);
                    assert_eq!(memory[1..5], [3, 16384, 1, 1]);
                    assert_eq!((memory[0], &memory[5..]), (before[0], &before[5..]));
                }
            }
        }
    }

    fn put_hasher(&mut self, at: u8, handle: *mut Hasher, model: Message) {
        let place = &mut self.hashers[usize::from(at) % N_HANDLES];
        if let Some(old) = place.replace(Handle { handle, model }) {
            // SAFETY: the handle is freed once.
            unsafe { hashlane_hasher_free(old.handle) };
        }
    }

    /// Returns the message of a hasher, or the error of a call with it.
    fn usable(&mut self, chosen: Result<usize, Error>) -> Result<&mut Message, Error> {
        let model = &mut self.hashers[chosen?].as_mut().expect("chosen").model;
        if model.part.is_some() {
            Err(Error::Busy)
        } else {
            Ok(model)
        }
    }

    /// Stores a message that is about to be submitted, and returns the arguments for its bytes.
    fn submitted(
        &self,
        queue: *mut LaneQueue,
        message: &Bytes<'_>,
        frees_queue: bool,
        digest: Option<Vec<u8>>,
    ) -> (*const c_void, usize, Option<Error>) {
        let (_, len, fault) = message.arguments();
        let bytes: Box<[u8]> = message.bytes.into();
        let start = if message.passed == PassedBytes::Null {
            null()
        } else {
            bytes.as_ptr().cast()
        };
        let is_done = false;
        SUBMITTED.with_borrow_mut(|all| {
            all.push(Submitted {
                queue,
                frees_queue,
                bytes,
                digest,
                is_done,
            })
        });
        (start, len, fault)
    }
}

/// Marks the messages that a freed queue has not reported. Another queue may get its address, and they must not come back.
fn forget(queue: *mut LaneQueue) {
    SUBMITTED.with_borrow_mut(|all| {
        let of_queue = all.iter_mut().filter(|submitted| submitted.queue == queue);
        of_queue.for_each(|submitted| submitted.is_done = true);
    });
}

/// Returns the tag of the last message in [`SUBMITTED`].
fn tag() -> *mut c_void {
    SUBMITTED.with_borrow(|all| (all.len() - 1) as *mut c_void)
}

impl Drop for World {
    fn drop(&mut self) {
        // SAFETY: each handle is freed once.
        unsafe {
            for at in 0..N_HANDLES {
                self.free_queue(at);
            }
            self.hashers
                .iter()
                .flatten()
                .for_each(|handle| hashlane_hasher_free(handle.handle));
            self.macs
                .iter()
                .flatten()
                .for_each(|handle| hashlane_mac_free(handle.handle));
            self.keys
                .iter()
                .flatten()
                .for_each(|handle| hashlane_hmac_key_free(handle.handle));
            self.engines
                .iter()
                .flatten()
                .for_each(|handle| hashlane_engine_free(handle.handle));
        }
        SUBMITTED.take();
    }
}

fuzz_target!(|calls: Vec<Call<'_>>| {
    let mut world = World::default();
    for call in calls.iter().take(MAX_CALLS) {
        world.run(call);
    }
});
