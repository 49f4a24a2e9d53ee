//! HMAC on every kernel.

use ::hmac::KeyInit;

use crate::algorithm::Algorithm;
use crate::engine::Engine;
use crate::hasher::{Sha1, Sha256};
use crate::hmac::{HmacKey, Mac};
use crate::kernel_name::KernelName;

use super::{Kernel, fields, from_hex, kernels_run, message};

/// The reference values for the tests of HMAC with one algorithm.
pub(super) trait Reference: Algorithm {
    /// The line before this algorithm's part of the NIST file. It names the digest length in bytes.
    const SECTION: &'static str;

    /// The test cases of the RFC.
    const RFC: &'static str;

    /// Returns the MAC computed by the crate `hmac`, with the hash functions of the same project.
    fn independent_mac(key: &[u8], message: &[u8]) -> Vec<u8>;
}

impl Reference for Sha1 {
    const SECTION: &'static str = "[L=20]";
    const RFC: &'static str = include_str!("../../../tests/vectors/rfc/rfc-2202-sha1.txt");

    fn independent_mac(key: &[u8], message: &[u8]) -> Vec<u8> {
        independent_mac::<::hmac::Hmac<sha1::Sha1>>(key, message)
    }
}

impl Reference for Sha256 {
    const SECTION: &'static str = "[L=32]";
    const RFC: &'static str = include_str!("../../../tests/vectors/rfc/rfc-4231-sha256.txt");

    fn independent_mac(key: &[u8], message: &[u8]) -> Vec<u8> {
        independent_mac::<::hmac::Hmac<sha2::Sha256>>(key, message)
    }
}

fn independent_mac<M: ::hmac::Mac + KeyInit>(key: &[u8], message: &[u8]) -> Vec<u8> {
    let mut mac = M::new_from_slice(key).expect("a key of any length");
    mac.update(message);
    mac.finalize().into_bytes().to_vec()
}

struct Case {
    key: Vec<u8>,
    message: Vec<u8>,
    /// The first bytes of the MAC.
    tag: Vec<u8>,
}

/// Returns the cases of a file. `tag` is the key of the tag lines.
fn cases(file: &'static str, tag: &str) -> Vec<Case> {
    let (mut key, mut message) = (Vec::new(), Vec::new());
    let mut cases = Vec::new();
    for (name, value) in fields(file) {
        match name {
            "Key" => key = from_hex(value),
            "Msg" => message = from_hex(value),
            _ if name == tag => cases.push(Case {
                key: key.clone(),
                message: message.clone(),
                tag: from_hex(value),
            }),
            _ => {}
        }
    }
    cases
}

/// Returns the part of the NIST file from `section` up to the next section.
fn section(section: &str) -> &'static str {
    let file = include_str!("../../../tests/vectors/nist-cavp/HMAC_SHA1_SHA256.rsp");
    let (_, rest) = file.split_once(section).expect("the file has the section");
    rest.split("[L=").next().expect("text after the section")
}

/// Checks each case alone, through the streaming API, and in every lane at once.
pub(super) fn known_answers<A: Reference>(kernel: Kernel) {
    let name = KernelName::new::<A>(kernel);
    let engine = Engine::with_only::<A::Entries>(kernel);
    let (nist, rfc) = (cases(section(A::SECTION), "Mac"), cases(A::RFC, "MD"));
    assert_eq!(nist.len(), if A::DIGEST_LEN == 20 { 300 } else { 225 });
    assert!(rfc.len() >= 6, "the file holds cases");
    for (i, case) in nist.iter().chain(&rfc).enumerate() {
        let run = kernels_run(|| {
            let key = HmacKey::<A>::with_engine(engine, &case.key);
            let mut alone = key.start();
            let (a, b) = case.message.split_at(case.message.len() / 3);
            alone.update(a);
            alone.update(b);
            let verified = alone.verify_truncated(&case.tag, case.tag.len());
            assert_eq!(verified, Ok(()), "case {i}, alone");

            let n = kernel.lanes() + 1;
            let mut macs = vec![Mac::placeholder(); n];
            let messages = vec![case.message.as_slice(); n];
            engine.hmac_many(&key, &messages, &mut macs);
            for mac in macs {
                assert_eq!(
                    &mac.as_bytes()[..case.tag.len()],
                    case.tag,
                    "case {i}, among many"
                );
            }
        });
        assert_eq!(run, [name]);
    }
}

/// Checks messages and keys of many lengths, with more and fewer messages than lanes.
pub(super) fn unequal_lengths<A: Reference>(kernel: Kernel) {
    let engine = Engine::with_only::<A::Entries>(kernel);
    for (key_len, n_messages) in [(0, 0), (1, 1), (63, 15), (64, 16), (65, 17), (200, 100)] {
        let key = message(key_len, key_len);
        let messages: Vec<_> = (0..n_messages)
            .map(|i| message(i, (i * i * 7919) % 1000))
            .collect();
        let messages: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
        let mut macs = vec![Mac::placeholder(); n_messages];
        let ready = HmacKey::<A>::with_engine(engine, &key);
        engine.hmac_many(&ready, &messages, &mut macs);
        for (message, mac) in messages.iter().zip(&macs) {
            let expected = A::independent_mac(&key, message);
            let (key, message) = (key.len(), message.len());
            assert_eq!(
                mac.as_bytes(),
                expected,
                "key of {key} bytes, message of {message}"
            );
        }
    }
}
