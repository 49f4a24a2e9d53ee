//! Known answers of NIST and of the RFCs, for messages in one part and in two.

use data_encoding::HEXLOWER;
use hashlane_hashes::{Algorithm, Hasher, HmacKey, MAX_DIGEST_LEN, Mac};
use hashlane_sha::{Backend, Engine, TagError};
use zeroize::Zeroize as _;

/// Returns the values of `names` in each case of a file.
fn cases<const N: usize>(file: &str, names: [&str; N]) -> Vec<[Vec<u8>; N]> {
    let path = format!("{}/../sha/tests/vectors/{file}", env!("CARGO_MANIFEST_DIR"));
    let content = std::fs::read_to_string(path).expect("a file of vectors");
    let mut cases = Vec::new();
    let mut current = [const { Vec::new() }; N];
    let mut is_empty = false;
    for line in content.lines() {
        let Some((name, value)) = line.split_once(" = ") else {
            continue;
        };
        let (name, value) = (name.trim(), value.trim());
        if name == "Len" {
            is_empty = value == "0";
        }
        let Some(place) = names.iter().position(|known| *known == name) else {
            continue;
        };
        // NIST writes an empty message as 00.
        let digits = if is_empty && name == "Msg" { "" } else { value };
        current[place] = HEXLOWER
            .decode(digits.as_bytes())
            .expect("hexadecimal digits");
        if place == N - 1 {
            cases.push(current.clone());
        }
    }
    cases
}

#[test]
fn digests() {
    for (algorithm, file, n_cases) in [
        (Algorithm::Md5, "rfc/rfc-1321.txt", 7),
        (Algorithm::Sha1, "nist-cavp/SHA1ShortMsg.rsp", 65),
        (Algorithm::Sha224, "nist-cavp/SHA224ShortMsg.rsp", 65),
        (Algorithm::Sha256, "nist-cavp/SHA256ShortMsg.rsp", 65),
        (Algorithm::Sha384, "nist-cavp/SHA384ShortMsg.rsp", 129),
        (Algorithm::Sha512, "nist-cavp/SHA512ShortMsg.rsp", 129),
    ] {
        let cases = cases(file, ["Msg", "MD"]);
        assert_eq!(cases.len(), n_cases, "{file}");
        let mut used = Hasher::with_engine(Engine::detect(), algorithm);
        assert_eq!(used.algorithm(), algorithm);
        for [message, digest] in cases {
            assert_eq!(digest.len(), algorithm.digest_len());
            assert!(digest.len() <= MAX_DIGEST_LEN);
            let (first, rest) = message.split_at(message.len() / 3);
            used.update(first);
            used.update(rest);
            assert_eq!(used.clone().finalize().as_ref(), digest);
            used.reset();
            used.update(&message);
            assert_eq!(used.clone().finalize().as_ref(), digest);
            used.zeroize();
        }
    }
}

/// Computes the MACs of more messages than a pass has, on each backend: a message of a known MAC between others.
fn assert_many_macs(key: &HmacKey, message: &[u8], expected: &[u8]) {
    for backend in Backend::all() {
        let Ok(engine) = Engine::with(backend) else {
            continue;
        };
        let others: Vec<Vec<u8>> = (0..131).map(|i| vec![i as u8; i % 70]).collect();
        let mut messages: Vec<&[u8]> = others.iter().map(Vec::as_slice).collect();
        for place in [0, 64, 127, 128, 130] {
            messages[place] = message;
        }
        let mut macs = vec![Mac::placeholder(); messages.len()];
        key.mac_many(engine, &messages, &mut macs);
        for (message, mac) in messages.iter().zip(&macs) {
            let mut alone = key.start();
            alone.update(message);
            assert_eq!(mac.as_bytes(), alone.finalize().as_bytes());
        }
        assert_eq!(macs[130].as_bytes(), expected);
    }
}

#[test]
#[should_panic(expected = "one MAC for each message")]
fn each_message_needs_a_mac() {
    let engine = Engine::detect();
    let key = HmacKey::with_engine(engine, Algorithm::Md5, b"key").expect("MD5 has HMACs");
    key.mac_many(engine, &[b"a", b"b"], &mut [Mac::placeholder()]);
}

#[test]
fn macs() {
    for (algorithm, file) in [
        (Algorithm::Md5, "rfc/rfc-2202-md5.txt"),
        (Algorithm::Sha1, "rfc/rfc-2202-sha1.txt"),
        (Algorithm::Sha224, "rfc/rfc-4231-sha224.txt"),
        (Algorithm::Sha256, "rfc/rfc-4231-sha256.txt"),
        (Algorithm::Sha384, "rfc/rfc-4231-sha384.txt"),
        (Algorithm::Sha512, "rfc/rfc-4231-sha512.txt"),
    ] {
        let cases = cases(file, ["Key", "Msg", "MD"]);
        assert!(cases.len() >= 6, "{file}");
        for [key, message, expected] in cases {
            let key = HmacKey::with_engine(Engine::detect(), algorithm, &key);
            let key = key.expect("MD5 and SHA have HMACs");
            assert_eq!(key.algorithm(), algorithm);
            assert_many_macs(&key, &message, &expected);
            let mut hmac = key.start();
            let (first, rest) = message.split_at(message.len() / 3);
            hmac.update(first);
            hmac.update(rest);
            let mac = hmac.clone().finalize();
            assert_eq!(mac.as_bytes(), expected, "{file}");
            hmac.update(b"x");
            let other = hmac.finalize();

            let (len, min) = (expected.len(), 10.max(expected.len() / 2));
            for tag_len in 0..=len + 1 {
                let tag = expected.iter().chain(&[0]).take(tag_len);
                let tag: Vec<u8> = tag.copied().collect();
                assert_eq!(mac.is(&tag), tag_len <= len);
                let outcome = mac.verify(&tag, Some(tag_len));
                if (min..=len).contains(&tag_len) {
                    assert_eq!(outcome, Ok(()));
                    let forged = other.verify(&tag, Some(tag_len));
                    assert_eq!(forged, Err(TagError::Mismatch));
                } else {
                    assert!(matches!(outcome, Err(TagError::Refused { .. })));
                }
                let is_whole = mac.verify(&tag, None) == Ok(());
                assert_eq!(is_whole, tag_len == len);
            }
        }
    }
}
