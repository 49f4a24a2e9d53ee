//! SHA-1 with the detection of collision attacks, by its public functions.

use hashlane_sha::sha1_checked::{self, Sha1Checked};
use hashlane_sha::{Sha1, Sha1Digest};

use crate::engines::engines;

/// Published collisions: two messages with one SHA-1. Both are attacks.
const COLLISIONS: [[&[u8]; 2]; 2] = [
    [
        include_bytes!("../vectors/sha1-collisions/shattered-1.bin"),
        include_bytes!("../vectors/sha1-collisions/shattered-2.bin"),
    ],
    [
        include_bytes!("../vectors/sha1-collisions/sha-mbles-1.bin"),
        include_bytes!("../vectors/sha1-collisions/sha-mbles-2.bin"),
    ],
];

/// A message of a collision of SHA-1 with fewer rounds.
const REDUCED: &[u8] = include_bytes!("../vectors/sha1-collisions/reduced.bin");

/// Returns pseudo-random bytes (xorshift, Marsaglia 2003).
fn random_bytes(len: usize, mut seed: u64) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(len + 8);
    while bytes.len() < len {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        bytes.extend_from_slice(&seed.to_le_bytes());
    }
    bytes.truncate(len);
    bytes
}

#[test]
fn published_collisions_are_attacks() {
    for [one, two] in COLLISIONS {
        assert_ne!(one, two);
        assert_eq!(Sha1::digest(one), Sha1::digest(two));
        for message in [one, two] {
            for (backend, engine) in engines() {
                let mut hasher = Sha1Checked::with_engine(engine);
                hasher.update(message);
                let attack = hasher.finalize().expect_err(backend.name());
                assert_eq!(attack.digest(), Sha1::digest(message), "{backend}");
            }
            assert!(sha1_checked::contains_attack(message));
            // The attack is in the first blocks, whatever follows.
            let longer = [message, &random_bytes(1000, 7)].concat();
            assert!(sha1_checked::contains_attack(&longer));
            assert!(sha1_checked::digest(&longer).is_err());
        }
    }
}

#[test]
fn attacks_are_found_in_all_parts_and_places() {
    let [[attack, _], _] = COLLISIONS;
    for len in [1, 3, 63, 64, 65, 127, 320] {
        let mut hasher = Sha1Checked::new();
        for part in attack.chunks(len) {
            hasher.update(part);
        }
        assert!(hasher.finalize().is_err(), "parts of {len} bytes");
    }
    // The attack is bound to the state before it.
    let shifted = [&[0; 64], attack].concat();
    assert_eq!(sha1_checked::digest(&shifted), Ok(Sha1::digest(&shifted)));
}

#[test]
fn attacks_on_fewer_rounds_are_reported_on_request() {
    assert_eq!(sha1_checked::digest(REDUCED), Ok(Sha1::digest(REDUCED)));
    for (backend, engine) in engines() {
        let mut hasher = Sha1Checked::with_engine(engine).with_reduced_rounds(true);
        hasher.update(REDUCED);
        assert!(hasher.finalize().is_err(), "{backend}");
    }
}

#[test]
fn a_safe_hash_separates_the_messages_of_a_collision() {
    for [one, two] in COLLISIONS {
        let [one, two] = [one, two].map(|message| {
            let mut hasher = Sha1Checked::new().with_safe_hash(true);
            hasher.update(message);
            hasher.finalize().expect_err("an attack").digest()
        });
        assert_ne!(one, two);
    }
    let mut hasher = Sha1Checked::new().with_safe_hash(true);
    hasher.update(b"abc");
    assert_eq!(hasher.finalize(), Ok(Sha1::digest(b"abc")));
}

#[test]
fn a_hasher_can_be_reset_after_an_attack() {
    let [[attack, _], _] = COLLISIONS;
    let mut hasher = Sha1Checked::new();
    hasher.update(attack);
    assert!(hasher.clone().finalize().is_err());
    hasher.reset();
    hasher.update(b"abc");
    assert_eq!(hasher.finalize(), Ok(Sha1::digest(b"abc")));
}

#[test]
fn many_messages_have_their_digests_and_attacks() {
    let mut messages: Vec<Vec<u8>> = (0..200)
        .map(|n| random_bytes(n * n % 5000, 1 + n as u64))
        .collect();
    let attacks = [0, 5, 17, 18, 101, 199];
    for (n, place) in attacks.into_iter().enumerate() {
        let attack = COLLISIONS[n % 2][n / 2 % 2];
        messages[place] = [attack, &random_bytes(n * 77, 3)].concat();
    }
    for (backend, engine) in engines() {
        for n in [0, 1, 2, 5, 16, 17, 200] {
            let mut digests = vec![Sha1Digest::default(); n];
            let mut found = Vec::new();
            engine.digest_many_checked(&messages[..n], &mut digests, |place| found.push(place));
            found.sort_unstable();
            found.dedup();
            let expected: Vec<usize> = attacks.into_iter().filter(|place| *place < n).collect();
            assert_eq!(found, expected, "{backend}, {n} messages");
            for (message, digest) in messages.iter().zip(&digests) {
                assert_eq!(*digest, Sha1::digest(message), "{backend}, {n} messages");
            }
        }
    }
}

#[test]
#[should_panic(expected = "one digest for each message")]
fn numbers_of_messages_and_digests_must_be_equal() {
    sha1_checked::digest_many(&["a", "b"], &mut [Sha1Digest::default()], |_| {});
}

#[test]
fn random_messages_are_no_attacks() {
    for n in 0..300 {
        let message = random_bytes(n * 3, 1 + n as u64);
        assert_eq!(sha1_checked::digest(&message), Ok(Sha1::digest(&message)));
        assert!(!sha1_checked::contains_attack(&message), "{n}");
    }
}
