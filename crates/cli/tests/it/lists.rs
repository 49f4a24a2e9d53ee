//! Lists of `hashlane sum --format` that other programs check, and lists of these programs.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::fixture::{Ended, end, hashlane};
use crate::not_run::is_installed;

/// Names that all formats can have.
const FILES: [(&str, &str); 4] = [("a", "a"), ("d/b c", "b"), ("d/e/é", "e"), ("zero", "")];

fn tree() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for (name, text) in FILES {
        let path = root.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    root
}

fn run(folder: &Path, program: &str, args: &[&str]) -> Ended {
    end(Command::new(program).current_dir(folder).args(args))
}

/// Writes the list of all files of a tree, beside the tree.
fn write_list(root: &Path, format: &str, more: &[&str]) -> tempfile::TempPath {
    let list = tempfile::NamedTempFile::new().unwrap().into_temp_path();
    let mut sum = hashlane();
    sum.current_dir(root)
        .args(["sum", "-r", ".", "--format", format, "--force", "-o"])
        .arg(&list)
        .args(more);
    let ended = end(&mut sum);
    assert_eq!(
        (ended.code, ended.stderr.as_str()),
        (Some(0), ""),
        "{format}"
    );
    list
}

/// Checks a list with this program.
fn check(root: &Path, list: &Path) -> Ended {
    end(hashlane()
        .current_dir(root)
        .args(["sum", "--check"])
        .arg(list))
}

#[test]
fn each_format_is_read_again() {
    let root = tree();
    for format in ["gnu", "bsd", "hashdeep", "mtree", "sfv"] {
        let list = write_list(root.path(), format, &[]);
        let ended = check(root.path(), &list);
        assert_eq!(
            ended.code,
            Some(0),
            "{format}: {}{}",
            ended.stdout,
            ended.stderr
        );
        assert_eq!(ended.stdout, "4 files right\n", "{format}");
        fs::write(root.path().join("d/b c"), "x").unwrap();
        let ended = check(root.path(), &list);
        assert_eq!(ended.code, Some(1), "{format}");
        assert!(
            ended.stdout.contains("changed     "),
            "{format}: {}",
            ended.stdout
        );
        fs::write(root.path().join("d/b c"), "b").unwrap();
    }
}

#[test]
fn formats_refuse_what_they_cannot_have() {
    let root = tree();
    fs::write(root.path().join("line\nfeed"), "x").unwrap();
    for (format, code) in [("hashdeep", 2), ("sfv", 2), ("mtree", 0), ("gnu", 0)] {
        let ended = end(hashlane()
            .current_dir(root.path())
            .args(["sum", "-r", ".", "--format", format]));
        assert_eq!(ended.code, Some(code), "{format}: {}", ended.stderr);
        let message = "--format: the format cannot have this name\n";
        assert_eq!(
            ended.stderr.ends_with(message),
            code == 2,
            "{format}: {}",
            ended.stderr
        );
        assert!(ended.stdout.contains("zero"), "{format}");
    }
    for (args, message) in [
        (
            &["--format", "sfv", "-a", "md5"][..],
            "the format cannot have MD5",
        ),
        (
            &["--format", "hashdeep", "-a", "sha512"],
            "the format cannot have SHA512",
        ),
        (
            &["--format", "mtree", "-a", "blake3"],
            "the format cannot have BLAKE3",
        ),
        (
            &["--format", "mtree", "-a", "git"],
            "--format: a tree hash has none",
        ),
        (&["--format", "mtree", "--json"], "cannot be used with"),
    ] {
        let ended = end(hashlane()
            .current_dir(root.path())
            .args(["sum", "a"])
            .args(args));
        assert_eq!(ended.code, Some(2), "{args:?}");
        assert!(ended.stderr.contains(message), "{args:?}: {}", ended.stderr);
    }
    let outside = end(hashlane()
        .current_dir(root.path().join("d"))
        .args(["sum", "../a", "--format", "mtree"]));
    assert_eq!(outside.code, Some(2));
}

#[test]
fn hashdeep_audits_a_list_and_its_list_is_checked() {
    if !is_installed("LISTS", "hashdeep", "hashdeep") {
        return;
    }
    let root = tree();
    for algorithms in ["md5,sha256", "sha1"] {
        let list = write_list(root.path(), "hashdeep", &["-a", algorithms]);
        let list = list.to_str().unwrap();
        let audit = ["-r", "-l", "-a", "-v", "-k", list, "."];
        let ended = run(root.path(), "hashdeep", &audit);
        assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
        assert!(
            ended.stdout.contains("Files matched: 4"),
            "{}",
            ended.stdout
        );
        fs::write(root.path().join("a"), "x").unwrap();
        assert_ne!(run(root.path(), "hashdeep", &audit).code, Some(0));
        fs::write(root.path().join("a"), "a").unwrap();
    }
    let theirs = run(root.path(), "hashdeep", &["-r", "-l", "."]);
    let list = tempfile::NamedTempFile::new().unwrap();
    fs::write(list.path(), theirs.stdout).unwrap();
    let ended = check(root.path(), list.path());
    assert_eq!(
        (ended.code, ended.stdout.as_str()),
        (Some(0), "4 files right\n"),
        "{}",
        ended.stderr
    );
}

#[test]
fn mtree_checks_a_specification_and_its_own_is_checked() {
    if !is_installed("LISTS", "mtree", "mtree-netbsd") {
        return;
    }
    let root = tree();
    fs::write(root.path().join("odd #*\\=\n\té"), "odd").unwrap();
    for algorithms in ["sha256", "md5,sha1,sha384,sha512"] {
        let list = write_list(root.path(), "mtree", &["-a", algorithms]);
        let args = ["-f", list.to_str().unwrap(), "-p", "."];
        let ended = run(root.path(), "mtree", &args);
        assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
        fs::write(root.path().join("d/b c"), "x").unwrap();
        let ended = run(root.path(), "mtree", &args);
        assert_ne!(ended.code, Some(0), "{}", ended.stdout);
        assert!(ended.stdout.contains("b c"), "{}", ended.stdout);
        fs::write(root.path().join("d/b c"), "b").unwrap();
    }
    for args in [
        &["-c", "-k", "type,size,sha256,md5"][..],
        &["-c", "-K", "sha1"],
    ] {
        let theirs = run(root.path(), "mtree", &[args, &["-p", "."]].concat());
        let list = tempfile::NamedTempFile::new().unwrap();
        fs::write(list.path(), &theirs.stdout).unwrap();
        let ended = check(root.path(), list.path());
        let found = (ended.code, ended.stdout.as_str());
        assert_eq!(
            found,
            (Some(0), "5 files right\n"),
            "{args:?}: {}{}",
            theirs.stdout,
            ended.stderr
        );
    }
}

#[test]
fn cksfv_checks_a_list_and_its_list_is_checked() {
    if !is_installed("LISTS", "cksfv", "cksfv") {
        return;
    }
    let root = tree();
    let list = write_list(root.path(), "sfv", &[]);
    let args = ["-q", "-f", list.to_str().unwrap()];
    let ended = run(root.path(), "cksfv", &args);
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    fs::write(root.path().join("a"), "x").unwrap();
    assert_ne!(run(root.path(), "cksfv", &args).code, Some(0));
    fs::write(root.path().join("a"), "a").unwrap();
    let theirs = run(root.path(), "cksfv", &["a", "d/b c", "zero"]);
    let list = tempfile::NamedTempFile::new().unwrap();
    fs::write(list.path(), theirs.stdout).unwrap();
    let ended = check(root.path(), list.path());
    assert_eq!(
        (ended.code, ended.stdout.as_str()),
        (Some(0), "3 files right\n"),
        "{}",
        ended.stderr
    );
}

/// Lists of `md5sum`, which are named `.md5`.
#[test]
fn md5sum_checks_a_list() {
    let root = tree();
    let list = write_list(root.path(), "gnu", &["-a", "md5"]);
    let ended = run(
        root.path(),
        "md5sum",
        &["--quiet", "-c", list.to_str().unwrap()],
    );
    assert_eq!(
        (ended.code, ended.stdout.as_str()),
        (Some(0), ""),
        "{}",
        ended.stderr
    );
}

/// mtree has two keywords for each algorithm, and both must be right.
#[test]
fn a_list_can_name_an_algorithm_twice() {
    const OF_A: [(&str, &str); 3] = [
        ("md5", "0cc175b9c0f1b6a831c399e269772661"),
        ("sha1", "86f7e437faa5a7fce15d1ddcb9eaeaea377667b8"),
        (
            "sha256",
            "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb",
        ),
    ];
    let root = tree();
    let list = tempfile::NamedTempFile::new().unwrap();
    for (keyword, digest) in OF_A {
        let wrong = digest.replace('c', "d").replace("86", "87");
        for (second, code) in [(digest, 0), (&*wrong, 1)] {
            let line = format!("a type=file {keyword}={digest} {keyword}digest={second}\n");
            fs::write(list.path(), format!("#mtree\n{line}")).unwrap();
            let ended = check(root.path(), list.path());
            assert_eq!(ended.code, Some(code), "{line}{}", ended.stderr);
        }
    }
    for (algorithm, digest) in OF_A {
        let twice = format!("{algorithm},{algorithm}");
        let ended = end(hashlane()
            .current_dir(root.path())
            .args(["sum", "-a", &twice, "a", "d/b c"]));
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        assert_eq!(ended.stdout.matches(digest).count(), 2, "{}", ended.stdout);
    }
}

/// Writes a list of these bytes beside a tree, and checks it with this program.
fn check_text(root: &Path, text: &[u8], more: &[&str]) -> Ended {
    let list = tempfile::NamedTempFile::new().unwrap();
    fs::write(list.path(), text).unwrap();
    end(hashlane()
        .current_dir(root)
        .args(["sum", "--check"])
        .arg(list.path())
        .args(more))
}

#[track_caller]
fn assert_checked(ended: &Ended, code: i32, stdout: &str) {
    assert_eq!(
        (ended.code, ended.stdout.as_str()),
        (Some(code), stdout),
        "{}",
        ended.stderr
    );
}

/// A list of `--zero` was read up to its first zero byte, and called right.
#[test]
fn lists_with_zero_bytes_are_read_to_their_end() {
    let root = tree();
    let odd = "line\nfeed \\n\r";
    fs::write(root.path().join(odd), "odd").unwrap();
    let list = |program: &str, args: &[&str]| {
        let output = Command::new(program)
            .current_dir(root.path())
            .args(args)
            .output();
        let output = output.unwrap();
        assert!(output.status.success(), "{output:?}");
        output.stdout
    };
    let mut lists = vec![
        list("sha256sum", &["-z", "a", odd, "d/b c"]),
        list("sha256sum", &["-z", "--tag", "a", odd, "d/b c"]),
    ];
    if is_installed("LISTS", "hashdeep", "hashdeep") {
        // Its header has the names as they are.
        lists.push(list("hashdeep", &["-0", "-l", "a", "d/e/é", "d/b c"]));
    }
    for text in lists {
        assert_checked(&check_text(root.path(), &text, &[]), 0, "3 files right\n");
        fs::write(root.path().join("d/b c"), "x").unwrap();
        let changed = "changed     d/b c\n2 files right, 1 changed\n";
        assert_checked(&check_text(root.path(), &text, &[]), 1, changed);
        fs::write(root.path().join("d/b c"), "b").unwrap();
    }
    // A zero byte that ends no line hides nothing.
    let a = list("sha256sum", &["a"]);
    for rest in ["x  a\n", "  d/b c\n"] {
        let text = [&a[..a.len() - 1], b"\0", rest.as_bytes()].concat();
        let ended = check_text(root.path(), &text, &[]);
        assert_checked(&ended, 2, "1 file right, 1 line without a digest\n");
    }
    let trees = end(hashlane()
        .current_dir(root.path())
        .args(["sum", "-a", "git", "a", "d/b c"]));
    let text = trees.stdout.replace('\n', "\0");
    let ended = check_text(root.path(), text.as_bytes(), &["-a", "git"]);
    assert_checked(&ended, 0, "2 files right\n");
    let text = text.replace('\0', "\0\n");
    let ended = check_text(root.path(), text.as_bytes(), &["-a", "git"]);
    assert_eq!(ended.code, Some(2), "{}{}", ended.stdout, ended.stderr);
}

#[test]
fn what_a_list_has_and_no_digest_checks_is_named_and_counted() {
    let root = tree();
    let md5 = "0cc175b9c0f1b6a831c399e269772661";
    for (text, code, stdout, stderr) in [
        (
            format!("#mtree\na type=file md5={md5}\nl type=link link=a\n"),
            0,
            "1 file right, 1 not checked\n",
            "line 3: l: has the type link, which is not checked\n",
        ),
        (
            format!("#mtree\na type=file md5={md5}\nzero type=file size=0\n"),
            2,
            "1 file right, 1 line without a digest\n",
            "line 3 has no digest and name\n",
        ),
        (
            format!("#mtree\na type=file size=abc md5={md5}\nzero type=file\n"),
            2,
            "",
            "has no digests\n",
        ),
        (
            format!("%%%% HASHDEEP-1.0\n%%%% size,md5,tiger,whirlpool,filename\n1,{md5},0,0,a\n"),
            0,
            "1 file right, 1 not checked\n",
            "line 2: digests of tiger, whirlpool are not checked\n",
        ),
        (
            format!("#x 1234ABCD\n{md5}  a\n"),
            0,
            "1 file right, 1 not checked\n",
            "line 1: is a comment, or a file of an SFV list\n",
        ),
    ] {
        let ended = check_text(root.path(), text.as_bytes(), &[]);
        assert_eq!(ended.code, Some(code), "{text}{}", ended.stderr);
        assert!(ended.stdout.ends_with(stdout), "{text}{}", ended.stdout);
        assert!(ended.stderr.ends_with(stderr), "{text}{}", ended.stderr);
    }
}

/// A list of pieces says nothing about whole files.
#[test]
fn pieces_of_hashdeep_are_named_as_pieces() {
    if !is_installed("LISTS", "hashdeep", "hashdeep") {
        return;
    }
    let root = tree();
    let theirs = run(root.path(), "hashdeep", &["-p", "1", "-l", "d/b c"]);
    let ended = check_text(root.path(), theirs.stdout.as_bytes(), &[]);
    assert_eq!(
        (ended.code, ended.stdout.as_str()),
        (Some(2), "0 files right, 1 not checked\n")
    );
    let message = "d/b c offset 0-0: digests of pieces of files are not checked\n";
    assert!(ended.stderr.contains(message), "{}", ended.stderr);
}

#[test]
fn lists_of_openssl_are_checked() {
    if !is_installed("OPENSSL", "openssl", "openssl") {
        return;
    }
    let root = tree();
    for algorithm in [
        "-md5",
        "-sha1",
        "-sha224",
        "-sha256",
        "-sha384",
        "-sha512",
        "-blake2b512",
    ] {
        for more in [&[][..], &["-r"]] {
            if algorithm == "-blake2b512" && !more.is_empty() {
                continue;
            }
            let args = [&["dgst", algorithm][..], more, &["a", "d/b c"]].concat();
            let theirs = run(root.path(), "openssl", &args);
            assert_eq!(theirs.code, Some(0), "{}", theirs.stderr);
            let ended = check_text(root.path(), theirs.stdout.as_bytes(), &[]);
            assert_checked(&ended, 0, "2 files right\n");
        }
    }
    let theirs = run(root.path(), "openssl", &["dgst", "-sha512-256", "a"]);
    let ended = check_text(root.path(), theirs.stdout.as_bytes(), &[]);
    assert_eq!(ended.code, Some(2), "{}", ended.stdout);
}

#[test]
fn short_digests_of_b2sum_are_checked() {
    let root = tree();
    for bits in ["8", "128", "160", "256", "512"] {
        let theirs = run(root.path(), "b2sum", &["-l", bits, "a", "d/b c"]);
        let ended = check_text(root.path(), theirs.stdout.as_bytes(), &["-a", "blake2b"]);
        assert_checked(&ended, 0, "2 files right\n");
        // An algorithm of this length that is named takes precedence.
        let both = check_text(
            root.path(),
            theirs.stdout.as_bytes(),
            &["-a", "blake2b,sha256"],
        );
        assert_eq!(both.code, Some(i32::from(bits == "256")), "{bits}");
    }
}

/// The names of comments of GNU lists are those of files in SFV files.
#[test]
fn names_that_begin_with_a_number_sign_are_checked() {
    if !is_installed("LISTS", "cksfv", "cksfv") {
        return;
    }
    let root = tree();
    fs::write(root.path().join("#x"), "x").unwrap();
    let theirs = run(root.path(), "cksfv", &["a", "#x"]);
    let ended = check_text(root.path(), theirs.stdout.as_bytes(), &[]);
    assert_checked(&ended, 0, "2 files right\n");
    fs::write(root.path().join("#x"), "y").unwrap();
    let ended = check_text(root.path(), theirs.stdout.as_bytes(), &[]);
    assert_checked(&ended, 1, "changed     #x\n1 file right, 1 changed\n");
    let ours = write_list(root.path(), "sfv", &[]);
    let ours = run(root.path(), "cksfv", &["-q", "-f", ours.to_str().unwrap()]);
    assert_eq!(ours.code, Some(0), "{}{}", ours.stdout, ours.stderr);
}

#[test]
fn lists_of_windows_name_files_with_slashes() {
    let root = tree();
    let (md5, sha1) = (
        "92eb5ffee6ae2fec3ad71c777531578f",
        "e9d71f5ee7c92d6dc9e92ffdad17b8bd49418f98",
    );
    for text in [
        format!("{sha1} *d\\b c\r\n"),
        format!("\\{sha1} *d\\\\b c\r\n"),
        format!("%%%% HASHDEEP-1.0\r\n%%%% size,md5,filename\r\n1,{md5},d\\b c\r\n"),
        format!("MD5 (d\\b c) = {md5}\r\nSHA1 (d\\b c) = {sha1}\r\n"),
        "; SFV\r\nd\\b c 71BEEFF9\r\n".to_owned(),
        format!("\"{md5}\"  d/b c\n"),
    ] {
        let ended = check_text(root.path(), text.as_bytes(), &[]);
        assert_checked(&ended, 0, "1 file right\n");
        let wrong = text
            .replace("92e", "92f")
            .replace("e9d", "e9e")
            .replace("71B", "71C");
        assert_eq!(
            check_text(root.path(), wrong.as_bytes(), &[]).code,
            Some(1),
            "{text}"
        );
    }
    // A file whose name has the backslash is meant first.
    fs::write(root.path().join("d\\b c"), "other").unwrap();
    let ended = check_text(root.path(), format!("{md5} *d\\b c\n").as_bytes(), &[]);
    assert_checked(&ended, 1, "changed     d\\b c\n0 files right, 1 changed\n");
    fs::remove_file(root.path().join("d\\b c")).unwrap();
    let text = format!("{md5} *d\\b c\n");
    let ended = check_text(&root.path().join("d"), text.as_bytes(), &["--against", "."]);
    let stdout = "names are compared without d/\nextra       e/é\n1 file right, 1 extra\n";
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert!(ended.stdout.ends_with(stdout), "{}", ended.stdout);
    let git = "63d8dbd40c23542e740659a7168a0ce3138ea748  d\\b c\n";
    let ended = check_text(root.path(), git.as_bytes(), &["-a", "git"]);
    assert_checked(&ended, 0, "1 file right\n");
}

#[test]
fn names_of_fastsum_are_those_of_its_comments() {
    let root = tree();
    let md5 = "e1671797c52e15f763380b45e841ec32";
    for name in ["*d\\e\\é", "d\\e\\é"] {
        let text = format!(
            "; Generated by FastSum\r\n; UTF8: {name}\r\n{} *d\\e\\?\r\n0CC175B9C0F1B6A831C399E269772661 *a\r\n",
            md5.to_uppercase()
        );
        let ended = check_text(root.path(), text.as_bytes(), &[]);
        assert_checked(&ended, 0, "2 files right\n");
    }
}

/// Fedora and FreeBSD publish clear-signed lists, and OpenBSD lists with a signature of signify before them.
#[test]
fn signed_lists_are_checked_without_their_signatures() {
    let root = tree();
    fs::write(root.path().join("-x"), "x").unwrap();
    let lines = "# Fedora\nMD5 (a) = 0cc175b9c0f1b6a831c399e269772661\n9dd4e461268c8034f5c8564e155c67a6  -x\n";
    let armor = |text: &str, signature: &str| {
        format!("-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\n{text}{signature}")
    };
    let signature = "-----BEGIN PGP SIGNATURE-----\nVersion: 1\n\niQEzBAEBCAAdFiEE\n=abcd\n-----END PGP SIGNATURE-----\n";
    let signify = format!(
        "untrusted comment: verify with x.pub\n{}\n{lines}",
        "RWR+/9aA=".repeat(10)
    );
    for text in [
        armor(lines, signature),
        armor(lines, signature).replace('\n', "\r\n"),
        signify,
    ] {
        let ended = check_text(root.path(), text.as_bytes(), &[]);
        assert_checked(&ended, 0, "2 files right, 1 not checked\n");
        assert!(
            ended.stderr.ends_with(": the signature is not checked\n"),
            "{}",
            ended.stderr
        );
    }
    // A signature without an end hides no entry.
    let (head, end) = signature.split_once("=abcd").unwrap();
    let text = armor(lines, &format!("{head}\n71BEEFF9  a\n{end}"));
    let ended = check_text(root.path(), text.as_bytes(), &[]);
    assert_checked(
        &ended,
        1,
        "changed     a\n2 files right, 1 changed, 1 not checked\n",
    );
    if !is_installed("GPG", "gpg", "gpg") {
        return;
    }
    let (home, list) = (tempfile::tempdir().unwrap(), root.path().join("LIST"));
    fs::write(&list, "- 0\n9dd4e461268c8034f5c8564e155c67a6  -x\n-----\n").unwrap();
    let home = home.path().to_str().unwrap();
    let common = [
        "--homedir",
        home,
        "--batch",
        "--pinentry-mode",
        "loopback",
        "--passphrase",
        "",
    ];
    let make = [
        &common[..],
        &["--quick-gen-key", "test@example.org", "rsa2048"],
    ]
    .concat();
    let made = run(root.path(), "gpg", &make);
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    let signed = run(
        root.path(),
        "gpg",
        &[&common[..], &["-o", "-", "--clear-sign", "LIST"]].concat(),
    );
    assert_eq!(signed.code, Some(0), "{}", signed.stderr);
    let ended = check_text(root.path(), signed.stdout.as_bytes(), &[]);
    assert_checked(
        &ended,
        2,
        "1 file right, 1 not checked, 2 lines without a digest\n",
    );
    let _ = Command::new("gpgconf")
        .args(["--homedir", home, "--kill", "all"])
        .output();
}

/// A copy by macOS has names in form D, where the list has form C.
#[test]
fn names_in_another_unicode_form_are_found() {
    let root = tree();
    let list = write_list(root.path(), "gnu", &[]);
    fs::rename(
        root.path().join("d/e/\u{e9}"),
        root.path().join("d/e/e\u{301}"),
    )
    .unwrap();
    let ended = check(root.path(), &list);
    let expected = "4 files right, 1 named in another Unicode form";
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stdout.contains(expected), "{ended:?}");
    let against = end(hashlane()
        .args(["sum", "--against"])
        .arg(root.path())
        .arg("--check")
        .arg(&list));
    assert_eq!(against.code, Some(0), "{against:?}");
    assert!(against.stdout.contains(expected), "{against:?}");
    // Its bytes are compared, and a file that is gone is missing.
    fs::write(root.path().join("d/e/e\u{301}"), "f").unwrap();
    assert_eq!(check(root.path(), &list).code, Some(1));
    fs::remove_file(root.path().join("d/e/e\u{301}")).unwrap();
    let ended = check(root.path(), &list);
    assert!(ended.stdout.contains("1 missing"), "{ended:?}");
}
