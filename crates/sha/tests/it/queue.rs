//! The queue on every backend: messages in parts, returned buffers, and callbacks that panic.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};

use hashlane_sha::{Algorithm, Engine, Hashed, LaneQueue, Outcome, Sha1, Sha256, digest};
use proptest::prelude::*;

fn engines() -> impl Iterator<Item = Engine> {
    crate::engines::engines()
        .map(|(_, engine)| engine)
        .chain([Engine::detect()])
}

/// A message that is hashed in parts: the parts still to be submitted, and the hasher between
/// parts.
struct Stream<A> {
    parts: VecDeque<Vec<u8>>,
    hasher: Option<A>,
}

/// Returns the digests of messages that pass through one queue in parts, all at the same time.
fn digests_of_parts<A: Algorithm>(engine: Engine, messages: &[Vec<Vec<u8>>]) -> Vec<A::Digest> {
    let mut streams: Vec<Stream<A>> = messages
        .iter()
        .map(|parts| Stream {
            parts: parts.iter().cloned().collect(),
            hasher: Some(A::with_engine(engine)),
        })
        .collect();
    let mut digests = vec![None; messages.len()];
    let mut queue = LaneQueue::<A, usize, Vec<u8>>::with_engine(engine);
    while digests.contains(&None) {
        let mut out = Vec::new();
        for (tag, stream) in streams.iter_mut().enumerate() {
            let Some(hasher) = stream.hasher.take() else {
                continue;
            };
            match stream.parts.pop_front() {
                Some(part) if stream.parts.is_empty() => {
                    queue.submit_last(tag, hasher, part, |hashed| out.push(hashed));
                }
                Some(part) => queue.submit_part(tag, hasher, part, |hashed| out.push(hashed)),
                None => queue.submit_last(tag, hasher, vec![], |hashed| out.push(hashed)),
            }
        }
        if out.is_empty() {
            queue.flush(|hashed| out.push(hashed));
        }
        for Hashed { tag, outcome, .. } in out {
            match outcome {
                Outcome::Digest(digest) => assert_eq!(digests[tag].replace(digest), None),
                Outcome::Hasher(hasher) => streams[tag].hasher = Some(hasher),
            }
        }
    }
    assert!(queue.is_empty());
    digests.into_iter().flatten().collect()
}

fn check_parts<A: Algorithm>(messages: &[Vec<Vec<u8>>]) {
    for engine in engines() {
        let digests = digests_of_parts::<A>(engine, messages);
        for (parts, found) in messages.iter().zip(digests) {
            assert_eq!(found, digest::<A>(&parts.concat()), "{engine:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn parts_of_any_lengths(
        messages in proptest::collection::vec(
            proptest::collection::vec(
                proptest::collection::vec(any::<u8>(), 0..200), 0..5), 0..20)
    ) {
        check_parts::<Sha1>(&messages);
        check_parts::<Sha256>(&messages);
    }
}

#[test]
fn parts_at_block_borders() {
    let lengths = [0, 1, 63, 64, 65, 119, 120, 128];
    let messages: Vec<Vec<Vec<u8>>> = lengths
        .iter()
        .flat_map(|a| lengths.map(|b| vec![vec![1; *a], vec![2; b], vec![3; *a]]))
        .collect();
    check_parts::<Sha1>(&messages);
    check_parts::<Sha256>(&messages);
}

#[test]
fn buffers_come_back_and_are_used_again() {
    for engine in engines() {
        let n_lanes = engine.lanes::<Sha256>();
        let mut free: Vec<Vec<u8>> = vec![Vec::new(); n_lanes];
        let mut queue = LaneQueue::<Sha256, usize, Vec<u8>>::with_engine(engine);
        let mut digests = vec![None; 100];
        for i in 0..100 {
            let mut buffer = free.pop().expect("fewer messages than lanes are under way");
            buffer.clear();
            buffer.resize(i * 37, i as u8);
            queue.submit(i, buffer, |hashed| {
                digests[hashed.tag] = hashed.digest();
                free.push(hashed.bytes);
            });
        }
        queue.flush(|hashed| {
            digests[hashed.tag] = hashed.digest();
            free.push(hashed.bytes);
        });
        assert_eq!(free.len(), n_lanes);
        for (i, found) in digests.into_iter().enumerate() {
            assert_eq!(found, Some(digest::<Sha256>(&vec![i as u8; i * 37])));
        }
    }
}

/// Messages of one length end in the same step, so all digests except the first wait while the
/// callback panics.
#[test]
fn a_panicking_callback_loses_no_digest() {
    for engine in engines() {
        let n = 3 * engine.lanes::<Sha1>();
        let messages: Vec<Vec<u8>> = (0..n).map(|i| vec![i as u8; 300]).collect();
        let mut queue = LaneQueue::<Sha1, usize, &[u8]>::with_engine(engine);
        let mut digests = vec![None; n];
        let mut n_panics = 0;
        for (tag, message) in messages.iter().enumerate() {
            let submitted = catch_unwind(AssertUnwindSafe(|| {
                queue.submit(tag, message, |hashed| {
                    assert_eq!(digests[hashed.tag].replace(hashed.digest()), None);
                    std::panic::resume_unwind(Box::new("the callback's own"));
                });
            }));
            n_panics += usize::from(submitted.is_err());
            assert!(queue.len() < engine.lanes::<Sha1>());
        }
        assert!(n_panics > 0);
        queue.flush(|hashed| assert_eq!(digests[hashed.tag].replace(hashed.digest()), None));
        for (message, found) in messages.iter().zip(digests) {
            assert_eq!(found, Some(Some(digest::<Sha1>(message))));
        }
    }
}

/// A buffer that panics when it is read while the flag is set.
struct PanickingBuffer<'a>(&'a [u8], &'a std::cell::Cell<bool>);

impl AsRef<[u8]> for PanickingBuffer<'_> {
    fn as_ref(&self) -> &[u8] {
        if self.1.get() {
            std::panic::resume_unwind(Box::new("the buffer panics"));
        }
        self.0
    }
}

#[test]
fn a_panicking_buffer_loses_no_digest() {
    let panics = std::cell::Cell::new(false);
    let mut queue = LaneQueue::<Sha256, usize, PanickingBuffer<'_>>::new();
    let mut digests = [None; 2];
    let messages = [[1_u8; 500], [2; 500]];
    let n = digests.len().min(Engine::detect().lanes::<Sha256>() - 1);
    for (tag, message) in messages[..n].iter().enumerate() {
        queue.submit(tag, PanickingBuffer(message, &panics), |_| {
            unreachable!("a lane is free")
        });
    }
    panics.set(true);
    let mut done = |hashed: Hashed<Sha256, usize, PanickingBuffer<'_>>| {
        digests[hashed.tag] = hashed.digest();
    };
    assert!(n == 0 || catch_unwind(AssertUnwindSafe(|| queue.flush(&mut done))).is_err());
    panics.set(false);
    queue.flush(done);
    for (message, found) in messages[..n].iter().zip(digests) {
        assert_eq!(found, Some(digest::<Sha256>(message)));
    }
}

/// A buffer that panics once, when it has been read as often as the number says.
struct LimitedBuffer<'a>(&'a [u8], &'a std::cell::Cell<usize>);

impl AsRef<[u8]> for LimitedBuffer<'_> {
    fn as_ref(&self) -> &[u8] {
        let n_left = self.1.get();
        self.1.set(n_left.checked_sub(1).unwrap_or(usize::MAX));
        if n_left == 0 {
            std::panic::resume_unwind(Box::new("the buffer panics"));
        }
        self.0
    }
}

/// The message that fills the last lane makes the lanes run. If a message panics then, the queue
/// stays full, and the next call makes room first.
#[test]
fn a_panicking_buffer_in_a_full_queue_loses_no_digest() {
    for engine in engines() {
        let n_lanes = engine.lanes::<Sha256>();
        // Each message is read once when it is added. The next read is the first of the step.
        let n_reads = std::cell::Cell::new(n_lanes);
        let mut queue = LaneQueue::<Sha256, usize, LimitedBuffer<'_>>::with_engine(engine);
        let messages: Vec<[u8; 500]> = (0..n_lanes + 3).map(|i| [i as u8; 500]).collect();
        let mut digests = vec![None; messages.len()];
        let mut done = |hashed: Hashed<Sha256, usize, LimitedBuffer<'_>>| {
            assert_eq!(digests[hashed.tag].replace(hashed.digest()), None);
        };
        for (tag, message) in messages.iter().enumerate() {
            let submitted = catch_unwind(AssertUnwindSafe(|| {
                queue.submit(tag, LimitedBuffer(message, &n_reads), &mut done);
            }));
            assert_eq!(submitted.is_err(), tag == n_lanes - 1, "message {tag}");
            assert!(queue.len() <= n_lanes);
        }
        queue.flush(done);
        for (message, found) in messages.iter().zip(digests) {
            assert_eq!(found, Some(Some(digest::<Sha256>(message))));
        }
    }
}
