//! Results that were recorded from coreutils 9.1.

use super::{Ended, NAMES, ours, run, shell, tree};

const A: &str = "86f7e437faa5a7fce15d1ddcb9eaeaea377667b8";

/// Runs the program with `args`, separated by spaces, and compares.
fn expect(name: &str, args: &str, stdin: &str, code: i32, both: &str) {
    let folder = tree();
    let args: Vec<&[u8]> = args.split_terminator(' ').map(str::as_bytes).collect();
    let ended = run(ours(), name, &args, folder.path(), stdin.as_bytes());
    let expected = Ended {
        code: Some(code),
        signal: None,
        both: both.as_bytes().to_vec(),
    };
    assert_eq!(ended, expected, "{name} {args:?} {stdin:?}");
}

#[test]
fn digests_of_each_program() {
    for (name, digest) in [
        ("md5sum", "0cc175b9c0f1b6a831c399e269772661"),
        ("sha1sum", A),
        (
            "sha224sum",
            "abd37534c7d9a2efb9465de931cd7055ffdb8879563ae98078d6d6d5",
        ),
        (
            "sha256sum",
            "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb",
        ),
        (
            "sha384sum",
            "54a59b9f22b0b80880d8427e548b7c23abd873486e1f035dce9cd697e85175033caa88e6d57bc35efae0b5afd3145f31",
        ),
        (
            "sha512sum",
            "1f40fc92da241694750979ee6cf582f2d5d7d28e18335de05abc54d0560e0f5302860c652bf08d560252aa5e74210546f369fbbbce8c12cfc7957b2652fe9a75",
        ),
        (
            "b2sum",
            "333fcb4ee1aa7c115355ec66ceac917c8bfd815bf7587d325aec1864edd24e34d5abe2c6b1b5ee3face62fed78dbef802f2a85cb91d455a8f5249d330853cb3c",
        ),
        (
            "b3sum",
            "17762fddd969a453925d65717ac3eea21320b66b54342fde15128d6caf21215f",
        ),
    ] {
        expect(name, "a", "", 0, &format!("{digest}  a\n"));
        expect(name, "", "a", 0, &format!("{digest}  -\n"));
        expect(name, "-c", &format!("{digest}  a\n"), 0, "a: OK\n");
        let upper = digest.to_uppercase();
        expect(name, "-c", &format!("{upper} *a\n"), 0, "a: OK\n");
    }
}

#[test]
fn lines() {
    expect("sha1sum", "-b a", "", 0, &format!("{A} *a\n"));
    expect("sha1sum", "--tag a", "", 0, &format!("SHA1 (a) = {A}\n"));
    expect("sha1sum", "-z a", "", 0, &format!("{A}  a\0"));
    expect("b2sum", "-l 16 --tag a", "", 0, "BLAKE2b-16 (a) = 1e1b\n");
    let folder = tree();
    let ended = run(ours(), "sha1sum", &[b"n\nl"], folder.path(), b"");
    let expected = "\\e8d31e41940d2c7a9e2515bf7d99ef7f511c0924  n\\nl\n";
    assert_eq!(String::from_utf8(ended.both).unwrap(), expected);
}

#[test]
fn errors_stand_between_the_lines() {
    expect(
        "sha1sum",
        "a nope dir a",
        "",
        1,
        &format!(
            "{A}  a\nsha1sum: nope: No such file or directory\nsha1sum: dir: Is a directory\n{A}  a\n"
        ),
    );
}

#[test]
fn checks() {
    let wrong = "0".repeat(40);
    for (options, list, code, both) in [
        (
            "-c",
            format!("{A}  a\n{wrong}  a\n{A}  nope\njunk\n# c\n\n"),
            1,
            "a: OK\na: FAILED\nsha1sum: nope: No such file or directory\nnope: FAILED open or read\n\
             sha1sum: WARNING: 1 line is improperly formatted\n\
             sha1sum: WARNING: 1 listed file could not be read\n\
             sha1sum: WARNING: 1 computed checksum did NOT match\n",
        ),
        (
            "-cw",
            format!("{A}  a\njunk\r\n{A}\n"),
            0,
            "a: OK\nsha1sum: 'standard input': 2: improperly formatted SHA1 checksum line\n\
             sha1sum: 'standard input': 3: improperly formatted SHA1 checksum line\n\
             sha1sum: WARNING: 2 lines are improperly formatted\n",
        ),
        (
            "-c --strict",
            format!("{A}  a\njunk\n"),
            1,
            "a: OK\nsha1sum: WARNING: 1 line is improperly formatted\n",
        ),
        ("-c --quiet", format!("{A}  a\n"), 0, ""),
        ("-c --status", format!("{wrong}  a\n"), 1, ""),
        (
            "-c --ignore-missing",
            format!("{A}  nope\n"),
            1,
            "sha1sum: 'standard input': no file was verified\n",
        ),
        (
            "-c --ignore-missing",
            format!("{A}  nope\n{A}  a\n"),
            0,
            "a: OK\n",
        ),
        (
            "-c",
            String::new(),
            1,
            "sha1sum: 'standard input': no properly formatted checksum lines found\n",
        ),
        (
            "-c",
            format!("{A}  -\n"),
            1,
            "sha1sum: 'standard input': no properly formatted checksum lines found\n",
        ),
        ("-c", format!("SHA1(a)= {A}"), 0, "a: OK\n"),
        ("-c", format!("{A} a\n{A} a\n"), 0, "a: OK\na: OK\n"),
        ("-c dir", String::new(), 1, "sha1sum: dir: read error\n"),
    ] {
        expect("sha1sum", options, &list, code, both);
    }
}

#[test]
fn wrong_usage() {
    let help = "Try 'sha1sum --help' for more information.\n";
    for (args, message) in [
        ("-x", "invalid option -- 'x'"),
        ("--bogus", "unrecognized option '--bogus'"),
        (
            "--st a",
            "option '--st' is ambiguous; possibilities: '--status' '--strict'",
        ),
        ("--check=1", "option '--check' doesn't allow an argument"),
        ("--tag -t a", "--tag does not support --text mode"),
        (
            "-cz a",
            "the --zero option is not supported when verifying checksums",
        ),
        (
            "-w a",
            "the --warn option is meaningful only when verifying checksums",
        ),
    ] {
        expect(
            "sha1sum",
            args,
            "",
            1,
            &format!("sha1sum: {message}\n{help}"),
        );
    }
    let messages = "b2sum: invalid length: '7'\nb2sum: length is not a multiple of 8\n";
    expect("b2sum", "-l 7 a", "", 1, messages);
}

#[test]
fn help_and_version() {
    let folder = tree();
    for option in [b"--help", b"--vers"] {
        let ended = run(ours(), "sha256sum", &[b"-x", option], folder.path(), b"");
        assert_eq!(ended.code, Some(1), "the first error counts");
        let ended = run(ours(), "sha256sum", &[option, b"-x"], folder.path(), b"");
        assert_eq!(ended.code, Some(0), "{ended:?}");
        assert!(!ended.both.is_empty());
    }
}

/// `hashlane sha1sum` is the same program as the link.
#[test]
fn the_first_argument_names_the_program() {
    let folder = tree();
    let ended = run(
        ours(),
        "hashlane",
        &[b"sha1sum", b"nope", b"a"],
        folder.path(),
        b"",
    );
    let expected = format!("sha1sum: nope: No such file or directory\n{A}  a\n");
    assert_eq!(String::from_utf8(ended.both).unwrap(), expected);
    let ended = run(ours(), "/x/sha1sum", &[b"nope"], folder.path(), b"");
    let expected = b"/x/sha1sum: nope: No such file or directory\n";
    assert_eq!(ended.both, expected);
}

#[test]
fn streams_that_are_closed_or_full() {
    let folder = tree();
    let error = |text: &str| format!("sha1sum: {text}\n");
    for (line, code, both) in [
        ("sha1sum a > /dev/full", 1, error("write error")),
        ("sha1sum --help > /dev/full", 1, error("write error")),
        (
            "sha1sum nope a > /dev/full",
            1,
            error("nope: No such file or directory") + &error("write error"),
        ),
        (
            "sha1sum a >&-",
            1,
            error("write error: Bad file descriptor"),
        ),
        (
            "sha1sum nope >&-",
            1,
            error("nope: No such file or directory"),
        ),
        (
            "sha1sum <&-",
            1,
            error("-: Bad file descriptor") + &error("standard input: Bad file descriptor"),
        ),
        ("sha1sum a > /dev/null", 0, String::new()),
        ("sha1sum nope 2> /dev/full", 1, String::new()),
        // The pipe is closed before anything is written: the signal ends the process.
        (
            "{ sleep 0.1; sha1sum a; echo $? >&2; } | true",
            0,
            "141\n".into(),
        ),
        (
            "{ trap '' PIPE; sleep 0.1; sha1sum a; echo $? >&2; } | true",
            0,
            error("write error") + "1\n",
        ),
    ] {
        let ended = shell(line, folder.path());
        let text = String::from_utf8_lossy(&ended.both);
        assert_eq!((ended.code, &*text), (Some(code), &*both), "{line}");
    }
}

/// A pipe is opened only in its turn: the writer of the second pipe waits for the first.
#[test]
fn pipes_are_read_in_their_order() {
    let folder = tree();
    let line =
        "mkfifo one two; { head -c 300000 big > one; printf a > two; } & sha1sum a one two -";
    let ended = shell(line, folder.path());
    let text = String::from_utf8(ended.both).unwrap();
    let names: Vec<&str> = text.lines().map(|line| &line[42..]).collect();
    assert_eq!(names, ["a", "one", "two", "-"], "{text}");
    assert_eq!(text.lines().nth(2), Some(&*format!("{A}  two")));
    let ended = shell("head -c 300000 big | sha1sum", folder.path());
    let one = text.lines().nth(1).map(|line| &line[..40]);
    assert_eq!(str::from_utf8(&ended.both[..40]).ok(), one);
}

/// Files of `/proc` have the length 0.
#[test]
fn files_of_unknown_length_are_read_to_their_end() {
    let folder = tree();
    let ended = shell(
        "sha1sum /proc/version && sha1sum < /proc/version",
        folder.path(),
    );
    let text = String::from_utf8(ended.both).unwrap();
    let mut lines = text.lines().map(|line| &line[..40]);
    let first = lines.next();
    assert_eq!(first, lines.next(), "{text}");
    assert_ne!(first, Some("da39a3ee5e6b4b0d3255bfef95601890afd80709"));
}

#[test]
fn the_lines_of_all_names_are_a_list_that_checks() {
    let folder = tree();
    for options in [&[b"--" as &[u8]][..], &[b"--tag", b"--"], &[b"-b", b"--"]] {
        let args = [options, &NAMES].concat();
        let list = run(ours(), "sha256sum", &args, folder.path(), b"").both;
        let ended = run(
            ours(),
            "sha256sum",
            &[b"-c", b"--strict", b"--quiet"],
            folder.path(),
            &list,
        );
        let expected = Ended {
            code: Some(0),
            signal: None,
            both: Vec::new(),
        };
        assert_eq!(ended, expected);
    }
}

/// The memory of a process cannot be read at address 0. A failing disk gives the same error.
#[test]
fn an_error_while_reading_does_not_end_the_run() {
    let folder = tree();
    let ended = shell("sha1sum a /proc/self/mem a", folder.path());
    let text = String::from_utf8(ended.both).unwrap();
    let error = "sha1sum: /proc/self/mem: Input/output error\n";
    assert_eq!(text, format!("{A}  a\n{A}  a\n{error}"));
    assert_eq!(ended.code, Some(1));
}

#[test]
fn many_files_need_few_descriptors() {
    let folder = tree();
    let names: Vec<String> = (0..2000).map(|i| format!("many{i:04}")).collect();
    for name in &names {
        std::fs::write(folder.path().join(name), name).unwrap();
    }
    let ended = shell(
        "ulimit -n 24; sha1sum many*; sha1sum many* | sha1sum -c --quiet",
        folder.path(),
    );
    let text = String::from_utf8(ended.both).unwrap();
    let found: Vec<&str> = text.lines().filter_map(|line| line.get(42..)).collect();
    assert_eq!(found, names);
    assert_eq!(ended.code, Some(0));
}
