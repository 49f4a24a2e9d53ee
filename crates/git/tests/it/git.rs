//! Packs of random repositories, compared with `git verify-pack`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use hashlane_git::{Algorithm, CancelToken, Options, Problem, Report, verify_pack};

use crate::not_run::is_installed;
use crate::random::Random;

fn has_git() -> bool {
    is_installed("GIT", "git", "git")
}

fn run_git(folder: &Path, args: &[&str]) -> Output {
    Command::new("git")
        .current_dir(folder)
        .args(["-c", "user.name=a", "-c", "user.email=a@example.org"])
        .args(args)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("HOME", folder)
        .output()
        .expect("run git")
}

fn git(folder: &Path, args: &[&str]) -> String {
    let out = run_git(folder, args);
    let error = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "git {args:?}: {error}");
    String::from_utf8(out.stdout).expect("text")
}

/// Makes a repository with a pack of many versions of some files. Returns the pack.
fn repository(folder: &Path, format: &str, seed: u64) -> PathBuf {
    let mut random = Random::new(seed);
    git(
        folder,
        &["init", "-q", &format!("--object-format={format}")],
    );
    let mut files: Vec<Vec<String>> = (0..6)
        .map(|n| {
            (0..50 << n)
                .map(|_| format!("line {}", random.below(1 << 40)))
                .collect()
        })
        .collect();
    for version in 0..25 {
        for (n, lines) in files.iter_mut().enumerate() {
            for _ in 0..random.below(5) {
                let place = random.below(lines.len());
                lines[place] = format!("changed {}", random.below(1 << 40));
            }
            let path = folder.join(format!("d{}/f{n}", n % 2));
            fs::create_dir_all(path.parent().expect("a folder")).expect("make a folder");
            fs::write(path, lines.join("\n")).expect("write a file");
        }
        let len = random.below(3000);
        let bytes = random.bytes(len);
        fs::write(folder.join("random"), bytes).expect("write a file");
        git(folder, &["add", "-A"]);
        git(
            folder,
            &["commit", "-q", "-m", &format!("version {version}")],
        );
    }
    git(folder, &["tag", "-a", "-m", "a tag", "v1"]);
    git(folder, &["repack", "-qadf", "--depth=50", "--window=20"]);
    pack_in(&folder.join(".git/objects/pack"))
}

fn pack_in(folder: &Path) -> PathBuf {
    let files = fs::read_dir(folder).expect("list packs");
    let mut packs = files.map(|file| file.expect("a file").path());
    packs
        .find(|path| path.extension().is_some_and(|end| end == "pack"))
        .expect("a pack")
}

fn verified(pack: &Path, threads: usize) -> Report {
    let options = Options {
        threads: threads.try_into().ok(),
        list: true,
        ..Options::default()
    };
    verify_pack(pack, &options, &CancelToken::default()).expect("a readable pack")
}

/// Returns the lines of `git verify-pack -v` for objects.
fn lines_of_git(folder: &Path, format: &str, pack: &Path) -> Vec<String> {
    let format = format!("--object-format={format}");
    let pack = pack.to_str().expect("text");
    let out = git(folder, &["verify-pack", "-v", &format, pack]);
    let is_object = |line: &&str| line.split(' ').next().is_some_and(|id| id.len() >= 40);
    let is_object = |line: &&str| is_object(line) && !line.ends_with(": ok");
    out.lines().filter(is_object).map(str::to_owned).collect()
}

fn lines_of(report: &Report) -> Vec<String> {
    report
        .objects
        .iter()
        .map(|object| {
            let kind = object.kind.expect("a resolved object").name();
            let base = object
                .delta
                .map_or(String::new(), |(depth, base)| format!(" {depth} {base}"));
            format!(
                "{} {kind:<6} {} {} {}{base}",
                object.id, object.len, object.packed_len, object.offset
            )
        })
        .collect()
}

#[test]
fn objects_are_those_of_git() {
    if !has_git() {
        return;
    }
    for (name, format) in [("sha1", Algorithm::Sha1), ("sha256", Algorithm::Sha256)] {
        for seed in 1..3 {
            let folder = tempfile::tempdir().expect("a folder");
            let pack = repository(folder.path(), name, seed);
            let expected = lines_of_git(folder.path(), name, &pack);
            assert!(
                expected.len() > 100
                    && expected
                        .iter()
                        .any(|line| line.split_whitespace().count() == 7)
            );
            for threads in [1, 4] {
                let report = verified(&pack, threads);
                assert_eq!(report.problems, []);
                assert_eq!(report.algorithm, format);
                assert_eq!(lines_of(&report), expected, "{name}, {threads} threads");
            }
            // The index works as an argument, too, and so does the first version of indexes.
            assert!(verified(&pack.with_extension("idx"), 2).is_good());
            if name == "sha1" {
                let old = folder.path().join("old.pack");
                fs::copy(&pack, &old).expect("copy the pack");
                git(
                    folder.path(),
                    &["index-pack", "--index-version=1", "old.pack"],
                );
                assert_eq!(lines_of(&verified(&old, 2)), expected);
            }
        }
    }
}

#[test]
fn packs_with_named_bases_are_read() {
    if !has_git() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    repository(folder.path(), "sha1", 9);
    git(
        folder.path(),
        &["config", "repack.useDeltaBaseOffset", "false"],
    );
    git(folder.path(), &["repack", "-qadf", "--depth=50"]);
    let pack = pack_in(&folder.path().join(".git/objects/pack"));
    assert_eq!(
        lines_of(&verified(&pack, 2)),
        lines_of_git(folder.path(), "sha1", &pack)
    );
}

#[test]
fn damage_is_found_where_git_finds_it() {
    if !has_git() {
        return;
    }
    let mut random = Random::new(77);
    for format in ["sha1", "sha256"] {
        let folder = tempfile::tempdir().expect("a folder");
        let original = repository(folder.path(), format, 5);
        let copy = folder.path().join("copy.pack");
        let (pack, index) = (
            fs::read(&original).expect("read"),
            fs::read(original.with_extension("idx")).expect("read"),
        );
        let mut n_named = 0;
        for n in 0..60 {
            let (mut pack, mut index) = (pack.clone(), index.clone());
            // Every fourth damage is in the index.
            let damaged = if n % 4 == 3 { &mut index } else { &mut pack };
            let place = random.below(damaged.len());
            damaged[place] ^= 1 << random.below(8);
            fs::write(&copy, &pack).expect("write");
            fs::write(copy.with_extension("idx"), &index).expect("write");
            let argument = format!("--object-format={format}");
            let out = run_git(folder.path(), &["verify-pack", &argument, "copy.pack"]);
            assert!(!out.status.success(), "git accepts byte {place}");
            let report = verify_pack(&copy, &Options::default(), &CancelToken::default());
            let Ok(report) = report else {
                assert!(n % 4 == 3 || place < 12, "byte {place}: {report:?}");
                continue;
            };
            assert!(!report.is_good(), "{format}, byte {place}");
            let message = String::from_utf8_lossy(&out.stderr).into_owned();
            let offset = message.split_once("at offset ").and_then(|(_, rest)| {
                let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
                digits.parse::<u64>().ok()
            });
            if let (Some(offset), true) = (offset, n % 4 != 3) {
                n_named += 1;
                let is_named = |problem: &Problem| matches!(problem, Problem::Object { offset: found, .. } if *found == offset);
                assert!(
                    report.problems.iter().any(is_named),
                    "{message} {:?}",
                    report.problems
                );
            }
        }
        assert!(n_named > 5, "git named the place of {n_named} damages");
    }
}

#[test]
fn errors_name_the_file_and_the_remedy() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.pack");
    let message = |path: &Path| {
        let error =
            verify_pack(path, &Options::default(), &CancelToken::default()).expect_err("an error");
        error
            .to_string()
            .replace(folder.path().to_str().expect("text"), "")
    };
    assert!(
        message(&path).starts_with("/a.pack: No such file"),
        "{}",
        message(&path)
    );
    fs::write(&path, "PACK\0\0\0\x02\0\0\0\0").expect("write");
    assert_eq!(
        message(&path),
        "/a.pack: has no index: make one with `git index-pack`"
    );
    fs::write(path.with_extension("idx"), "no index").expect("write");
    assert_eq!(
        message(&path),
        "/a.idx: the index is too short: it is truncated or no index"
    );
}
