//! `hashlane sum --check` of files whose digests other programs know, compared with these programs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::fixture::{Ended, end, hashlane};
use crate::not_run::{is_installed, not_run_unless_required};

/// Returns `true` if a program, whose package has its name, is installed. Reports a missing one.
fn has(program: &str) -> bool {
    is_installed("KNOWN", program, program)
}

/// Runs a program that must succeed.
fn run(folder: &Path, program: &str, args: &[&str]) -> String {
    let mut command = Command::new(program);
    command.current_dir(folder).args(args);
    command.env("HOME", folder).env("RESTIC_PASSWORD", "x");
    let ended = end(&mut command);
    assert_eq!(ended.code, Some(0), "{program} {args:?}: {}", ended.stderr);
    ended.stdout
}

/// Returns the exit status of a program.
fn status(folder: &Path, program: &str, args: &[&str]) -> Option<i32> {
    let mut command = Command::new(program);
    command.current_dir(folder).args(args);
    command.env("HOME", folder).env("RESTIC_PASSWORD", "x");
    end(&mut command).code
}

fn check(folder: &Path, args: &[&str]) -> Ended {
    end(hashlane()
        .current_dir(folder)
        .args(["sum", "--check"])
        .args(args))
}

/// Changes the first byte of a file.
fn damage(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    bytes[0] ^= 1;
    let mut permissions = fs::metadata(path).unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o644);
    fs::set_permissions(path, permissions).unwrap();
    fs::write(path, bytes).unwrap();
}

/// Returns the files below a folder, the longest first.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = walkdir(folder);
    files.sort_by_key(|file| std::cmp::Reverse(fs::metadata(file).unwrap().len()));
    files
}

fn walkdir(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let files = entries.flat_map(|entry| match entry.file_type().unwrap() {
        kind if kind.is_dir() => walkdir(&entry.path()),
        _ => vec![entry.path()],
    });
    files.collect()
}

/// Makes some files to store.
fn content(folder: &Path) {
    for (name, seed) in [("one", 1_u32), ("two", 2), ("three", 3)] {
        let numbers = (0..50_000 * seed).map(|i| (i.wrapping_mul(i + seed) >> 5) as u8);
        fs::write(folder.join(name), numbers.collect::<Vec<u8>>()).unwrap();
    }
}

#[test]
fn restic_finds_the_same_damage() {
    if !has("restic") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    content(folder);
    run(folder, "restic", &["init", "--no-cache", "-r", "repo"]);
    let backup = ["backup", "--no-cache", "-r", "repo", "one", "two", "three"];
    run(folder, "restic", &backup);
    let verify = ["check", "--no-cache", "--read-data", "-r", "repo"];
    assert_eq!(status(folder, "restic", &verify), Some(0));
    let ended = check(folder, &["--store", "repo"]);
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    assert!(
        ended.stdout.starts_with("repo: restic, "),
        "{}",
        ended.stdout
    );

    let pack = files(&folder.join("repo/data")).remove(0);
    damage(&pack);
    assert_eq!(status(folder, "restic", &verify), Some(1));
    let ended = check(folder, &["--store", "repo"]);
    assert_eq!(ended.code, Some(1), "{}{}", ended.stdout, ended.stderr);
    let name = pack.strip_prefix(folder).unwrap().display();
    let expected = format!("changed     {name}");
    assert!(ended.stdout.contains(&expected), "{}", ended.stdout);
}

#[test]
fn git_lfs_finds_the_same_damage() {
    if !has("git") || !has("git-lfs") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    content(folder);
    let git = |args: &[&str]| run(folder, "git", args);
    git(&["init", "-q"]);
    git(&["lfs", "install", "--local"]);
    git(&["lfs", "track", "one", "two"]);
    git(&["add", "."]);
    let person = ["-c", "user.name=x", "-c", "user.email=x@example.org"];
    git(&[&person[..], &["commit", "-q", "-m", "x"]].concat());
    let ended = check(folder, &["--store", "."]);
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    assert_eq!(ended.stdout, ".: git-lfs, 2 files\n2 files right\n");

    damage(&files(&folder.join(".git/lfs/objects")).remove(0));
    assert_eq!(check(folder, &["--store", "."]).code, Some(1));
    // It moves the damaged object away.
    let fsck = run_any(folder, "git", &["lfs", "fsck", "--objects"]);
    assert!(fsck.contains("corruptObject"), "{fsck}");
}

/// Returns all output of a program.
fn run_any(folder: &Path, program: &str, args: &[&str]) -> String {
    let mut command = Command::new(program);
    let ended = end(command.current_dir(folder).args(args).env("HOME", folder));
    ended.stdout + &ended.stderr
}

#[test]
fn layouts_of_umoci() {
    if !has("umoci") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    content(folder);
    run(folder, "umoci", &["init", "--layout", "images"]);
    run(folder, "umoci", &["new", "--image", "images:latest"]);
    for name in ["one", "two"] {
        let insert = [
            "insert",
            "--rootless",
            "--image",
            "images:latest",
            name,
            name,
        ];
        run(folder, "umoci", &insert);
    }
    let ended = check(folder, &["--store", "images", "--json"]);
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    let first: Value = serde_json::from_str(ended.stdout.lines().next().unwrap()).unwrap();
    assert_eq!(first["type"], "store");
    assert_eq!(first["layout"], "oci");

    let layer = files(&folder.join("images/blobs")).remove(0);
    fs::remove_file(&layer).unwrap();
    let ended = check(folder, &["--store", "images"]);
    assert_eq!(ended.code, Some(1), "{}{}", ended.stdout, ended.stderr);
    let name = layer.strip_prefix(folder).unwrap().display();
    let expected = format!("missing     {name}\n");
    assert!(ended.stdout.contains(&expected), "{}", ended.stdout);
    assert!(ended.stdout.contains("1 missing"), "{}", ended.stdout);
}

#[test]
fn hugging_face_finds_the_same_damage() {
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target");
    let python = target.join("huggingface/bin/python");
    if !python.exists() {
        return not_run_unless_required(
            "HUGGINGFACE",
            "stores of huggingface_hub",
            "it is not installed",
            "cargo xtask counterparts",
        );
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/huggingface.py");
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let ended = end(Command::new(python).arg(script).arg(folder));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let theirs: Value = serde_json::from_str(&ended.stdout).unwrap();
    for (name, layout) in [
        ("cache", "huggingface"),
        ("cache-damaged", "huggingface"),
        ("shared", "huggingface"),
        ("shared-damaged", "huggingface"),
        ("local", "huggingface-download"),
        ("local-damaged", "huggingface-download"),
    ] {
        let status = i32::from(name.ends_with("-damaged"));
        assert_eq!(theirs[name], Value::from(status), "{}", ended.stderr);
        check_download(folder, name, layout, status);
    }
    // A blob that a snapshot needs.
    let blobs = folder.join("cache/models--some--model/blobs");
    fs::remove_file(files(&blobs).remove(0)).unwrap();
    let ended = check(folder, &["--store", "cache"]);
    assert_eq!(ended.code, Some(1), "{}", ended.stdout);
    assert!(
        ended.stdout.contains("/model.safetensors\n"),
        "{}",
        ended.stdout
    );
    assert!(
        ended.stdout.ends_with("3 files right, 1 missing\n"),
        "{}",
        ended.stdout
    );
}

/// Checks a cache or a download as a store, and against the listing.
fn check_download(folder: &Path, name: &str, layout: &str, status: i32) {
    let counts = if status == 0 {
        "4 files right\n"
    } else {
        "2 files right, 2 changed\n"
    };
    let ended = check(folder, &["--store", name]);
    assert_eq!(ended.code, Some(status), "{}", ended.stdout);
    let head = format!("{name}: {layout}, 4 files\n");
    assert!(ended.stdout.starts_with(&head), "{}", ended.stdout);
    assert!(ended.stdout.ends_with(counts), "{}", ended.stdout);

    let mut place = folder.join(name);
    let snapshots = place.join("models--some--model/snapshots");
    if let Ok(mut entries) = snapshots.read_dir() {
        place = entries.next().unwrap().unwrap().path();
    }
    let ended = check(folder, &["--hf", "listing.json", place.to_str().unwrap()]);
    assert_eq!(ended.code, Some(status), "{}", ended.stdout);
    assert!(ended.stdout.ends_with(counts), "{}", ended.stdout);
}

#[test]
fn a_listing_cannot_leave_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::create_dir(folder.join("download")).unwrap();
    for path in ["../outside", "/etc/passwd", "a/../../b", ""] {
        let entry =
            serde_json::json!({"type": "file", "path": path, "oid": "0".repeat(40), "size": 1});
        fs::write(folder.join("listing"), Value::from(vec![entry]).to_string()).unwrap();
        let ended = check(folder, &["--hf", "listing", "download"]);
        assert_eq!(ended.code, Some(2), "{path}: {}", ended.stdout);
        let expected = format!("listing: entry 1, {path:?}: the path leaves the folder");
        assert!(ended.stderr.contains(&expected), "{}", ended.stderr);
    }
}

#[test]
fn a_folder_that_is_no_store_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let ended = check(folder.path(), &["--store", ".", "absent"]);
    assert_eq!(ended.code, Some(2));
    let layouts = "huggingface, huggingface-download, ollama, oci, git-lfs, restic";
    let expected = format!(".: is no store of a known layout ({layouts})");
    assert!(ended.stderr.contains(&expected), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("absent: No such file"),
        "{}",
        ended.stderr
    );
}

/// Makes and installs a package below a root folder.
fn install(folder: &Path, name: &str, control: &str, files: &[(&str, &str)], config: &str) {
    let tree = folder.join(format!("{name}.tree"));
    for (path, text) in files {
        let path = tree.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let debian = tree.join("DEBIAN");
    fs::create_dir_all(&debian).unwrap();
    let control = format!(
        "Package: {name}\nVersion: 1\nArchitecture: all\nMaintainer: x <x@example.org>\nDescription: x\n{control}"
    );
    fs::write(debian.join("control"), control).unwrap();
    fs::write(debian.join("conffiles"), config).unwrap();
    let sums: Vec<String> = files
        .iter()
        .filter(|(path, _)| !config.contains(path))
        .map(|(path, _)| run(&tree, "md5sum", &[path]))
        .collect();
    fs::write(debian.join("md5sums"), sums.concat()).unwrap();
    let package = format!("{name}.deb");
    run(
        folder,
        "dpkg-deb",
        &[
            "--root-owner-group",
            "--build",
            &format!("{name}.tree"),
            &package,
        ],
    );
    run(
        folder,
        "dpkg",
        &["--root=root", "--force-not-root", "-i", &package],
    );
}

/// Returns the paths that debsums reports, without the root folder.
fn debsums(folder: &Path, packages: &[&str]) -> Vec<String> {
    let mut args = vec!["-a", "-c", "-r", "root"];
    args.extend(packages);
    let output = run_any(folder, "debsums", &args);
    let lines = output.lines().map(|line| {
        let line = line.strip_prefix("debsums: missing file ").unwrap_or(line);
        let path = line.split(" (from ").next().unwrap();
        path.trim_start_matches("root")
            .trim_start_matches('/')
            .to_owned()
    });
    let mut paths: Vec<String> = lines.collect();
    paths.sort();
    paths
}

/// Makes a system with three packages: the second one takes a file over, and the third one diverts one.
fn system() -> Option<tempfile::TempDir> {
    if !has("debsums") || !is_installed("KNOWN", "dpkg-deb", "dpkg") {
        return None;
    }
    let system = tempfile::tempdir().unwrap();
    let folder = system.path();
    let admin = folder.join("root/var/lib/dpkg");
    fs::create_dir_all(admin.join("info")).unwrap();
    fs::create_dir_all(admin.join("updates")).unwrap();
    fs::write(admin.join("status"), "").unwrap();
    let first = [
        ("usr/bin/a", "a"),
        ("usr/bin/b", "b"),
        ("usr/share/a b", "space"),
        ("usr/share/doc/first", "doc"),
        ("usr/share/taken", "old"),
        ("usr/share/diverted", "first"),
        ("etc/a.conf", "config"),
        ("etc/b.conf", "config b"),
    ];
    let divert = "--root root --package third --add --no-rename \
                  --divert /usr/share/diverted.first /usr/share/diverted";
    let divert: Vec<&str> = divert.split(' ').filter(|word| !word.is_empty()).collect();
    run(folder, "dpkg-divert", &divert);
    install(folder, "first", "", &first, "/etc/a.conf\n/etc/b.conf\n");
    let second = [("usr/share/taken", "new")];
    install(folder, "second", "Replaces: first\n", &second, "");
    install(folder, "third", "", &[("usr/share/diverted", "third")], "");
    Some(system)
}

/// Returns the paths that `--debsums` reports.
fn reported(folder: &Path, packages: &[&str]) -> Vec<String> {
    let ended = check(
        folder,
        &[&["--debsums", "--base", "root"], packages].concat(),
    );
    assert_eq!(ended.code, Some(1), "{}{}", ended.stdout, ended.stderr);
    let lines = ended.stdout.lines();
    let lines = lines.filter(|line| line.starts_with("changed  ") || line.starts_with("missing  "));
    let mut paths: Vec<String> = lines.map(|line| line[12..].to_owned()).collect();
    paths.sort();
    paths
}

#[test]
fn debsums_finds_the_same_files() {
    let Some(system) = system() else { return };
    let folder = system.path();
    let root = folder.join("root");
    assert_eq!(debsums(folder, &[]), [""; 0]);
    let ended = check(folder, &["--debsums", "--base", "root"]);
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    // Ten files, without the one that was taken over.
    assert_eq!(ended.stdout, "9 files right\n");

    for name in [
        "usr/bin/a",
        "usr/share/a b",
        "usr/share/diverted.first",
        "etc/a.conf",
        "usr/share/taken",
    ] {
        damage(&root.join(name));
    }
    for name in ["usr/bin/b", "etc/b.conf", "usr/share/doc/first"] {
        fs::remove_file(root.join(name)).unwrap();
    }
    // debsums does not report the diverted file.
    let mut expected = debsums(folder, &[]);
    assert_eq!(expected.len(), 7, "{expected:?}");
    expected.push("usr/share/diverted.first".to_owned());
    expected.sort();
    assert_eq!(reported(folder, &[]), expected);
    assert_eq!(reported(folder, &["second"]), debsums(folder, &["second"]));
    assert_eq!(reported(folder, &["second:all"]), ["usr/share/taken"]);

    // Files that dpkg was configured not to install are not missing.
    let config = root.join("etc/dpkg/dpkg.cfg.d");
    fs::create_dir_all(&config).unwrap();
    let patterns = "path-exclude=/usr/share/*\npath-include=/usr/share/taken\n";
    fs::write(config.join("slim"), patterns).unwrap();
    expected.retain(|path| path != "usr/share/doc/first");
    assert_eq!(reported(folder, &[]), expected);
}

#[test]
fn packages_that_cannot_be_checked_are_named() {
    let Some(system) = system() else { return };
    let folder = system.path();
    let ended = check(folder, &["--debsums", "--base", "root", "fourth"]);
    assert_eq!(ended.code, Some(2));
    let expected = "fourth: is not installed";
    assert!(ended.stderr.contains(expected), "{}", ended.stderr);
    fs::remove_file(folder.join("root/var/lib/dpkg/info/second.md5sums")).unwrap();
    let ended = check(folder, &["--debsums", "--base", "root", "second"]);
    assert_eq!(ended.code, Some(2), "{}", ended.stdout);
    let expected = "second: has no MD5 sums";
    assert!(ended.stderr.contains(expected), "{}", ended.stderr);
}
