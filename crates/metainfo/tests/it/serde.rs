//! Serialization, and the checks that deserialization goes through.

use hashlane_metainfo::{
    FileSelection, InfoHashV1, InfoHashV2, InfoHashes, Lengths, Magnet, Metadata, NewMetadata,
    PathComponent, PeerAddress, Torrent, Version,
};
use serde::de::Visitor;
use serde::de::value::SeqDeserializer;
use serde::{Deserialize as _, Deserializer};
use serde_json::json;
use serde_test::{Configure as _, Token, assert_de_tokens_error, assert_ser_tokens, assert_tokens};

/// A torrent of this file list (BEP 3), with pieces of zeros.
fn torrent(files: &str) -> Vec<u8> {
    let info = format!("d5:filesl{files}e4:name1:n12:piece lengthi16384e6:pieces20:");
    [b"d4:info", info.as_bytes(), &[0; 20], b"ee"].concat()
}

#[test]
fn info_hashes_are_hexadecimal_digits() {
    let (v1, v2) = (InfoHashV1::from([0xA5; 20]), InfoHashV2::from([0x1F; 32]));
    let (text_1, text_2) = ("a5".repeat(20), "1f".repeat(32));
    for (hashes, text) in [
        (InfoHashes::V1(v1), json!({ "v1": text_1, "v2": null })),
        (InfoHashes::V2(v2), json!({ "v1": null, "v2": text_2 })),
        (
            InfoHashes::Hybrid(v1, v2),
            json!({ "v1": text_1, "v2": text_2 }),
        ),
    ] {
        assert_eq!(serde_json::to_value(hashes).unwrap(), text);
        assert_eq!(serde_json::from_value::<InfoHashes>(text).unwrap(), hashes);
    }
    // A field can be absent, and a format without names of fields has all fields in their order.
    for text in [json!({ "v1": text_1 }), json!([text_1, null])] {
        let hashes = serde_json::from_value::<InfoHashes>(text).unwrap();
        assert_eq!(hashes, InfoHashes::V1(v1));
    }
    assert_eq!(
        serde_json::from_value::<InfoHashV1>(json!(text_1.to_uppercase())).unwrap(),
        v1
    );
    for wrong in ["", &text_1[2..], &text_1[1..], &text_2, &"x".repeat(40)] {
        let error = serde_json::from_value::<InfoHashV1>(json!(wrong)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "an info-hash has 40 hexadecimal digits",
            "{wrong}"
        );
    }
    let error = serde_json::from_value::<InfoHashes>(json!({})).unwrap_err();
    assert_eq!(error.to_string(), "no info-hash");
}

#[test]
fn lengths_are_checked() {
    let lengths = Lengths::new(100_000, 16_384).unwrap();
    let text = json!({ "total_length": 100_000, "piece_length": 16_384 });
    assert_eq!(serde_json::to_value(lengths).unwrap(), text);
    assert_eq!(serde_json::from_value::<Lengths>(text).unwrap(), lengths);
    for (total_length, piece_length) in [(0, 16_384), (1, 0), (1, 1 << 31), (u64::MAX, 1)] {
        let expected = Lengths::new(total_length, piece_length).unwrap_err();
        let text = json!({ "total_length": total_length, "piece_length": piece_length });
        let error = serde_json::from_value::<Lengths>(text).unwrap_err();
        assert_eq!(error.to_string(), expected.to_string());
    }
    let last = lengths.pieces().last().unwrap();
    assert_eq!(serde_json::to_value(last).unwrap(), json!(6));
}

#[test]
fn texts_are_parsed() {
    let link = "magnet:?xt=urn:btih:3ff6fe577e89feeb7c20674a06744c2f30efcd5f&dn=a%20b&so=1,3-4";
    let magnet: Magnet = link.parse().unwrap();
    let text = serde_json::to_string(&magnet).unwrap();
    assert_eq!(text, format!("\"{magnet}\""));
    assert_eq!(serde_json::from_str::<Magnet>(&text).unwrap(), magnet);
    assert!(serde_json::from_str::<Magnet>("\"magnet:?dn=a\"").is_err());

    let peer = PeerAddress::new("2001:DB8::1", 6881).unwrap();
    assert_tokens(&peer, &[Token::Str("[2001:db8::1]:6881")]);
    assert!(serde_json::from_str::<PeerAddress>("\"127.1:80\"").is_err());

    let selection: FileSelection = "4,0-2".parse().unwrap();
    assert_tokens(&selection, &[Token::Str("0-2,4")]);
    assert!(serde_json::from_str::<FileSelection>("\"\"").is_err());

    for (version, name) in [
        (Version::V1, "v1"),
        (Version::V2, "v2"),
        (Version::Hybrid, "hybrid"),
    ] {
        assert_eq!(serde_json::to_value(version).unwrap(), json!(name));
        assert_eq!(
            serde_json::from_value::<Version>(json!(name)).unwrap(),
            version
        );
    }
}

#[test]
fn a_torrent_is_its_bytes_and_is_parsed_again() {
    let bytes = torrent("d6:lengthi5e4:pathl1:b1:aeed6:lengthi7e4:pathl3:c\"\\ee");
    let torrent = Torrent::parse(&bytes[..]).unwrap();
    let text = serde_json::to_string(&torrent).unwrap();
    let again: Torrent = serde_json::from_str(&text).unwrap();
    assert_eq!(again.bytes(), torrent.bytes());
    assert_eq!(again.info_hashes(), torrent.info_hashes());

    let bytes: &'static [u8] = bytes.leak();
    assert_ser_tokens(&torrent.clone().compact(), &[Token::Bytes(bytes)]);
    // A format without bytes has a sequence of numbers.
    let numbers = SeqDeserializer::<_, serde::de::value::Error>::new(bytes.iter().copied());
    assert_eq!(
        Torrent::deserialize(Compact(numbers)).unwrap().bytes(),
        bytes
    );

    let files = serde_json::to_value(torrent.files()).unwrap();
    let no_attributes = json!({ "executable": false, "hidden": false });
    let file = |path: serde_json::Value, length: u32, offset: u32| {
        json!({
            "path": path, "kind": "regular", "length": length, "offset": offset,
            "attributes": no_attributes, "target": null, "pieces_root": null,
        })
    };
    assert_eq!(
        files,
        json!([file(json!(["b", "a"]), 5, 0), file(json!(["c\"\\"]), 7, 5)])
    );
}

/// A deserializer of a binary format.
struct Compact<D>(D);

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Compact<D> {
    type Error = D::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_any(visitor)
    }

    fn is_human_readable(&self) -> bool {
        false
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

#[test]
fn a_hostile_torrent_is_refused() {
    let refused = b"d4:infod6:lengthi-5e4:name1:a12:piece lengthi16384e6:pieces0:ee";
    let expected = Torrent::parse(refused).unwrap_err().to_string();
    let mut text = String::new();
    data_encoding::BASE64.encode_append(refused, &mut text);
    let error = serde_json::from_value::<Torrent>(json!(text)).unwrap_err();
    assert_eq!(error.to_string(), expected);
    assert!(serde_json::from_value::<Torrent>(json!("no Base64")).is_err());
    let tokens: &'static [Token] = vec![Token::Bytes(refused)].leak();
    assert_de_tokens_error::<serde_test::Compact<Torrent>>(tokens, Box::leak(expected.into()));
}

#[test]
fn no_unchecked_path_is_deserialized() {
    for name in ["..", ".", "", "a/b", "a\0"] {
        let tokens: &'static [Token] = vec![Token::BorrowedStr(String::leak(name.into()))].leak();
        let expected = PathComponent::try_from(name.as_bytes())
            .unwrap_err()
            .to_string();
        assert_de_tokens_error::<PathComponent<'_>>(tokens, &expected);
    }
    let name = PathComponent::try_from(&b"a b"[..]).unwrap();
    assert_tokens(&name, &[Token::BorrowedStr("a b")]);
    let name = PathComponent::try_from(&b"\xff"[..]).unwrap();
    assert_tokens(&name, &[Token::BorrowedBytes(b"\xff")]);
    // A torrent whose path leaves the folder has the name that libtorrent uses instead, as after `parse`.
    let bytes = torrent("d6:lengthi5e4:pathl2:..1:aee");
    let text = json!(data_encoding::BASE64.encode(&bytes));
    let torrent: Torrent = serde_json::from_value(text).unwrap();
    assert!(torrent.file(0).is_renamed());
    let components = torrent.file(0).path().components();
    assert!(
        components
            .map(PathComponent::as_bytes)
            .all(|name| name != b"..")
    );
}

#[test]
fn metadata_has_the_names_of_its_fields() {
    let metadata: Metadata = serde_json::from_value(json!({ "comment": "c" })).unwrap();
    assert_eq!(metadata.comment.as_deref(), Some("c"));
    let text = serde_json::to_string(&metadata).unwrap();
    assert_eq!(serde_json::from_str::<Metadata>(&text).unwrap(), metadata);
    let new: NewMetadata = serde_json::from_value(json!({ "trackers": [["u"]] })).unwrap();
    assert_eq!(new.trackers, [["u"]]);
}
