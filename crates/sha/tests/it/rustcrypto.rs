//! `Sha1` and `Sha256` in other crates' code that is generic over the traits of `digest`.

use std::io::{self, Read, Write};

use digest::block_api::{AlgorithmName, CoreProxy, EagerHash, FixedOutputCore, UpdateCore};
use digest::common::hazmat::SerializableState;
use digest::{Digest, DynDigest, FixedOutputReset, KeyInit, Mac, Output};
use digest_io::{HashReader, HashWriter, IoWrapper};
use hashlane_sha::{Algorithm, Backend, Engine, Sha1, Sha1Digest, Sha256, Sha256Digest};
use hmac::{Hmac, HmacReset, SimpleHmac, SimpleHmacReset};
use proptest::prelude::*;

fn from_hex(hex: &str) -> Vec<u8> {
    let digit = |c: u8| char::from(c).to_digit(16).expect("a hexadecimal digit") as u8;
    hex.as_bytes()
        .chunks_exact(2)
        .map(|pair| digit(pair[0]) << 4 | digit(pair[1]))
        .collect()
}

/// Returns the values of each test case. The line named `last` ends a case.
fn cases<const N: usize>(file: &'static str, names: [&str; N]) -> Vec<[&'static str; N]> {
    let mut cases = Vec::new();
    let mut case = [""; N];
    for (name, value) in file.lines().filter_map(|line| line.split_once(" = ")) {
        if let Some(i) = names.iter().position(|wanted| *wanted == name) {
            case[i] = value;
            if i == N - 1 {
                cases.push(case);
            }
        }
    }
    assert!(cases.len() >= 6, "the file holds cases");
    cases
}

fn mac<M: Mac + KeyInit>(key: &[u8], message: &[u8]) -> Vec<u8> {
    let mut mac = M::new_from_slice(key).expect("a key of any length");
    let (a, b) = message.split_at(message.len() / 2);
    mac.update(a);
    mac.update(b);
    mac.finalize().into_bytes().to_vec()
}

fn hmac_of_rfc<D>(file: &'static str)
where
    D: EagerHash + FixedOutputReset + 'static,
{
    for [key, message, expected] in cases(file, ["Key", "Msg", "MD"]) {
        let (key, message, expected) = (from_hex(key), from_hex(message), from_hex(expected));
        assert_eq!(mac::<Hmac<D>>(&key, &message), expected);
        assert_eq!(mac::<HmacReset<D>>(&key, &message), expected);
        assert_eq!(mac::<SimpleHmac<D>>(&key, &message), expected);
        assert_eq!(mac::<SimpleHmacReset<D>>(&key, &message), expected);
        let mut reset = HmacReset::<D>::new_from_slice(&key).expect("a key of any length");
        for _ in 0..2 {
            Mac::update(&mut reset, &message);
            assert!(reset.verify_slice_reset(&expected).is_ok());
        }
    }
}

#[test]
fn hmac_sha1() {
    hmac_of_rfc::<Sha1>(include_str!("../vectors/rfc/rfc-2202-sha1.txt"));
}

#[test]
fn hmac_sha256() {
    hmac_of_rfc::<Sha256>(include_str!("../vectors/rfc/rfc-4231-sha256.txt"));
}

#[test]
fn pbkdf2_hmac_sha1() {
    let file = include_str!("../vectors/rfc/rfc-6070-PBKDF2-SHA1.txt");
    let names = ["PASSWORD", "SALT", "ITERATIONS", "DERIVED_KEY"];
    let mut run = 0;
    for [password, salt, iterations, expected] in cases(file, names) {
        let iterations = iterations.parse().unwrap();
        // The fourth case has sixteen million iterations, which take minutes without optimisation.
        if iterations > 1_000_000 {
            continue;
        }
        let [password, salt] = [password, salt].map(|text| text.replace("\\0", "\0"));
        let expected = from_hex(expected);
        let mut key = vec![0; expected.len()];
        pbkdf2::pbkdf2_hmac::<Sha1>(password.as_bytes(), salt.as_bytes(), iterations, &mut key);
        assert_eq!(key, expected);
        run += 1;
    }
    assert_eq!(run, 5);
}

/// No RFC has test cases for SHA-256, so the test compares with another implementation.
#[test]
fn pbkdf2_hmac_sha256() {
    let (mut ours, mut theirs) = ([0; 100], [0; 100]);
    pbkdf2::pbkdf2_hmac::<Sha256>(b"password", b"salt", 100, &mut ours);
    pbkdf2::pbkdf2_hmac::<sha2::Sha256>(b"password", b"salt", 100, &mut theirs);
    assert_eq!(ours, theirs);
}

/// Hashes a message with every method of [`Digest`].
fn all_of_digest<D: Digest + FixedOutputReset>(parts: [&[u8]; 3]) -> Vec<Output<D>> {
    let whole = parts.concat();
    let mut hasher = D::new_with_prefix(b"forgotten");
    Digest::reset(&mut hasher);
    for part in parts {
        Digest::update(&mut hasher, part);
    }
    let mut into = Output::<D>::default();
    Digest::finalize_into(D::new_with_prefix(&whole), &mut into);
    let mut digests = vec![
        into.clone(),
        hasher.finalize_reset(),
        hasher.finalize(),
        D::new().chain_update(&whole).finalize(),
        D::digest(&whole),
    ];
    let mut hasher = D::new();
    for part in parts {
        Digest::update(&mut hasher, part);
        Digest::finalize_into_reset(&mut hasher, &mut into);
        digests.push(into.clone());
    }
    digests
}

#[test]
fn trait_objects() {
    let mut hashers: [Box<dyn DynDigest>; 2] = [Box::new(Sha1::new()), Box::new(Sha256::new())];
    for hasher in &mut hashers {
        hasher.update(b"ab");
        let mut other = hasher.box_clone();
        other.update(b"c");
        hasher.update(b"c");
        assert_eq!(hasher.output_size(), other.output_size());
        assert_eq!(hasher.finalize_reset(), other.finalize());
        hasher.update(b"abc");
    }
    let [sha1, sha256] = hashers.map(DynDigest::finalize);
    assert_eq!(*sha1, *hashlane_sha::digest::<Sha1>(b"abc").as_ref());
    assert_eq!(*sha256, *hashlane_sha::digest::<Sha256>(b"abc").as_ref());
}

#[test]
fn readers_and_writers() {
    let expected = hashlane_sha::digest::<Sha1>(&[7; 1000]);
    let mut hasher = IoWrapper(Sha1::new());
    io::copy(&mut io::repeat(7).take(1000), &mut hasher).unwrap();
    assert_eq!(hasher.0.finalize(), expected);

    let mut reader = HashReader::<Sha1, _>::new(io::repeat(7).take(1000));
    let mut writer = HashWriter::<Sha1, _>::new(io::sink());
    io::copy(&mut reader, &mut writer).unwrap();
    writer.flush().unwrap();
    assert_eq!(writer.into_hasher().finalize(), expected);
    assert_eq!(reader.into_hasher().finalize(), expected);
}

/// The hasher's own methods take precedence whether or not the traits are in scope, and their
/// results convert.
#[test]
fn own_methods_come_first() {
    let mut hasher = Sha256::new();
    hasher.update(b"abc");
    let own: Sha256Digest = hasher.clone().finalize();
    let of_trait: Output<Sha256> = Digest::finalize(hasher);
    assert_eq!(own, of_trait.into());
    assert_eq!(Output::<Sha256>::from(own), of_trait);
    let own: Sha1Digest = Sha1::default().finalize();
    assert_eq!(Output::<Sha1>::from(own), <Sha1 as Digest>::digest(b""));
}

#[test]
fn names() {
    struct Name<D>(std::marker::PhantomData<D>);
    impl<D: AlgorithmName> std::fmt::Display for Name<D> {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            D::write_alg_name(f)
        }
    }
    fn name<D: AlgorithmName>() -> String {
        Name::<D>(std::marker::PhantomData).to_string()
    }
    assert_eq!(name::<Sha1>(), "Sha1");
    assert_eq!(name::<Sha256>(), "Sha256");
    assert_eq!(name::<Hmac<Sha256>>(), "Hmac<Sha256>");
    let core = <Sha1 as CoreProxy>::Core::default();
    assert_eq!(
        format!("{core:?}"),
        "Core { algorithm: \"sha1\", len_bytes: 0, .. }"
    );
}

#[cfg(feature = "oid")]
#[test]
fn object_identifiers() {
    use digest::const_oid::AssociatedOid;
    assert_eq!(Sha1::OID, sha1::Sha1::OID);
    assert_eq!(Sha256::OID, sha2::Sha256::OID);
}

/// The marker trait alone would not wipe anything.
#[cfg(feature = "zeroize")]
#[test]
fn secrets_are_wiped() {
    fn wiped<T: zeroize::ZeroizeOnDrop>() {
        assert!(std::mem::needs_drop::<T>());
    }
    wiped::<Sha1>();
    wiped::<Sha256>();
    // The type that `hmac` stores.
    wiped::<<Sha1 as CoreProxy>::Core>();
    wiped::<<Sha256 as CoreProxy>::Core>();
}

/// Splits a hasher's state at every byte and restores it.
fn take_apart<A: Algorithm + CoreProxy>() {
    let message: Vec<u8> = (0..=255).collect();
    let expected = hashlane_sha::digest::<A>(&message);
    for engine in Backend::all().flat_map(Engine::with) {
        for at in 0..message.len() {
            let mut hasher = A::with_engine(engine);
            hasher.update(&message[..at]);
            let (core, buffer) = hasher.decompose();
            let mut hasher = A::compose(core, buffer);
            hasher.update(&message[at..]);
            assert_eq!(hasher.finalize(), expected, "at byte {at}");
        }
    }
}

#[test]
fn hashers_come_apart() {
    take_apart::<Sha1>();
    take_apart::<Sha256>();
}

proptest! {
    #[test]
    fn any_message(parts in proptest::collection::vec(
        proptest::collection::vec(any::<u8>(), 0..200), 3)
    ) {
        let parts = [&*parts[0], &*parts[1], &*parts[2]];
        prop_assert_eq!(all_of_digest::<Sha1>(parts), all_of_digest::<sha1::Sha1>(parts));
        prop_assert_eq!(all_of_digest::<Sha256>(parts), all_of_digest::<sha2::Sha256>(parts));
    }
}

#[test]
fn states_are_serialized_at_any_byte() {
    fn check<A: Algorithm + SerializableState>() {
        let message: Vec<u8> = (0..200).collect();
        for n in 0..message.len() {
            let mut hasher = A::new();
            hasher.update(&message[..n]);
            let serialized = hasher.serialize();
            let mut resumed = A::deserialize(&serialized).expect("it was just serialized");
            assert_eq!(resumed.serialize(), serialized);
            resumed.update(&message[n..]);
            assert_eq!(
                resumed.finalize(),
                hashlane_sha::digest::<A>(&message),
                "{n} bytes"
            );
        }
        let mut damaged = A::new().serialize();
        *damaged.last_mut().expect("a state has bytes") = 1;
        assert!(A::deserialize(&damaged).is_err());
    }
    check::<Sha1>();
    check::<Sha256>();
}

/// A state from outside can contain any length. Lengths count modulo 2^64.
#[test]
fn a_state_of_any_length_can_be_continued() {
    // A macro, because the compiler cannot name the buffer of a generic core.
    macro_rules! check {
        ($hasher:ty) => {
            for len_bytes in [u64::MAX - 63, u64::MAX - 127] {
                let mut serialized = <$hasher>::new().serialize();
                let length_at = serialized.len() - 64 - 8;
                serialized[length_at..][..8].copy_from_slice(&len_bytes.to_be_bytes());
                let hasher = <$hasher>::deserialize(&serialized).expect("a state of this length");
                let mut continued = hasher.clone();
                continued.update(&[7; 192]);
                let (mut core, mut buffer) = hasher.decompose();
                core.update_blocks(&[[7; 64].into(); 3]);
                let mut digest = Output::<$hasher>::default();
                core.finalize_fixed_core(&mut buffer, &mut digest);
                assert_eq!(continued.finalize().as_ref(), &*digest, "{len_bytes}");
            }
        };
    }
    check!(Sha1);
    check!(Sha256);
}

/// Callers need no dependency on the version of `digest` that the hashers implement.
#[test]
fn the_crate_of_the_traits_is_exported() {
    use hashlane_sha::digest::Digest as Exported;
    let digest = <Sha1 as Exported>::digest(b"abc");
    assert_eq!(digest[..], Sha1::digest(b"abc").as_ref()[..]);
}
