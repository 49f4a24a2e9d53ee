//! Messages in rows, by offsets, after a prefix and from readers, compared with other crates.

use std::io::{self, Read};

use hashlane_sha::{Backend, Engine, Sha1, Sha1Digest, Sha256, Sha256Digest};
use sha2::Digest as _;

fn sha1(message: &[u8]) -> Sha1Digest {
    Sha1Digest::from(<[u8; 20]>::from(sha1::Sha1::digest(message)))
}

fn sha256(message: &[u8]) -> Sha256Digest {
    Sha256Digest::from(<[u8; 32]>::from(sha2::Sha256::digest(message)))
}

fn bytes(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i * 7 + i / 251) as u8).collect()
}

fn panics(run: impl FnOnce()) -> bool {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err()
}

#[test]
fn iterators_of_any_length() {
    for n in [0, 1, 127, 128, 129, 300] {
        let messages: Vec<Vec<u8>> = (0..n).map(bytes).collect();
        let mut digests = vec![Sha1Digest::default(); n];
        Engine::detect().digest_many::<Sha1>(&messages, &mut digests);
        assert!(messages.iter().map(|m| sha1(m)).eq(digests), "{n}");
    }
    let mut digests = [Sha256Digest::default(); 2];
    Engine::detect().digest_many::<Sha256>(["a", "bc"], &mut digests);
    assert_eq!(digests, [sha256(b"a"), sha256(b"bc")]);
    // Slices of arrays, strings and references to references, and an iterator that continues after
    // its end.
    Engine::detect().digest_many::<Sha256>(&[[b'a'; 1], [b'b'; 1]], &mut digests);
    assert_eq!(digests, [sha256(b"a"), sha256(b"b")]);
    Engine::detect().digest_many::<Sha256>(&[&String::from("a"), &String::new()], &mut digests);
    assert_eq!(digests, [sha256(b"a"), sha256(b"")]);
    let mut calls = 0;
    let unfused = std::iter::from_fn(|| {
        calls += 1;
        (calls != 3).then_some("a")
    });
    Engine::detect().digest_many::<Sha256>(unfused, &mut digests);
    assert_eq!(digests, [sha256(b"a"); 2]);
    let engine = Engine::detect();
    assert!(panics(
        || engine.digest_many::<Sha1>(["a"], &mut [Sha1Digest::default(); 2])
    ));
    assert!(panics(|| engine.digest_many::<Sha1>(
        ["a", "b"],
        &mut [Sha1Digest::default(); 1]
    )));
}

#[test]
fn rows_with_and_without_gaps() {
    let bytes = bytes(20_000);
    for (stride, len) in [(64, 64), (100, 100), (100, 64), (70, 1), (5, 0), (0, 0)] {
        let mut digests = [Sha256Digest::default(); 150];
        Engine::detect().digest_rows::<Sha256>(&bytes, stride, len, &mut digests);
        for (row, digest) in digests.iter().enumerate() {
            assert_eq!(
                *digest,
                sha256(&bytes[row * stride..][..len]),
                "{stride} {row}"
            );
        }
    }
    let engine = Engine::detect();
    let mut two = [Sha1Digest::default(); 2];
    engine.digest_rows::<Sha1>(&[0; 7], 4, 3, &mut two);
    for (stride, len) in [(5, 3), (4, 4), (usize::MAX, 2), (usize::MAX, usize::MAX)] {
        let mut two = two;
        assert!(panics(
            || engine.digest_rows::<Sha1>(&[0; 7], stride, len, &mut two)
        ));
    }
}

/// Two numbers can be swapped, and rows of a matrix never overlap.
#[test]
fn rows_that_overlap_are_refused() {
    let engine = Engine::detect();
    for n_rows in [0, 1, 3] {
        let mut digests = vec![Sha1Digest::default(); n_rows];
        engine.digest_rows::<Sha1>(&[0; 90], 21, 20, &mut digests);
        assert!(panics(|| engine.digest_rows::<Sha1>(
            &[0; 90],
            20,
            21,
            &mut digests
        )));
    }
}

#[test]
fn offsets_are_checked() {
    let bytes = bytes(5000);
    let offsets: Vec<i64> = (0..200).map(|i| 10 + i * i / 9).collect();
    let mut digests = [Sha256Digest::default(); 199];
    let engine = Engine::detect();
    let done = engine.digest_offsets::<Sha256, _>(&bytes, &offsets, &mut digests);
    assert_eq!(done, Ok(()));
    let position = |offset: i64| usize::try_from(offset).expect("offsets are positive");
    for (pair, digest) in offsets.windows(2).zip(digests) {
        assert_eq!(digest, sha256(&bytes[position(pair[0])..position(pair[1])]));
    }
    let wrong = |offsets: &[i64]| {
        let mut digests = vec![Sha1Digest::default(); offsets.len() - 1];
        let error = engine.digest_offsets::<Sha1, _>(&[7; 9], offsets, &mut digests);
        assert!(
            digests
                .iter()
                .all(|digest| *digest == Sha1Digest::default())
        );
        error.unwrap_err().index
    };
    assert_eq!(wrong(&[0, 5, 4, 9]), 2);
    assert_eq!(wrong(&[0, 5, 10]), 2);
    assert_eq!(wrong(&[-1, 5]), 0);
    assert_eq!(wrong(&[0, i64::MIN, i64::MAX]), 1);
    assert_eq!(wrong(&[10]), 0);
    let huge = engine.digest_offsets::<Sha1, u64>(b"", &[u64::MAX], &mut []);
    assert_eq!(
        huge.unwrap_err().to_string(),
        "offset 0: negative, beyond the end, or less than the offset before it"
    );
    assert_eq!(
        engine.digest_offsets::<Sha1, u32>(b"abc", &[], &mut []),
        Ok(())
    );
}

#[test]
fn chunks_after_a_prefix() {
    let bytes = bytes(9000);
    for engine in Backend::all().flat_map(Engine::with) {
        for prefix_len in [0, 1, 63, 64, 65, 128] {
            let mut prefix = Sha1::with_engine(engine);
            prefix.update(&bytes[..prefix_len]);
            for message_len in [60, 64, 200] {
                let mut digests = vec![Sha1Digest::default(); bytes.len().div_ceil(message_len)];
                engine.digest_chunks_after(&prefix, &bytes, message_len, &mut digests);
                for (message, digest) in bytes.chunks(message_len).zip(digests) {
                    assert_eq!(digest, sha1(&[&bytes[..prefix_len], message].concat()));
                }
            }
        }
    }
}

/// Fails after its bytes, and is interrupted before each read.
struct Fails<'m>(&'m [u8], bool);

impl Read for Fails<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.1 = !self.1;
        if self.1 {
            return Err(io::ErrorKind::Interrupted.into());
        }
        match self.0.read(buffer)? {
            0 => Err(io::ErrorKind::TimedOut.into()),
            n => Ok(n),
        }
    }
}

#[test]
fn readers_of_any_length() {
    let bytes = bytes(200_000);
    let lens: Vec<usize> = (0..70)
        .map(|i| i * i * 40)
        .chain([65_536, 131_072])
        .collect();
    let readers = lens.iter().map(|&len| (len, Ok(&bytes[..len])));
    let mut seen = Vec::new();
    Engine::detect().digest_readers::<Sha256, _, _>(readers, |len, digest| {
        assert_eq!(digest.expect("slices do not fail"), sha256(&bytes[..len]));
        seen.push(len);
    });
    seen.sort_unstable();
    let mut lens = lens;
    lens.sort_unstable();
    assert_eq!(seen, lens);
}

#[test]
fn errors_of_readers_come_with_their_tags() {
    let bytes = bytes(100_000);
    let readers = [
        ("good", Ok(Box::new(&bytes[..]) as Box<dyn Read + '_>)),
        ("absent", Err(io::ErrorKind::NotFound.into())),
        ("fails", Ok(Box::new(Fails(&bytes, false)))),
    ];
    let mut results = Vec::new();
    Engine::detect().digest_readers::<Sha1, _, _>(readers, |tag, digest| {
        results.push((tag, digest.map_err(|error| error.kind())));
    });
    results.sort_by_key(|(tag, _)| *tag);
    let expected = [
        ("absent", Err(io::ErrorKind::NotFound)),
        ("fails", Err(io::ErrorKind::TimedOut)),
        ("good", Ok(sha1(&bytes))),
    ];
    assert_eq!(results, expected);
}

#[test]
fn a_hasher_reads_to_the_end_or_to_an_error() {
    let bytes = bytes(200_000);
    let mut hasher = Sha256::new();
    hasher.update(b"a");
    hasher
        .update_reader(&bytes[..])
        .expect("slices do not fail");
    assert_eq!(hasher.finalize(), sha256(&[b"a", &bytes[..]].concat()));
    let mut hasher = Sha1::new();
    let error = hasher.update_reader(Fails(&bytes, false)).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    assert_eq!(hasher.finalize(), sha1(&bytes));
}
