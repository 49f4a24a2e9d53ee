//! `hashlane sum` with tree hashes. The values are compared with those of other programs in `crates/trees`.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use crate::fixture::{end_with_input, hashlane};
use crate::sum::{ended, sum};

/// fs-verity digests by `fsverity digest` 1.5: of no bytes, of `a`, and of `a` with the salt 00ff and with SHA-512.
const EMPTY: &str = "sha256:3d248ca542a24fc62d1c43b916eae5016878e2533c88238480b26128a1f1af95";
const A: &str = "sha256:bce75948b9e7510293f8f2720412af9697c1479281323f3f220623fb8e94b557";
const A_SALTED: &str = "sha256:bfac0e766763e01dc1048800d684b953583f2e223baa0b1524147bf6c1353b9a";
const A_SHA512: &str = "sha512:829b82e4646ed8804b8481d26202f11dafed5acde87623a34e9e813fed884e86a787bb38095921f6128e2a53f116145b4528b2bfe218c6df6717a03d0be90f4b";

/// A folder with the files `empty`, `dir/a` (content `a`) and a name with a line feed (content `a`).
fn tree() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir_all(path("dir")).unwrap();
    fs::write(path("empty"), "").unwrap();
    fs::write(path("dir/a"), "a").unwrap();
    fs::write(path("dir/b\nc"), "a").unwrap();
    folder
}

#[test]
fn fsverity_in_all_forms_of_output() {
    let folder = tree();
    let folder = folder.path();
    let lines = format!("{EMPTY}  empty\n{A}  dir/a\n\\{A}  dir/b\\nc\n");
    assert_eq!(
        sum(folder, "-a fsverity -r empty dir"),
        ended(0, &lines, "")
    );
    let tagged = format!("FSVERITY-SHA512 (dir/a) = {A_SHA512}\n");
    assert_eq!(
        sum(folder, "-a fsverity-sha512 --tag dir/a"),
        ended(0, &tagged, "")
    );
    let salted = format!("{A_SALTED}  dir/a\n");
    assert_eq!(
        sum(folder, "-a fsverity --salt 00fF --block-size 1k dir/a"),
        ended(0, &salted, "")
    );
    let json = format!(
        r#"{{"type":"file","path":"empty","length":0,"digests":{{"fsverity":"{EMPTY}"}}}}"#
    );
    assert_eq!(
        sum(folder, "-a fsverity --json empty"),
        ended(0, &(json + "\n"), "")
    );
    assert_eq!(sum(folder, "-a fsverity -r -o list ."), ended(0, "", ""));
    assert_eq!(
        fs::read_to_string(folder.join("list"))
            .unwrap()
            .lines()
            .count(),
        3
    );
}

#[test]
fn files_without_a_result_are_errors() {
    let folder = tree();
    let folder = folder.path();
    let mut command = hashlane();
    command
        .current_dir(folder)
        .args(["sum", "-a", "fsverity", "absent", "-", "empty", "dir"]);
    let found = end_with_input(&mut command, b"a");
    assert_eq!(
        (found.code, found.stdout),
        (Some(2), format!("{EMPTY}  empty\n"))
    );
    let errors: Vec<&str> = found.stderr.lines().collect();
    let expected = [
        "absent: No such file",
        "-: a tree hash needs a regular file",
        "dir: is a directory: use --recursive to hash its files",
    ];
    assert_eq!(errors.len(), expected.len(), "{errors:?}");
    for (error, expected) in errors.iter().zip(expected) {
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn a_check_finds_what_changed() {
    let folder = tree();
    let folder = folder.path();
    for form in ["", " --tag"] {
        let list = sum(folder, &format!("-a fsverity -r empty dir{form}")).stdout;
        fs::write(folder.join("list"), list).unwrap();
        let right = sum(folder, "--check -a fsverity list");
        assert_eq!(right, ended(0, "3 files right\n", ""), "{form}");
    }
    // The lines of `fsverity digest` itself, with digits of either case.
    let lines = format!(
        "{} empty\n{EMPTY} dir/a\n{A} gone\n",
        EMPTY.replace("a5", "A5")
    );
    fs::write(folder.join("list"), lines).unwrap();
    let found = sum(folder, "--check -a fsverity list");
    let expected = "changed     dir/a\nmissing     gone\n1 file right, 1 changed, 1 missing\n";
    assert_eq!(found, ended(1, expected, ""));
    let json = sum(folder, "--check -a fsverity --json list");
    let states = json.stdout.matches(r#""type":"checked""#).count();
    assert_eq!((json.code, states), (Some(1), 3), "{json:?}");
    // The parameters are part of the value.
    let other = sum(folder, "--check -a fsverity --salt 01 list");
    assert!(
        other
            .stdout
            .ends_with("0 files right, 2 changed, 1 missing\n"),
        "{other:?}"
    );
}

/// A copy by macOS has names in form D, where the list has form C.
#[test]
fn names_in_another_unicode_form_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (nfc, nfd) = ("\u{e9}", "e\u{301}");
    fs::create_dir(folder.join(nfd)).unwrap();
    fs::write(folder.join(nfd).join(nfd), "a").unwrap();
    fs::write(folder.join("list"), format!("{A}  {nfc}/{nfc}\n")).unwrap();
    let found = "1 file right, 1 named in another Unicode form\n";
    let checked = sum(folder, "-a fsverity --check list");
    assert_eq!(checked, ended(0, found, ""));
    let json = sum(folder, "-a fsverity --check --json list").stdout;
    let file = format!(r#""path":"{nfd}/{nfd}","state":"right""#);
    assert!(json.contains(&file), "{json}");
    assert!(json.contains(r#""other_forms":1"#), "{json}");
    // Folders are found in the same way.
    let git = sum(folder, &format!("-a git {nfd}")).stdout;
    fs::write(folder.join("list"), git.replace(nfd, nfc)).unwrap();
    let checked = sum(folder, "-a git --check list");
    assert_eq!(checked, ended(0, found, ""));
}

#[test]
fn a_line_of_another_form_is_not_checked() {
    let folder = tree();
    let folder = folder.path();
    let sha512 = format!("{EMPTY}  empty\n{A_SHA512}  dir/a\nsha256:00  dir/a\n");
    fs::write(folder.join("list"), sha512).unwrap();
    let found = sum(folder, "--check -a fsverity list");
    assert_eq!(
        (found.code, found.stdout.as_str()),
        (Some(2), "1 file right, 2 lines without a digest\n")
    );
    assert_eq!(
        found.stderr.matches("has no result of fsverity").count(),
        2,
        "{}",
        found.stderr
    );
    fs::write(folder.join("list"), "\n").unwrap();
    let empty = sum(folder, "--check -a fsverity list");
    assert_eq!(empty.code, Some(2));
    assert!(
        empty.stderr.contains("list: has no results of fsverity"),
        "{empty:?}"
    );
}

#[test]
fn wrong_parameters_are_refused() {
    let folder = tree();
    let folder = folder.path();
    for (args, expected) in [
        (
            "-a fsverity --block-size 4095 empty",
            "--block-size: a block of 4095 bytes: use a power of two",
        ),
        (
            "-a fsverity --block-size 128KiB empty",
            "--block-size: a block of 131072 bytes",
        ),
        ("-a fsverity --salt 0 empty", "--salt"),
        (
            "-a fsverity,sha256 empty",
            "-a fsverity: a tree hash is computed alone",
        ),
        (
            "-a fsverity --check --against dir list",
            "--against: not with a tree hash",
        ),
        ("--salt 00 empty", "--salt: only tree hashes have it"),
        (
            "--check --block-size 1024 list",
            "--block-size: only tree hashes have it",
        ),
        (
            "--check --store --idsig list dir",
            "--idsig: only tree hashes have it",
        ),
        (
            "-a fsverity --out-descriptor d empty dir/a",
            "--out-descriptor: the file is for one file",
        ),
        (
            "-a fsverity --out-merkle-tree empty dir/a",
            "empty: exists: use --force",
        ),
        (
            "-a fsverity --check --out-descriptor d list",
            "cannot be used with",
        ),
    ] {
        let found = sum(folder, args);
        assert_eq!((found.code, found.stdout.as_str()), (Some(2), ""), "{args}");
        assert!(found.stderr.contains(expected), "{args}: {}", found.stderr);
        assert!(!folder.join("d").exists(), "{args}");
    }
    let long = format!("-a fsverity --salt {} empty", "00".repeat(33));
    assert!(
        sum(folder, &long)
            .stderr
            .contains("--salt: a salt of 33 bytes")
    );
}

#[test]
fn the_tree_and_the_descriptor_are_written_together() {
    let folder = tree();
    let folder = folder.path();
    fs::write(folder.join("data"), vec![7; 600_000]).unwrap();
    let args = "-a fsverity --out-merkle-tree tree --out-descriptor descriptor";
    assert_eq!(sum(folder, &format!("{args} data")).code, Some(0));
    let read = |name: &str| fs::read(folder.join(name)).unwrap();
    // 147 blocks have two blocks of digests, and one above them.
    assert_eq!(
        (read("tree").len(), read("descriptor").len()),
        (3 * 4096, 256)
    );
    fs::remove_file(folder.join("tree")).unwrap();
    let failed = sum(folder, &format!("{args} --force absent"));
    assert_eq!(failed.code, Some(2));
    assert!(!folder.join("tree").exists());
    assert_eq!(read("descriptor").len(), 256, "the earlier file stays");
}

/// CIDs by `ipfs-unixfs-importer` 17.1.1: of no bytes, of `a`, and of a folder with the file `a` (content `a`) and the empty
/// folder `b`, in the profiles v1 and v0.
const CID_EMPTY: &str = "bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku";
const CID_A: &str = "bafkreigks6arfsq3xxfpvqrrwonchxcnu6do76auprhhfomao6c273sixm";
const CID_FOLDER: [&str; 2] = [
    "bafybeigp3hsxpupic4zmxv6swcno773sgeqgwr43o4eaqg5gjgfpm6ulye",
    "QmWj7SxApCNCrf1DQAPDSYS2VS6qdteTnAb49oqtvJVu4o",
];

#[test]
fn cids_of_files_and_folders() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::create_dir_all(folder.join("dir/b")).unwrap();
    fs::write(folder.join("dir/a"), "a").unwrap();
    fs::write(folder.join("empty"), "").unwrap();
    let lines = format!(
        "{CID_EMPTY}  empty\n{}  dir\n{CID_A}  dir/a\n",
        CID_FOLDER[0]
    );
    let found = sum(folder, "-a cid empty dir dir/a");
    assert_eq!(found, ended(0, &lines, ""));
    let tagged = format!("CID-V0 (dir) = {}\n", CID_FOLDER[1]);
    assert_eq!(sum(folder, "-a cid-v0 --tag dir"), ended(0, &tagged, ""));
    // With --recursive, the files of the folder.
    let files = format!("{CID_A}  dir/a\n");
    assert_eq!(sum(folder, "-a cid -r dir"), ended(0, &files, ""));
    let json = sum(folder, "-a cid-v1-2025 --json dir").stdout;
    let expected = format!(
        r#""length":1,"digests":{{"cid-v1-2025":"{}"}}"#,
        CID_FOLDER[0]
    );
    assert!(json.contains(&expected), "{json}");

    fs::write(folder.join("list"), lines).unwrap();
    assert_eq!(
        sum(folder, "--check -a cid list"),
        ended(0, "3 files right\n", "")
    );
    fs::write(folder.join("dir/b/new"), "").unwrap();
    let changed = "changed     dir\n2 files right, 1 changed\n";
    assert_eq!(sum(folder, "--check -a cid list"), ended(1, changed, ""));
    let excluded = sum(folder, "-a cid -x new dir");
    assert_eq!(excluded.stdout, format!("{}  dir\n", CID_FOLDER[0]));
}

#[test]
fn a_folder_with_a_link_has_no_cid() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::create_dir(folder.join("dir")).unwrap();
    std::os::unix::fs::symlink("x", folder.join("dir/link")).unwrap();
    let message = "dir/link: is a symbolic link: leave it out with --exclude";
    let found = sum(folder, "-a cid dir");
    assert_eq!((found.code, found.stdout.as_str()), (Some(2), ""));
    assert!(found.stderr.contains(message), "{found:?}");
    let json = sum(folder, "-a cid --json dir");
    assert!(
        json.stdout.starts_with(r#"{"type":"error","path":"dir""#),
        "{json:?}"
    );
    let other = sum(folder, "-a cid --salt 00 dir");
    assert!(
        other
            .stderr
            .contains("--salt: -a cid has no such parameter"),
        "{other:?}"
    );
}

/// Returns what git prints in a folder, without the settings of the user.
fn git(folder: &Path, args: &[&str]) -> String {
    let mut command = Command::new("git");
    command.current_dir(folder).args(args);
    command
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{args:?}: {output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.trim_end().to_owned()
}

/// Writes a tree of files, some of them executable, links and empty folders.
fn random_tree(folder: &Path, state: &mut u64, depth: u32) {
    let mut random = |below: u64| {
        *state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (*state >> 33) % below
    };
    let mut folders = Vec::new();
    let n_entries = random(6);
    for entry in 0..n_entries {
        let suffix = ["", ".b", "-", "0", " x", "é"][random(6) as usize];
        let path = folder.join(format!("{entry}{suffix}"));
        let (kind, len) = (random(8), random(40_000));
        match kind {
            0 => std::os::unix::fs::symlink("../target of/the link", &path).unwrap(),
            1..=2 if depth < 3 => {
                fs::create_dir(&path).unwrap();
                folders.push(path);
            }
            _ => {
                fs::write(&path, vec![entry as u8; len as usize]).unwrap();
                let mode = if kind == 3 { 0o755 } else { 0o644 };
                fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            }
        }
    }
    for folder in folders {
        random_tree(&folder, state, depth + 1);
    }
}

#[test]
fn git_trees_are_those_of_git() {
    let folder = tempfile::tempdir().unwrap();
    if !crate::not_run::is_installed("GIT", "git", "git") {
        return;
    }
    let mut state = 3;
    for tree in 0..60 {
        let (format, name) = [("sha1", "git"), ("sha256", "git-sha256")][tree % 2];
        let root = folder.path().join(tree.to_string());
        fs::create_dir(&root).unwrap();
        random_tree(&root, &mut state, 0);
        git(&root, &["init", "-q", "--object-format", format]);
        git(&root, &["add", "--force", "."]);
        let expected = git(&root, &["write-tree"]);
        let found = sum(folder.path(), &format!("-a {name} {tree}"));
        assert_eq!(found, ended(0, &format!("{expected}  {tree}\n"), ""));
    }
}

#[test]
fn a_repository_in_a_folder_is_not_guessed() {
    let folder = tree();
    let folder = folder.path();
    fs::create_dir(folder.join("dir/.git")).unwrap();
    let found = sum(folder, "-a git .");
    assert_eq!(found.code, Some(2));
    assert!(
        found
            .stderr
            .contains("dir: is a repository of its own: leave it out with --exclude"),
        "{}",
        found.stderr
    );
    // The folder to hash may be a repository. A list of its blobs is checked like any other.
    assert_eq!(sum(folder, "-a git dir").code, Some(0));
    let list = sum(folder, "-a git empty dir").stdout;
    assert!(
        list.starts_with("e69de29bb2d1d6434b8b29ae775ad8c2e48c5391  empty\n"),
        "{list}"
    );
    fs::write(folder.join("list"), list).unwrap();
    assert_eq!(
        sum(folder, "--check -a git list"),
        ended(0, "2 files right\n", "")
    );
    fs::write(folder.join("dir/a"), "b").unwrap();
    let changed = "changed     dir\n1 file right, 1 changed\n";
    assert_eq!(sum(folder, "--check -a git list"), ended(1, changed, ""));
}

/// `--force` replaces an earlier result, not the content.
#[test]
fn an_output_is_no_file_to_hash() {
    let folder = tree();
    let folder = folder.path();
    std::os::unix::fs::symlink("dir/a", folder.join("link")).unwrap();
    for args in [
        "-a fsverity --force --out-merkle-tree dir/a dir/a",
        "-a fsverity --force --out-descriptor link dir/a",
        "--force -o ./dir/a empty dir/a",
    ] {
        let ended = sum(folder, args);
        assert_eq!(ended.code, Some(2), "{args}");
        assert!(
            ended.stderr.contains(": is a file to hash\n"),
            "{args}: {}",
            ended.stderr
        );
        assert_eq!(fs::read(folder.join("dir/a")).unwrap(), b"a", "{args}");
    }
    let both = sum(
        folder,
        "-a fsverity --out-merkle-tree x --out-descriptor x dir/a",
    );
    assert_eq!((both.code, folder.join("x").exists()), (Some(2), false));
}

/// Checksums of `a`: its MD5 and the SHA-256 of `sha256sum` in base 64. With `-1`, MD5 of the MD5 of `a`.
const ETAG_A: &str = "0cc175b9c0f1b6a831c399e269772661";
const ETAG_A_IN_PARTS: &str = "b6ff9a06b7e20bcb2858c5b8ff744aea-1";
const S3_SHA256_A: &str = "ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs=";

#[test]
fn checksums_of_s3() {
    let folder = tree();
    let folder = folder.path();
    let found = sum(folder, "-a s3-etag dir/a");
    assert_eq!(found, ended(0, &format!("{ETAG_A}  dir/a\n"), ""));
    let found = sum(folder, "-a s3-sha256 --tag dir/a");
    let expected = format!("S3-SHA256 (dir/a) = {S3_SHA256_A}\n");
    assert_eq!(found, ended(0, &expected, ""));
    let json = sum(folder, "-a s3-crc64nvme --json empty").stdout;
    assert!(json.contains(r#""s3-crc64nvme":"AAAAAAAAAAA=""#), "{json}");

    // The same file, uploaded at once and as the only part.
    let list = format!("\"{ETAG_A}\"  dir/a\n{ETAG_A_IN_PARTS}  dir/a\n{ETAG_A}-1  dir/a\n");
    fs::write(folder.join("list"), list).unwrap();
    let expected = "changed     dir/a\n2 files right, 1 changed\n";
    assert_eq!(
        sum(folder, "--check -a s3-etag list"),
        ended(1, expected, "")
    );
}

#[test]
fn the_parts_of_an_object_are_found_or_asked_for() {
    let folder = tree();
    let folder = folder.path();
    // 24 MiB and a byte: 4 parts of 7 or 8 MiB, 3 parts of 9 MiB to 12 MiB, 5 of 5 or 6 MiB.
    let file = fs::File::create(folder.join("data")).unwrap();
    file.set_len((24 << 20) + 1).unwrap();
    let etag = |mib: u64| sum(folder, &format!("-a s3-etag --part-size {mib}MiB data")).stdout;
    let usual = sum(folder, "-a s3-etag data").stdout;
    assert_eq!(usual, etag(8));
    assert!(usual.ends_with("-4  data\n"), "{usual}");
    let check = |list: &str, options: &str| {
        fs::write(folder.join("list"), list).unwrap();
        sum(folder, &format!("--check -a s3-etag {options} list"))
    };
    let right = ended(0, "1 file right\n", "");
    assert_eq!(check(&usual, ""), right);
    for (mib, lengths) in [
        (
            7,
            "7 to 8 MiB make 4 parts, and those of 8 MiB have another result",
        ),
        (9, "9 to 12 MiB make 3 parts: choose"),
    ] {
        let list = etag(mib);
        let unclear = check(&list, "");
        assert_eq!(unclear.code, Some(2), "{unclear:?}");
        assert!(
            unclear
                .stderr
                .contains(&format!("data: parts of {lengths}")),
            "{unclear:?}"
        );
        assert_eq!(check(&list, &format!("--part-size {mib}MiB")), right);
    }
    let other = usual.replace("-4", "-24");
    let changed = check(&other, "");
    assert_eq!(
        changed.stdout,
        "changed     data\n0 files right, 1 changed\n"
    );
    for (args, message) in [
        (
            "-a s3-etag --part-size 1MiB data",
            "--part-size: a part of 1048576 bytes: use 5 MiB to 5 GiB",
        ),
        (
            "-a s3-crc64nvme --part-size 8MiB data",
            "--part-size: -a s3-crc64nvme has no such parameter",
        ),
        ("-a btroot empty", "empty: is empty"),
    ] {
        let refused = sum(folder, args);
        assert_eq!(refused.code, Some(2), "{args}");
        assert!(refused.stderr.contains(message), "{args}: {refused:?}");
    }
}

#[test]
fn packages_are_checked_against_signature_files() {
    let folder = tree();
    let folder = folder.path();
    fs::write(folder.join("app"), vec![7; 130 * 4096]).unwrap();
    fs::write(folder.join("small"), "s").unwrap();
    let made = sum(folder, "-a apk-idsig --out-merkle-tree tree app").stdout;
    let root = made.split(' ').next().unwrap();
    // Version 2; SHA-256, blocks of 2^12 bytes, no salt and the root hash; signatures without bytes.
    let mut start = vec![
        2, 0, 0, 0, 45, 0, 0, 0, 1, 0, 0, 0, 12, 0, 0, 0, 0, 32, 0, 0, 0,
    ];
    start.extend(data_encoding::HEXLOWER.decode(root.as_bytes()).unwrap());
    start.extend([0; 4]);
    let merkle = fs::read(folder.join("tree")).unwrap();
    let len = u32::try_from(merkle.len()).unwrap().to_le_bytes();
    let whole = [&start[..], &len, &merkle].concat();
    fs::write(folder.join("app.idsig"), &whole).unwrap();
    fs::write(folder.join("short.idsig"), &start).unwrap();
    fs::write(folder.join("cut.idsig"), &whole[..99]).unwrap();

    let (check, short) = (
        "--check -a apk-idsig --idsig app.idsig app",
        "--check -a apk-idsig --idsig short.idsig app",
    );
    let right = format!("root hash   {root}\n1 file right\n");
    assert_eq!(sum(folder, check), ended(0, &right, ""));
    assert_eq!(sum(folder, short), ended(0, &right, ""));
    // The tree of the file is right, but its root hash is another one.
    let mut other = whole.clone();
    other[30] ^= 1;
    fs::write(folder.join("app.idsig"), &other).unwrap();
    let changed = "changed     app\n0 files right, 1 changed\n";
    let expected = format!("root hash   {root}\n{changed}");
    let differs = "hashlane: app: the root hash differs from that of app.idsig\n";
    assert_eq!(sum(folder, check), ended(1, &expected, differs));
    fs::write(folder.join("app.idsig"), &whole).unwrap();

    let mut damaged = vec![7; 130 * 4096];
    damaged[4096 * 129] = 8;
    fs::write(folder.join("app"), damaged).unwrap();
    let expected = format!("root hash   {root}\ndamaged     app: blocks 129\n{changed}");
    assert_eq!(sum(folder, check), ended(1, &expected, ""));
    // Without the tree, only the root hash shows the damage.
    let found = sum(folder, "-a apk-idsig app").stdout;
    let root = found.split(' ').next().unwrap();
    let expected = format!("root hash   {root}\n{changed}");
    let differs = "hashlane: app: the root hash differs from that of short.idsig\n";
    assert_eq!(sum(folder, short), ended(1, &expected, differs));
    for (args, message) in [
        (
            "--check -a apk-idsig --idsig cut.idsig app",
            "cut.idsig: is too short: it is truncated or no signature file",
        ),
        (
            "--check -a apk-idsig --idsig app.idsig small",
            "app.idsig: has a tree of 12288 bytes, but that of the package has 4096",
        ),
        (
            "--check -a apk-idsig --idsig app.idsig app small",
            "--idsig: the file is of one package: name one file",
        ),
        ("-a apk-idsig --idsig app.idsig app", "--check"),
    ] {
        let failed = sum(folder, args);
        assert_eq!(failed.code, Some(2), "{args}");
        assert!(failed.stderr.contains(message), "{args}: {}", failed.stderr);
    }
}

#[test]
fn dmverity_writes_and_checks_hash_devices() {
    let folder = tree();
    let folder = folder.path();
    fs::write(folder.join("data"), vec![7; 300 * 4096]).unwrap();
    let made = sum(folder, "-a dmverity --salt 00ff --hash-device tree data");
    let root = made.stdout.split(' ').next().unwrap().to_owned();
    assert_eq!(made, ended(0, &format!("{root}  data\n"), ""));
    // The same root in lists, with the same parameters.
    fs::write(folder.join("list"), &made.stdout).unwrap();
    let listed = sum(folder, "--check -a dmverity --salt 00ff list");
    assert_eq!(listed, ended(0, "1 file right\n", ""));
    let check = "--check -a dmverity --hash-device tree data";
    let right = format!("root hash   {root}\n1 file right\n");
    assert_eq!(sum(folder, check), ended(0, &right, ""));
    let with_root = format!("{check} --root-hash {root}");
    assert_eq!(sum(folder, &with_root), ended(0, &right, ""));
    let other = format!("{check} --root-hash {}", "00".repeat(32));
    let changed = format!("root hash   {root}\nchanged     data\n0 files right, 1 changed\n");
    let differs = "hashlane: data: the root hash differs from that of --root-hash\n";
    assert_eq!(sum(folder, &other), ended(1, &changed, differs));

    let mut damaged = vec![7; 300 * 4096];
    damaged[4096 * 299] = 8;
    fs::write(folder.join("data"), damaged).unwrap();
    let changed = format!(
        "root hash   {root}\ndamaged     data: blocks 299\nchanged     data\n0 files right, 1 changed\n"
    );
    assert_eq!(sum(folder, check), ended(1, &changed, ""));
    let json = sum(folder, &format!("{check} --json"));
    let expected = format!(
        r#""root_hash":"{root}","blocks":300,"damaged":1,"damaged_ranges":[[299,299]],"device_damaged":0,"device_damaged_ranges":[]}}"#
    );
    assert!(json.stdout.contains(&expected), "{json:?}");

    let device = fs::read(folder.join("tree")).unwrap();
    fs::write(folder.join("short"), &device[..9000]).unwrap();
    for (args, message) in [
        (
            "--check -a dmverity --hash-device short data",
            "short: is too short: has 9000 bytes, but its tree ends at 20480",
        ),
        (
            "--check -a dmverity --hash-device tree dir/a",
            "dir/a: has fewer than 1228800 bytes, the length of the data of tree",
        ),
        (
            "--check -a dmverity --hash-device tree --salt 00 data",
            "--salt: --hash-device has the parameters",
        ),
        (
            "--check -a dmverity --hash-device tree --root-hash 00 data",
            "--root-hash: has 1 bytes",
        ),
        ("-a dmverity --hash-device tree data", "tree: exists"),
        (
            "-a dmverity --block-size 100 data",
            "--block-size: a block of 100 bytes",
        ),
        (
            "-a fsverity --hash sha1 data",
            "--hash: -a fsverity has no such parameter",
        ),
    ] {
        let refused = sum(folder, args);
        assert_eq!(refused.code, Some(2), "{args}: {refused:?}");
        assert!(refused.stderr.contains(message), "{args}: {refused:?}");
    }
}

/// The device has digests of the blocks in its superblock, and none of one block alone.
#[test]
fn dmverity_checks_no_data_without_digests() {
    let folder = tree();
    let folder = folder.path();
    fs::write(folder.join("data"), vec![7; 3 * 4096]).unwrap();
    sum(folder, "-a dmverity --hash-device tree data");
    fs::write(folder.join("data"), vec![7; 5 * 4096]).unwrap();
    let longer = sum(folder, "--check -a dmverity --hash-device tree data");
    assert_eq!(longer.code, Some(1), "{longer:?}");
    let expected = "data: tree has no digests of 8,192 bytes of it";
    assert!(longer.stderr.contains(expected), "{longer:?}");

    // A part of a block is content, too.
    fs::write(folder.join("data"), vec![7; 3 * 4096 + 1]).unwrap();
    let longer = sum(folder, "--check -a dmverity --hash-device tree data");
    assert_eq!(longer.code, Some(1), "{longer:?}");
    let expected = "data: tree has no digests of 1 byte of it";
    assert!(longer.stderr.contains(expected), "{longer:?}");

    fs::write(folder.join("one"), vec![7; 4096]).unwrap();
    let made = sum(folder, "-a dmverity --hash-device single one");
    let root = made.stdout.split(' ').next().unwrap();
    let check = "--check -a dmverity --hash-device single one";
    let refused = sum(folder, check);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("use --root-hash"), "{refused:?}");
    let right = sum(folder, &format!("{check} --root-hash {root}"));
    assert_eq!(right.code, Some(0), "{right:?}");
    fs::write(folder.join("one"), vec![8; 4096]).unwrap();
    let changed = sum(folder, &format!("{check} --root-hash {root}"));
    assert_eq!(changed.code, Some(1), "{changed:?}");
}

/// A root hash of whole blocks said nothing about the bytes after them, and the file was called right.
#[test]
fn dmverity_calls_no_bytes_right_that_it_did_not_hash() {
    let folder = tree();
    let folder = folder.path();
    fs::write(folder.join("odd"), vec![7; 5000]).unwrap();
    let refused = sum(folder, "-a dmverity odd");
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""));
    let message = "odd: its length is no multiple of 4096 bytes";
    assert!(refused.stderr.contains(message), "{refused:?}");

    let note = "hashlane: odd: only the first 4096 of 5000 bytes are hashed\n";
    let made = sum(folder, "-a dmverity --data-blocks 1 odd");
    assert_eq!((made.code, made.stderr.as_str()), (Some(0), note));
    fs::write(folder.join("list"), &made.stdout).unwrap();
    let check = "--check -a dmverity --data-blocks 1 list";
    let partly = "partly      odd\n0 files right, 1 partly right\n";
    assert_eq!(sum(folder, check), ended(0, partly, note));
    fs::write(folder.join("odd"), vec![8; 5000]).unwrap();
    let changed = "changed     odd\n0 files right, 1 changed\n";
    assert_eq!(sum(folder, check), ended(1, changed, ""));
    // The whole file of an old list.
    let unread = sum(folder, "--check -a dmverity list");
    assert_eq!(unread.code, Some(2), "{unread:?}");
    assert!(unread.stderr.contains(message), "{unread:?}");
    fs::write(folder.join("odd"), vec![7; 4096]).unwrap();
    assert_eq!(sum(folder, check), ended(0, "1 file right\n", ""));

    fs::write(folder.join("large"), vec![7; 5 << 16]).unwrap();
    for (args, message) in [
        ("--data-blocks 0 odd", "--data-blocks: 0 blocks of data"),
        ("--data-blocks 2 odd", "odd: has fewer than 8192 bytes"),
        (
            "--hash-block-size 100 odd",
            "--block-size: a block of 100 bytes",
        ),
        (
            "--hash-device t --hash-offset 100 odd",
            "--hash-offset: a superblock at byte 100",
        ),
        ("--hash-offset 512 odd", "--hash-device"),
        (
            "--block-size 512KiB large",
            "large: has fewer than 524288 bytes",
        ),
        (
            "--block-size 128KiB large",
            "large: its length is no multiple of 131072 bytes",
        ),
    ] {
        let refused = sum(folder, &format!("-a dmverity {args}"));
        assert_eq!(refused.code, Some(2), "{args}: {refused:?}");
        assert!(refused.stderr.contains(message), "{args}: {refused:?}");
    }
    let parameters = "--block-size 1KiB --hash-block-size 4KiB --hash-offset 1024";
    let made = sum(
        folder,
        &format!("-a dmverity {parameters} --hash-device tree large"),
    );
    let root = made.stdout.split(' ').next().unwrap();
    let check = "--check -a dmverity --hash-device tree large";
    assert_eq!(sum(folder, check).code, Some(2));
    let right = format!("root hash   {root}\n1 file right\n");
    assert_eq!(
        sum(folder, &format!("{check} --hash-offset 1024")),
        ended(0, &right, "")
    );
}

#[test]
fn chunks_have_the_digests_of_files_with_their_bytes() {
    let folder = tree();
    let folder = folder.path();
    fs::write(folder.join("data"), (0..25_u8).collect::<Vec<_>>()).unwrap();
    let line = |(offset, length): (u8, u8)| {
        let chunk: Vec<u8> = (offset..offset + length).collect();
        fs::write(folder.join("chunk"), chunk).unwrap();
        let digest = sum(folder, "-a sha1 chunk").stdout;
        let digest = digest.split(' ').next().unwrap();
        format!("{digest} {offset} {length} data\n")
    };
    let lines = [(0, 10), (10, 10), (20, 5)].map(line).concat();
    let found = sum(folder, "-a sha1 --chunk 10 data");
    assert_eq!(found, ended(0, &lines, ""));
    let empty = sum(folder, "--chunk 1k --json empty");
    let expected = concat!(
        r#"{"type":"chunk","path":"empty","offset":0,"length":0,"digests":{"sha256":""#,
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\"}}\n"
    );
    assert_eq!(empty, ended(0, expected, ""));
    let several = sum(folder, "--chunk 4 -a md5 -r dir");
    assert_eq!(several.stdout.lines().count(), 2, "{several:?}");
    for (args, message) in [
        ("--chunk 0 data", "--chunk: a chunk of 0 bytes"),
        ("--chunk 1 -a blake3 data", "--chunk: name one of md5"),
        ("--chunk 1 -a md5,sha1 data", "--chunk: name one of md5"),
        ("--chunk 1 -a git data", "--chunk: -a git has no chunks"),
        ("--chunk 1 --check data", "cannot be used with"),
    ] {
        let refused = sum(folder, args);
        assert_eq!(refused.code, Some(2), "{args}: {refused:?}");
        assert!(refused.stderr.contains(message), "{args}: {refused:?}");
    }
}

#[test]
fn the_tree_of_a_package_is_written() {
    let folder = tree();
    let folder = folder.path();
    fs::write(folder.join("a.apk"), vec![7; 600_000]).unwrap();
    let made = sum(folder, "-a apk-idsig --out-merkle-tree tree a.apk");
    assert_eq!(made.code, Some(0), "{made:?}");
    assert_eq!(fs::read(folder.join("tree")).unwrap().len(), 3 * 4096);
    fs::write(folder.join("list"), &made.stdout).unwrap();
    let right = sum(folder, "--check -a apk-idsig list");
    assert_eq!(right, ended(0, "1 file right\n", ""));
    let empty = sum(folder, "-a apk-idsig empty");
    assert!(empty.stderr.contains("empty: is empty"), "{empty:?}");
}
