//! Edits of .torrent files.

use hashlane_metainfo::{Edit, NewMetadata, Torrent, UrlEdit, Version};
use proptest::prelude::*;

use crate::{VERSIONS, content, everything, file, write};

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
        trackers: Some(UrlEdit::Set(vec![
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
        trackers: Some(UrlEdit::Set(vec![])),
        web_seeds: Some(UrlEdit::Set(vec![])),
        comment: Some(None),
        source: Some(None),
        is_private: Some(false),
    };
    let expected = NewMetadata {
        nodes: everything().nodes,
        created_by: everything().created_by,
        creation_date: everything().creation_date,
        ..NewMetadata::default()
    };
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
        trackers: Some(UrlEdit::Add(vec![
            vec!["a".into(), "n".into()],
            vec!["n".into()],
            vec!["m".into()],
        ])),
        web_seeds: Some(UrlEdit::Add(vec!["w".into(), "x".into()])),
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
                UrlEdit::Add(of)
            } else {
                UrlEdit::Set(of)
            }
        })),
        proptest::option::of(seeds.prop_map(|(add, of)| {
            if add {
                UrlEdit::Add(of)
            } else {
                UrlEdit::Set(of)
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
