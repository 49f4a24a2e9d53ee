//! `digest` and `mac`, compared with the output of the Solaris programs and with vectors of NIST and of the RFCs.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use hashlane_cli::Exit;

use crate::fixture::{Ended, end, hashlane};
use crate::in_process::run_with;

const NIST: &str = include_str!("../../../sha/tests/vectors/nist-cavp/HMAC_SHA1_SHA256.rsp");
const RFC_2202: &str = include_str!("../../../sha/tests/vectors/rfc/rfc-2202-sha1.txt");
const RFC_4231: &str = include_str!("../../../sha/tests/vectors/rfc/rfc-4231-sha256.txt");

/// Runs in a folder with the files `a` and `b`, which contain `abc` and nothing.
fn run_in(folder: &Path, args: &[&str]) -> Ended {
    fs::write(folder.join("a"), "abc").unwrap();
    fs::write(folder.join("b"), "").unwrap();
    fs::write(folder.join("key"), "Jefe").unwrap();
    end(hashlane().current_dir(folder).args(args))
}

#[track_caller]
fn assert_ended(args: &[&str], code: i32, stdout: &str, stderr: &str) {
    let folder = tempfile::tempdir().unwrap();
    let ended = run_in(folder.path(), args);
    let expected = Ended {
        code: Some(code),
        stdout: stdout.into(),
        stderr: stderr.into(),
    };
    assert_eq!(ended, expected, "{args:?}");
}

/// Returns the bytes of hexadecimal digits.
fn bytes(hex: &str) -> Vec<u8> {
    let digits = hex.as_bytes().chunks(2);
    let text = digits.map(|two| std::str::from_utf8(two).unwrap());
    text.map(|two| u8::from_str_radix(two, 16).unwrap())
        .collect()
}

/// Returns the key, message and MAC of each case in a file: keys and MACs as digits.
fn cases<'f>(file: &'f str, mac: &str) -> Vec<(&'f str, Vec<u8>, &'f str)> {
    let (mut key, mut message) = ("", Vec::new());
    let mut cases = Vec::new();
    for line in file.lines() {
        match line.split_once(" = ") {
            Some(("Key", value)) => key = value.trim(),
            Some(("Msg", value)) => message = bytes(value.trim()),
            Some((name, value)) if name == mac => cases.push((key, message.clone(), value.trim())),
            _ => {}
        }
    }
    cases
}

#[test]
fn macs_of_nist() {
    let (sha1, sha256) = NIST.split_once("[L=32]").unwrap();
    for (algorithm, section) in [("sha1_hmac", sha1), ("sha256_hmac", sha256)] {
        let cases = cases(section, "Mac");
        assert!(cases.len() >= 225, "{} cases", cases.len());
        for (key, message, tag) in cases {
            let args = ["mac", "-a", algorithm, "--key-hex", key];
            let (exit, stdout, stderr) = run_with(&args, |env| {
                env.stdin = Box::new(io::Cursor::new(message));
            });
            assert_eq!((exit, stderr.as_str()), (Exit::Good, ""));
            // Some cases have the first bytes of the MAC only.
            assert!(stdout.starts_with(tag), "{algorithm} {key}: {stdout}");
        }
    }
}

#[test]
fn macs_of_the_rfcs_in_processes() {
    let folder = tempfile::tempdir().unwrap();
    for (algorithm, file) in [("sha1_hmac", RFC_2202), ("sha256_hmac", RFC_4231)] {
        let cases = cases(file, "MD");
        assert!(cases.len() >= 6, "{} cases", cases.len());
        for (key, message, mac) in cases {
            fs::write(folder.path().join("key"), bytes(key)).unwrap();
            fs::write(folder.path().join("m"), message).unwrap();
            let args = ["mac", "-a", algorithm, "-k", "key", "m"];
            let ended = end(hashlane().current_dir(folder.path()).args(args));
            assert_eq!((ended.code, ended.stdout), (Some(0), format!("{mac}\n")));
        }
    }
}

#[test]
fn digests_and_macs_of_every_algorithm() {
    for (algorithm, expected) in [
        ("sha1", "a9993e364706816aba3e25717850c26c9cd0d89d"),
        ("md5", "900150983cd24fb0d6963f7d28e17f72"),
        (
            "sha224",
            "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7",
        ),
        (
            "sha256",
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        ),
        (
            "sha384",
            "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed\
             8086072ba1e7cc2358baeca134c825a7",
        ),
        (
            "sha512",
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a\
             2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
        ),
    ] {
        let expected = format!("{expected}\n");
        assert_ended(&["digest", "-a", algorithm, "a"], 0, &expected, "");
    }
    // RFC 2202 and RFC 4231, test case 2.
    for (algorithm, expected) in [
        ("md5_hmac", "750c783e6ab0b503eaa86e310a5db738"),
        (
            "sha224_hmac",
            "a30e01098bc6dbbf45690f3a7e9e6d0f8bbea2a39e6148008fd05e44",
        ),
        (
            "sha384_hmac",
            "af45d2e376484031617f78d2b58a6b1b9c7ef464f5a01b47e42ec3736322445e\
             8e2240ca5e69e2c78b3239ecfab21649",
        ),
        (
            "sha512_hmac",
            "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea250554\
             9758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737",
        ),
    ] {
        let args = ["mac", "-a", algorithm, "--key-hex=4A656665"];
        let (exit, stdout, _) = run_with(&args, |env| {
            env.stdin = Box::new(&b"what do ya want for nothing?"[..]);
        });
        assert_eq!((exit, stdout), (Exit::Good, format!("{expected}\n")));
    }
}

#[test]
fn results_have_the_form_of_solaris() {
    let (abc, empty) = (
        "a9993e364706816aba3e25717850c26c9cd0d89d",
        "da39a3ee5e6b4b0d3255bfef95601890afd80709",
    );
    for (args, stdout) in [
        (&["digest", "-a", "sha1"][..], format!("{empty}\n")),
        (&["digest", "-v", "-a", "sha1"], format!("sha1 {empty}\n")),
        (&["digest", "-asha1", "a"], format!("{abc}\n")),
        (
            &["digest", "-va", "sha1", "--", "a"],
            format!("sha1 (a) = {abc}\n"),
        ),
        (
            &["digest", "-a", "sha1", "a", "b"],
            format!("(a) = {abc}\n(b) = {empty}\n"),
        ),
        (
            &["digest", "-v", "-a", "sha1", "a", "b"],
            format!("sha1 (a) = {abc}\nsha1 (b) = {empty}\n"),
        ),
        (
            &["digest", "-l"],
            "sha1\nmd5\nsha224\nsha256\nsha384\nsha512\n".into(),
        ),
        (
            &["mac", "-l"],
            "Algorithm       Keysize:  Min   Max (bits)\n\
             ------------------------------------------\n\
             sha1_hmac                   8   any\n\
             md5_hmac                    8   any\n\
             sha224_hmac                 8   any\n\
             sha256_hmac                 8   any\n\
             sha384_hmac                 8   any\n\
             sha512_hmac                 8   any\n"
                .into(),
        ),
    ] {
        assert_ended(args, 0, &stdout, "");
    }
}

#[test]
fn usage_errors_exit_with_2() {
    let digest = "usage: digest -l | [-v] -a <algorithm> [file...]\n";
    for (args, reason) in [
        (&["digest"][..], ""),
        (&["digest", "a"], ""),
        (&["digest", "-l", "-a", "sha1"], ""),
        (&["digest", "-l", "a"], ""),
        (
            &["digest", "-a"],
            "digest: option requires an argument -- a\n",
        ),
        (
            &["digest", "-k", "key", "-a", "sha1"],
            "digest: illegal option -- k\n",
        ),
        (
            &["digest", "--verify", "00", "-a", "sha1"],
            "digest: illegal option -- verify\n",
        ),
        (&["digest", "-\x1b"], "digest: illegal option -- \\x1b\n"),
    ] {
        assert_ended(args, 2, "", &format!("{reason}{digest}"));
    }
    let folder = tempfile::tempdir().unwrap();
    for args in [
        &["mac"][..],
        &["mac", "-a", "sha1_hmac", "-K", "label"],
        &["mac", "-a", "sha1_hmac", "-T", "token"],
        &["mac", "-a", "sha1_hmac", "-k", "key", "--key-hex", "00"],
        &["mac", "-a", "sha1_hmac", "--key-hex", "0"],
        &["mac", "-a", "sha1_hmac", "-k", "key", "--bits", "all"],
        &[
            "mac",
            "-a",
            "sha1_hmac",
            "-k",
            "key",
            "--verify",
            "00",
            "a",
            "b",
        ],
    ] {
        let ended = run_in(folder.path(), args);
        assert_eq!(
            (ended.code, ended.stdout.as_str()),
            (Some(2), ""),
            "{args:?}"
        );
        assert!(ended.stderr.contains("usage: mac -l | "), "{ended:?}");
    }
}

#[test]
fn errors_of_algorithms_and_keys_exit_with_1() {
    for (args, stderr) in [
        (
            &["digest", "-a", "X", "a"][..],
            "digest: unknown algorithm -- X\n",
        ),
        (
            &["digest", "-a", "sha1_hmac", "a"],
            "digest: unknown algorithm -- sha1_hmac\n",
        ),
        (
            &["digest", "-a", "\x1b[2J"],
            "digest: unknown algorithm -- \\u{1b}[2J\n",
        ),
        (
            &["mac", "-a", "sha1", "-k", "key", "a"],
            "mac: unknown algorithm -- sha1\n",
        ),
        (
            &["mac", "-a", "sha1_hmac", "-k", "b", "a"],
            "mac: invalid key.\n",
        ),
        (
            &["mac", "-a", "sha1_hmac", "--key-hex", "", "a"],
            "mac: invalid key.\n",
        ),
        (
            &["mac", "-a", "sha1_hmac", "--key-env", "HASHLANE_NO", "a"],
            "mac: invalid key.\n",
        ),
        (
            &["mac", "-a", "sha1_hmac", "-k", "no", "a"],
            "mac: can not read key file no: No such file or directory (os error 2)\n",
        ),
    ] {
        assert_ended(args, 1, "", stderr);
    }
}

#[test]
#[cfg(unix)]
fn an_endless_key_file_is_refused() {
    let args = ["mac", "-a", "sha1_hmac", "-k", "/dev/zero", "a"];
    let stderr =
        "mac: can not read key file /dev/zero: the file exceeds the maximum of 1048576 bytes\n";
    assert_ended(&args, 1, "", stderr);
}

#[test]
#[cfg(unix)]
fn the_last_error_of_a_file_decides() {
    let abc = "a9993e364706816aba3e25717850c26c9cd0d89d";
    let absent = "digest: can not open input file no: No such file or directory (os error 2)\n";
    let folder = "digest: error reading file .: Is a directory (os error 21)\n";
    for (args, code, stderr) in [
        (["no", "a"], 2, absent.to_owned()),
        (["a", "no"], 2, absent.to_owned()),
        ([".", "a"], 1, folder.to_owned()),
    ] {
        let args = [&["digest", "-a", "sha1"], &args[..]].concat();
        assert_ended(&args, code, &format!("(a) = {abc}\n"), &stderr);
    }
    let args = ["digest", "-a", "sha1", "no", ".", "a"];
    assert_ended(
        &args,
        1,
        &format!("(a) = {abc}\n"),
        &format!("{absent}{folder}"),
    );
    let args = ["digest", "-a", "sha1", ".", "no", "a"];
    assert_ended(
        &args,
        2,
        &format!("(a) = {abc}\n"),
        &format!("{folder}{absent}"),
    );
}

#[test]
fn a_mac_is_verified() {
    // HMAC-SHA1 of the file `a` with the key `Jefe`.
    let folder = tempfile::tempdir().unwrap();
    let mac = run_in(folder.path(), &["mac", "-a", "sha1_hmac", "-k", "key", "a"]).stdout;
    let mac = mac.trim();
    let with = |mac: &str| {
        let args = [
            "mac",
            "-a",
            "sha1_hmac",
            "--key-file",
            "key",
            "--verify",
            mac,
            "a",
        ];
        run_in(folder.path(), &args)
    };
    let good = with(&mac.to_uppercase());
    assert_eq!(
        (good.code, good.stdout, good.stderr),
        (Some(0), String::new(), String::new())
    );
    let flipped = format!(
        "{}{}",
        &mac[..39],
        if mac.ends_with('0') { '1' } else { '0' }
    );
    for (wrong, reason) in [
        (&flipped[..], "the MAC does not match the message"),
        (
            &mac[..38],
            "--verify: the MAC has 152 bits instead of 160; --bits is for truncated MACs",
        ),
        (
            "",
            "--verify: the MAC has 0 bits instead of 160; --bits is for truncated MACs",
        ),
    ] {
        let bad = with(wrong);
        assert_eq!(bad.code, Some(1), "{bad:?}");
        assert_eq!(bad.stderr, format!("mac: {reason}\n"));
    }
}

/// The MAC of HMAC-SHA256-128 is that of RFC 4868 section 2.7.2.1, test case AUTH256-2.
#[test]
fn a_truncated_mac_is_printed_and_verified() {
    let key = "4a656665".repeat(8);
    let run = |algorithm: &str, bits: &str, verify: &[&str]| {
        let args = ["mac", "-a", algorithm, "--key-hex", &key, "--bits", bits];
        run_with(&[&args[..], verify].concat(), |env| {
            env.stdin = Box::new(&b"what do ya want for nothing?"[..]);
        })
    };
    for (algorithm, bits, mac) in [
        ("sha256_hmac", "128", "167f928588c5cc2eef8e3093caa0e87c"),
        ("sha1_hmac", "96", "2dbbf8a3b392b4b98d75ee0e"),
    ] {
        let printed = (Exit::Good, format!("{mac}\n"), String::new());
        assert_eq!(run(algorithm, bits, &[]), printed);
        let right = (Exit::Good, String::new(), String::new());
        assert_eq!(run(algorithm, bits, &["--verify", mac]), right);
        let (exit, _, stderr) = run(algorithm, bits, &["--verify", &mac[2..]]);
        assert_eq!(exit, Exit::Bad);
        assert!(stderr.contains(&format!("instead of {bits}")), "{stderr}");
        let zeros = "0".repeat(mac.len());
        let (exit, _, stderr) = run(algorithm, bits, &["--verify", &zeros]);
        assert_eq!(exit, Exit::Bad);
        assert_eq!(stderr, "mac: the MAC does not match the message\n");
    }
    // RFC 2104 section 5 allows no shorter MACs.
    for (algorithm, bits, limits) in [
        ("sha256_hmac", "120", "128 to 256"),
        ("sha256_hmac", "264", "128 to 256"),
        ("sha256_hmac", "129", "128 to 256"),
        ("sha1_hmac", "72", "80 to 160"),
        ("md5_hmac", "64", "80 to 128"),
    ] {
        let (exit, stdout, stderr) = run(algorithm, bits, &[]);
        assert_eq!((exit, stdout.as_str()), (Exit::NotChecked, ""));
        let reason = format!("--bits {bits}: a MAC of {algorithm} has {limits} bits");
        assert!(stderr.contains(&reason), "{stderr}");
    }
}

#[test]
#[cfg(unix)]
fn a_link_calls_the_program_of_its_name() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["digest", "mac"] {
        let link = folder.path().join(name);
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_hashlane"), &link).unwrap();
        let linked = end(Command::new(&link).arg("-l").stdin(Stdio::null()));
        let called = end(hashlane().args([name, "-l"]));
        assert_eq!(linked, called);
        assert_eq!(linked.code, Some(0));
    }
}

#[test]
#[cfg(target_os = "linux")]
fn output_that_cannot_be_written_is_an_error() {
    for args in [&["digest", "-l"][..], &["digest", "-a", "sha1"]] {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let ended = end(hashlane().args(args).stdout(full));
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(
            ended
                .stderr
                .starts_with("digest: standard output: No space left"),
            "{ended:?}"
        );
        assert_eq!(ended.stderr.lines().count(), 1, "{ended:?}");
    }
}

/// Without a terminal, the passphrase is the first line of the standard input. The expected MAC is of Python's hashlib.
#[test]
#[cfg(target_os = "linux")]
fn a_passphrase_becomes_a_key() {
    let mut command = Command::new("setsid");
    command
        .args([
            "--wait",
            env!("CARGO_BIN_EXE_hashlane"),
            "mac",
            "-a",
            "sha1_hmac",
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    if !crate::not_run::is_installed("SETSID", "setsid", "util-linux") {
        return;
    }
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"password\nabc").unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(output.stdout, b"0875cc42336de4b9b4852af3d9ccb721d42ef070\n");
    assert_eq!(output.stderr, b"Enter key: ");
}
