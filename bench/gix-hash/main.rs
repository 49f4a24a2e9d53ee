//! Hashes the same messages with the hasher of gix-hash and with that of the patched gix-hash, in
//! turns, and prints a line of JSON for each length of messages: nanoseconds per message of both in
//! each round. `gix_hash.py` builds and runs it.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

const ROUNDS: usize = 41;
const TURN: Duration = Duration::from_millis(20);

/// Lengths of messages in bytes: a small object, a file, and one of 16 MiB.
const LENS: [usize; 3] = [1 << 10, 1 << 16, 1 << 24];

macro_rules! digest {
    ($gix_hash:ident, $message:expr) => {{
        let mut hasher = $gix_hash::hasher($gix_hash::Kind::Sha1);
        hasher.update($message);
        let id = hasher.try_finalize().expect("random bytes are no attack");
        <[u8; 20]>::try_from(id.as_slice()).expect("SHA-1")
    }};
}

fn main() {
    let mut word = 1_u64;
    let bytes: Vec<u8> = (0..LENS[LENS.len() - 1])
        .map(|_| {
            word ^= word << 13;
            word ^= word >> 7;
            word ^= word << 17;
            word.to_le_bytes()[3]
        })
        .collect();
    let hashers: [fn(&[u8]) -> [u8; 20]; 2] = [
        |message| digest!(original, message),
        |message| digest!(patched, message),
    ];
    for len in LENS {
        // At most 256 KiB, which stay in the second-level cache, or one message.
        let messages = &bytes[..len.max((256 << 10) / len * len)];
        for message in messages.chunks(len) {
            assert_eq!(hashers[0](message), hashers[1](message));
        }
        let mut times = [const { Vec::new() }; 2];
        for round in 0..=ROUNDS {
            for (times, digest) in times.iter_mut().zip(hashers) {
                let time = turn(messages, len, digest);
                // The first round fills the caches.
                if round > 0 {
                    times.push(time);
                }
            }
        }
        let [first, second] = times;
        println!(r#"{{"len": {len}, "first": {first:?}, "second": {second:?}}}"#);
    }
}

/// Hashes all messages several times, and returns nanoseconds of CPU time per message.
fn turn(messages: &[u8], len: usize, digest: fn(&[u8]) -> [u8; 20]) -> f64 {
    let (begin, mut n_messages) = (thread_time(), 0);
    loop {
        for message in messages.chunks(len) {
            std::hint::black_box(digest(message));
            n_messages += 1;
        }
        let time = thread_time() - begin;
        if time >= TURN {
            return time.as_nanos() as f64 / f64::from(n_messages);
        }
    }
}

fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(time).expect("a thread's time is not negative")
}
