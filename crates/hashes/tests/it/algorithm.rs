//! Names of algorithms, and what all of them have in common.

use hashlane_hashes::{Algorithm, Digest, Hasher, HmacKey, UnknownAlgorithm};
use hashlane_sha::Engine;

fn digest(algorithm: Algorithm, message: &[u8]) -> Digest {
    let mut hasher = Hasher::with_engine(Engine::detect(), algorithm);
    hasher.update(message);
    hasher.finalize()
}

#[test]
fn each_name_and_tag_is_that_of_its_algorithm() {
    for algorithm in Algorithm::ALL.iter().copied() {
        assert_eq!(algorithm.name().parse(), Ok(algorithm));
        assert_eq!(algorithm.to_string().parse(), Ok(algorithm));
        assert_eq!(
            algorithm.name().to_uppercase(),
            algorithm.tag().to_uppercase()
        );
    }
    assert_eq!("SHA-256".parse(), Ok(Algorithm::Sha256));
    for text in ["", "sha", "sha--256", "sha3-256", "blake2b-7", "crc64nvme"] {
        assert_eq!(text.parse::<Algorithm>(), Err(UnknownAlgorithm), "{text}");
    }
}

#[test]
fn text_has_the_width_of_the_format() {
    let sha1 = Algorithm::Sha1;
    assert_eq!(format!("{sha1:>6}|{sha1:<6}|"), "  SHA1|SHA1  |");
    let digest = Digest::new([0xab, 0xcd]);
    assert_eq!(format!("{digest:-^8}"), "--abcd--");
}

#[test]
fn hexadecimal_digits_of_a_digest() {
    assert_eq!(Digest::from_hex(b"aBcD"), Some(Digest::new([0xab, 0xcd])));
    assert!(Digest::from_hex(&[b'0'; 128]).is_some());
    for improper in [&b"abc"[..], b"xy", &[b'0'; 130]] {
        assert_eq!(Digest::from_hex(improper), None);
    }
}

#[test]
fn a_hasher_that_is_reset_has_an_empty_message() {
    for algorithm in Algorithm::ALL.iter().copied() {
        let mut hasher = Hasher::with_engine(Engine::detect(), algorithm);
        assert_eq!(hasher.algorithm(), algorithm);
        for message in [&[7; 300][..], b"abc"] {
            hasher.update(&message[..1]);
            hasher.update(&message[1..]);
            let found = hasher.clone().finalize();
            assert_eq!(found, digest(algorithm, message), "{algorithm}");
            assert_eq!(found.as_bytes().len(), algorithm.digest_len());
            hasher.reset();
        }
        let has_key = HmacKey::with_engine(Engine::detect(), algorithm, b"key").is_some();
        assert_eq!(has_key, algorithm.has_hmac(), "{algorithm}");
    }
}

/// Known answers: RFC 7693, the test vectors of BLAKE3, and the check values of the catalogue of parametrised CRC algorithms.
#[test]
#[cfg(all(feature = "blake", feature = "crc32", feature = "crc64"))]
fn algorithms_of_the_features() {
    use hashlane_hashes::Blake2bLen;

    for (algorithm, message, start) in [
        (Algorithm::Crc32, "123456789", "cbf43926"),
        (Algorithm::Crc64Nvme, "123456789", "ae8b14860a799888"),
        (
            Algorithm::Blake2b(Blake2bLen::MAX),
            "abc",
            "ba80a53f981c4d0d",
        ),
        (Algorithm::Blake3, "", "af1349b9f5f9a1a6"),
    ] {
        let digest = digest(algorithm, message.as_bytes()).to_string();
        assert!(digest.starts_with(start), "{algorithm}: {digest}");
    }
    let short = Blake2bLen::from_bits(256).map(Algorithm::Blake2b);
    assert_eq!("BLAKE2b-256".parse().ok(), short);
    assert_eq!(
        short.map(|short| short.to_string()).as_deref(),
        Some("BLAKE2b-256")
    );
    assert_eq!(Blake2bLen::from_bits(520), None);
}
