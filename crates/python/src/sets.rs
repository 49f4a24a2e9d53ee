//! Sets of messages, hashed in lanes and on several threads.

use std::num::NonZeroUsize;
use std::thread;

use blake2b_simd::many::{HashManyJob, hash_many, update_many};
use hashlane_hashes::{Algorithm, Blake2bLen, Hasher, Message};
use hashlane_sha::{
    Engine, HmacKey, LaneHash, Mac, Md5, Sha1, Sha224, Sha256, Sha384, Sha512, Sha512_256,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::algorithm::named;
use crate::buffers::Bytes;
use crate::hasher::hmac_key;

/// Messages whose digests stay in the first level of the cache until they are copied.
const BATCH: usize = 512;

/// Bytes of one message that are hashed between two looks at pending signals, if messages are long.
const WINDOW: usize = 4 << 20;

/// Length from which a message is hashed in windows.
const LONG: usize = 16 << 20;

/// Bytes below which another thread costs more than it saves.
const THREAD_BYTES: usize = 256 << 10;

/// The number of threads that the caller chooses, or all CPUs that the process may use.
#[derive(Clone, Copy)]
pub(crate) struct Threads(Option<NonZeroUsize>);

impl Threads {
    pub(crate) const ONE: Self = Self(Some(NonZeroUsize::MIN));

    /// # Errors
    /// `ValueError` for 0.
    pub(crate) fn new(threads: Option<usize>) -> PyResult<Self> {
        let refusal = || PyValueError::new_err("threads must be 1 or more");
        let chosen = threads.map(|threads| NonZeroUsize::new(threads).ok_or_else(refusal));
        chosen.transpose().map(Self)
    }

    /// Returns the number. To count the CPUs takes as long as to hash some kilobytes: it reads files of the cgroup.
    pub(crate) fn all(self) -> NonZeroUsize {
        let all = || thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        self.0.unwrap_or_else(all)
    }

    /// Returns the number of threads that are worth their cost for messages of this length together in bytes.
    pub(crate) fn for_bytes(self, n_bytes: usize) -> usize {
        match n_bytes / THREAD_BYTES {
            0 | 1 => 1,
            useful => self.all().get().min(useful),
        }
    }
}

/// The digests to compute: of messages alone, after a common prefix, or under a key.
pub(crate) enum Function {
    Lanes(Box<dyn InLanes>),
    /// Algorithms without lanes: one message after another, each from this state.
    Each(Box<Message>, usize),
}

/// Digests of messages of an algorithm with lanes.
pub(crate) trait InLanes: Send + Sync {
    /// Returns the length of a digest in bytes.
    fn digest_len(&self) -> usize;

    /// Returns the number of messages that are hashed in the time of one.
    fn in_time_of_one(&self) -> usize;

    /// Writes the digests of messages, one after another.
    fn digest(&self, messages: &[&[u8]], digests: &mut [u8]);

    /// Writes the digests of consecutive messages of `len` bytes.
    fn chunks(&self, bytes: &[u8], len: usize, digests: &mut [u8]);

    /// Hashes messages side by side, a window of each at a time.
    fn windows(
        &self,
        messages: &[&[u8]],
        digests: &mut [u8],
        pause: &mut dyn FnMut() -> PyResult<()>,
    ) -> PyResult<()>;
}

/// The beginning of each message: after a prefix, or under a key.
enum LaneStart<H: LaneHash> {
    Prefix(H),
    Key(HmacKey<H>),
}

/// Returns the digests of an algorithm with lanes after a prefix, or its MACs under a key.
fn lanes_of(name: &str, key: Option<&[u8]>, prefix: Option<&[u8]>) -> Option<Box<dyn InLanes>> {
    fn boxed<H: LaneHash>(key: Option<&[u8]>, prefix: Option<&[u8]>) -> Box<dyn InLanes> {
        Box::new(if let Some(key) = key {
            LaneStart::<H>::Key(HmacKey::new(key))
        } else {
            let mut start = H::default();
            start.update(prefix.unwrap_or_default());
            LaneStart::Prefix(start)
        })
    }
    type Constructor = fn(Option<&[u8]>, Option<&[u8]>) -> Box<dyn InLanes>;
    let of: Constructor = if is_sha512_256(name) {
        boxed::<Sha512_256>
    } else {
        match name.parse() {
            Ok(Algorithm::Md5) => boxed::<Md5>,
            Ok(Algorithm::Sha1) => boxed::<Sha1>,
            Ok(Algorithm::Sha224) => boxed::<Sha224>,
            Ok(Algorithm::Sha256) => boxed::<Sha256>,
            Ok(Algorithm::Sha384) => boxed::<Sha384>,
            Ok(Algorithm::Sha512) => boxed::<Sha512>,
            Ok(Algorithm::Blake2b(len)) if key.is_none() && prefix.is_none() => {
                return Some(Box::new(Blake2b(len)));
            }
            _ => return None,
        }
    };
    Some(of(key, prefix))
}

/// Returns `true` for the names of SHA-512/256 in OpenSSL and FIPS 180-4, which only sets of messages know.
fn is_sha512_256(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replacen("sha-", "sha", 1);
    matches!(&*name, "sha512_256" | "sha512-256" | "sha512/256")
}

impl Function {
    /// Returns the function of an algorithm with a key, a prefix, or neither.
    ///
    /// # Errors
    /// `ValueError` for an unknown algorithm, or one without HMAC. `TypeError` for both a key and a prefix.
    pub(crate) fn new(
        algorithm: &str,
        key: Option<&Bound<'_, PyAny>>,
        prefix: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        if key.is_some() && prefix.is_some() {
            return Err(PyTypeError::new_err(
                "key and prefix are mutually exclusive",
            ));
        }
        let key = key.map(Bytes::of).transpose()?;
        let key = key.as_ref().map(Bytes::as_slice);
        let prefix = prefix.map(Bytes::of).transpose()?;
        let prefix = prefix.as_ref().map(Bytes::as_slice);
        if let Some(lanes) = lanes_of(algorithm, key, prefix) {
            return Ok(Self::Lanes(lanes));
        }
        if let Some(key) = key {
            let (algorithm, key) = hmac_key(algorithm, key)?;
            let start = Box::new(Message::Hmac(key.start()));
            return Ok(Self::Each(start, algorithm.digest_len()));
        }
        let algorithm = named(algorithm)?;
        let mut stream = Hasher::with_engine(Engine::detect(), algorithm);
        stream.update(prefix.unwrap_or_default());
        let start = Box::new(Message::Digest(stream));
        Ok(Self::Each(start, algorithm.digest_len()))
    }

    /// Returns the length of a digest in bytes.
    pub(crate) fn digest_len(&self) -> usize {
        match self {
            Self::Lanes(lanes) => lanes.digest_len(),
            Self::Each(_, len) => *len,
        }
    }

    /// Returns the number of messages that a thread hashes in the time of one. More threads for them would only leave lanes empty.
    fn in_time_of_one(&self) -> usize {
        match self {
            Self::Lanes(lanes) => lanes.in_time_of_one(),
            Self::Each(..) => 1,
        }
    }

    /// Writes the digests of `messages`, one after another, on up to `threads` threads. `pause` is called on this thread at
    /// least every 0.1 s, and ends the run with its error.
    pub(crate) fn digest(
        &self,
        messages: &[&[u8]],
        digests: &mut [u8],
        threads: Threads,
        pause: &mut dyn FnMut() -> PyResult<()>,
    ) -> PyResult<()> {
        if messages.iter().any(|message| message.len() >= LONG) {
            return self.digest_long(messages, digests, pause);
        }
        let n_bytes: usize = messages.iter().map(|message| message.len()).sum();
        let threads = threads.for_bytes(n_bytes);
        let threads = threads.min(messages.len().div_ceil(self.in_time_of_one()));
        thread::scope(|scope| {
            let (mut messages, mut digests) = (messages, digests);
            for _ in 1..threads {
                let mut left = n_bytes / threads;
                let fitting = messages.iter().take_while(|message| {
                    let fits = message.len() <= left;
                    left = left.saturating_sub(message.len());
                    fits
                });
                let n = fitting.count();
                let (these, others) = messages.split_at(n);
                let (places, rest) = digests.split_at_mut(n * self.digest_len());
                (messages, digests) = (others, rest);
                scope.spawn(|| self.digest_here(these, places));
            }
            self.digest_here(messages, digests);
        });
        pause()
    }

    /// Writes the digests of messages on this thread.
    fn digest_here(&self, messages: &[&[u8]], digests: &mut [u8]) {
        match self {
            Self::Lanes(lanes) => lanes.digest(messages, digests),
            Self::Each(start, len) => {
                for (message, digest) in messages.iter().zip(digests.chunks_mut(*len)) {
                    let mut state = Message::clone(start);
                    state.update(message);
                    digest.copy_from_slice(state.finalize().as_bytes());
                }
            }
        }
    }

    /// Writes the digests of rows of `row_len` bytes in `bytes`, whose starts are `stride` bytes apart, on this thread.
    pub(crate) fn digest_rows(
        &self,
        bytes: &[u8],
        stride: usize,
        row_len: usize,
        digests: &mut [u8],
    ) {
        match self {
            Self::Lanes(lanes) if stride == row_len && row_len > 0 => {
                let n_rows = digests.len() / self.digest_len();
                lanes.chunks(&bytes[..n_rows * row_len], row_len, digests);
            }
            _ => {
                let sets = digests.chunks_mut(BATCH * self.digest_len());
                for (set, digests) in sets.enumerate() {
                    let begin = set * BATCH;
                    let rows = begin..begin + digests.len() / self.digest_len();
                    let messages = rows.map(|row| &bytes[row * stride..][..row_len]);
                    self.digest_here(&messages.collect::<Vec<_>>(), digests);
                }
            }
        }
    }

    /// Writes the digests of messages, some of them long. Signals are handled between windows of the messages.
    fn digest_long(
        &self,
        messages: &[&[u8]],
        digests: &mut [u8],
        pause: &mut dyn FnMut() -> PyResult<()>,
    ) -> PyResult<()> {
        let (start, len) = match self {
            Self::Lanes(lanes) => return lanes.windows(messages, digests, pause),
            Self::Each(start, len) => (&**start, *len),
        };
        for (message, digest) in messages.iter().zip(digests.chunks_mut(len)) {
            let mut state = start.clone();
            for window in message.chunks(LONG) {
                state.update(window);
                pause()?;
            }
            digest.copy_from_slice(state.finalize().as_bytes());
        }
        Ok(())
    }
}

impl<H: LaneHash> InLanes for LaneStart<H> {
    fn digest_len(&self) -> usize {
        H::DIGEST_LEN
    }

    fn in_time_of_one(&self) -> usize {
        H::in_time_of_one(&Engine::detect())
    }

    fn digest(&self, messages: &[&[u8]], digests: &mut [u8]) {
        let engine = Engine::detect();
        let digests = digests.chunks_mut(BATCH * H::DIGEST_LEN);
        for (messages, digests) in messages.chunks(BATCH).zip(digests) {
            match self {
                Self::Prefix(start) => {
                    let mut values = [H::ZERO; BATCH];
                    let values = &mut values[..messages.len()];
                    H::digest_many_after(&engine, start, messages, values);
                    copy(values, digests);
                }
                Self::Key(key) => {
                    let mut macs = [Mac::placeholder(); BATCH];
                    let macs = &mut macs[..messages.len()];
                    engine.hmac_many(key, messages, macs);
                    for (mac, digest) in macs.iter().zip(digests.chunks_mut(H::DIGEST_LEN)) {
                        digest.copy_from_slice(mac.as_bytes());
                    }
                }
            }
        }
    }

    fn chunks(&self, bytes: &[u8], len: usize, digests: &mut [u8]) {
        let Self::Prefix(start) = self else {
            let messages: Vec<&[u8]> = bytes.chunks(len).collect();
            return self.digest(&messages, digests);
        };
        let engine = Engine::detect();
        let mut values = [H::ZERO; BATCH];
        let digests = digests.chunks_mut(BATCH * H::DIGEST_LEN);
        for (bytes, digests) in bytes.chunks(BATCH * len).zip(digests) {
            let values = &mut values[..bytes.len().div_ceil(len)];
            engine.digest_chunks_after(start, bytes, len, values);
            copy(values, digests);
        }
    }

    fn windows(
        &self,
        messages: &[&[u8]],
        digests: &mut [u8],
        pause: &mut dyn FnMut() -> PyResult<()>,
    ) -> PyResult<()> {
        let engine = Engine::detect();
        let at_once = H::lanes(&engine);
        let start = match self {
            Self::Prefix(start) => start.clone(),
            Self::Key(key) => key.inner(),
        };
        let digests = digests.chunks_mut(at_once * H::DIGEST_LEN);
        for (messages, digests) in messages.chunks(at_once).zip(digests) {
            let mut states = vec![start.clone(); messages.len()];
            let longest = messages.iter().map(|message| message.len()).max();
            for offset in (0..longest.unwrap_or(0)).step_by(WINDOW) {
                H::update_many(&engine, &mut states, &windows_at(messages, offset));
                pause()?;
            }
            let mut values = vec![H::ZERO; messages.len()];
            H::finalize_many(&engine, &mut states, &mut values);
            if let Self::Key(key) = self {
                let inner = values.clone();
                let inner: Vec<&[u8]> = inner.iter().map(AsRef::as_ref).collect();
                H::digest_many_after(&engine, &key.outer(), &inner, &mut values);
            }
            copy(&values, digests);
        }
        Ok(())
    }
}

/// Digests of BLAKE2b.
struct Blake2b(Blake2bLen);

impl InLanes for Blake2b {
    fn digest_len(&self) -> usize {
        self.0.bytes()
    }

    fn in_time_of_one(&self) -> usize {
        blake2b_simd::many::degree()
    }

    fn digest(&self, messages: &[&[u8]], digests: &mut [u8]) {
        let mut params = blake2b_simd::Params::new();
        params.hash_length(self.0.bytes());
        let digests = digests.chunks_mut(BATCH * self.0.bytes());
        for (messages, digests) in messages.chunks(BATCH).zip(digests) {
            let jobs = messages
                .iter()
                .map(|message| HashManyJob::new(&params, message));
            let mut jobs: Vec<HashManyJob<'_>> = jobs.collect();
            hash_many(jobs.iter_mut());
            for (job, digest) in jobs.iter().zip(digests.chunks_mut(self.0.bytes())) {
                digest.copy_from_slice(job.to_hash().as_bytes());
            }
        }
    }

    fn chunks(&self, bytes: &[u8], len: usize, digests: &mut [u8]) {
        let messages: Vec<&[u8]> = bytes.chunks(len).collect();
        self.digest(&messages, digests);
    }

    fn windows(
        &self,
        messages: &[&[u8]],
        digests: &mut [u8],
        pause: &mut dyn FnMut() -> PyResult<()>,
    ) -> PyResult<()> {
        let mut params = blake2b_simd::Params::new();
        params.hash_length(self.0.bytes());
        let at_once = blake2b_simd::many::degree();
        let digests = digests.chunks_mut(at_once * self.0.bytes());
        for (messages, digests) in messages.chunks(at_once).zip(digests) {
            let mut states = vec![params.to_state(); messages.len()];
            let longest = messages.iter().map(|message| message.len()).max();
            for offset in (0..longest.unwrap_or(0)).step_by(WINDOW) {
                update_many(states.iter_mut().zip(windows_at(messages, offset)));
                pause()?;
            }
            for (state, digest) in states.iter().zip(digests.chunks_mut(self.0.bytes())) {
                digest.copy_from_slice(state.finalize().as_bytes());
            }
        }
        Ok(())
    }
}

/// Returns a window of each message, which is empty after the end of the message.
fn windows_at<'m>(messages: &[&'m [u8]], offset: usize) -> Vec<&'m [u8]> {
    let windows = messages.iter().map(|message| {
        let begin = offset.min(message.len());
        &message[begin..message.len().min(begin + WINDOW)]
    });
    windows.collect()
}

fn copy(values: &[impl AsRef<[u8]>], digests: &mut [u8]) {
    let Some(first) = values.first() else { return };
    for (value, digest) in values.iter().zip(digests.chunks_mut(first.as_ref().len())) {
        digest.copy_from_slice(value.as_ref());
    }
}
