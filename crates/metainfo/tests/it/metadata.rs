//! Metadata besides the content. Valid values are returned; invalid values are treated as absent.

use hashlane_metainfo::{Metadata, Torrent};

use crate::HASH;

/// Returns a torrent with these entries before and inside the info dictionary.
fn torrent(entries: &str, info_entries: &str) -> Vec<u8> {
    format!(
        "d{entries}4:infod{info_entries}6:lengthi1e4:name1:n12:piece lengthi16384e\
         6:pieces20:{HASH}ee"
    )
    .into_bytes()
}

/// Checks one field of the metadata.
#[track_caller]
fn check<T: PartialEq + std::fmt::Debug>(
    entries: &str,
    field: impl Fn(Metadata) -> T,
    expected: T,
) {
    check_both(entries, "", field, expected);
}

#[track_caller]
#[expect(
    clippy::needless_pass_by_value,
    reason = "what is expected is written where it is"
)]
fn check_both<T: PartialEq + std::fmt::Debug>(
    entries: &str,
    info_entries: &str,
    field: impl Fn(Metadata) -> T,
    expected: T,
) {
    let bytes = torrent(entries, info_entries);
    let torrent = Torrent::parse(bytes.as_slice()).unwrap();
    assert_eq!(field(torrent.metadata()), expected, "{entries}");
}

fn strings(values: &[impl AsRef<str>]) -> Vec<String> {
    values
        .iter()
        .map(|value| value.as_ref().to_owned())
        .collect()
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "fields are taken out of it elsewhere"
)]
fn trackers(metadata: Metadata) -> Vec<Vec<String>> {
    metadata.trackers.iter().map(|tier| strings(tier)).collect()
}

#[test]
fn nothing_at_all() {
    check("", |metadata| metadata == Metadata::default(), true);
}

#[test]
fn trackers_in_tiers() {
    let none: [Vec<String>; 0] = [];
    let tiers = |tiers: &[&[&str]]| tiers.iter().map(|tier| strings(tier)).collect::<Vec<_>>();
    for (entries, expected) in [
        ("8:announce3:a:b", tiers(&[&["a:b"]])),
        ("8:announce5: a:b\n", tiers(&[&["a:b"]])),
        ("8:announce0:", none.to_vec()),
        ("8:announce2: \t", none.to_vec()),
        ("8:announcei1e", none.to_vec()),
        // A list takes precedence, and `announce` is ignored.
        (
            "8:announce1:x13:announce-listll1:a1:bel1:cee",
            tiers(&[&["a", "b"], &["c"]]),
        ),
        ("13:announce-listll1:aee8:announce1:x", tiers(&[&["a"]])),
        // A list without any tracker does not hide `announce`.
        ("8:announce1:x13:announce-listle", tiers(&[&["x"]])),
        ("8:announce1:x13:announce-listlleli1eee", tiers(&[&["x"]])),
        ("8:announce1:x13:announce-list1:y", tiers(&[&["x"]])),
        // Entries that are not tiers or URLs are skipped.
        (
            "13:announce-listl1:zl1:ai1e0:lel1:be2: cee",
            tiers(&[&["a", "c"]]),
        ),
    ] {
        check(entries, trackers, expected);
    }
}

#[test]
fn seeds() {
    type Field = fn(Metadata) -> Vec<String>;
    let web: Field = |metadata| strings(&metadata.web_seeds);
    let http: Field = |metadata| strings(&metadata.http_seeds);
    for (key, field) in [("8:url-list", web), ("9:httpseeds", http)] {
        for (value, expected) in [
            ("3:a:b", &["a:b"][..]),
            ("0:", &[]),
            ("l3:a:b3:c:de", &["a:b", "c:d"]),
            // Duplicates and surrounding white space are removed.
            ("l3:a:b5: a:b 0:1:be", &["a:b", "b"]),
            ("li1e1:alee", &["a"]),
            ("i1e", &[]),
            ("d1:a1:be", &[]),
        ] {
            check(&format!("{key}{value}"), field, strings(expected));
        }
    }
}

#[test]
fn nodes() {
    let field = |metadata: Metadata| -> Vec<(String, u16)> { metadata.nodes };
    let node = |host: &str, port| (host.to_owned(), port);
    for (value, expected) in [
        (
            "ll9:127.0.0.1i6881eel4:hosti65535eee",
            vec![node("127.0.0.1", 6881), node("host", 65535)],
        ),
        // Entries of another form or without a valid port.
        (
            "ll1:ael1:ai65536eel1:ai-1eeli1ei1eel1:a1:be1:ai1el1:bi0ei7eee",
            vec![node("b", 0)],
        ),
        ("le", vec![]),
        ("de", vec![]),
        ("i1e", vec![]),
    ] {
        check(&format!("5:nodes{value}"), field, expected);
    }
}

#[test]
fn text() {
    type Field = fn(Metadata) -> Option<String>;
    let comment: Field = |metadata| metadata.comment;
    let created_by: Field = |metadata| metadata.created_by;
    for (key, field) in [("comment", comment), ("created by", created_by)] {
        let plain = |value: &str| format!("{}:{key}{value}", key.len());
        let utf8 = |value: &str| format!("{}:{key}.utf-8{value}", key.len() + 6);
        for (entries, expected) in [
            (plain("3: a "), Some(" a ")),
            (plain("0:"), Some("")),
            (plain("i1e"), None),
            (utf8("1:b"), Some("b")),
            // The UTF-8 key takes precedence wherever it is, unless it is not text.
            (plain("1:a") + &utf8("1:b"), Some("b")),
            (utf8("1:b") + &plain("1:a"), Some("b")),
            (plain("1:a") + &utf8("le"), Some("a")),
            (plain("le") + &utf8("1:b"), Some("b")),
            // The first of two duplicates counts, whatever its type.
            (plain("1:a") + &plain("1:b"), Some("a")),
            (plain("le") + &plain("1:b"), None),
        ] {
            check(&entries, field, expected.map(str::to_owned));
        }
    }
    check_both(
        "6:source1:x",
        "6:source1:s",
        |metadata| metadata.source,
        Some("s".to_owned()),
    );
    let source = |metadata: Metadata| metadata.source;
    check_both("", "6:sourcei1e", source, None);
    check("6:source1:x", source, None);
}

#[test]
fn text_that_is_not_utf8() {
    let mut bytes = torrent("7:comment3:a?b8:url-list3:a?b", "");
    bytes
        .iter_mut()
        .filter(|byte| **byte == b'?')
        .for_each(|byte| *byte = 0xFF);
    let torrent = Torrent::parse(bytes.as_slice()).unwrap();
    let metadata = torrent.metadata();
    assert_eq!(metadata.comment.as_deref(), Some("a\u{fffd}b"));
    assert_eq!(metadata.web_seeds, ["a\u{fffd}b"]);
}

#[test]
fn numbers() {
    let date = |metadata: Metadata| metadata.creation_date;
    check("13:creation datei1234567890e", date, Some(1_234_567_890));
    check("13:creation datei-1e", date, Some(-1));
    check("13:creation date1:1", date, None);
    check("13:creation datei1e13:creation datei2e", date, Some(1));

    let private = |metadata: Metadata| metadata.is_private;
    check_both("", "7:privatei1e", private, true);
    check_both("", "7:privatei2e", private, true);
    check_both("", "7:privatei0e", private, false);
    check_both("", "7:private1:1", private, false);
    check_both("", "7:privatei0e7:privatei1e", private, false);
    // Outside the info dictionary the key means nothing.
    check("7:privatei1e", private, false);
}

/// BEP 38 allows these keys in both places.
#[test]
fn similar_torrents() {
    let similar = |metadata: Metadata| -> Vec<String> {
        let hashes = metadata.similar.iter();
        hashes
            .map(|hash| String::from_utf8_lossy(hash).into_owned())
            .collect()
    };
    let other = "another hash, too...";
    let outside = format!("7:similarl20:{HASH}3:abci1ee");
    let inside = format!("7:similarl20:{other}e");
    check(&outside, similar, strings(&[HASH]));
    check_both("", &inside, similar, strings(&[other]));
    check_both(&outside, &inside, similar, strings(&[HASH, other]));
    check(&format!("7:similar20:{HASH}"), similar, vec![]);

    let collections = |metadata: Metadata| strings(&metadata.collections);
    let (outside, inside) = ("11:collectionsl1:ai1ee", "11:collectionsl1:b1:ce");
    check(outside, collections, strings(&["a"]));
    check_both(outside, inside, collections, strings(&["a", "b", "c"]));
    check("11:collections1:a", collections, vec![]);
}

/// Invalid metadata never makes a torrent invalid, and version 2 torrents have metadata too.
#[test]
fn of_a_version_2_torrent() {
    let info = String::from_utf8(crate::with_tree(&crate::tree_file("a", 1))).unwrap();
    let bytes = info.replacen("d4:info", "d7:comment1:c4:info", 1);
    let bytes = bytes.replacen("i16384e", "i16384e7:privatei1e6:source1:s", 1);
    let torrent = Torrent::parse(bytes.as_bytes()).unwrap();
    let metadata = torrent.metadata();
    assert_eq!(metadata.comment.as_deref(), Some("c"));
    assert_eq!(metadata.source.as_deref(), Some("s"));
    assert!(metadata.is_private);
    // The metadata does not borrow from the torrent.
    drop(torrent);
    assert_eq!(metadata.trackers.len(), 0);
}
