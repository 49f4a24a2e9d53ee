//! Digests as serialized values (feature `serde`).

use hashlane_sha::{Sha1, Sha1Digest};
use serde_test::{Configure as _, Token, assert_de_tokens_error, assert_tokens};

const TEXT: &str = "a9993e364706816aba3e25717850c26c9cd0d89d";

#[test]
fn digits_in_readable_formats_and_bytes_in_binary_formats() {
    let digest = Sha1::digest(b"abc");
    let bytes: &'static [u8] = Box::leak(digest.as_ref().into());
    assert_tokens(&digest.readable(), &[Token::Str(TEXT)]);
    assert_tokens(&digest.compact(), &[Token::Bytes(bytes)]);
}

#[test]
fn sequences_of_bytes_are_read() {
    let digest = Sha1::digest(b"abc");
    let mut tokens = vec![Token::Seq { len: Some(20) }];
    tokens.extend(digest.as_ref().iter().map(|byte| Token::U8(*byte)));
    tokens.push(Token::SeqEnd);
    serde_test::assert_de_tokens(&digest.compact(), &tokens);
    tokens.insert(1, Token::U8(0));
    let error = "invalid length 21, expected 20 bytes or 40 hexadecimal digits";
    assert_de_tokens_error::<serde_test::Compact<Sha1Digest>>(&tokens[..22], error);
}

#[test]
fn invalid_digests_are_refused() {
    let error = "expected 40 hexadecimal digits, found 3";
    assert_de_tokens_error::<serde_test::Readable<Sha1Digest>>(&[Token::Str("abc")], error);
    let error = "invalid length 3, expected 20 bytes or 40 hexadecimal digits";
    assert_de_tokens_error::<serde_test::Compact<Sha1Digest>>(&[Token::Bytes(b"abc")], error);
}
