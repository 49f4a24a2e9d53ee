//! The public API on every backend, by name.

use std::panic::{AssertUnwindSafe, catch_unwind};

use hashlane_sha::{
    Algorithm, Backend, Engine, KernelName, KernelUnavailable, Sha1, Sha1Digest, Sha256,
    Sha256Digest, digest, digest_many,
};
use proptest::prelude::*;

use crate::engines::engines;

fn independent<A: Algorithm>(message: &[u8]) -> Vec<u8> {
    match A::NAME {
        "sha1" => <sha1::Sha1 as sha1::Digest>::digest(message).to_vec(),
        "sha256" => <sha2::Sha256 as sha2::Digest>::digest(message).to_vec(),
        name => panic!("{name} has no reference"),
    }
}

fn split_in_two<A: Algorithm>() {
    let message: Vec<u8> = (0..=255).chain(7..100).collect();
    let expected = independent::<A>(&message);
    assert_eq!(digest::<A>(&message).as_ref(), expected);
    for (backend, engine) in engines() {
        for at in 0..=message.len() {
            let mut hasher = A::with_engine(engine);
            hasher.update(&message[..at]);
            hasher.update(&message[at..]);
            assert_eq!(
                hasher.finalize().as_ref(),
                expected,
                "{backend}, split at byte {at}"
            );
        }
    }
}

#[test]
fn sha1_split_in_two() {
    split_in_two::<Sha1>();
}

#[test]
fn sha256_split_in_two() {
    split_in_two::<Sha256>();
}

#[test]
fn reset_forgets() {
    let mut hasher = Sha1::new();
    hasher.update(&[7; 100]);
    hasher.reset();
    hasher.update(b"abc");
    assert_eq!(hasher.finalize(), digest::<Sha1>(b"abc"));
}

/// Hashes 2^32 + 101 zeros: neither the length in bytes nor the length in bits fits in 32 bits. The
/// digests are from the programs `sha1sum` and `sha256sum`.
fn more_than_4_gib<A: Algorithm>(expected: &str) {
    let zeros = vec![0; 1 << 20];
    let mut hasher = A::new();
    let mut rest = (1_u64 << 32) + 101;
    while rest > 0 {
        let n = rest.min(zeros.len() as u64);
        hasher.update(&zeros[..n as usize]);
        rest -= n;
    }
    assert_eq!(hasher.finalize().to_string(), expected);
}

#[test]
fn sha1_of_more_than_4_gib() {
    more_than_4_gib::<Sha1>("022bed4788b88bcda857e4da6e9c61829b2731a5");
}

#[test]
fn sha256_of_more_than_4_gib() {
    more_than_4_gib::<Sha256>("0852b9330f01a089b76b8207bd227babe881d898cd29a44b0fd2cbb6ccdb0672");
}

#[test]
fn digests_show_as_lower_case_hexadecimal() {
    let digest = digest::<Sha1>(b"abc");
    assert_eq!(
        digest.to_string(),
        "a9993e364706816aba3e25717850c26c9cd0d89d"
    );
    assert_eq!(
        format!("{digest:?}"),
        "Sha1Digest(a9993e364706816aba3e25717850c26c9cd0d89d)"
    );
}

#[test]
fn a_hasher_does_not_show_its_message() {
    let mut hasher = Sha256::new();
    hasher.update(b"secret");
    assert_eq!(
        format!("{hasher:?}"),
        "Sha256(Context { len_bytes: 6, .. })"
    );
}

#[test]
fn slices_of_unequal_lengths_panic() {
    let engine = Engine::detect();
    let panics = |call: &mut dyn FnMut()| catch_unwind(AssertUnwindSafe(call)).is_err();
    let digests = || [Sha1Digest::default(); 1];
    assert!(panics(&mut || digest_many::<Sha1>(
        &[b"a", b"b"],
        &mut digests()
    )));
    for (n_messages, n_digests) in [(0, 1), (15, 16), (16, 17), (17, 16), (32, 31), (32, 33)] {
        let messages = vec![[7; 200]; n_messages];
        let mut digests = vec![Sha1Digest::default(); n_digests];
        assert!(panics(&mut || digest_many::<Sha1>(&messages, &mut digests)));
    }
    assert!(panics(&mut || engine.digest_chunks::<Sha1>(
        &[0; 65],
        64,
        &mut digests()
    )));
    assert!(panics(
        &mut || engine.finalize_many(&mut [Sha1::new(), Sha1::new()], &mut digests())
    ));
    assert!(!panics(&mut || engine.digest_chunks::<Sha1>(
        &[0; 64],
        64,
        &mut digests()
    )));
}

#[test]
fn updates_take_any_pairs() {
    for (backend, engine) in engines() {
        let parts: Vec<Vec<u8>> = (0..50).map(|i| vec![7; 10 * i]).collect();
        let mut hashers: Vec<Sha256> = vec![Sha256::with_engine(engine); 50];
        for _ in 0..2 {
            // Neither the hashers nor the inputs are in one slice, and some inputs are empty.
            let odd = hashers
                .iter_mut()
                .zip(&parts)
                .filter(|(_, part)| part.len() % 20 == 10);
            engine.update_many(odd.map(|(hasher, part)| (hasher, &part[..])));
        }
        for (hasher, part) in hashers.into_iter().zip(&parts) {
            let n = if part.len() % 20 == 10 { 2 } else { 0 };
            assert_eq!(
                hasher.finalize(),
                Sha256::digest(&part.repeat(n)),
                "{backend}"
            );
        }
    }
}

#[cfg(feature = "std")]
#[test]
fn hashers_are_writers() {
    let mut hasher = Sha1::new();
    let message = vec![7; 100_000];
    std::io::copy(&mut &message[..], &mut hasher).expect("hashing never fails");
    assert_eq!(hasher.finalize(), Sha1::digest(&message));
}

#[test]
fn an_engine_has_only_the_backends_that_are_allowed() {
    let engine = Engine::among(|_| false);
    assert_eq!(engine.kernel::<Sha1>(16).backend, Backend::Portable);
    for (backend, engine) in engines() {
        let among = Engine::among(|allowed| allowed == backend);
        for n in 1..=16 {
            assert_eq!(among.kernel::<Sha1>(n), engine.kernel::<Sha1>(n));
        }
    }
}

#[test]
fn backends_have_names() {
    for backend in Backend::all() {
        assert_eq!(backend.name().parse(), Ok(backend));
    }
    let error = "mmx".parse::<Backend>().unwrap_err();
    let (usable, others): (Vec<Backend>, Vec<Backend>) =
        Backend::all().partition(|backend| backend.is_available());
    assert_eq!(usable[0], Backend::Portable);
    let names: Vec<&str> = usable.iter().map(|backend| backend.name()).collect();
    let names = names.join(", ");
    assert_eq!(
        error.to_string(),
        format!("unknown backend; available here: {names}")
    );
    for backend in others {
        let error = Engine::with(backend).unwrap_err().to_string();
        let expected =
            format!("this CPU cannot run the backend {backend}; available here: {names}");
        assert_eq!(error, expected);
    }
}

#[test]
fn kernels_that_no_engine_has_are_refused() {
    assert!(Engine::with_kernel::<Sha1>(Backend::Portable, 1).is_ok());
    assert!(Engine::with_kernel::<Sha256>(Backend::Portable, 1).is_ok());
    let error = Engine::with_kernel::<Sha1>(Backend::Portable, 3).unwrap_err();
    let name = KernelName {
        algorithm: "sha1",
        lanes: 3,
        backend: Backend::Portable,
    };
    assert_eq!(error, KernelUnavailable(name));
    let message = "sha1_x3_portable: no such kernel on this CPU";
    assert_eq!(error.to_string(), message);
}

proptest! {
    #[test]
    fn any_messages_on_any_backend(
        messages in proptest::collection::vec(
            proptest::collection::vec(any::<u8>(), 0..400), 0..40)
    ) {
        let messages: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
        for (backend, engine) in engines() {
            let mut digests = vec![Sha256Digest::default(); messages.len()];
            engine.digest_many::<Sha256>(&messages, &mut digests);
            for (message, digest) in messages.iter().zip(digests) {
                prop_assert_eq!(digest.as_ref(), independent::<Sha256>(message), "{}", backend);
            }
        }
    }
}

/// A wiped hasher starts again, and wiping needs no feature.
#[test]
fn wiped_hashers_are_empty() {
    use zeroize::Zeroize as _;
    let mut hasher = Sha256::new();
    hasher.update(&[7; 100]);
    hasher.zeroize();
    hasher.update(b"abc");
    assert_eq!(hasher.finalize(), Sha256::digest(b"abc"));
}
