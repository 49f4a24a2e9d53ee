//! Parts of many messages whose states the caller keeps.

use hashlane_sha::hazmat::{self, Part};
use hashlane_sha::{Algorithm, Engine, KernelName, Sha1, Sha256};

const SECTION: usize = 256;

/// Hashes messages in sections, all of them side by side, and compares the last states with their
/// digests.
fn check<A: Algorithm>(engine: &Engine, n_messages: usize) {
    let lens = [
        0, 1, 55, 56, 64, 119, 120, 255, 256, 257, 320, 511, 512, 900,
    ];
    let messages: Vec<Vec<u8>> = (0..n_messages)
        .map(|i| vec![i as u8; lens[(i * 5 + n_messages) % lens.len()]])
        .collect();
    let mut states = vec![hazmat::initial_state::<A>(); n_messages];
    for from in (0..1024).step_by(SECTION) {
        let in_section = |message: &[u8]| message.len() > from || from == 0;
        let mut parts: Vec<Part<'_>> = messages
            .iter()
            .zip(&states)
            .filter(|(message, _)| in_section(message))
            .map(|(message, state)| Part {
                state: *state,
                prefix_len: from as u64,
                bytes: &message[from..message.len().min(from + SECTION)],
                is_last: message.len() <= from + SECTION,
            })
            .collect();
        hazmat::compress_many::<A>(engine, &mut parts);
        let open = messages.iter().zip(&mut states);
        let open = open.filter(|(message, _)| in_section(message));
        for ((_, state), part) in open.zip(parts) {
            *state = part.state;
        }
    }
    for (message, state) in messages.iter().zip(states) {
        let bytes: Vec<u8> = state.iter().flat_map(|word| word.to_be_bytes()).collect();
        let mut hasher = A::with_engine(*engine);
        hasher.update(message);
        assert_eq!(bytes[..A::DIGEST_LEN], *hasher.finalize().as_ref());
    }
}

#[test]
fn parts_lead_to_the_digests_on_every_kernel() {
    fn check_all<A: Algorithm>() {
        for name in KernelName::available::<A>() {
            let engine = Engine::with_kernel::<A>(name.backend, name.lanes);
            for n_messages in [0, 1, 2, 5, 16, 17, 40] {
                check::<A>(&engine.expect("an available kernel"), n_messages);
            }
        }
    }
    check_all::<Sha1>();
    check_all::<Sha256>();
}

#[test]
fn a_part_without_bytes_changes_nothing() {
    let part = Part {
        state: [3; 8],
        prefix_len: 64,
        bytes: &[],
        is_last: false,
    };
    let mut parts = [part, part];
    hazmat::compress_many::<Sha256>(&Engine::detect(), &mut parts);
    assert_eq!(parts.map(|part| part.state), [[3; 8]; 2]);
}

#[test]
#[should_panic(expected = "whole blocks")]
fn a_part_before_the_last_must_be_whole_blocks() {
    let mut parts = [Part {
        state: hazmat::initial_state::<Sha1>(),
        prefix_len: 0,
        bytes: &[0; 65],
        is_last: false,
    }];
    hazmat::compress_many::<Sha1>(&Engine::detect(), &mut parts);
}

/// FIPS 180-4 limits a message to 2^64 - 1 bits. Longer lengths count modulo 2^64, as in a hasher.
#[test]
fn lengths_of_prefixes_wrap() {
    fn check<A: Algorithm>() {
        let part = |prefix_len| Part {
            state: hazmat::initial_state::<A>(),
            prefix_len,
            bytes: &[7; 130],
            is_last: true,
        };
        let near_the_end = u64::MAX - 63;
        // The lengths differ by 2^64 bits.
        let mut parts = [near_the_end, near_the_end - (1 << 61)].map(part);
        hazmat::compress_many::<A>(&Engine::detect(), &mut parts);
        assert_eq!(parts[0].state, parts[1].state);
        let mut alone = [part(near_the_end)];
        hazmat::compress_many::<A>(&Engine::detect(), &mut alone);
        assert_eq!(alone[0].state, parts[1].state);
    }
    check::<Sha1>();
    check::<Sha256>();
}
