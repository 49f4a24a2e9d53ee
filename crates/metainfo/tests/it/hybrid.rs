//! Hybrid torrents: both versions must describe the same content (BEP 52, "Upgrade Path").

use hashlane_metainfo::{Difference, Error, FileKind, InfoHashes, Torrent, Version};

use crate::refusals::refused;
use crate::{HASH, ROOT, list_file, metainfo, padding, tree_file, with_both};

const EMPTY_IN_TREE: &str = "d0:d6:lengthi0eee";

/// Returns a link, as each version describes it.
fn links(name: &str, target: &str) -> (String, String) {
    let (n, m) = (name.len(), target.len());
    (
        format!("d4:attr1:l4:pathl{n}:{name}e12:symlink pathl{m}:{target}ee"),
        format!("{n}:{name}d0:d4:attr1:l12:symlink pathl{m}:{target}eee"),
    )
}

/// Returns a hybrid torrent with one entry of every kind.
pub(crate) fn sample() -> Vec<u8> {
    let (link, tree_link) = links("l", "a");
    let files = [
        list_file(&["a"], 5),
        padding(16_379),
        list_file(&["d", "b"], 16_385),
        padding(16_383),
        link,
        list_file(&["x"], 0),
        list_file(&["z"], 1),
        padding(16_383),
    ];
    let tree = [
        tree_file("a", 5),
        format!("1:dd{}e", tree_file("b", 16_385)),
        tree_link,
        format!("1:x{EMPTY_IN_TREE}"),
        tree_file("z", 1),
    ];
    with_both(&files.concat(), &tree.concat(), 4)
}

#[test]
fn both_versions() {
    let bytes = sample();
    let torrent = Torrent::parse(bytes.as_slice()).unwrap();
    assert_eq!(torrent.version(), Version::Hybrid);
    assert!(torrent.version().has_v1() && torrent.version().has_v2());
    assert_eq!(torrent.version().to_string(), "hybrid (version 1 and 2)");
    assert!(matches!(torrent.info_hashes(), InfoHashes::Hybrid(..)));
    assert!(!torrent.is_single_file());
    assert_eq!(torrent.lengths().total_length(), 4 * 16_384);
    assert_eq!(torrent.content_length(), 5 + 16_385 + 1);
    assert_eq!(torrent.piece_hashes().map(<[_]>::len), Some(4));
    // The files are the list of version 1, with the roots of version 2.
    let files: Vec<_> = torrent
        .files()
        .iter()
        .map(|file| {
            let root = file.pieces_root().is_some();
            (file.path().to_string(), file.offset(), root)
        })
        .collect();
    let expected = [
        ("a", 0, true),
        (".pad/9", 5, false),
        ("d/b", 16_384, true),
        (".pad/3", 32_769, false),
        ("l", 49_152, false),
        ("x", 49_152, false),
        ("z", 49_152, true),
        (".pad/3", 49_153, false),
    ];
    assert_eq!(
        files,
        expected.map(|(path, offset, root)| (path.to_owned(), offset, root))
    );
    let kinds = torrent.files().iter().map(hashlane_metainfo::File::kind);
    assert_eq!(kinds.filter(|kind| *kind == FileKind::Padding).count(), 3);
}

#[test]
fn single_file() {
    let info = |name: &str| {
        format!(
            "9:file treed{}e6:lengthi7e12:meta versioni2e4:name{}:{name}12:piece lengthi16384e\
             6:pieces20:{HASH}",
            tree_file("a.txt", 7),
            name.len()
        )
    };
    let bytes = metainfo(&info("a.txt"));
    let torrent = Torrent::parse(bytes.as_slice()).unwrap();
    assert!(torrent.is_single_file());
    assert_eq!(torrent.name().as_bytes(), b"a.txt");
    assert_eq!(
        torrent.file(0).pieces_root().map(|root| &root[..]),
        Some(ROOT.as_bytes())
    );
    let text = "versions 1 and 2 disagree: version 1 has b.txt where version 2 has a.txt";
    refused(&metainfo(&info("b.txt")), "d9:file tree", text);
}

/// libtorrent refuses the same torrent.
#[test]
fn a_single_file_has_no_empty_folder_beside_it() {
    for tree in [
        tree_file("a", 7) + "1:bde",
        format!("1:Ade{}", tree_file("a", 7)),
    ] {
        let bytes = metainfo(&format!(
            "9:file treed{tree}e6:lengthi7e12:meta versioni2e4:name1:a12:piece lengthi16384e\
             6:pieces20:{HASH}"
        ));
        let text = "versions 1 and 2 disagree: version 1 has a single file, version 2 a folder \
                    with that file and an empty folder";
        let error = refused(&bytes, format!("d{tree}e"), text);
        let Error::VersionsDisagree { difference, .. } = error else {
            panic!("{error}")
        };
        assert_eq!(difference, Difference::Folder);
    }
}

/// If version 2 could describe a single file, the list of version 1 decides, as in libtorrent.
#[test]
fn a_folder_may_have_one_file() {
    let bytes = with_both(&list_file(&["a"], 7), &tree_file("a", 7), 1);
    let torrent = Torrent::parse(bytes.as_slice()).unwrap();
    assert!(!torrent.is_single_file());
    assert_eq!(torrent.name().as_bytes(), b"n");
}

#[test]
fn padding_at_the_end_may_be_there_or_not() {
    let tree = tree_file("a", 5) + &tree_file("b", 7);
    let files = list_file(&["a"], 5) + &padding(16_379) + &list_file(&["b"], 7);
    for (rest, total) in [(0, 16_391), (1, 16_392), (16_377, 32_768)] {
        let padding = if rest > 0 {
            padding(rest)
        } else {
            String::new()
        };
        let bytes = with_both(&(files.clone() + &padding), &tree, 2);
        let torrent = Torrent::parse(bytes.as_slice()).unwrap();
        assert_eq!(torrent.lengths().total_length(), total);
    }
}

#[test]
fn what_takes_no_place_may_come_in_any_order() {
    let (link, tree_link) = links("l", "a");
    let tree = [
        tree_file("a", 5),
        format!("1:b{EMPTY_IN_TREE}"),
        format!("1:dd1:e{EMPTY_IN_TREE}e"),
        tree_link,
        tree_file("z", 5),
    ]
    .concat();
    let empties = [list_file(&["b"], 0), list_file(&["d", "e"], 0), link];
    let (first, last) = (list_file(&["a"], 5), list_file(&["z"], 5));
    for order in [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ] {
        let empties = order.map(|i| empties[i].clone()).concat();
        for files in [
            [&empties[..], &first, &padding(16_379), &last].concat(),
            [&first[..], &padding(16_379), &empties, &last].concat(),
            [&first[..], &empties, &padding(16_379), &last].concat(),
            [&first[..], &padding(16_379), &last, &empties].concat(),
        ] {
            let bytes = with_both(&files, &tree, 2);
            let torrent = Torrent::parse(bytes.as_slice()).unwrap();
            assert_eq!(torrent.files().len(), 6);
        }
    }
}

/// Refuses a hybrid torrent that contains `at` exactly once.
#[track_caller]
fn differ(files: &str, tree: &str, n_pieces: usize, at: &str, text: &str) -> Difference {
    let bytes = with_both(files, tree, n_pieces);
    let text = format!("versions 1 and 2 disagree: {text}");
    let error = refused(&bytes, at, &text);
    let Error::VersionsDisagree { difference, .. } = error else {
        panic!("{error:?}")
    };
    difference
}

#[test]
fn files_in_one_version_only() {
    let (a, b) = (list_file(&["a"], 5), list_file(&["b"], 6));
    let (tree_a, tree_b) = (tree_file("a", 5), tree_file("b", 6));
    let two = [&a[..], &padding(16_379), &b].concat();
    let text = "only version 1 has b";
    let difference = differ(&two, &tree_a, 2, "d6:lengthi6e4:path", text);
    assert!(matches!(difference, Difference::OnlyIn { version: 1, .. }));
    let text = "only version 2 has b";
    let at = "d6:lengthi6e11:";
    let difference = differ(&a, &(tree_a.clone() + &tree_b), 1, at, text);
    assert!(matches!(difference, Difference::OnlyIn { version: 2, .. }));

    // The same with an empty file before or after the common files.
    let (m, tree_m) = (list_file(&["m"], 0), format!("1:m{EMPTY_IN_TREE}"));
    for name in ["k", "z"] {
        let files = a.clone() + &m + &list_file(&[name], 0);
        let tree = tree_a.clone() + &tree_m;
        let at = format!("d6:lengthi0e4:pathl1:{name}");
        differ(&files, &tree, 1, &at, &format!("only version 1 has {name}"));

        let files = a.clone() + &m;
        // The extra attribute makes this entry the only match of `at`.
        let more = format!("1:{name}d0:d4:attr1:x6:lengthi0eee");
        let mut names = [tree_m.clone(), more];
        names.sort();
        let tree = tree_a.clone() + &names.concat();
        let text = format!("only version 2 has {name}");
        differ(&files, &tree, 1, "d4:attr1:x", &text);
    }
    let (link, tree_link) = links("l", "a");
    let files = a.clone() + &link;
    differ(&files, &tree_a, 1, "d4:attr1:l4:", "only version 1 has l");
    let tree = tree_a.clone() + &tree_link;
    differ(&a, &tree, 1, "d4:attr1:l12:", "only version 2 has l");
    // A file that is empty in version 1 and not in version 2.
    let files = a + &list_file(&["b"], 0);
    let tree = tree_a + &tree_b;
    differ(&files, &tree, 1, "d6:lengthi6e11:", "only version 2 has b");
}

#[test]
fn other_files() {
    let tree = tree_file("a", 5) + &tree_file("b", 6);
    let files = [list_file(&["b"], 6), padding(16_378), list_file(&["a"], 5)];
    let text = "version 1 has b where version 2 has a";
    let difference = differ(&files.concat(), &tree, 2, "d6:lengthi6e4:path", text);
    assert!(matches!(difference, Difference::Order { .. }));
    // A path has more than one component, and its displayed form is safe to print.
    let text = "version 1 has d/a\\u{1b} where version 2 has d";
    let files = list_file(&["d", "a\x1b"], 5);
    differ(&files, &tree_file("d", 5), 1, "d6:lengthi5e4:path", text);

    // A link and an empty file.
    let (link, tree_link) = links("l", "a");
    let a = list_file(&["a"], 5);
    let tree = tree_file("a", 5) + &format!("1:l{EMPTY_IN_TREE}");
    let text = "version 1 has the link l where version 2 has the file l";
    differ(&(a.clone() + &link), &tree, 1, "d4:attr1:l", text);
    let tree = tree_file("a", 5) + &tree_link;
    let text = "version 1 has the file l where version 2 has the link l";
    let difference = differ(&(a + &list_file(&["l"], 0)), &tree, 1, "d6:lengthi0e", text);
    assert!(matches!(difference, Difference::Order { .. }));
}

#[test]
fn lengths() {
    let text = "a has 6 bytes in version 1, 5 in version 2";
    let files = list_file(&["a"], 6);
    let difference = differ(&files, &tree_file("a", 5), 1, "d6:lengthi6e", text);
    assert!(matches!(
        difference,
        Difference::Length { v1: 6, v2: 5, .. }
    ));
}

#[test]
fn alignment() {
    let tree = tree_file("a", 5) + &tree_file("b", 6);
    for (padding, start) in [
        (String::new(), 5),
        (padding(16_378), 16_383),
        (padding(16_380), 16_385),
        (padding(32_763), 32_768),
    ] {
        let files = [&list_file(&["a"], 5)[..], &padding, &list_file(&["b"], 6)].concat();
        let text = format!(
            "b starts at byte {start} of the content in version 1, and at 16384 in version 2"
        );
        let n_pieces = 1 + start / 16_384;
        let difference = differ(&files, &tree, n_pieces, "d6:lengthi6e4:path", &text);
        assert!(matches!(
            difference,
            Difference::Alignment { v2: 16_384, .. }
        ));
    }
    // Padding before the first file.
    let files = padding(16_384) + &list_file(&["a"], 5);
    let text = "a starts at byte 16384 of the content in version 1, and at 0 in version 2";
    differ(&files, &tree_file("a", 5), 2, "d6:lengthi5e4:path", text);
}

#[test]
fn targets() {
    let (link, _) = links("l", "b");
    let (_, tree_link) = links("l", "c");
    let files = list_file(&["a"], 5) + &link;
    let tree = tree_file("a", 5) + &tree_link;
    let text = "l points to b in version 1, to c in version 2";
    let difference = differ(&files, &tree, 1, "d4:attr1:l4:", text);
    assert!(matches!(difference, Difference::Target { .. }));
}

#[test]
fn too_much_padding_at_the_end() {
    let files = list_file(&["a"], 5) + &padding(16_380);
    let text = "the content has 16385 bytes in version 1, and at most 16384 in version 2";
    let difference = differ(&files, &tree_file("a", 5), 2, "d4:attr1:p", text);
    assert!(matches!(
        difference,
        Difference::Tail {
            v1: 16_385,
            v2: 16_384
        }
    ));
    // Padding whose total length overflows.
    let max = padding(i64::MAX as u64);
    let files = list_file(&["a"], 5) + &max.repeat(3);
    let bytes = with_both(&files, &tree_file("a", 5), 1);
    assert!(Torrent::parse(bytes.as_slice()).is_err());
}

/// A padding name means padding in version 1 and an ordinary file in version 2.
#[test]
fn padding_by_name() {
    let name = "_____padding_file_0";
    let files = list_file(&["a"], 16_384) + &list_file(&[name], 5);
    let tree = tree_file(name, 5) + &tree_file("a", 16_384);
    let text = format!("version 1 has a where version 2 has {name}");
    differ(&files, &tree, 2, "d6:lengthi16384e4:path", &text);
    // Padding by name is accepted if version 2 has no such file.
    let files = list_file(&["a"], 5) + &list_file(&[name], 16_379);
    let bytes = with_both(&files, &tree_file("a", 5), 1);
    assert!(Torrent::parse(bytes.as_slice()).is_ok());
}

/// Each version's requirements apply to a hybrid.
#[test]
fn each_version_is_checked() {
    let (files, tree) = (list_file(&["a"], 5), tree_file("a", 5));
    let valid = String::from_utf8(with_both(&files, &tree, 1)).unwrap();
    assert!(Torrent::parse(valid.as_bytes()).is_ok());

    let bytes = valid.replacen(&format!("6:pieces20:{HASH}"), "", 1);
    refused(bytes.as_bytes(), "d9:file tree", "info.pieces is missing");
    let bytes = valid.replacen(&format!("20:{HASH}"), "0:", 1);
    let text = "info.pieces holds 0 piece hashes, expected 1";
    refused(bytes.as_bytes(), "0:ee", text);
    let bytes = valid.replacen("5:filesl", "5:filesde6:lengthl", 1);
    let text = "info has both length and files";
    refused(bytes.as_bytes(), "d9:file tree", text);
    let bytes = valid.replacen(ROOT, &"\0".repeat(32), 1);
    refused(bytes.as_bytes(), "32:\0", "pieces root is all zeros");
    let bytes = valid.replacen("i16384e", "i16385e", 1);
    let text = "the piece length is 16385 bytes, expected a power of two of at least 16384 bytes";
    refused(bytes.as_bytes(), "i16385e", text);
    // The requirement of sorted keys applies to the whole info dictionary, including the file list.
    let bytes = valid.replacen("d6:lengthi5e4:pathl1:aee", "d4:pathl1:ae6:lengthi5ee", 1);
    let text = "key is not greater than the previous key, but version 2 requires sorted keys";
    refused(bytes.as_bytes(), "6:lengthi5ee", text);
}

/// Without a list of files, a torrent with piece hashes is not a hybrid.
#[test]
fn pieces_alone_make_no_version_1() {
    let info = format!(
        "9:file treed{}e12:meta versioni2e4:name1:n12:piece lengthi16384e6:pieces20:{HASH}",
        tree_file("a", 5)
    );
    let bytes = metainfo(&info);
    let torrent = Torrent::parse(bytes.as_slice()).unwrap();
    assert_eq!(torrent.version(), Version::V2);
    assert_eq!(torrent.piece_hashes(), None);
}

/// Both versions sanitize names in the same way.
#[test]
fn repaired_names() {
    let bytes = with_both(
        &list_file(&["d/", "a/b"], 5),
        &format!("2:d/d{}e", tree_file("a/b", 5)),
        1,
    );
    let torrent = Torrent::parse(bytes.as_slice()).unwrap();
    assert_eq!(format!("{:6}|", torrent.file(0).path()), "d/ab  |");
    assert!(torrent.file(0).is_renamed());
}
