//! Parsing any torrent allocates at most 16 times the torrent's size.

use std::fmt::Write as _;

use hashlane_metainfo::Torrent;
use peak_alloc::PeakAlloc;

use crate::own_process::alone;

/// Counts the bytes allocated at one time. A reallocation that moves counts twice while it runs.
#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// Bytes that even the smallest torrent may allocate.
const CONSTANT: usize = 4 << 10;

/// Placeholders for hashes.
const HASH: &str = "piece hash, 20 bytes";
const ROOT: &str = "pieces root, which is 32 bytes..";

/// Returns a version 1 torrent of these files, preceded by a file that is not empty.
fn v1(files: &str) -> Vec<u8> {
    format!(
        "d4:infod5:filesld6:lengthi1e4:pathl4:realee{files}e4:name1:n\
         12:piece lengthi2147483647e6:pieces20:{HASH}ee"
    )
    .into_bytes()
}

/// Returns a version 2 torrent of this tree, preceded by a file that is not empty.
fn v2(tree: &str) -> Vec<u8> {
    format!(
        "d4:infod9:file treed1: d0:d6:lengthi1e11:pieces root32:{ROOT}ee{tree}e\
         12:meta versioni2e4:name1:n12:piece lengthi16384eee"
    )
    .into_bytes()
}

/// Returns a hybrid torrent with both.
fn hybrid(files: &str, tree: &str) -> Vec<u8> {
    format!(
        "d4:infod9:file treed1: d0:d6:lengthi1e11:pieces root32:{ROOT}ee{tree}e\
         5:filesld6:lengthi1e4:pathl1: ee{files}e\
         12:meta versioni2e4:name1:n12:piece lengthi16384e6:pieces20:{HASH}ee"
    )
    .into_bytes()
}

/// Returns the `n`-th name of `len` characters, in the order of names.
fn name(n: usize, len: u32) -> String {
    let digits = (0..len).rev().map(|digit| n / 64_usize.pow(digit) % 64);
    digits.map(|digit| char::from(b'0' + digit as u8)).collect()
}

/// Returns the concatenated results of `part` for each number below `n`.
fn each(n: usize, part: impl Fn(usize) -> String) -> String {
    (0..n).map(part).collect()
}

/// Returns hostile torrents of about `n` files or folders each, with a description.
#[expect(clippy::too_many_lines, reason = "one table of cases, or one session")]
fn torrents(n: usize) -> Vec<(&'static str, Vec<u8>)> {
    let empty = |path: &str| format!("d6:lengthi0e4:pathl{path}ee");
    let link = |i, target: &str| {
        let path = name(i, 3);
        format!("d4:attr1:l4:pathl3:{path}e12:symlink pathl{target}ee")
    };
    let again = empty("4:real");
    let deep = |folder: &str| each(n / 50, |i| empty(&(name(i, 3) + &folder.repeat(99))));
    let deep = |folder: &str| deep(folder).replace("pathl", "pathl3:");
    let nested = |folder: &str| {
        each(n / 90, |i| {
            let (open, close) = (folder.repeat(90), "e".repeat(90));
            format!("3:{}d{open}e{close}", name(i, 3))
        })
    };
    let file = "d0:d6:lengthi0eee";
    let plain = each(n, |i| empty(&format!("3:{}", name(i, 3))));
    let tree = each(n, |i| format!("3:{}{file}", name(i, 3)));
    let folders = each(n, |i| format!("3:{}de", name(i, 3)));
    vec![
        ("padding", v1(&"d4:attr1:p6:lengthi1ee".repeat(n))),
        ("empty files", v1(&plain)),
        ("one path twice", v1(&(plain.clone() + &again))),
        (
            "every path twice",
            v1(&each(n, |i| empty(&format!("3:{}", name(i / 2, 3))))),
        ),
        (
            "repaired names",
            v1(&each(n, |i| empty(&format!("4:/{}", name(i, 3))))),
        ),
        (
            "repaired names, each twice",
            v1(&each(n, |i| empty(&format!("4:/{}", name(i / 2, 3))))),
        ),
        ("deep paths, one twice", v1(&(deep("1:x") + &again))),
        ("deep repaired paths, one twice", v1(&(deep("0:") + &again))),
        (
            "repaired targets",
            v1(&each(n / 50, |i| link(i, &"0:".repeat(100)))),
        ),
        (
            "targets with dots",
            v1(&each(n / 50, |i| {
                link(i, &("2:..".to_owned() + &"0:".repeat(100)))
            })),
        ),
        ("a long path", v1(&empty(&"0:".repeat(n)))),
        (
            "a long target",
            v1(&link(0, &("2:..".to_owned() + &"0:".repeat(n)))),
        ),
        (
            "a long repaired name",
            v1(&empty(&format!("{}:/{}", n + 1, "x".repeat(n)))),
        ),
        (
            "a long path twice",
            v1(&empty(&format!("{}:{}", n, "x".repeat(n))).repeat(2)),
        ),
        ("a tree of empty files", v2(&tree)),
        ("a tree of empty folders", v2(&folders)),
        (
            "a tree of repaired files",
            v2(&each(n, |i| format!("4:/{}{file}", name(i, 3)))),
        ),
        (
            "a tree of repaired folders",
            v2(&each(n, |i| format!("4:/{}de", name(i, 3)))),
        ),
        (
            "one repaired folder among many",
            v2(&("2:/0de".to_owned() + &folders)),
        ),
        ("a deep tree", v2(&nested("1:xd"))),
        ("a deep tree of repaired folders", v2(&nested("1:/d"))),
        (
            "a tree with roots",
            v2(&each(n / 3, |i| {
                let i = name(i, 3);
                format!("3:{i}d0:d6:lengthi99999e11:pieces root32:{ROOT}ee")
            })),
        ),
        ("both versions", hybrid(&plain, &tree)),
        (
            "trailing bytes",
            [v1(""), "e".repeat(n).into_bytes()].concat(),
        ),
    ]
}

/// The allocations of the whole process are counted.
#[test]
fn at_most_16_times_the_input() {
    alone("allocation::at_most_16_times_the_input", parse_all);
}

fn parse_all() {
    let mut report = String::new();
    let mut is_kept = true;
    // A growing table or vector is emptiest right after it has grown.
    for n in [0, 1, 7000, 8192, 8193, 14_337] {
        for (what, bytes) in torrents(n) {
            ALLOCATOR.reset_peak_usage();
            let before = ALLOCATOR.current_usage();
            let len = bytes.len();
            let result = Torrent::parse(bytes).map(drop);
            let peak = ALLOCATOR.peak_usage() - before;
            is_kept &= peak <= 16 * len + CONSTANT;
            let verdict = result.map_or_else(|error| error.to_string(), |()| "accepted".to_owned());
            writeln!(
                report,
                "{peak:9} for {len:7} bytes, {:4} times: {what} ({n}), {verdict}",
                peak / len
            )
            .expect("strings take everything");
        }
    }
    println!("{report}");
    assert!(is_kept, "{report}");
}
