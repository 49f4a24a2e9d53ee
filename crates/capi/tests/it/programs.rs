//! C and C++ programs that are compiled against the header, linked with the built library, and run.

use std::path::Path;
use std::process::Command;

use crate::support::{Build, C99, CPP, SANITIZED, STATIC, is_installed, run};

/// Programs that check themselves and exit with 0 if all is right.
const PROGRAMS: [&str; 10] = [
    "tests/c/base58.c",
    "tests/c/fork.c",
    "tests/c/known_answers.c",
    "tests/c/many_messages.c",
    "tests/c/misuse.c",
    "tests/c/queue.c",
    "tests/c/thread_exit.c",
    "tests/c/threads.c",
    "tests/c/torrent.c",
    "tests/c/tree.c",
];

fn all_programs_succeed(build: Build, what: &str) {
    run_all_programs(build, what, |program| Command::new(program));
}

fn run_all_programs(build: Build, what: &str, command: impl Fn(&Path) -> Command) {
    if !build.is_possible(what) {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    for source in PROGRAMS {
        let program = build.program(source, folder.path());
        run(command(&program).env_remove("HASHLANE_BACKEND"));
    }
}

/// Builds an example plainly and with sanitizers, as far as the compiler can, and hands each program to `check`.
fn check_example(source: &str, check: impl Fn(&Path)) {
    for build in [C99, SANITIZED] {
        if build.is_possible(&format!("{source} built with {}", build.flags.join(" "))) {
            let folder = tempfile::tempdir().expect("a temporary folder");
            check(&build.program(source, folder.path()));
        }
    }
}

#[test]
fn the_example_prints_the_digest_of_a_file() {
    check_example("examples/hash_file.c", |program| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("abc");
        std::fs::write(&file, "abc").expect("a temporary file");
        let output = run(Command::new(program).arg(&file));
        let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let expected = format!("{digest}  {}\n", file.display());
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
        for path in [folder.path(), &folder.path().join("missing")] {
            let output = Command::new(program).arg(path).output();
            let status = output.expect("the program starts").status;
            assert_eq!(status.code(), Some(1), "{}", path.display());
        }
    });
}

#[test]
fn the_example_checks_a_tag() {
    check_example("examples/hmac.c", |program| {
        let output = run(&mut Command::new(program));
        let expected = "message: genuine\nforged message: the tag does not match the message\n";
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
    });
}

#[test]
fn the_example_hashes_1000_messages() {
    check_example("examples/hash_many.c", |program| {
        let output = run(&mut Command::new(program));
        let expected = "97e49568ab865399082c508818024828c6b4d682  message 0\n\
                        1db02d01e49db35493fdf4ab6057bd9baaf694d5  message 999\n";
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
    });
}

#[test]
fn the_tutorial_prints_this_example() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/start/developer.md");
    let page = std::fs::read_to_string(page).expect("the page exists");
    let example = include_str!("../../examples/hash_many.c");
    assert!(
        page.contains(example),
        "docs/start/developer.md is out of date"
    );
}

/// Returns the .torrent file of one file `data` with these bytes, which are one piece.
fn torrent_of(bytes: &[u8]) -> Vec<u8> {
    let digest = hashlane_sha::digest::<hashlane_sha::Sha1>(bytes);
    let mut torrent = format!(
        "d4:infod6:lengthi{}e4:name4:data12:piece lengthi16384e6:pieces20:",
        bytes.len()
    )
    .into_bytes();
    torrent.extend_from_slice(digest.as_ref());
    torrent.extend_from_slice(b"ee");
    torrent
}

#[test]
fn the_example_verifies_a_torrent() {
    check_example("examples/verify_torrent.c", |program| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (torrent, data) = (folder.path().join("t.torrent"), folder.path().join("data"));
        std::fs::write(&torrent, torrent_of(b"content")).expect("a temporary file");
        let shown = torrent.display();
        for (content, expected, code) in [
            (
                "content",
                format!("{shown}: complete, 0 files not whole\n"),
                0,
            ),
            (
                "Content",
                format!(
                    "data: incomplete, 0 of 1 pieces\n{shown}: not complete, 1 files not whole\n"
                ),
                1,
            ),
        ] {
            std::fs::write(&data, content).expect("a temporary file");
            let mut command = Command::new(program);
            let output = command.arg(&torrent).arg(folder.path()).output();
            let output = output.expect("the program starts");
            assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
            assert_eq!(output.status.code(), Some(code));
            let progress = String::from_utf8_lossy(&output.stderr);
            assert!(progress.contains("100 %"), "{progress}");
        }
        let output = Command::new(program).args([&data, &data]).output();
        let output = output.expect("the program starts");
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(
            message.starts_with(&format!("{}: ", data.display())),
            "{message}"
        );
        assert_eq!(output.status.code(), Some(2));
    });
}

#[test]
fn programs_in_c99() {
    all_programs_succeed(C99, "C programs");
}

#[test]
fn programs_in_cpp() {
    all_programs_succeed(CPP, "C++ programs");
}

#[test]
fn programs_with_the_static_library() {
    all_programs_succeed(STATIC, "C programs with the static library");
}

#[test]
fn programs_with_sanitizers() {
    all_programs_succeed(SANITIZED, "C programs with sanitizers");
}

/// The sanitizers check the programs; valgrind checks the library, too. It offers the library no AVX-512.
#[test]
#[ignore = "takes minutes: cargo xtask test-valgrind"]
fn programs_under_valgrind() {
    if !is_installed("valgrind", "valgrind") {
        return;
    }
    run_all_programs(C99, "C programs under valgrind", |program| {
        let mut valgrind = Command::new("valgrind");
        valgrind
            .args([
                "--quiet",
                // valgrind runs one thread at a time. Without turns, searching threads can starve the thread that
                // cancels the search.
                "--fair-sched=try",
                "--leak-check=full",
                // The runtime of Rust keeps a pointer into the middle of the handle of a thread.
                "--show-leak-kinds=definite",
                "--errors-for-leak-kinds=definite",
                "--error-exitcode=9",
            ])
            .args([program, Path::new("short")]);
        valgrind
    });
}
