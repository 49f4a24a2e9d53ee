//! Edits of .torrent files.

use hashlane_metainfo::merkle::Node;
use hashlane_metainfo::{Edit, EditError, ListEdit, NewMetadata, Torrent, UrlChanges, Version};
use proptest::prelude::*;

use super::{PIECE, VERSIONS, content, everything, file, write};

/// A version 1 info dictionary with unsorted keys and an unknown key.
const UNSORTED: &str = "d4:name1:n6:lengthi1e12:piece lengthi1e6:pieces20:xxxxxxxxxxxxxxxxxxxx\
    7:unknownli1eee";

#[test]
fn an_edit_leaves_alone_what_it_does_not_mean() {
    let before = format!(
        "d1:zi1e8:announce1:x4:info{UNSORTED}3:abcl1:ye13:announce-listle5:other0:egarbage"
    );
    let torrent = Torrent::parse(before.as_bytes()).unwrap();
    let edit = Edit {
        trackers: Some(ListEdit::Set(vec![
            vec!["t".into()],
            vec![],
            vec!["u".into()],
        ])),
        comment: Some(Some("c".into())),
        ..Edit::default()
    };
    assert!(!edit.changes_info_hash(&torrent));
    let after = edit.apply(&torrent).unwrap();
    let expected = format!(
        "d8:announce1:t13:announce-listll1:tel1:uee7:comment1:c1:zi1e4:info{UNSORTED}3:abcl1:ye5:other0:egarbage"
    );
    assert_eq!(after.bytes().escape_ascii().to_string(), expected);
    let nothing = Edit::default().apply(&torrent).unwrap();
    assert_eq!(nothing.bytes().escape_ascii().to_string(), before);
}

/// Piece layers are removed and written again. Those that do not lead to the root of a file are refused.
#[test]
fn an_edit_of_piece_layers() {
    let long = 3 * u64::from(PIECE);
    let content = content(Version::V2, vec![file("a", long), file("b", 1)]).unwrap();
    let torrent = Torrent::parse(write(&content, &NewMetadata::default())).unwrap();
    let edit = |layers: &[(Node, &[Node])]| Edit {
        piece_layers: Some(
            layers
                .iter()
                .map(|(root, layer)| (*root, layer.to_vec()))
                .collect(),
        ),
        ..Edit::default()
    };
    let root = *torrent.file(0).pieces_root().unwrap();
    let layer = torrent.file(0).piece_layer().unwrap();
    let without = edit(&[]).apply(&torrent).unwrap();
    assert_eq!(without.file(0).piece_layer(), None);
    assert_eq!(without.info_hashes(), torrent.info_hashes());
    let with = edit(&[(root, layer)]);
    assert!(!with.changes_info_hash(&without));
    assert_eq!(with.apply(&without).unwrap().bytes(), torrent.bytes());
    for (root, layer) in [(root, &layer[1..]), ([0; 32], layer), (root, &[[0; 32]; 3])] {
        let refused = edit(&[(root, layer)]).apply(&without);
        assert!(matches!(refused, Err(EditError::Refused(_))));
    }
}

#[test]
fn an_edit_of_the_info_dictionary() {
    let before = format!("d4:info{UNSORTED}e");
    let torrent = Torrent::parse(before.as_bytes()).unwrap();
    let edit = Edit {
        source: Some(Some("s".into())),
        is_private: Some(true),
        ..Edit::default()
    };
    assert!(edit.changes_info_hash(&torrent));
    let edited = edit.apply(&torrent).unwrap();
    assert_ne!(edited.info_hashes(), torrent.info_hashes());
    assert_eq!(edited.metadata().source.as_deref(), Some("s"));
    assert!(edited.metadata().is_private);
    // Applying the same edit again changes nothing.
    assert!(!edit.changes_info_hash(&edited));
    assert_eq!(edit.apply(&edited).unwrap().bytes(), edited.bytes());
    let back = Edit {
        source: Some(None),
        is_private: Some(false),
        ..Edit::default()
    };
    assert_eq!(back.apply(&edited).unwrap().bytes(), before.as_bytes());
    // An equivalent value is no change either.
    let zero = before.replacen("7:unknown", "7:privatei0e7:unknown", 1);
    let torrent = Torrent::parse(zero.as_bytes()).unwrap();
    assert!(!back.changes_info_hash(&torrent));
    assert_eq!(back.apply(&torrent).unwrap().bytes(), zero.as_bytes());
}

#[test]
fn an_edit_removes() {
    let content = content(Version::Hybrid, vec![file("a", 50_000), file("b", 1)]).unwrap();
    let bytes = write(&content, &everything());
    let torrent = Torrent::parse(bytes.as_slice()).unwrap();
    let edit = Edit {
        trackers: Some(ListEdit::Set(vec![])),
        web_seeds: Some(ListEdit::Set(vec![])),
        comment: Some(None),
        nodes: Some(ListEdit::Set(vec![])),
        created_by: Some(None),
        creation_date: Some(None),
        source: Some(None),
        is_private: Some(false),
        ..Edit::default()
    };
    let expected = NewMetadata::default();
    assert_eq!(
        edit.apply(&torrent).unwrap().bytes(),
        write(&content, &expected)
    );
}

#[test]
fn a_new_comment_is_not_hidden_by_an_old_one() {
    let before = format!("d7:comment1:a13:comment.utf-81:b4:info{UNSORTED}e");
    let torrent = Torrent::parse(before.as_bytes()).unwrap();
    assert_eq!(torrent.metadata().comment.as_deref(), Some("b"));
    let edit = Edit {
        comment: Some(Some("c".into())),
        ..Edit::default()
    };
    let edited = edit.apply(&torrent).unwrap();
    assert_eq!(edited.metadata().comment.as_deref(), Some("c"));
}

#[test]
fn what_is_added_comes_behind_what_is_there() {
    let add = Edit {
        trackers: Some(ListEdit::Add(vec![
            vec!["a".into(), "n".into()],
            vec!["n".into()],
            vec!["m".into()],
        ])),
        web_seeds: Some(ListEdit::Add(vec!["w".into(), "x".into()])),
        ..Edit::default()
    };
    for (before, after) in [
        // No trackers and no web seeds.
        (
            "",
            "8:announce1:a13:announce-listll1:a1:nel1:mee8:url-listl1:w1:xe",
        ),
        // One tracker, and web seeds that are not a list.
        (
            "8:announce1:a8:url-list1:x",
            "8:announce1:a13:announce-listll1:ael1:nel1:mee8:url-listl1:x1:we",
        ),
        // A tracker that the tiers lack, in bytes that are not text, beside a tier that is not a
        // list.
        (
            "8:announce1:\u{1}13:announce-listli1el1:bee8:url-listl1:qi7ee",
            "8:announce1:\u{1}13:announce-listll1:\u{1}ei1el1:bel1:a1:nel1:mee8:url-listl1:qi7e1:w1:xe",
        ),
        // A tracker that is in a tier.
        (
            "8:announce1:b13:announce-listll1:bee8:url-list0:",
            "8:announce1:b13:announce-listll1:bel1:a1:nel1:mee8:url-listl1:w1:xe",
        ),
    ] {
        let of = |keys: &str| {
            let (announce, rest) = keys.split_once("8:url-list").unwrap_or((keys, ""));
            let rest = if rest.is_empty() {
                String::new()
            } else {
                format!("8:url-list{rest}")
            };
            let text = format!("d{announce}4:info{UNSORTED}{rest}e");
            // A byte that never occurs in UTF-8.
            text.bytes()
                .map(|byte| if byte == 1 { 0xff } else { byte })
                .collect::<Vec<u8>>()
        };
        let bytes = of(before);
        let torrent = Torrent::parse(bytes.as_slice()).unwrap();
        let edited = add.apply(&torrent).unwrap();
        assert_eq!(
            edited.bytes().escape_ascii().to_string(),
            of(after).escape_ascii().to_string()
        );
        // Adding the same values again changes nothing.
        assert_eq!(add.apply(&edited).unwrap().bytes(), edited.bytes());
    }
}

fn any_edit() -> impl Strategy<Value = Edit> {
    let urls = || proptest::collection::vec("[a-z]{1,5}://[a-z]{1,5}", 0..3);
    let tiers = (any::<bool>(), proptest::collection::vec(urls(), 0..3));
    let seeds = (any::<bool>(), urls());
    (
        proptest::option::of(tiers.prop_map(|(add, of)| {
            if add {
                ListEdit::Add(of)
            } else {
                ListEdit::Set(of)
            }
        })),
        proptest::option::of(seeds.prop_map(|(add, of)| {
            if add {
                ListEdit::Add(of)
            } else {
                ListEdit::Set(of)
            }
        })),
        proptest::option::of(proptest::option::of(".{0,5}")),
        proptest::option::of(proptest::option::of(".{0,5}")),
        any::<Option<bool>>(),
    )
        .prop_map(|(trackers, web_seeds, comment, source, is_private)| Edit {
            trackers,
            web_seeds,
            comment,
            source,
            is_private,
            ..Edit::default()
        })
}

proptest! {
    #[test]
    fn edits_keep_the_content(
        version in proptest::sample::select(&VERSIONS[..]),
        lengths in proptest::collection::vec(0..100_000_u64, 1..5),
        edits in proptest::collection::vec(any_edit(), 1..4),
    ) {
        let files = lengths.iter().enumerate();
        let files: Vec<_> = files.map(|(i, length)| file(&i.to_string(), *length)).collect();
        prop_assume!(lengths.iter().any(|length| *length > 0));
        let content = content(version, files).unwrap();
        let mut torrent = Torrent::parse(write(&content, &everything())).unwrap();
        for edit in edits {
            let after = edit.apply(&torrent).unwrap();
            let is_same = after.info_bytes() == torrent.info_bytes();
            prop_assert_eq!(is_same, !edit.changes_info_hash(&torrent));
            prop_assert_eq!(after.piece_hashes(), torrent.piece_hashes());
            for (a, b) in after.files().iter().zip(torrent.files().iter()) {
                prop_assert_eq!((a.path(), a.length()), (b.path(), b.length()));
                prop_assert_eq!(a.piece_layer(), b.piece_layer());
            }
            torrent = after;
        }
    }
}

/// Returns a torrent with these keys before and after `info`.
fn torrent_with(before: &str, after: &str) -> Torrent {
    Torrent::parse(format!("d{before}4:info{UNSORTED}{after}e").as_bytes()).unwrap()
}

#[test]
fn urls_are_removed_by_url_or_host() {
    let trackers = "8:announce10:http://a/x13:announce-listll10:http://a/x12:http://b:1/yei7el12:http://B:1/z10:udp://c/:xee";
    let before = torrent_with(trackers, "8:url-listl8:http://a8:http://be");
    let removed = |trackers: &[&str], web_seeds: &[&str]| {
        let names = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        let edit = Edit {
            urls: UrlChanges {
                removed_trackers: names(trackers),
                removed_web_seeds: names(web_seeds),
                replaced: vec![],
            },
            ..Edit::default()
        };
        edit.apply(&before)
            .unwrap()
            .bytes()
            .escape_ascii()
            .to_string()
    };
    let unchanged = before.bytes().escape_ascii().to_string();
    let of = |keys: &str, seeds: &str| format!("d{keys}4:info{UNSORTED}{seeds}e");
    let seeds = "8:url-listl8:http://a8:http://be";
    // The next tracker replaces `announce`. Values that are not URLs are kept.
    let without_a = "8:announce12:http://b:1/y13:announce-listll12:http://b:1/yei7el12:http://B:1/z10:udp://c/:xee";
    for name in ["http://a/x", "a", "A"] {
        assert_eq!(removed(&[name], &[]), of(without_a, seeds), "{name}");
    }
    let without_b = "8:announce10:http://a/x13:announce-listll10:http://a/xei7el10:udp://c/:xee";
    for name in ["b", "b:1"] {
        assert_eq!(removed(&[name], &[]), of(without_b, seeds), "{name}");
    }
    for name in ["b:2", "http://a", "", "x", "c/"] {
        assert_eq!(removed(&[name], &[]), unchanged, "{name}");
    }
    let none = removed(&["a", "b", "c"], &["a", "http://b"]);
    assert_eq!(none, of("13:announce-listli7ee", ""));
    let one = removed(&[], &["b"]);
    assert_eq!(one, of(trackers, "8:url-listl8:http://ae"));
}

#[test]
fn texts_in_urls_are_replaced() {
    let before = torrent_with(
        "8:announce12:http://a/old13:announce-listll12:http://a/old9:http://ée2:xxe9:httpseedsl12:http://w/olde",
        "8:url-list12:http://v/old",
    );
    let replace = |pairs: &[(&str, &str)]| {
        let pairs = pairs
            .iter()
            .map(|(old, new)| ((*old).into(), (*new).into()));
        let edit = Edit {
            urls: UrlChanges {
                replaced: pairs.collect(),
                ..UrlChanges::default()
            },
            ..Edit::default()
        };
        edit.apply(&before)
    };
    let after = replace(&[("old", "new1"), ("http://a/", "https://b/")]).unwrap();
    let expected = torrent_with(
        "8:announce14:https://b/new113:announce-listll14:https://b/new19:http://ée2:xxe9:httpseedsl13:http://w/new1e",
        "8:url-list13:http://v/new1",
    );
    assert_eq!(
        after.bytes().escape_ascii().to_string(),
        expected.bytes().escape_ascii().to_string()
    );
    assert_eq!(after.info_bytes(), before.info_bytes());
    assert_eq!(replace(&[("absent", "x")]).unwrap().bytes(), before.bytes());
    let error = replace(&[("http://a", "0123456789abcdef")]).unwrap_err();
    assert_eq!(error, EditError::NotUrl("http://a/old".into()));
}

#[test]
fn lists_and_texts_outside_of_the_info_dictionary() {
    let before = torrent_with(
        "10:created by1:a16:created by.utf-81:b",
        "5:nodesll1:hi1eee",
    );
    let edit = Edit {
        nodes: Some(ListEdit::Add(vec![
            ("h".into(), 1),
            ("i".into(), 2),
            ("i".into(), 2),
        ])),
        similar: Some(ListEdit::Add(vec![[b's'; 20]])),
        collections: Some(ListEdit::Add(vec!["c".into()])),
        created_by: Some(Some("x".into())),
        creation_date: Some(Some(-5)),
        ..Edit::default()
    };
    let after = edit.apply(&before).unwrap();
    let expected = format!(
        "d11:collectionsl1:ce10:created by1:x13:creation datei-5e4:info{UNSORTED}\
         5:nodesll1:hi1eel1:ii2eee7:similarl20:ssssssssssssssssssssee"
    );
    assert_eq!(after.bytes().escape_ascii().to_string(), expected);
    assert_eq!(edit.apply(&after).unwrap().bytes(), after.bytes());
    let metadata = after.metadata();
    assert_eq!(
        (metadata.similar, metadata.collections),
        (vec![[b's'; 20]], vec!["c".to_owned()])
    );
    let back = Edit {
        nodes: Some(ListEdit::Set(vec![("h".into(), 1)])),
        similar: Some(ListEdit::Set(vec![])),
        collections: Some(ListEdit::Set(vec![])),
        created_by: Some(None),
        creation_date: Some(None),
        ..Edit::default()
    };
    let expected = torrent_with("", "5:nodesll1:hi1eee");
    assert_eq!(back.apply(&after).unwrap().bytes(), expected.bytes());
}

#[test]
fn the_name_in_every_version() {
    for version in VERSIONS {
        for is_single_file in [true, false] {
            let mut content = file("a", 50_000);
            content.path = vec![b"a".to_vec()];
            let new = |name: &str| {
                let files = vec![content.clone()];
                let name = name.as_bytes().to_vec();
                hashlane_metainfo::NewContent::new(version, PIECE, name, is_single_file, files)
            };
            let [before, after] =
                ["old", "new"].map(|name| write(&new(name).unwrap(), &everything()));
            let torrent = Torrent::parse(before).unwrap();
            let edit = Edit {
                name: Some("new".into()),
                ..Edit::default()
            };
            assert!(edit.changes_info_hash(&torrent));
            let edited = edit.apply(&torrent).unwrap();
            assert_eq!(edited.name().as_bytes(), b"new");
            // Version 2 does not distinguish a file from a folder with one file.
            if version != Version::V2 || is_single_file {
                assert_eq!(edited.bytes(), after, "{version} {is_single_file}");
            }
            assert!(!edit.changes_info_hash(&edited));
        }
    }
    // The preferred key `name.utf-8` is changed too.
    let info =
        "d6:lengthi1e4:name1:n10:name.utf-81:u12:piece lengthi1e6:pieces20:xxxxxxxxxxxxxxxxxxxxe";
    let torrent = Torrent::parse(format!("d4:info{info}e").as_bytes()).unwrap();
    let edit = Edit {
        name: Some("new".into()),
        ..Edit::default()
    };
    assert_eq!(edit.apply(&torrent).unwrap().name().as_bytes(), b"new");
    let torrent = torrent_with("", "");
    for name in ["", "..", "a/b", "a\0"] {
        let edit = Edit {
            name: Some(name.into()),
            ..Edit::default()
        };
        let error = edit.apply(&torrent).unwrap_err();
        assert!(matches!(error, EditError::Name { .. }), "{error}");
    }
}
