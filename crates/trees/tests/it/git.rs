//! Identifiers of blobs and trees, compared with those of `git`.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use hashlane_sha::Engine;
use hashlane_trees::{Format, Git, GitMode, IoMode, Options};

use crate::judge::{hashes, write_files};
use crate::not_run::is_installed;
use crate::random::Random;

const FORMATS: [(Git, &str); 2] = [(Git::Sha1, "sha1"), (Git::Sha256, "sha256")];

/// Returns what git prints in a new repository of this object format.
fn git(repository: &Path, format: &str, args: &[&str], input: &str) -> String {
    let run = |args: &[&str], input: &str| {
        let mut command = Command::new("git");
        command.current_dir(repository).args(args);
        // Without the settings of the user.
        command
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null");
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(input.as_bytes())
            .unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{args:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    if !repository.join(".git").exists() {
        run(&["init", "-q", "--object-format", format], "");
    }
    run(args, input)
}

#[test]
fn files_of_all_lengths_have_the_identifiers_of_git() {
    if !is_installed("GIT", "git", "git") {
        return;
    }
    let mut numbers = Random::new(11);
    for (format, name) in FORMATS {
        let folder = tempfile::tempdir().unwrap();
        let mut lens = vec![
            0,
            1,
            9,
            10,
            55,
            56,
            63,
            64,
            99,
            100,
            4096,
            16_384,
            (1 << 20) + 3,
        ];
        lens.extend((0..110).map(|_| {
            let limit = 1 << (1 + numbers.below(19));
            numbers.below(limit)
        }));
        let paths = write_files(folder.path(), &lens, &mut numbers);
        let paths_text = paths.iter().map(|path| path.to_str().unwrap());
        let list = paths_text.collect::<Vec<_>>().join("\n") + "\n";
        let repository = tempfile::tempdir().unwrap();
        let expected = git(
            repository.path(),
            name,
            &["hash-object", "--stdin-paths"],
            &list,
        );
        let expected: Vec<&str> = expected.lines().collect();
        let mut modes = vec![IoMode::Pread];
        modes.extend(cfg!(target_os = "linux").then_some(IoMode::Mmap));
        for io in modes {
            let options = Options::default().io(io).allow_signal_handler();
            assert_eq!(
                hashes(&format, &paths, &options),
                expected,
                "{name}, {io:?}"
            );
        }
        for id in expected {
            assert_eq!(
                format.normalized(&id.to_ascii_uppercase()).as_deref(),
                Some(id)
            );
            assert_eq!(format.normalized(&id[1..]), None);
        }
    }
}

/// The entries of a tree that files on the disk have.
type Entries = Vec<(Vec<u8>, GitMode, PathBuf)>;

/// Names around the order of Git, in which `a` the folder comes after `a.b` and before `a0`.
#[test]
fn trees_are_sorted_as_those_of_git() {
    if !is_installed("GIT", "git", "git") {
        return;
    }
    let engine = Engine::detect();
    for (format, name) in FORMATS {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let mut entries: Entries = Vec::new();
        for file in ["a.b", "a0", "a-", "B", "é", "b c"] {
            fs::write(root.join(file), file).unwrap();
            entries.push((file.into(), GitMode::File, root.join(file)));
        }
        fs::create_dir(root.join("a")).unwrap();
        fs::write(root.join("a/x"), "x").unwrap();
        git(root, name, &["add", "."], "");
        let expected = git(root, name, &["write-tree"], "");
        let below = format.tree(
            engine,
            vec![(b"x".to_vec(), GitMode::File, format.blob(engine, b"x"))],
        );
        let mut tree = vec![(b"a".to_vec(), GitMode::Folder, below)];
        tree.extend(
            entries.into_iter().map(|(name, mode, path)| {
                (name, mode, format.blob(engine, &fs::read(path).unwrap()))
            }),
        );
        assert_eq!(
            format.tree(engine, tree).to_string(),
            expected.trim_end(),
            "{name}"
        );
    }
}
