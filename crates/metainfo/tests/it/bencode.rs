//! Tests of the bencode reader alone.

use hashlane_metainfo::bencode::{Kind, MAX_DEPTH, SyntaxErrorKind, Value, Writer};
use proptest::prelude::*;

use crate::writer::{Model, any_model};

/// Every reason for a refusal, with its offset and text.
#[test]
fn refusals() {
    for (document, message) in [
        ("", "byte 0: expected a value, found the end"),
        ("i", "byte 1: expected a digit or '-', found the end"),
        ("i-", "byte 2: expected a digit, found the end"),
        ("i1", "byte 2: expected a digit or 'e', found the end"),
        ("l", "byte 1: expected a value or 'e', found the end"),
        ("d", "byte 1: expected a key or 'e', found the end"),
        ("d1:a", "byte 4: expected a value, found the end"),
        ("1", "byte 1: expected a digit or ':', found the end"),
        ("<html>", "byte 0: expected a value, found '<'"),
        ("\n", "byte 0: expected a value, found '\\n'"),
        ("e", "byte 0: expected a value, found 'e'"),
        ("l-", "byte 1: expected a value or 'e', found '-'"),
        ("d1:ae", "byte 4: expected a value, found 'e'"),
        ("d1:ai0e:", "byte 7: expected a key or 'e', found ':'"),
        ("ie", "byte 1: expected a digit, found 'e'"),
        ("i-e", "byte 2: expected a digit, found 'e'"),
        ("i+1e", "byte 1: expected a digit, found '+'"),
        ("i--1e", "byte 2: expected a digit, found '-'"),
        ("i1.5e", "byte 2: expected a digit or 'e', found '.'"),
        ("1e", "byte 1: expected a digit or ':', found 'e'"),
        ("-1:a", "byte 0: expected a value, found '-'"),
        ("li00ee", "byte 2: number has a leading zero"),
        ("li-01ee", "byte 3: number has a leading zero"),
        ("l01:ae", "byte 1: number has a leading zero"),
        ("li-0ee", "byte 2: integer is -0"),
        (
            "3:ab",
            "byte 0: byte string is 3 bytes long, but 2 bytes follow",
        ),
        (
            "l18446744073709551615:e",
            "byte 1: byte string is 18446744073709551615 bytes long, but 1 bytes follow",
        ),
        (
            "l18446744073709551616:e",
            "byte 1: byte string is longer than 18446744073709551615 bytes",
        ),
        (
            "di1ei2ee",
            "byte 1: dictionary key is an integer, expected a byte string",
        ),
        (
            "d1:ai1elee",
            "byte 7: dictionary key is a list, expected a byte string",
        ),
        (
            "dde1:ae",
            "byte 1: dictionary key is a dictionary, expected a byte string",
        ),
        ("lee", "byte 2: 1 byte follows the value, expected the end"),
        (
            "i1e\r\n",
            "byte 3: 2 bytes follow the value, expected the end",
        ),
    ] {
        let error = Value::parse(document.as_bytes()).expect_err(document);
        assert_eq!(error.to_string(), message, "{document}");
        assert_eq!(Model::read(document.as_bytes()), None, "{document}");
    }
}

#[test]
fn limits_of_integers() {
    for (document, integer) in [
        ("i0e", 0),
        ("i10e", 10),
        ("i-1e", -1),
        ("i9223372036854775807e", i64::MAX),
        ("i-9223372036854775808e", i64::MIN),
    ] {
        let value = Value::parse(document.as_bytes()).unwrap();
        assert_eq!(value.as_integer(), Some(integer));
    }
    for document in [
        "i9223372036854775808e",
        "i-9223372036854775809e",
        "i99999999999999999999e",
        "i-99999999999999999999999999999999999999999e",
    ] {
        let value = Value::parse(document.as_bytes()).unwrap();
        assert_eq!(value.kind(), Kind::Integer, "{document}");
        assert_eq!(value.as_integer(), None, "{document}");
        assert_eq!(value.encoded(), document.as_bytes());
    }
}

#[test]
fn depth_is_limited() {
    for (open, close) in [("l", "e"), ("d0:", "e")] {
        let nested = |depth| open.repeat(depth) + "i1e" + &close.repeat(depth);
        assert!(Value::parse(nested(MAX_DEPTH).as_bytes()).is_ok());
        let error = Value::parse(nested(MAX_DEPTH + 1).as_bytes()).unwrap_err();
        assert_eq!(error.kind(), SyntaxErrorKind::TooDeep);
        assert_eq!(error.offset(), open.len() * MAX_DEPTH);
        assert_eq!(
            error.to_string(),
            format!(
                "byte {}: lists and dictionaries are nested more than 100 levels deep",
                error.offset()
            )
        );
        // Far deeper than any call stack.
        assert!(Value::parse(nested(1_000_000).as_bytes()).is_err());
    }
    // The limit applies to depth, not to the number of values.
    let siblings = format!("l{}e", "le".repeat(1000));
    assert_eq!(
        Value::parse(siblings.as_bytes())
            .unwrap()
            .as_list()
            .unwrap()
            .count(),
        1000
    );
}

#[test]
fn offsets_count_from_the_start_of_the_document() {
    let document = b"d1:bli7e2:xyee";
    let value = Value::parse(document).unwrap();
    let entry = value.as_dictionary().unwrap().next().unwrap();
    assert_eq!(
        (entry.key, entry.key_offset, entry.value.offset()),
        (&b"b"[..], 1, 4)
    );
    let offsets: Vec<_> = entry.value.as_list().unwrap().map(Value::offset).collect();
    assert_eq!(offsets, [5, 8]);
    assert_eq!(entry.value.encoded(), b"li7e2:xye");
}

#[test]
fn a_value_is_of_one_kind_only() {
    for (document, kind) in [
        ("i1e", Kind::Integer),
        ("1:a", Kind::ByteString),
        ("le", Kind::List),
        ("de", Kind::Dictionary),
    ] {
        let value = Value::parse(document.as_bytes()).unwrap();
        assert_eq!(value.kind(), kind);
        assert_eq!(value.as_integer().is_some(), kind == Kind::Integer);
        assert_eq!(value.as_bytes().is_some(), kind == Kind::ByteString);
        assert_eq!(value.as_list().is_some(), kind == Kind::List);
        assert_eq!(value.as_dictionary().is_some(), kind == Kind::Dictionary);
    }
    let value = Value::parse(b"1:a").unwrap();
    assert_eq!(format!("{value:?}"), "a byte string of 3 bytes at byte 0");
}

/// Copies everything that the accessors return, and checks that offsets and encodings agree.
fn copy(value: Value<'_>, document: &[u8]) -> Model {
    assert!(document[value.offset()..].starts_with(value.encoded()));
    match value.kind() {
        Kind::Integer => {
            let encoded = value.encoded();
            let digits = String::from_utf8(encoded[1..encoded.len() - 1].to_vec()).unwrap();
            assert_eq!(value.as_integer(), digits.parse().ok());
            Model::Integer(digits)
        }
        Kind::ByteString => Model::Bytes(value.as_bytes().expect("a byte string").to_vec()),
        Kind::List => {
            let items = value.as_list().expect("a list");
            Model::List(items.map(|item| copy(item, document)).collect())
        }
        Kind::Dictionary => {
            let entries = value.as_dictionary().expect("a dictionary");
            let entries = entries.map(|entry| {
                assert!(
                    document[entry.key_offset..]
                        .starts_with(entry.key.len().to_string().as_bytes())
                );
                (entry.key.to_vec(), copy(entry.value, document))
            });
            Model::Dictionary(entries.collect())
        }
    }
}

fn read(document: &[u8]) -> Option<Model> {
    Value::parse(document)
        .ok()
        .map(|value| copy(value, document))
}

proptest! {
    #[test]
    fn what_is_written_is_read(model in any_model()) {
        prop_assert_eq!(read(&model.write()), Some(model));
    }

    /// Valid documents with some bytes replaced, so that about half of them stay valid.
    #[test]
    fn accepts_what_the_model_accepts(
        model in any_model(),
        edits in proptest::collection::vec((any::<prop::sample::Index>(), bencode_byte()), 0..3),
    ) {
        let mut document = model.write();
        for (index, byte) in edits {
            *index.get_mut(&mut document) = byte;
        }
        prop_assert_eq!(read(&document), Model::read(&document));
    }

    #[test]
    fn short_documents_are_read_like_the_model(
        document in proptest::collection::vec(bencode_byte(), 0..10),
    ) {
        prop_assert_eq!(read(&document), Model::read(&document));
    }

    #[test]
    fn errors_are_inside_of_the_document(document in proptest::collection::vec(any::<u8>(), 0..40)) {
        if let Err(error) = Value::parse(&document) {
            prop_assert!(error.offset() <= document.len());
        }
    }
}

/// A byte that has a meaning in bencode.
fn bencode_byte() -> impl Strategy<Value = u8> {
    prop::sample::select(&b"ilde:-0123459"[..])
}

#[test]
fn a_writer_of_nested_values() {
    let mut writer = Writer::new();
    writer.begin_list();
    writer.begin_dictionary();
    writer.key("").integer(0);
    writer.key("a").begin_dictionary();
    writer.key("z").bytes(b"\xff");
    writer.end();
    writer.key("b").bytes("");
    writer.end();
    writer.integer(i64::MIN);
    writer.end();
    let written = writer.finish();
    assert_eq!(
        written,
        b"ld0:i0e1:ad1:z1:\xffe1:b0:ei-9223372036854775808ee"
    );
    assert_eq!(Value::parse(&written).unwrap().unsorted_key(), None);
}

#[test]
#[should_panic(expected = "keys are sorted")]
#[cfg(debug_assertions)]
fn a_writer_wants_its_keys_sorted() {
    let mut writer = Writer::new();
    writer.begin_dictionary();
    writer.key("b").integer(1);
    writer.key("a").integer(1);
}
