//! Tests of every kernel by name: known answers, and comparison with an independent implementation.
//!
//! Each test id contains the kernel (`sha1_x8_avx2::known_answers_short`). The kernel runs for any
//! number of messages, even where the engine would choose another one. A kernel that this CPU
//! cannot run is reported as not run. `HASHLANE_TEST_REQUIRE`, a comma-separated list of kernel
//! names, turns that into a failure.
//!
//! The file is long because one macro lists all checks, and then all kernels.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use proptest::prelude::*;

use hashlane_simd::{Portable, Simd};

use crate::algorithm::{Algorithm, state_to_digest};
use crate::backend::Backend;
use crate::digests::Sha1Digest;
use crate::engine::Engine;
use crate::hasher::{Sha1, Sha256};
use crate::kernel_name::KernelName;
use crate::not_run::not_run;
use crate::queue::{Hashed, LaneQueue};
use crate::scheduler::Tail;
use crate::table::Kernel;
use crate::types::{BLOCK_LEN, LaneStates, MAX_GROUPS, MAX_LANES, MAX_MESSAGES, N_SETS, State};

use super::lanes;
use super::rounds::{Padding, Rounds};
use super::sha1::Sha1Compression;
use super::sha256::Sha256Compression;

mod hmac;

/// The reference values for the tests of one algorithm.
trait Reference: Algorithm {
    const SHORT: &'static str;
    const LONG: &'static str;
    const MONTE: &'static str;

    /// Returns the digest computed by the crates `sha1` and `sha2`.
    fn independent(message: &[u8]) -> Vec<u8>;
}

macro_rules! vectors {
    ($file:literal) => {
        include_str!(concat!("../../tests/vectors/nist-cavp/", $file, ".rsp"))
    };
}

impl Reference for Sha1 {
    const SHORT: &'static str = vectors!("SHA1ShortMsg");
    const LONG: &'static str = vectors!("SHA1LongMsg");
    const MONTE: &'static str = vectors!("SHA1Monte");

    fn independent(message: &[u8]) -> Vec<u8> {
        use sha1::Digest as _;
        sha1::Sha1::digest(message).to_vec()
    }
}

impl Reference for Sha256 {
    const SHORT: &'static str = vectors!("SHA256ShortMsg");
    const LONG: &'static str = vectors!("SHA256LongMsg");
    const MONTE: &'static str = vectors!("SHA256Monte");

    fn independent(message: &[u8]) -> Vec<u8> {
        use sha2::Digest as _;
        sha2::Sha256::digest(message).to_vec()
    }
}

fn from_hex(hex: &str) -> Vec<u8> {
    let digit = |c: u8| char::from(c).to_digit(16).expect("a hexadecimal digit") as u8;
    hex.as_bytes()
        .chunks_exact(2)
        .map(|pair| digit(pair[0]) << 4 | digit(pair[1]))
        .collect()
}

/// Returns the `key = value` lines of a response file, in order.
fn fields(file: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    file.lines()
        .filter(|line| !line.starts_with('['))
        .filter_map(|line| line.split_once(" = "))
}

/// Returns the messages and digests of a file of `Len`, `Msg` and `MD` lines. `Len` is in bits.
fn cases(file: &'static str) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut cases = Vec::new();
    let mut case = BTreeMap::new();
    for (key, value) in fields(file) {
        case.insert(key, value);
        if key == "MD" {
            let mut message = from_hex(case["Msg"]);
            message.truncate(case["Len"].parse::<usize>().unwrap() / 8);
            cases.push((message, from_hex(value)));
        }
    }
    assert!(cases.len() >= 64, "the file holds cases");
    cases
}

/// Returns bytes that differ from message to message and have no short period.
fn message(seed: usize, len: usize) -> Vec<u8> {
    let mut x = (seed as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut next = || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        (x >> 56) as u8
    };
    (0..len).map(|_| next()).collect()
}

std::thread_local! {
    /// The kernels that this thread has run.
    static RUNS: RefCell<Vec<KernelName>> = const { RefCell::new(Vec::new()) };
}

/// Records that a kernel was entered.
pub(crate) fn note_run<A: Rounds>(kernel: Kernel) {
    let name = match A::N_WORDS {
        5 => KernelName::new::<Sha1>(kernel),
        _ => KernelName::new::<Sha256>(kernel),
    };
    RUNS.with_borrow_mut(|runs| runs.push(name));
}

/// Returns the kernels that `f` runs, in order and without repetitions.
fn kernels_run(f: impl FnOnce()) -> Vec<KernelName> {
    RUNS.take();
    f();
    let mut runs = RUNS.take();
    runs.dedup();
    runs
}

/// Returns the kernel of that name. If this CPU lacks it, prints a line and returns `None`.
fn kernel<A: Algorithm>(name: &str) -> Option<Kernel> {
    let names = Kernel::available().map(|kernel| (KernelName::new::<A>(kernel), kernel));
    named(name, names)
}

/// The names of unavailable kernels that have been printed.
static REPORTED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Returns the item of that name among the available ones. If there is none, prints a line and
/// returns `None`.
fn named<K>(name: &str, mut available: impl Iterator<Item = (KernelName, K)>) -> Option<K> {
    let kernel = available.find(|(other, _)| other.to_string() == name);
    if kernel.is_none() {
        let required = std::env::var("HASHLANE_TEST_REQUIRE").unwrap_or_default();
        assert!(
            !required.split(',').any(|required| required == name),
            "{name} is required, and this CPU cannot run it"
        );
        // Once for each kernel.
        if REPORTED.lock().unwrap().insert(name.to_owned()) {
            let what = format!("tests of {name}");
            not_run(&what, "this CPU lacks it", "use a CPU that has it");
        }
    }
    kernel.map(|(_, kernel)| kernel)
}

/// Runs `check` with each kernel of an algorithm with lanes in groups. One that this CPU lacks is
/// reported by name.
pub(crate) fn for_each_kernel<K: Copy + Into<KernelName>>(
    all: &[(Backend, usize, usize)],
    available: &(impl Iterator<Item = K> + Clone),
    mut check: impl FnMut(K),
) {
    let any: KernelName = available.clone().last().expect("the portable one").into();
    for (backend, width, most) in all {
        for groups in 1..=*most {
            let name = KernelName {
                lanes: width * groups,
                backend: *backend,
                ..any
            };
            let names = available.clone().map(|kernel| (kernel.into(), kernel));
            if let Some(kernel) = named(&name.to_string(), names) {
                check(kernel);
            }
        }
    }
}

/// Runs [`Engine::digest_many`] with one kernel for all numbers of messages.
fn digest_many<A: Algorithm>(kernel: Kernel, messages: &[&[u8]]) -> Vec<A::Digest> {
    let mut digests = vec![A::Digest::default(); messages.len()];
    engine::<A>(kernel).digest_many::<A>(messages, &mut digests);
    digests
}

/// Returns the engine with one kernel for all numbers of messages.
fn engine<A: Algorithm>(kernel: Kernel) -> Engine {
    Engine::with_only::<A::Entries>(kernel)
}

/// Hashes one message with [`Kernel::compress`], as a hasher does.
fn digest_one<A: Algorithm>(kernel: Kernel, message: &[u8]) -> A::Digest {
    let mut state: State = A::Entries::IV;
    let mut tail = Tail::NONE;
    let (body, rest) = message.as_chunks::<BLOCK_LEN>();
    tail.pad(rest, message.len() as u64);
    kernel.compress::<A::Entries>(&mut state, body);
    kernel.compress::<A::Entries>(&mut state, tail.blocks());
    state_to_digest::<A>(&state)
}

fn check<A: Reference>(kernel: Kernel, messages: &[&[u8]]) {
    let digests = digest_many::<A>(kernel, messages);
    for (i, (message, digest)) in messages.iter().zip(&digests).enumerate() {
        let (n, len) = (messages.len(), message.len());
        assert_eq!(
            digest.as_ref(),
            A::independent(message),
            "message {i} of {n}, {len} bytes"
        );
    }
}

fn known_answers<A: Reference>(kernel: Kernel, file: &'static str) {
    let cases = cases(file);
    let messages: Vec<&[u8]> = cases
        .iter()
        .map(|(message, _)| message.as_slice())
        .collect();
    let digests = digest_many::<A>(kernel, &messages);
    for ((message, expected), digest) in cases.iter().zip(digests) {
        assert_eq!(
            digest.as_ref(),
            expected,
            "{} bytes, among many",
            message.len()
        );
        let alone = digest_one::<A>(kernel, message);
        assert_eq!(alone.as_ref(), expected, "{} bytes, alone", message.len());
    }
}

/// Runs the Monte Carlo test of the SHA Validation System, section 6.4: each digest is of the three
/// before it, and every thousandth is known. All lanes run the same chain.
fn monte_carlo<A: Reference>(kernel: Kernel) {
    let mut fields = fields(A::MONTE);
    let (key, value) = fields.next().expect("a seed");
    assert_eq!(key, "Seed");
    let mut seed = from_hex(value);
    let mut checkpoints = 0;
    for (key, value) in fields {
        if key != "MD" {
            continue;
        }
        let mut last_three = [seed.clone(), seed.clone(), seed];
        for _ in 0..1000 {
            let message = last_three.concat();
            let digests = digest_many::<A>(kernel, &vec![message.as_slice(); kernel.lanes()]);
            assert!(
                digests.iter().all(|digest| *digest == digests[0]),
                "lanes differ"
            );
            last_three.rotate_left(1);
            last_three[2] = digests[0].as_ref().to_vec();
        }
        [_, _, seed] = last_three;
        assert_eq!(seed, from_hex(value), "checkpoint {checkpoints}");
        checkpoints += 1;
    }
    assert_eq!(checkpoints, 100);
}

/// Checks lengths at the borders of one, two and three blocks and of their padding.
fn block_borders<A: Reference>(kernel: Kernel) {
    for len in (0..=2).chain(50..=70).chain(110..=134).chain(180..=200) {
        let messages: Vec<_> = (0..kernel.lanes()).map(|i| message(i, len)).collect();
        check::<A>(
            kernel,
            &messages.iter().map(Vec::as_slice).collect::<Vec<_>>(),
        );
    }
}

/// Checks every number of messages up to two full sets of lanes plus one.
fn message_counts<A: Reference>(kernel: Kernel) {
    for n in 0..=2 * kernel.lanes() + 1 {
        let messages: Vec<_> = (0..n).map(|i| message(i, 300)).collect();
        check::<A>(
            kernel,
            &messages.iter().map(Vec::as_slice).collect::<Vec<_>>(),
        );
    }
}

/// Checks messages that end one after the other, so that lanes are refilled and compacted.
fn unequal_lengths<A: Reference>(kernel: Kernel) {
    let messages: Vec<_> = (0..100)
        .map(|i| message(i, (i * i * 7919) % 3000))
        .collect();
    check::<A>(
        kernel,
        &messages.iter().map(Vec::as_slice).collect::<Vec<_>>(),
    );
}

/// Checks consecutive messages of equal length, with and without a shorter last message.
fn chunks<A: Reference>(kernel: Kernel) {
    let engine = engine::<A>(kernel);
    let bytes = message(0, 256 * (2 * kernel.lanes() + 2));
    for message_len in [1, 55, 63, 64, 65, 128, 256] {
        for n in 0..=2 * kernel.lanes() + 1 {
            for rest in [0, 1, message_len - 1] {
                let bytes = &bytes[..n * message_len + rest];
                let messages: Vec<&[u8]> = bytes.chunks(message_len).collect();
                let mut digests = vec![A::Digest::default(); messages.len()];
                engine.digest_chunks::<A>(bytes, message_len, &mut digests);
                for (i, (message, digest)) in messages.iter().zip(&digests).enumerate() {
                    assert_eq!(
                        digest.as_ref(),
                        A::independent(message),
                        "message {i} of {n} of {message_len} bytes and one of {rest}"
                    );
                }
            }
        }
    }
}

/// Checks that a queue returns each digest once and with its tag, also if several messages end in
/// one step.
fn queue<A: Reference>(kernel: Kernel) {
    let engine = engine::<A>(kernel);
    let n_lanes = kernel.lanes();
    let unequal = |i: usize| message(i, (i * i * 7919) % 3000);
    let equal = |i: usize| message(i, 300);
    for messages in [
        (0..100).map(unequal).collect(),
        (0..100).map(equal).collect::<Vec<_>>(),
    ] {
        let mut queue = LaneQueue::<A, usize, &Vec<u8>>::with_engine(engine);
        for n in [0, 1, n_lanes - 1, n_lanes, n_lanes + 1, 100] {
            let mut digests = vec![None; n];
            let mut done = |hashed: Hashed<A, usize, &Vec<u8>>| {
                let tag = hashed.tag;
                let digest = hashed.digest().expect("whole messages have digests");
                assert_eq!(*hashed.bytes, messages[tag], "message {tag} comes back");
                assert_eq!(digests[tag].replace(digest), None, "message {tag} twice");
            };
            for (tag, message) in messages[..n].iter().enumerate() {
                queue.submit(tag, message, &mut done);
                assert!(queue.len() < n_lanes);
            }
            queue.flush(&mut done);
            assert!(queue.is_empty());
            for (tag, digest) in digests.iter().enumerate() {
                let digest = digest.expect("each message ends");
                assert_eq!(
                    digest.as_ref(),
                    A::independent(&messages[tag]),
                    "message {tag}"
                );
            }
        }
    }
}

/// Checks messages that start at each offset from a cache line.
fn alignments<A: Reference>(kernel: Kernel) {
    let bytes = message(0, 64 + 500);
    let messages: Vec<&[u8]> = (0..64).map(|offset| &bytes[offset..offset + 500]).collect();
    check::<A>(kernel, &messages);
}

/// Checks that hashers that are updated at once with windows of any lengths return the right
/// digests, and are empty afterwards.
fn windows<A: Reference>(kernel: Kernel, window_lens: &[Vec<usize>]) {
    let engine = engine::<A>(kernel);
    let n_messages = window_lens[0].len();
    let messages: Vec<Vec<u8>> = (0..n_messages)
        .map(|i| message(i, window_lens.iter().map(|lens| lens[i]).sum()))
        .collect();
    let mut hashers = vec![A::new(); n_messages];
    let mut rest: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
    for lens in window_lens {
        let windows: Vec<&[u8]> = rest
            .iter_mut()
            .zip(lens)
            .map(|(rest, len)| rest.split_off(..*len).unwrap())
            .collect();
        engine.update_many(hashers.iter_mut().zip(windows.iter().copied()));
    }
    for round in 0..2 {
        let mut digests = vec![A::Digest::default(); n_messages];
        engine.finalize_many(&mut hashers, &mut digests);
        for (message, digest) in messages.iter().zip(&digests) {
            let expected = A::independent(if round == 0 { message } else { b"" });
            assert_eq!(
                digest.as_ref(),
                expected,
                "{} bytes, round {round}",
                message.len()
            );
        }
    }
}

/// Checks that kernels do not change the lanes beyond their own, and that the result of a lane does
/// not depend on the other lanes.
fn lanes_are_independent<A: Reference>(kernel: Kernel) {
    let blocks: Vec<Vec<u8>> = (0..kernel.lanes()).map(|i| message(i, BLOCK_LEN)).collect();
    let mut sets: [[&[[u8; BLOCK_LEN]]; MAX_LANES]; N_SETS] = [[&[]; MAX_LANES]; N_SETS];
    let inputs = sets.as_flattened_mut();
    for (input, block) in inputs.iter_mut().zip(&blocks) {
        *input = block.as_chunks().0;
    }
    let mut states = numbered_states::<N_SETS>();
    kernel.compress_lanes::<A::Entries>(&mut states, &sets, 1);
    for (lane, input) in sets.as_flattened().iter().enumerate() {
        let mut expected = [lane as u32; 8];
        if lane < kernel.lanes() {
            Kernel::Portable(Portable).compress::<A::Entries>(&mut expected, input);
        }
        assert_eq!(
            states[lane / MAX_LANES].lane(lane % MAX_LANES)[..A::Entries::N_WORDS],
            expected[..A::Entries::N_WORDS],
            "lane {lane}"
        );
    }
}

/// Returns sets of lanes whose words are the number of the lane.
fn numbered_states<const N: usize>() -> [LaneStates; N] {
    let mut states = [LaneStates::default(); N];
    for lane in 0..N * MAX_LANES {
        states[lane / MAX_LANES].set_lane(lane % MAX_LANES, &[lane as u32; 8]);
    }
    states
}

/// Checks kernels of several groups with the vectors of `s`, also those that no table has: the code
/// is the same for all vectors.
fn groups_are_independent<A: Reference, S: Simd>(s: S) {
    const GROUPS: usize = MAX_GROUPS;
    let message = message(0, 3 * BLOCK_LEN + GROUPS * MAX_LANES);
    let mut inputs: [[&[[u8; BLOCK_LEN]]; MAX_LANES]; GROUPS] = [[&[]; MAX_LANES]; GROUPS];
    for (lane, input) in inputs.as_flattened_mut().iter_mut().enumerate() {
        *input = message[lane..][..3 * BLOCK_LEN].as_chunks().0;
    }
    let mut states = numbered_states::<GROUPS>();
    lanes::compress_lanes::<A::Entries, S, GROUPS>(s, &mut states, &inputs, 3);
    for group in 0..GROUPS {
        for lane in 0..MAX_LANES {
            let mut expected = [(group * MAX_LANES + lane) as u32; 8];
            if lane < S::LANES {
                let input = inputs[group][lane];
                Kernel::Portable(Portable).compress::<A::Entries>(&mut expected, input);
            }
            let found = states[group].lane(lane);
            assert_eq!(
                found[..A::Entries::N_WORDS],
                expected[..A::Entries::N_WORDS],
                "lane {lane} of group {group}"
            );
        }
    }
    let mut tail = Tail::NONE;
    tail.pad(&[], 3 * BLOCK_LEN as u64);
    let [block] = tail.blocks() else {
        panic!("whole blocks end in one more")
    };
    let padding = Padding::new::<A::Entries>(block);
    let mut n_done = 0;
    let done = |n: usize, state: &State| {
        assert_eq!(n, n_done);
        n_done += 1;
        let first = n / S::LANES * MAX_LANES + n % S::LANES;
        let expected = A::independent(&message[first..][..3 * BLOCK_LEN]);
        assert_eq!(
            state_to_digest::<A>(state).as_ref(),
            expected,
            "message {n}"
        );
    };
    let iv = A::Entries::IV;
    lanes::compress_equal::<A::Entries, S, GROUPS>(s, &iv, &inputs, 3, &padding, done);
    assert_eq!(n_done, GROUPS * S::LANES);
}

#[test]
fn groups_of_all_vectors_are_independent() {
    macro_rules! check {
        ($($token:ident)*) => { $(
            if let Some(token) = hashlane_simd::$token::detect() {
                groups_are_independent::<Sha1, _>(token);
                groups_are_independent::<Sha256, _>(token);
            }
        )* };
    }
    check!(Portable);
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    check!(Sse2 Avx2 Avx512);
    #[cfg(target_arch = "aarch64")]
    check!(Neon);
}

macro_rules! suite {
    ($($name:ident: $algorithm:ident;)*) => { $(
        mod $name {
            use super::*;

            fn with_kernel(test: impl FnOnce(Kernel)) {
                if let Some(kernel) = kernel::<$algorithm>(stringify!($name)) {
                    test(kernel);
                }
            }

            #[test]
            fn known_answers_short() {
                with_kernel(|kernel| known_answers::<$algorithm>(kernel, $algorithm::SHORT));
            }

            #[test]
            fn known_answers_long() {
                with_kernel(|kernel| known_answers::<$algorithm>(kernel, $algorithm::LONG));
            }

            #[test]
            fn known_answers_monte_carlo() {
                with_kernel(monte_carlo::<$algorithm>);
            }

            #[test]
            fn block_borders() {
                with_kernel(super::block_borders::<$algorithm>);
            }

            #[test]
            fn message_counts() {
                with_kernel(super::message_counts::<$algorithm>);
            }

            #[test]
            fn unequal_lengths() {
                with_kernel(super::unequal_lengths::<$algorithm>);
            }

            #[test]
            fn chunks() {
                with_kernel(super::chunks::<$algorithm>);
            }

            #[test]
            fn queue() {
                with_kernel(super::queue::<$algorithm>);
            }

            #[test]
            fn alignments() {
                with_kernel(super::alignments::<$algorithm>);
            }

            #[test]
            fn lanes_are_independent() {
                with_kernel(super::lanes_are_independent::<$algorithm>);
            }

            #[test]
            fn hmac_known_answers() {
                with_kernel(hmac::known_answers::<$algorithm>);
            }

            #[test]
            fn hmac_unequal_lengths() {
                with_kernel(hmac::unequal_lengths::<$algorithm>);
            }

            proptest! {
                #[test]
                fn windows(
                    lens in (0_usize..20).prop_flat_map(|n| {
                        proptest::collection::vec(proptest::collection::vec(0_usize..200, n), 1..5)
                    })
                ) {
                    with_kernel(|kernel| super::windows::<$algorithm>(kernel, &lens));
                }
            }
        }
    )* };
}

suite! {
    sha1_x1_portable: Sha1;
    sha256_x1_portable: Sha256;
}

#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
suite! {
    sha1_x1_sse2: Sha1;
    sha1_x1_ssse3: Sha1;
    sha1_x1_avx: Sha1;
    sha1_x1_avx2: Sha1;
    sha1_x1_avx512vl: Sha1;
    sha1_x4_sse2: Sha1;
    sha1_x4_avx: Sha1;
    sha1_x8_avx2: Sha1;
    sha1_x8_avx512vl: Sha1;
    sha1_x16_avx512: Sha1;
    sha1_x32_avx512: Sha1;
    sha1_x1_sha_ni: Sha1;
    sha1_x2_sha_ni: Sha1;
    sha1_x4_sha_ni: Sha1;
    sha256_x1_sse2: Sha256;
    sha256_x1_ssse3: Sha256;
    sha256_x1_avx: Sha256;
    sha256_x1_avx2: Sha256;
    sha256_x1_avx512vl: Sha256;
    sha256_x4_sse2: Sha256;
    sha256_x4_avx: Sha256;
    sha256_x8_avx2: Sha256;
    sha256_x8_avx512vl: Sha256;
    sha256_x16_avx512: Sha256;
    sha256_x32_avx512: Sha256;
    sha256_x1_sha_ni: Sha256;
    sha256_x2_sha_ni: Sha256;
    sha256_x4_sha_ni: Sha256;
}

#[cfg(target_arch = "aarch64")]
suite! {
    sha1_x4_neon: Sha1;
    sha1_x1_arm_sha: Sha1;
    sha1_x2_arm_sha: Sha1;
    sha1_x4_neon_sha3: Sha1;
    sha256_x4_neon: Sha256;
    sha256_x4_neon_sha3: Sha256;
    sha256_x1_arm_sha: Sha256;
    sha256_x2_arm_sha: Sha256;
}

#[cfg(all(target_family = "wasm", target_feature = "simd128"))]
suite! {
    sha1_x4_simd128: Sha1;
    sha256_x4_simd128: Sha256;
}

/// A misspelt name, or one of another architecture, must not pass unnoticed.
#[test]
fn required_kernels_exist() {
    use crate::md5::Md5Kernel;
    use crate::sha512::Sha512Kernel;

    let available: Vec<String> = KernelName::available::<Sha1>()
        .chain(KernelName::available::<Sha256>())
        .chain(Md5Kernel::available().map(KernelName::from))
        .chain(Sha512Kernel::available().map(KernelName::from))
        .map(|name| name.to_string())
        .collect();
    let required = std::env::var("HASHLANE_TEST_REQUIRE").unwrap_or_default();
    // The kernels of the Base58Check search are in another crate.
    let is_here = |name: &&str| !name.is_empty() && !name.starts_with("sha256d_");
    for name in required.split(',').filter(is_here) {
        assert!(
            available.iter().any(|available| available == name),
            "{name} is required, and not here"
        );
    }
}

/// `is_available` asks the token of the backend, and the table lists the kernels of each token.
#[test]
fn a_backend_is_available_if_and_only_if_it_has_a_kernel() {
    for backend in Backend::all() {
        let has_kernel = Kernel::available().any(|kernel| kernel.backend() == backend);
        assert_eq!(backend.is_available(), has_kernel, "{backend}");
    }
}

#[test]
fn one_message_is_hashed_by_the_kernel_of_the_engine() {
    for kernel in Kernel::available().filter(|kernel| kernel.lanes() == 1) {
        let engine = Engine::with_only::<Sha256Compression>(kernel);
        let run = kernels_run(|| {
            let digest = engine.digest::<Sha256>(b"abc");
            assert_eq!(digest, Sha256::digest(b"abc"));
        });
        assert_eq!(run[0], KernelName::new::<Sha256>(kernel));
    }
}

/// A plan may run a kernel of few lanes while more jobs are running, in all sets of lanes.
#[test]
fn a_narrow_kernel_serves_many_lanes() {
    for kernel in Kernel::available() {
        many_lanes_by(kernel);
    }
}

fn many_lanes_by(kernel: Kernel) {
    let engine = Engine::with_wide_plan(kernel);
    let messages: Vec<_> = (0..100).map(|i| message(i, (i * 37) % 300)).collect();
    let messages: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
    let mut digests = vec![Sha1Digest::default(); messages.len()];
    engine.digest_many::<Sha1>(&messages, &mut digests);
    for (message, digest) in messages.iter().zip(&digests) {
        assert_eq!(digest.as_ref(), <Sha1 as Reference>::independent(message));
    }
}

/// Every backend by name uses its own kernels and `portable`, and a single message runs on a kernel
/// of one lane.
#[test]
fn plans() {
    for backend in Backend::all() {
        let Ok(engine) = Engine::with(backend) else {
            continue;
        };
        for plan in [
            engine.plan::<Sha1Compression>(),
            engine.plan::<Sha256Compression>(),
        ] {
            let backends: Vec<Backend> = plan[1..].iter().map(|kernel| kernel.backend()).collect();
            assert!(backends.contains(&backend), "{backend} is used");
            assert!(
                backends
                    .iter()
                    .all(|used| [backend, Backend::Portable].contains(used))
            );
            assert_eq!(plan.len() - 1, plan[plan.len() - 1].lanes(), "{backend}");
            assert_eq!(plan[1].lanes(), 1, "{backend}: a single message");
        }
    }
}

/// Many messages of SHA-1 are fastest with the SHA instructions on Zen 3 and 4, and with AVX2 on Zen 2
/// and Intel. The choices on Zen, Zen 2, Zen 5, and on CPUs that no row has are estimates.
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
#[test]
fn plans_of_families() {
    use crate::engine::Plan;
    use hashlane_simd::Family;

    let backends = [Backend::Avx2, Backend::ShaNi];
    if let Some(absent) = backends.into_iter().find(|backend| !backend.is_available()) {
        let because = format!("this CPU lacks {absent}");
        return not_run("plans of families", &because, "use a CPU that has it");
    }
    let (avx2, sha_ni) = ((8, Backend::Avx2), (4, Backend::ShaNi));
    for (family, sha1, is_estimate) in [
        (Family::Other, avx2, true),
        (Family::SapphireRapids, avx2, false),
        (Family::Zen, sha_ni, true),
        (Family::Zen2, avx2, true),
        (Family::Zen3, sha_ni, false),
        (Family::Zen4, sha_ni, false),
        (Family::Zen5, sha_ni, true),
    ] {
        let best = |index: usize| {
            let rate = |kernel: Kernel| kernel.rate(family).of[index];
            let kernel = Plan::best(rate, MAX_LANES, |it| backends.contains(&it.backend()));
            (kernel.lanes(), kernel.backend())
        };
        assert_eq!(best(Sha1Compression::INDEX), sha1, "{family:?}");
        assert_eq!(best(Sha256Compression::INDEX), sha_ni, "{family:?}");
        let found = Engine::is_estimate_on(family, |backend| backends.contains(&backend));
        assert_eq!(found, is_estimate, "{family:?}");
    }
    // No Zen 3 has AVX-512.
    if Backend::Avx512.is_available() {
        // Two groups of AVX-512 where they were measured, from as many messages as pay.
        for (family, n_messages, lanes) in [
            (Family::Zen4, MAX_MESSAGES, 16),
            (Family::SapphireRapids, MAX_MESSAGES, 16),
            (Family::Zen5, MAX_LANES, 16),
            (Family::Zen5, MAX_MESSAGES, 32),
        ] {
            for index in [Sha1Compression::INDEX, Sha256Compression::INDEX] {
                let rate = |kernel: Kernel| kernel.rate(family).of[index];
                let wanted = |kernel: Kernel| kernel.backend() == Backend::Avx512;
                let kernel = Plan::best(rate, n_messages, wanted);
                assert_eq!(kernel.lanes(), lanes, "{family:?}: {n_messages} messages");
            }
        }
        assert!(Engine::is_estimate_on(Family::Zen3, |_| true));
        assert!(!Engine::is_estimate_on(Family::Zen4, |_| true));
    }
}

/// The kernel that runs, as recorded by [`note_run`], is the chosen kernel.
#[test]
fn the_chosen_kernel_runs() {
    let engine = Engine::detect();
    let messages = [[7_u8; 500]; MAX_MESSAGES];
    for n in 1..=MAX_MESSAGES {
        let messages: Vec<&[u8]> = messages[..n].iter().map(<[u8; 500]>::as_slice).collect();
        let mut digests = vec![Sha1Digest::default(); n];
        let run = kernels_run(|| engine.digest_many::<Sha1>(&messages, &mut digests));
        assert_eq!(run[0], engine.kernel::<Sha1>(n), "{n} messages");
    }
    let run = kernels_run(|| {
        crate::digest::<Sha256>(&[7; 1000]);
    });
    assert_eq!(run, [engine.kernel::<Sha256>(1)]);
}

#[test]
fn empty_updates_run_no_kernel() {
    // The key of an HMAC fills a block.
    let mut hmac = crate::HmacKey::<Sha256>::new(b"key").start();
    let run = kernels_run(|| {
        let mut hasher = Sha256::new();
        hasher.update(&[]).update(&[7; 63]).update(&[]);
        hmac.update(&[]);
        crate::hazmat::compress::<Sha256>(&Engine::detect(), &mut [0; 8], &[]);
        Engine::detect().update_many([(&mut hasher, &[][..])]);
    });
    assert_eq!(run, []);
}

/// The family of the CPU decides in how many groups lanes run.
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
#[test]
fn families_have_their_groups() {
    use hashlane_simd::Family;

    use crate::md5::Md5Kernel;
    use crate::sha512::Sha512Kernel;
    use crate::table::groups;

    let groups_of = |kernel: Option<usize>, width: usize| kernel.map(|lanes| lanes / width);
    for (family, avx2, md5, sha512) in [
        (Family::Other, 2, 1, 1),
        (Family::SapphireRapids, 2, 1, 1),
        (Family::Zen, 1, 1, 1),
        (Family::Zen2, 2, 1, 1),
        (Family::Zen3, 2, 1, 1),
        (Family::Zen4, 2, 1, 1),
        (Family::Zen5, 2, 3, 2),
    ] {
        assert_eq!(groups::of_md5(family, Backend::Avx2), avx2, "{family:?}");
        assert_eq!(groups::of_md5(family, Backend::Avx512), md5, "{family:?}");
        assert_eq!(
            groups::of_sha512(family, Backend::Avx512),
            sha512,
            "{family:?}"
        );
        for backend in [Backend::Sse2, Backend::Avx2, Backend::Avx512] {
            let best = |lanes: usize| backend.is_available().then_some(lanes);
            let kernel = Md5Kernel::best(family, |allowed| allowed == backend);
            let width = match backend {
                Backend::Sse2 => 4,
                Backend::Avx2 => 8,
                _ => 16,
            };
            let found = groups_of(best(kernel.lanes()), width);
            let wanted = best(groups::of_md5(family, backend));
            assert_eq!(found, wanted, "{family:?}: {backend}");
        }
        let kernel = Sha512Kernel::best(family, |allowed| allowed == Backend::Avx2);
        if Backend::Avx2.is_available() {
            assert_eq!(kernel.lanes(), 4, "{family:?}");
        }
    }
}
