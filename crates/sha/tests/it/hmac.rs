//! HMAC through the public API: properties that the tests by kernel do not cover.

use hashlane_sha::{Algorithm, Backend, Engine, Hmac, HmacKey, Mac, Sha1, Sha256, TagError, hmac};

#[test]
fn a_truncated_tag_of_rfc_4231() {
    // RFC 4231, section 4.6.
    let mut hmac = Hmac::<Sha256>::new(&[0x0c; 20]);
    hmac.update(b"Test With Truncation");
    let mut tag = 0xa3b6_1674_7310_0ee0_6e0c_796c_2955_552b_u128.to_be_bytes();
    assert_eq!(hmac.clone().verify_truncated(&tag, 16), Ok(()));
    for i in 0..tag.len() {
        tag[i] ^= 0x10;
        let verified = hmac.clone().verify_truncated(&tag, 16);
        assert_eq!(verified, Err(TagError::Mismatch), "byte {i} is wrong");
        tag[i] ^= 0x10;
    }
    // A receiver that expects the whole tag rejects a truncated one.
    let (expected, found) = (32, 16);
    assert_eq!(hmac.verify(&tag), Err(TagError::Length { expected, found }));
}

#[test]
fn short_tags_are_refused() {
    fn allowed<A: Algorithm>(mac: Mac<A>) -> Vec<usize> {
        let bytes = mac.as_bytes();
        let lens = (0..=bytes.len() + 1).filter(|&len| {
            let tag = &bytes[..len.min(bytes.len())];
            mac.verify_truncated(tag, len).is_ok()
        });
        lens.collect()
    }
    let lens = allowed(hmac::<Sha1>(b"key", b"message"));
    assert_eq!(lens, (10..=20).collect::<Vec<_>>());
    let lens = allowed(hmac::<Sha256>(b"key", b"message"));
    assert_eq!(lens, (16..=32).collect::<Vec<_>>());
}

#[test]
fn errors_report_lengths_in_bytes() {
    let mac = hmac::<Sha1>(b"key", b"message");
    let refused = mac.verify_truncated(&[], 4).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "a tag length of 4 bytes is refused: use 10 to 20"
    );
    let length = mac.verify(&[0; 21]).unwrap_err();
    assert_eq!(length.to_string(), "expected a tag of 20 bytes, found 21");
    assert_eq!(
        TagError::Mismatch.to_string(),
        "the tag does not match the message"
    );
}

#[test]
fn keys_are_not_shown() {
    let key = HmacKey::<Sha256>::new(b"secret");
    assert_eq!(format!("{key:?}"), "HmacKey { algorithm: \"sha256\", .. }");
    let mut hmac = key.start();
    hmac.update(b"secret");
    assert_eq!(
        format!("{hmac:?}"),
        "Hmac { algorithm: \"sha256\", len_bytes: 6, .. }"
    );
}

#[test]
#[should_panic(expected = "one MAC for each message")]
fn slices_of_unequal_lengths_panic() {
    let key = HmacKey::<Sha1>::new(b"key");
    Engine::detect().hmac_many(&key, &[b"a", b"b"], &mut [Mac::placeholder(); 1]);
}

#[test]
fn macs_are_equal_if_all_bytes_are() {
    let mac = hmac::<Sha1>(b"key", b"message");
    assert_eq!(mac, hmac::<Sha1>(b"key", b"message"));
    assert_ne!(mac, hmac::<Sha1>(b"key", b"another message"));
    assert_eq!(format!("{mac:?}"), "Mac { algorithm: \"sha1\", .. }");
}

/// More messages than one pass of the second hash takes.
#[test]
fn many_macs() {
    let key = HmacKey::<Sha1>::new(b"key");
    let messages: Vec<Vec<u8>> = (0..300).map(|i| vec![7; i]).collect();
    let messages: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
    let mut macs = vec![Mac::placeholder(); messages.len()];
    Engine::detect().hmac_many(&key, &messages, &mut macs);
    for (message, mac) in messages.iter().zip(macs) {
        assert_eq!(
            mac,
            hmac::<Sha1>(b"key", message),
            "{} bytes",
            message.len()
        );
    }
}

/// A key made on one backend works on every other backend.
#[test]
fn keys_fit_every_engine() {
    let key = HmacKey::<Sha256>::new(&[7; 100]);
    let messages: Vec<Vec<u8>> = (0..40).map(|i| vec![i as u8; 5 * i]).collect();
    let messages: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
    for engine in Backend::all().flat_map(Engine::with) {
        let mut macs = [Mac::placeholder(); 40];
        engine.hmac_many(&key, &messages, &mut macs);
        for (message, mac) in messages.iter().zip(macs) {
            let mut hmac = HmacKey::<Sha256>::with_engine(engine, &[7; 100]).start();
            hmac.update(message);
            assert_eq!(hmac.finalize(), mac);
        }
    }
}
