//! The same command lines and lists for coreutils and for Hashlane: output, errors and status must be equal.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::not_run::not_run;

use super::lists::{Random, digests, list};
use super::{NAMES, ours, run, tree};

/// Programs of coreutils, and the tags of their lines.
const PROGRAMS: [(&str, &str); 5] = [
    ("sha1sum", "SHA1"),
    ("md5sum", "MD5"),
    ("sha256sum", "SHA256"),
    ("sha512sum", "SHA512"),
    ("b2sum", "BLAKE2b"),
];

/// Returns the program of coreutils 9.1. Other versions have other messages.
fn theirs(name: &str) -> Option<PathBuf> {
    let path = Path::new("/usr/bin").join(name);
    let output = Command::new(&path).arg("--version").output();
    let version = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    if version.is_ok_and(|version| version.contains("(GNU coreutils) 9.1\n")) {
        return Some(path);
    }
    not_run(
        &format!("the comparison of {name}"),
        "coreutils 9.1 is not installed",
        "use Debian 12",
    );
    None
}

fn compare(theirs: &Path, name: &str, args: &[&[u8]], folder: &Path, stdin: &[u8]) {
    let expected = run(theirs, name, args, folder, stdin);
    let found = run(ours(), name, args, folder, stdin);
    let args: Vec<_> = args
        .iter()
        .map(|arg| String::from_utf8_lossy(arg))
        .collect();
    let stdin = String::from_utf8_lossy(stdin);
    assert_eq!(found, expected, "{name} {args:?} {stdin:?}");
}

#[test]
fn names_with_special_characters_match_coreutils() {
    let folder = tree();
    let others: [&[u8]; 12] = [
        b"dir",
        b"d d",
        b"dangling",
        b"loop",
        b"nope",
        b"no pe",
        b"a/b",
        b"",
        b"big",
        b"-",
        b"/dev/null",
        b"dir/",
    ];
    let long = [b'x'; 300];
    let mut args: Vec<&[u8]> = vec![b"--"];
    args.extend(NAMES);
    args.extend(others);
    args.push(&long);
    for (name, _) in PROGRAMS {
        let Some(theirs) = theirs(name) else { continue };
        for options in ["", "-b", "-t", "--tag", "-z", "--tag -z"] {
            let options = options.split_terminator(' ').map(str::as_bytes);
            let args: Vec<&[u8]> = options.chain(args.iter().copied()).collect();
            compare(&theirs, name, &args, folder.path(), b"text");
        }
    }
}

/// Valid and invalid options, in full and abbreviated.
const OPTIONS: &str = "-c -w -z -b -t -l -l8 -l7 -x --check --ignore-missing --quiet --status --warn \
    --strict --zero --binary --text --tag --length --length=16 --c --s --st --sta --t --ta --= --x \
    --check=1 --s=1 --h=1 -bct -cx - --";

#[test]
fn command_lines() {
    let folder = tree();
    let options: Vec<&[u8]> = OPTIONS.split_whitespace().map(str::as_bytes).collect();
    for name in ["sha1sum", "b2sum"] {
        let Some(theirs) = theirs(name) else { continue };
        let compare = |args: &[&[u8]]| compare(&theirs, name, args, folder.path(), b"");
        for (i, option) in options.iter().copied().enumerate() {
            let other = |step: usize| options[(step * i + 1) % options.len()];
            compare(&[option, b"a"]);
            compare(&[b"a", option]);
            compare(&[option]);
            compare(&[option, other(7), b"a"]);
            compare(&[b"-c", other(5), option, b"a"]);
        }
    }
}

#[test]
fn lengths_of_blake2b() {
    let folder = tree();
    let Some(theirs) = theirs("b2sum") else {
        return;
    };
    let lengths = "0/8/520/1024/x/-8// 16/016/0x10/+16/8k/8 /'8/99999999999999999999999/\
                   18446744073709551608/\n8/a\\b/\u{e9}";
    for length in lengths.split('/') {
        let args = [b"-l", length.as_bytes(), b"a"];
        compare(&theirs, "b2sum", &args, folder.path(), b"");
    }
}

#[test]
fn damaged_lists() {
    let options = [
        "-c",
        "-cw",
        "-c --strict",
        "-c --quiet",
        "-c --status",
        "-c --ignore-missing",
        "-c --ignore-missing --quiet --strict",
        "-c --status -w",
        "-c --quiet --warn --strict",
    ];
    let folder = tree();
    for (name, tag) in PROGRAMS {
        let Some(theirs) = theirs(name) else { continue };
        let digests = digests(folder.path(), &theirs, name);
        let mut random = Random(name.len() as u64);
        for i in 0..60 {
            let (first, second) = (
                list(&mut random, tag, &digests),
                list(&mut random, tag, &digests),
            );
            fs::write(folder.path().join("list"), &first).unwrap();
            let files = ["list", "-", "list - dir nope"][i % 3].split(' ');
            let options = options[random.below(options.len())].split(' ');
            let args: Vec<&[u8]> = options.chain(files).map(str::as_bytes).collect();
            compare(&theirs, name, &args, folder.path(), &second);
        }
    }
}
