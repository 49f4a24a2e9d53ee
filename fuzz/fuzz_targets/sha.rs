//! Messages of SHA-1 and SHA-256 by every function, on a kernel that the input chooses, compared with RustCrypto.
#![no_main]

use std::sync::OnceLock;

use arbitrary::Arbitrary;
use digest::Digest;
use digest::common::hazmat::{SerializableState, SerializedState};
use hashlane_sha::{Algorithm, Backend, Engine, HmacKey, LaneQueue, Mac, Outcome};
use hmac::{KeyInit as _, Mac as _};
use libfuzzer_sys::fuzz_target;

const MAX_MESSAGES: usize = 64;

#[derive(Debug, Arbitrary)]
struct Input<'a> {
    /// Chooses the engine.
    engine: u8,
    messages: Vec<&'a [u8]>,
    /// The number of bytes of each part of a message in turn. Zero is the rest of the message.
    cuts: Vec<u8>,
    bytes: &'a [u8],
    stride: u8,
    len: u8,
    offsets: Vec<i16>,
    key: &'a [u8],
    state: Vec<u8>,
}

/// Returns the engines of all backends that this CPU has, and the best one.
fn engines() -> &'static [Engine] {
    static ENGINES: OnceLock<Vec<Engine>> = OnceLock::new();
    ENGINES.get_or_init(|| {
        let engines = Backend::all().into_iter().flat_map(Engine::with);
        engines.chain([Engine::detect()]).collect()
    })
}

fuzz_target!(|input: Input<'_>| {
    check::<hashlane_sha::Sha1, sha1::Sha1>(&input);
    check::<hashlane_sha::Sha256, sha2::Sha256>(&input);
    // RustCrypto's HMAC is not generic over its hash without a dozen bounds.
    macs::<hashlane_sha::Sha1>(&input, |message| {
        let mut mac = hmac::Hmac::<sha1::Sha1>::new_from_slice(input.key).unwrap();
        mac.update(message);
        mac.finalize().into_bytes().to_vec()
    });
    macs::<hashlane_sha::Sha256>(&input, |message| {
        let mut mac = hmac::Hmac::<sha2::Sha256>::new_from_slice(input.key).unwrap();
        mac.update(message);
        mac.finalize().into_bytes().to_vec()
    });
});

fn engine_of(input: &Input<'_>) -> Engine {
    let engines = engines();
    engines[usize::from(input.engine) % engines.len()]
}

fn messages_of<'a>(input: &Input<'a>) -> Vec<&'a [u8]> {
    input.messages.iter().copied().take(MAX_MESSAGES).collect()
}

/// Cuts messages into parts. The cuts start again with each message.
fn parts<'a>(mut message: &'a [u8], cuts: &[u8]) -> Vec<&'a [u8]> {
    let mut parts = Vec::new();
    for &cut in cuts.iter().take(8).filter(|&&cut| cut > 0) {
        let (part, rest) = message.split_at(message.len().min(cut.into()));
        parts.push(part);
        message = rest;
    }
    parts.push(message);
    parts
}

fn check<A, R>(input: &Input<'_>)
where
    A: Algorithm + SerializableState,
    R: Digest,
{
    let engine = engine_of(input);
    let messages = messages_of(input);
    let expected: Vec<Vec<u8>> = messages
        .iter()
        .map(|message| R::digest(message).to_vec())
        .collect();
    let assert_same = |digests: &[A::Digest], expected: &[Vec<u8>]| {
        let found: Vec<&[u8]> = digests.iter().map(AsRef::as_ref).collect();
        assert_eq!(found, expected);
    };

    let mut digests = vec![A::Digest::default(); messages.len()];
    engine.digest_many::<A>(&messages, &mut digests);
    assert_same(&digests, &expected);

    let mut hashers: Vec<A> = messages.iter().map(|_| A::with_engine(engine)).collect();
    let cut: Vec<_> = messages
        .iter()
        .map(|message| parts(message, &input.cuts))
        .collect();
    for (hasher, parts) in hashers.iter_mut().zip(&cut) {
        for part in parts {
            hasher.update(part);
        }
    }
    engine.finalize_many(&mut hashers, &mut digests);
    assert_same(&digests, &expected);

    queue::<A>(engine, &cut, &mut digests);
    assert_same(&digests, &expected);

    rows::<A, R>(input, engine);
    state::<A>(input);
}

/// Submits the parts of all messages, in the order in which the queue returns them.
fn queue<A: Algorithm>(engine: Engine, messages: &[Vec<&[u8]>], digests: &mut [A::Digest]) {
    let mut queue = LaneQueue::<A, (usize, usize), &[u8]>::with_engine(engine);
    let mut waiting: Vec<_> = (0..messages.len())
        .map(|i| (i, 0, A::with_engine(engine)))
        .collect();
    let mut n_done = 0;
    while n_done < messages.len() {
        let mut returned = Vec::new();
        let mut done = |hashed: hashlane_sha::Hashed<A, (usize, usize), &[u8]>| {
            let (message, part) = hashed.tag;
            match hashed.outcome {
                Outcome::Hasher(hasher) => returned.push((message, part + 1, hasher)),
                Outcome::Digest(digest) => {
                    digests[message] = digest;
                    n_done += 1;
                }
            }
        };
        match waiting.pop() {
            Some((message, part, hasher)) => {
                let parts = &messages[message];
                let (tag, bytes) = ((message, part), parts[part]);
                if parts.len() == 1 {
                    queue.submit(tag, bytes, &mut done);
                } else if part + 1 == parts.len() {
                    queue.submit_last(tag, hasher, bytes, &mut done);
                } else {
                    queue.submit_part(tag, hasher, bytes, &mut done);
                }
            }
            None => queue.flush(&mut done),
        }
        waiting.append(&mut returned);
    }
    assert!(queue.is_empty());
}

/// Messages inside one slice.
fn rows<A: Algorithm, R: Digest>(input: &Input<'_>, engine: Engine) {
    let (bytes, stride) = (input.bytes, usize::from(input.stride));
    let len = usize::from(input.len).min(stride);
    let rows = (0..MAX_MESSAGES).map_while(|i| bytes.get(i * stride..)?.get(..len));
    let mut digests = vec![A::Digest::default(); rows.clone().count()];
    engine.digest_rows::<A>(bytes, stride, len, &mut digests);
    for (digest, row) in digests.iter().zip(rows) {
        assert_eq!(digest.as_ref(), R::digest(row).as_slice());
    }

    let offsets = &input.offsets[..input.offsets.len().min(MAX_MESSAGES)];
    let mut digests = vec![A::Digest::default(); offsets.len().saturating_sub(1)];
    let range = |pair: &[i16]| {
        let [start, end] = [pair[0], pair[1]].map(usize::try_from);
        bytes.get(start.ok()?..end.ok()?)
    };
    let messages: Option<Vec<_>> = offsets.windows(2).map(range).collect();
    let result = engine.digest_offsets::<A, i16>(bytes, offsets, &mut digests);
    if offsets.len() > 1 {
        assert_eq!(
            result.is_ok(),
            messages.is_some(),
            "{offsets:?} of {} bytes",
            bytes.len()
        );
    }
    let hashed = messages.filter(|_| result.is_ok()).unwrap_or_default();
    for (digest, message) in digests.iter().zip(hashed) {
        assert_eq!(digest.as_ref(), R::digest(message).as_slice());
    }

    if len > 0 {
        let mut prefix = A::with_engine(engine);
        prefix.update(input.key);
        let mut digests = vec![A::Digest::default(); bytes.len().div_ceil(len)];
        engine.digest_chunks_after(&prefix, bytes, len, &mut digests);
        for (digest, chunk) in digests.iter().zip(bytes.chunks(len)) {
            assert_eq!(
                digest.as_ref(),
                R::digest([input.key, chunk].concat()).as_slice()
            );
        }
    }
}

/// A state from outside is refused, or continues as itself.
fn state<A: Algorithm + SerializableState>(input: &Input<'_>) {
    let mut serialized = SerializedState::<A>::default();
    let len = input.state.len().min(serialized.len());
    serialized[..len].copy_from_slice(&input.state[..len]);
    let Ok(mut hasher) = A::deserialize(&serialized) else {
        return;
    };
    assert_eq!(hasher.serialize(), serialized);
    let mut whole = hasher.clone();
    whole.update(input.bytes);
    for part in parts(input.bytes, &input.cuts) {
        hasher.update(part);
    }
    assert_eq!(hasher.serialize(), whole.serialize());
    assert_eq!(hasher.finalize(), whole.finalize());
}

fn macs<A: Algorithm>(input: &Input<'_>, expected: impl Fn(&[u8]) -> Vec<u8>) {
    let engine = engine_of(input);
    let messages = messages_of(input);
    let key = HmacKey::<A>::with_engine(engine, input.key);
    let mut macs = vec![Mac::<A>::placeholder(); messages.len()];
    engine.hmac_many(&key, &messages, &mut macs);
    for (mac, message) in macs.iter().zip(&messages) {
        assert_eq!(mac.as_bytes(), expected(message));
        let mut parted = key.start();
        for part in parts(message, &input.cuts) {
            parted.update(part);
        }
        assert_eq!(parted.verify(mac.as_bytes()), Ok(()));
    }
}
