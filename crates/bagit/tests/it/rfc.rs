//! The rules of RFC 8493, by section.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use hashlane_bagit::{
    Depth, Error, NewBag, ProblemKind, Run, Validation, Verdict, create_copy, create_in_place,
    update, validate,
};
use hashlane_sums::{Algorithm, CancelToken, Options};

/// MD5 of `a`, of `b`, and of no bytes.
const OF_A: &str = "0cc175b9c0f1b6a831c399e269772661";
const OF_B: &str = "92eb5ffee6ae2fec3ad71c777531578f";
const OF_NOTHING: &str = "d41d8cd98f00b204e9800998ecf8427e";

const V1: &str = "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n";
const V0_97: &str = "BagIt-Version: 0.97\nTag-File-Character-Encoding: UTF-8\n";

/// A folder for a bag.
struct Bag {
    folder: tempfile::TempDir,
}

impl Bag {
    /// Writes a bag of version 1.0 with the files `data/a` and `data/d/b`, whose contents are their names.
    fn new() -> Self {
        let bag = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        bag.write("bagit.txt", V1);
        bag.write("data/a", "a");
        bag.write("data/d/b", "b");
        bag.write(
            "manifest-md5.txt",
            format!("{OF_A}  data/a\n{OF_B}  data/d/b\n"),
        );
        bag
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path().join(name)).unwrap()
    }

    fn validated(&self, depth: Depth) -> (Result<Validation, Error>, Vec<String>) {
        let mut problems = Vec::new();
        let found = with_run(|run| {
            validate(self.path(), depth, run, &mut |problem| {
                problems.push(format!("{}: {}", problem.path, problem.kind));
            })
        });
        (found, problems)
    }

    /// Returns the verdict and the problems.
    fn verdict(&self) -> (Verdict, Vec<String>) {
        let (found, problems) = self.validated(Depth::Digests);
        (found.unwrap().verdict(), problems)
    }

    #[track_caller]
    fn expect(&self, verdict: Verdict, problems: &[&str]) {
        assert_eq!(
            self.verdict(),
            (
                verdict,
                problems.iter().map(|it| (*it).to_owned()).collect()
            )
        );
    }

    #[track_caller]
    fn expect_error(&self, text: &str) {
        let error = self.validated(Depth::Digests).0.unwrap_err().to_string();
        assert!(error.ends_with(text), "{error}");
    }
}

pub(crate) fn with_run<R>(work: impl FnOnce(&mut Run<'_>) -> R) -> R {
    let (options, cancel) = (Options::default(), CancelToken::default());
    work(&mut Run {
        options: &options,
        cancel: &cancel,
        progress: &mut |_| (),
    })
}

fn algorithms(names: &[&str]) -> Vec<Algorithm> {
    names.iter().map(|name| name.parse().unwrap()).collect()
}

/// Writes a bag whose manifest and fetch.txt have these lines.
fn with_lines(declaration: &str, manifest: &str, fetch: &str) -> Bag {
    let bag = Bag::new();
    bag.write("bagit.txt", declaration);
    bag.write(
        "manifest-md5.txt",
        manifest.replace("$A", OF_A).replace("$B", OF_B),
    );
    if !fetch.is_empty() {
        bag.write("fetch.txt", fetch);
    }
    bag
}

#[test]
fn section_2_1_1_the_declaration_has_two_lines() {
    Bag::new().expect(Verdict::Valid, &[]);
    for (text, reason) in [
        ("", "the first line must be `BagIt-Version: 1.0`"),
        (
            "BagIt-Version: 1.0\n",
            "the second line must be `Tag-File-Character-Encoding: UTF-8`",
        ),
        (
            "BagIt-Version: 0.96\nTag-File-Character-Encoding: UTF-8\n",
            "version 0.96 is not supported: only 0.97 and 1.0 are",
        ),
        (
            "BagIt-Version: 1.0\nTag-File-Character-Encoding: ISO-8859-1\n",
            "the encoding ISO-8859-1 is not supported: convert the tag files to UTF-8",
        ),
        (
            "\u{feff}BagIt-Version: 1.0\n",
            "begins with a byte order mark, which RFC 8493 forbids",
        ),
        (
            "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\nMore: x\n",
            "has more than two lines",
        ),
        (
            "Tag-File-Character-Encoding: UTF-8\nBagIt-Version: 1.0\n",
            "the first line must be `BagIt-Version: 1.0`",
        ),
    ] {
        let bag = Bag::new();
        bag.write("bagit.txt", text);
        bag.expect_error(&format!("bagit.txt: {reason}"));
    }
    // All three ends of lines.
    for end in ["\r", "\r\n", "\n\n"] {
        let bag = Bag::new();
        bag.write("bagit.txt", V1.replace('\n', end));
        if end != "\n\n" {
            bag.expect(Verdict::Valid, &[]);
        }
    }
    let bag = Bag::new();
    fs::remove_file(bag.path().join("bagit.txt")).unwrap();
    bag.expect_error(": has no bagit.txt: not a bag");
    let bag = Bag::new();
    bag.write(
        "bagit.txt",
        b"BagIt-Version: 1.0\nTag-File-Character-Encoding: \xff\n",
    );
    bag.expect_error("bagit.txt: is not UTF-8");
}

#[test]
fn section_2_1_2_the_payload_is_in_data() {
    let bag = Bag::new();
    fs::remove_dir_all(bag.path().join("data")).unwrap();
    bag.expect(
        Verdict::Invalid,
        &[
            "data: missing: a bag must have it",
            "data/a: missing: manifest-md5.txt lists it",
            "data/d/b: missing: manifest-md5.txt lists it",
        ],
    );
    // A payload can be empty.
    let bag = Bag::new();
    fs::remove_dir_all(bag.path().join("data")).unwrap();
    fs::create_dir(bag.path().join("data")).unwrap();
    bag.write("manifest-md5.txt", "");
    bag.expect(Verdict::Valid, &[]);
}

#[test]
fn section_2_1_3_each_manifest_lists_the_payload() {
    let bag = Bag::new();
    fs::remove_file(bag.path().join("manifest-md5.txt")).unwrap();
    bag.expect(
        Verdict::Invalid,
        &["manifest-sha512.txt: missing: a bag must have it"],
    );
    with_lines(V1, "$A  data/a\n", "").expect(
        Verdict::Invalid,
        &["data/d/b: not listed in manifest-md5.txt"],
    );
    with_lines(V1, "$A  data/a\n$B data/d/b\n$A data/c\n", "").expect(
        Verdict::Invalid,
        &["data/c: missing: manifest-md5.txt lists it"],
    );
    with_lines(V1, "$A  data/a\n$A  data/d/b\n", "").expect(
        Verdict::Invalid,
        &["data/d/b: changed: its digest differs from manifest-md5.txt"],
    );
    with_lines(V1, "$A  data/a\n$B  data/d/b\n$A  ./data/a", "").expect(
        Verdict::Invalid,
        &["manifest-md5.txt: line 3: data/a: is listed twice"],
    );
    // Version 0.97 allows manifests that list a part each, and lines that are repeated.
    let bag = with_lines(V0_97, "$A  data/a\n$A *data/a\n", "");
    bag.expect(Verdict::Invalid, &["data/d/b: not listed in a manifest"]);
    let sha1 = "e9d71f5ee7c92d6dc9e92ffdad17b8bd49418f98";
    bag.write("manifest-sha1.txt", format!("{sha1} data/d/b"));
    bag.expect(Verdict::Valid, &[]);
    bag.write("bagit.txt", V1);
    assert_eq!(bag.verdict().0, Verdict::Invalid);
    // Digits of either case, tabs, and the mark of md5sum.
    let upper = OF_A.to_uppercase();
    with_lines(V1, &format!("{upper}\t*data/a\r\n$B \tdata/d/b"), "").expect(Verdict::Valid, &[]);
    for line in ["x data/d/b", "$Bdata/d/b", "$B", "00 data/d/b"] {
        let bag = with_lines(V1, &format!("$A data/a\n{line}\n"), "");
        let problems = [
            "manifest-md5.txt: line 2: has not the form of this list",
            "data/d/b: not listed in manifest-md5.txt",
        ];
        bag.expect(Verdict::Invalid, &problems);
    }
    // An algorithm that cannot be computed is not taken for right.
    let bag = Bag::new();
    bag.write("manifest-tiger.txt", "00 data/a\n00 data/d/b\n");
    bag.expect(
        Verdict::NotChecked,
        &["manifest-tiger.txt: the algorithm is unknown: its digests were not compared"],
    );
}

#[cfg(unix)]
#[test]
fn section_2_1_3_three_characters_of_paths_are_encoded() {
    let bag = Bag::new();
    bag.write("data/50%\r\n", "a");
    bag.write(
        "manifest-md5.txt",
        format!("{OF_A} data/a\n{OF_B} data/d/b\n{OF_A} data/50%25%0D%0a\n"),
    );
    bag.expect(Verdict::Valid, &[]);
    // Other encodings mean themselves.
    bag.write("data/%20", "");
    let manifest = bag.read("manifest-md5.txt");
    bag.write("manifest-md5.txt", manifest + OF_NOTHING + " data/%20\n");
    bag.expect(Verdict::Valid, &[]);
    // Version 0.97 has no encoding for the percent sign.
    bag.write("bagit.txt", V0_97);
    assert_eq!(bag.verdict().0, Verdict::Invalid);
    let manifest = bag.read("manifest-md5.txt").replace("%25", "%");
    bag.write("manifest-md5.txt", manifest);
    bag.expect(Verdict::Valid, &[]);
}

#[test]
fn section_2_2_1_tag_manifests_list_tag_files() {
    let of = |text: &str| {
        let mut stream = hashlane_sums::Hasher::with_engine(engine(), algorithms(&["md5"])[0]);
        stream.update(text.as_bytes());
        stream.finalize().to_string()
    };
    let bag = Bag::new();
    let manifest = bag.read("manifest-md5.txt");
    let lines = format!("{} bagit.txt\n{} manifest-md5.txt\n", of(V1), of(&manifest));
    bag.write("tagmanifest-md5.txt", &lines);
    bag.expect(Verdict::Valid, &[]);
    bag.write("bag-info.txt", "A: b\n");
    bag.expect(Verdict::Valid, &[]);
    bag.write(
        "tagmanifest-md5.txt",
        format!("{lines}{OF_A} bag-info.txt\n{OF_A} meta/x\n"),
    );
    bag.expect(
        Verdict::Invalid,
        &[
            "meta/x: missing: tagmanifest-md5.txt lists it",
            "bag-info.txt: changed: its digest differs from tagmanifest-md5.txt",
        ],
    );
    bag.write("tagmanifest-md5.txt", format!("{} bagit.txt\n", of(V1)));
    bag.expect(
        Verdict::Invalid,
        &["manifest-md5.txt: not listed in tagmanifest-md5.txt"],
    );
    for (path, listed) in [
        ("data/a", "data/a"),
        ("tagmanifest-md5.txt", "tagmanifest-md5.txt"),
    ] {
        bag.write("tagmanifest-md5.txt", format!("{lines}{OF_A} {path}\n"));
        let problem = format!(
            "tagmanifest-md5.txt: line 3: {listed}: leads out of the folder that is listed"
        );
        bag.expect(Verdict::Invalid, &[&problem]);
    }
}

/// Returns the engine that hashes in the tests.
fn engine() -> hashlane_sha::Engine {
    hashlane_sha::Engine::detect()
}

#[test]
fn section_2_2_2_the_oxum_is_compared() {
    let bag = Bag::new();
    bag.write("bag-info.txt", "Payload-Oxum: 2.2\nOther: a\n  b\n");
    bag.expect(Verdict::Valid, &[]);
    assert_eq!(
        bag.validated(Depth::Oxum).0.unwrap().verdict(),
        Verdict::Valid
    );
    bag.write("bag-info.txt", "payload-oxum : 3.2\r\n");
    let problem = "bag-info.txt: Payload-Oxum is 3.2, and the payload has 2.2 (bytes.files)";
    bag.expect(Verdict::Invalid, &[problem]);
    let (found, problems) = bag.validated(Depth::Oxum);
    assert_eq!(
        (found.unwrap().verdict(), problems),
        (Verdict::Invalid, vec![problem.to_owned()])
    );
    // The fast check does not read files, and needs the tag.
    bag.write("bag-info.txt", "Payload-Oxum: 2.2");
    bag.write("data/a", "x");
    assert_eq!(
        bag.validated(Depth::Oxum).0.unwrap().verdict(),
        Verdict::Valid
    );
    assert_eq!(
        bag.validated(Depth::Completeness).0.unwrap().verdict(),
        Verdict::Valid
    );
    assert_eq!(bag.verdict().0, Verdict::Invalid);
    // bagit-python calls such a bag invalid.
    let bag = Bag::new();
    for value in ["abc", "2", "2.2.2", "-2.2", "2.2\n  x"] {
        bag.write("bag-info.txt", format!("Payload-Oxum: {value}\n"));
        for depth in [Depth::Digests, Depth::Completeness, Depth::Oxum] {
            let (found, problems) = bag.validated(depth);
            assert_eq!(found.unwrap().verdict(), Verdict::Invalid, "{value}");
            assert!(
                problems[0].contains("not the form BYTES.FILES"),
                "{problems:?}"
            );
        }
    }
    bag.write("data/a", "x");
    bag.write("bag-info.txt", "A: b");
    assert!(matches!(
        bag.validated(Depth::Oxum).0,
        Err(Error::NoOxum(_))
    ));
    bag.write("bag-info.txt", "no label\n");
    bag.expect_error("bag-info.txt: line 1 is neither `Label: value` nor indented");
}

#[test]
fn section_2_2_3_files_can_be_fetched_later() {
    let manifest = "$A data/a\n$B data/d/b\n$A data/far/away\n";
    let url = "https://example.org/x%20y";
    let not_fetched = "data/far/away: not fetched: fetch.txt has its address";
    for length in ["-", "1"] {
        with_lines(V1, manifest, &format!("{url} {length} data/far/away\n"))
            .expect(Verdict::Incomplete, &[not_fetched]);
    }
    // A bag with all files is valid, and fetch.txt can stay.
    with_lines(V1, "$A data/a\n$B data/d/b\n", &format!("{url} 1 data/a\n"))
        .expect(Verdict::Valid, &[]);
    // The oxum counts files that are not there yet.
    let bag = with_lines(V1, manifest, &format!("{url} - data/far/away"));
    bag.write("bag-info.txt", "Payload-Oxum: 3.3\n");
    bag.expect(Verdict::Incomplete, &[not_fetched]);
    // Each file must be in the manifests.
    with_lines(V1, "$A data/a\n$B data/d/b\n", &format!("{url} - data/c\n")).expect(
        Verdict::Invalid,
        &["data/c: not listed in each manifest, which fetch.txt requires"],
    );
    for line in [
        "data/c",
        "https://x data/c",
        "https://x 1x data/c",
        "x - data/c",
        "https://x -",
    ] {
        let bag = with_lines(V1, "$A data/a\n$B data/d/b\n", line);
        bag.expect(
            Verdict::Invalid,
            &["fetch.txt: line 1: has not the form of this list"],
        );
    }
}

#[test]
fn section_5_no_path_leaves_the_bag() {
    for path in [
        "../x",
        "/etc/passwd",
        "data/../../x",
        "data/../bagit.txt",
        "~/x",
        "bagit.txt",
    ] {
        let bag = with_lines(V1, &format!("$A data/a\n$B data/d/b\n{OF_A} {path}\n"), "");
        let problem =
            format!("manifest-md5.txt: line 3: {path}: leads out of the folder that is listed");
        bag.expect(Verdict::Invalid, &[&problem]);
        let bag = with_lines(
            V1,
            "$A data/a\n$B data/d/b\n",
            &format!("https://x - {path}\n"),
        );
        let problem = format!("fetch.txt: line 1: {path}: leads out of the folder that is listed");
        bag.expect(Verdict::Invalid, &[&problem]);
    }
}

#[cfg(unix)]
#[test]
fn section_5_links_are_not_followed() {
    use std::os::unix::fs::symlink;
    let link = "is a symbolic link, which a bag cannot have";
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("b"), "b").unwrap();
    let bag = Bag::new();
    fs::remove_file(bag.path().join("data/d/b")).unwrap();
    symlink(outside.path().join("b"), bag.path().join("data/d/b")).unwrap();
    bag.expect(Verdict::Invalid, &[&format!("data/d/b: {link}")]);
    fs::remove_dir_all(bag.path().join("data/d")).unwrap();
    symlink(outside.path(), bag.path().join("data/d")).unwrap();
    bag.expect(Verdict::Invalid, &[&format!("data/d: {link}")]);
    let bag = Bag::new();
    fs::rename(
        bag.path().join("bagit.txt"),
        outside.path().join("bagit.txt"),
    )
    .unwrap();
    symlink(
        outside.path().join("bagit.txt"),
        bag.path().join("bagit.txt"),
    )
    .unwrap();
    bag.expect_error("bagit.txt: is no regular file, which a bag cannot have");
}

#[test]
fn hostile_manifests_are_bounded() {
    let bag = Bag::new();
    let mut text = format!("{OF_A} data/a\n{OF_B} data/d/b\n").into_bytes();
    text.extend(vec![b'x'; 1 << 20]);
    text.extend(b"\n\xff\xff\n");
    bag.write("manifest-md5.txt", &text);
    bag.expect(
        Verdict::Invalid,
        &[
            "manifest-md5.txt: line 3: is not UTF-8, or longer than 64 KiB",
            "manifest-md5.txt: line 4: is not UTF-8, or longer than 64 KiB",
        ],
    );
    let bag = Bag::new();
    let fetch = fs::File::create(bag.path().join("fetch.txt")).unwrap();
    fetch.set_len((256 << 20) + 1).unwrap();
    bag.expect_error("fetch.txt: is longer than 256 MiB");
}

#[test]
fn a_folder_becomes_a_bag() {
    let bag = Bag {
        folder: tempfile::tempdir().unwrap(),
    };
    for (name, text) in [("a", "a"), ("d/b", "b"), ("data/c", "c"), (".hidden", "")] {
        bag.write(name, text);
    }
    if cfg!(unix) {
        bag.write("100%\n", "percent");
    }
    let mut new = NewBag::new(algorithms(&["md5", "sha256", "sha512"]));
    new.info = vec![("Source-Organization".into(), "Örg".into())];
    let created = with_run(|run| create_in_place(bag.path(), &new, run)).unwrap();
    let n_files = if cfg!(unix) { 5 } else { 4 };
    assert_eq!(created.n_files, n_files);
    bag.expect(Verdict::Valid, &[]);
    assert_eq!(bag.read("bagit.txt"), V1);
    assert_eq!(bag.read("data/data/c"), "c");
    assert!(
        bag.read("bag-info.txt")
            .starts_with("Source-Organization: Örg\nPayload-Oxum: ")
    );
    if cfg!(unix) {
        assert!(bag.read("manifest-md5.txt").contains("  data/100%25%0A\n"));
    }
    let names = [
        "bag-info.txt",
        "bagit.txt",
        "manifest-md5.txt",
        "manifest-sha256.txt",
        "manifest-sha512.txt",
    ];
    for name in names {
        assert!(bag.read("tagmanifest-sha256.txt").contains(name), "{name}");
        let kept = bag.read(name);
        bag.write(name, kept.clone() + "\n");
        assert_ne!(bag.verdict().0, Verdict::Valid, "{name}");
        bag.write(name, kept);
    }
    bag.expect(Verdict::Valid, &[]);
    let again = with_run(|run| create_in_place(bag.path(), &new, run));
    assert!(matches!(again, Err(Error::AlreadyABag(_))));
}

#[test]
fn a_copy_leaves_the_folder_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("source");
    fs::create_dir_all(source.join("d")).unwrap();
    fs::write(source.join("d/b"), "b").unwrap();
    let to = folder.path().join("bag");
    let new = NewBag::new(algorithms(&["sha512"]));
    with_run(|run| create_copy(&source, &to, &new, run)).unwrap();
    assert_eq!(fs::read_dir(&source).unwrap().count(), 1);
    assert_eq!(fs::read(to.join("data/d/b")).unwrap(), b"b");
    let found = with_run(|run| validate(&to, Depth::Digests, run, &mut |_| ())).unwrap();
    assert_eq!(found.verdict(), Verdict::Valid);
    let again = with_run(|run| create_copy(&source, &to, &new, run));
    assert!(matches!(again, Err(Error::Exists(_))));
    let inside = source.join("d/bag");
    let error = with_run(|run| create_copy(&source, &inside, &new, run)).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("lies in the folder that is copied"),
        "{error}"
    );
    assert!(!inside.exists());
}

/// Makes something in a folder.
#[cfg(unix)]
type Make<'m> = &'m dyn Fn(&Path);

#[cfg(unix)]
#[test]
fn what_a_bag_cannot_have_leaves_the_folder_as_it_is() {
    use std::os::unix::ffi::OsStrExt as _;
    let new = NewBag::new(algorithms(&["sha512"]));
    let odd = PathBuf::from(std::ffi::OsStr::from_bytes(b"d/\xff"));
    let cases: [(&str, Make<'_>); 3] = [
        ("is a symbolic link", &|root| {
            std::os::unix::fs::symlink("a", root.join("d/x")).unwrap();
        }),
        ("the name is not UTF-8", &|root| {
            fs::write(root.join(&odd), "").unwrap();
        }),
        ("is no regular file", &|root| {
            drop(std::os::unix::net::UnixListener::bind(root.join("d/s")).unwrap());
        }),
    ];
    for (reason, make) in cases {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("d")).unwrap();
        fs::write(folder.path().join("a"), "a").unwrap();
        make(folder.path());
        let error = with_run(|run| create_in_place(folder.path(), &new, run)).unwrap_err();
        assert!(error.to_string().contains(reason), "{error}");
        assert!(folder.path().join("a").exists());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "{reason}");
    }
}

#[test]
fn an_update_lists_what_has_changed() {
    let bag = Bag::new();
    bag.write(
        "bag-info.txt",
        "Label: kept\n  as it is\nPayload-Oxum: 9.9\n",
    );
    bag.write("data/new", "a");
    bag.write("data/a", "changed");
    fs::remove_dir_all(bag.path().join("data/d")).unwrap();
    let updated = with_run(|run| update(bag.path(), &[], run)).unwrap();
    assert_eq!(updated.added, ["data/new"]);
    assert_eq!(updated.changed, ["data/a"]);
    assert_eq!(updated.removed, ["data/d/b"]);
    assert_eq!((updated.n_files, updated.n_bytes), (2, 8));
    bag.expect(Verdict::Valid, &[]);
    assert_eq!(
        bag.read("bag-info.txt"),
        "Label: kept\n  as it is\nPayload-Oxum: 8.2\n"
    );
    assert!(bag.path().join("tagmanifest-md5.txt").exists());
    // Other algorithms replace the manifests.
    with_run(|run| update(bag.path(), &algorithms(&["sha256", "sha512"]), run)).unwrap();
    bag.expect(Verdict::Valid, &[]);
    assert!(!bag.path().join("manifest-md5.txt").exists());
    assert!(!bag.path().join("tagmanifest-md5.txt").exists());
    assert!(bag.path().join("tagmanifest-sha512.txt").exists());
}

#[test]
fn an_update_keeps_the_digests_of_files_to_fetch() {
    let bag = with_lines(
        V1,
        "$A data/a\n$B data/d/b\n$A data/far\n",
        "https://example.org/far - data/far\n",
    );
    let updated = with_run(|run| update(bag.path(), &[], run)).unwrap();
    assert_eq!(
        (
            updated.added.len(),
            updated.changed.len(),
            updated.removed.len()
        ),
        (0, 0, 0)
    );
    assert_eq!(bag.verdict().0, Verdict::Incomplete);
    assert!(
        bag.read("manifest-md5.txt")
            .contains(&format!("{OF_A}  data/far\n"))
    );
    let error = with_run(|run| update(bag.path(), &algorithms(&["sha512"]), run)).unwrap_err();
    assert!(matches!(error, Error::NotFetched(_)), "{error}");
    assert_eq!(bag.verdict().0, Verdict::Incomplete);
}

#[test]
fn a_cancelled_run_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a"), "a").unwrap();
    let (options, cancel) = (Options::default(), CancelToken::default());
    cancel.cancel();
    let mut run = Run {
        options: &options,
        cancel: &cancel,
        progress: &mut |_| (),
    };
    let new = NewBag::new(algorithms(&["sha512"]));
    let error = create_in_place(folder.path(), &new, &mut run).unwrap_err();
    assert!(matches!(error, Error::Cancelled), "{error}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    let bag = Bag::new();
    let found = validate(bag.path(), Depth::Digests, &mut run, &mut |_| ());
    assert!(matches!(found, Err(Error::Cancelled)));
}

#[test]
fn kinds_of_problems_differ() {
    let bag = Bag::new();
    bag.write("data/a", "x");
    let mut kinds = Vec::new();
    with_run(|run| {
        validate(bag.path(), Depth::Digests, run, &mut |it| {
            kinds.push(it.kind);
        })
    })
    .unwrap();
    assert!(
        matches!(&kinds[..], [ProblemKind::Changed(manifest)] if manifest == "manifest-md5.txt")
    );
}

/// A copy by macOS has names in form D, where the manifest has form C: the names are the same (section 6.1.1.2).
#[test]
fn names_in_another_unicode_form_are_the_same() {
    let (nfc, nfd) = ("data/caf\u{e9}", "data/cafe\u{301}");
    let bag = Bag::new();
    bag.write(nfd, "a");
    bag.write(
        "manifest-md5.txt",
        format!("{OF_A}  data/a\n{OF_B}  data/d/b\n{OF_A}  {nfc}\n"),
    );
    bag.expect(Verdict::Valid, &[]);
    let found = bag.validated(Depth::Completeness).0.unwrap();
    assert_eq!(found.other_forms, [nfd.to_owned()].into());
    // Its bytes are compared.
    bag.write(nfd, "b");
    let changed = format!("{nfd}: changed: its digest differs from manifest-md5.txt");
    bag.expect(Verdict::Invalid, &[&changed]);
    // Two lines for one file contradict each other, and two files are not one.
    bag.write(nfd, "a");
    bag.write(
        "manifest-md5.txt",
        format!("{OF_A}  data/a\n{OF_B}  data/d/b\n{OF_A}  {nfc}\n{OF_B}  {nfd}\n"),
    );
    assert_eq!(bag.verdict().0, Verdict::Invalid);
    bag.write("data/A\u{30a}", "a");
    bag.write("data/\u{c5}", "a");
    bag.write(
        "manifest-md5.txt",
        format!("{OF_A}  data/a\n{OF_B}  data/d/b\n{OF_A}  {nfd}\n{OF_A}  data/\u{212b}\n"),
    );
    assert_eq!(bag.verdict().0, Verdict::Invalid);
}

/// The threads of the run end, and the panic reaches the caller.
#[test]
fn a_panic_of_a_callback_ends_the_run() {
    let bag = Bag::new();
    bag.write("data/a", "x");
    let panics = |run: &mut dyn FnMut()| {
        let panic = catch_unwind(AssertUnwindSafe(run)).unwrap_err();
        assert_eq!(panic.downcast_ref(), Some(&"as a test"));
    };
    let (options, cancel) = (Options::default(), CancelToken::default());
    let depth = Depth::Digests;
    panics(&mut || {
        let progress = &mut |_| panic!("as a test");
        let (options, cancel) = (&options, &cancel);
        let mut run = Run {
            options,
            cancel,
            progress,
        };
        let _ = validate(bag.path(), depth, &mut run, &mut |_| ());
    });
    panics(&mut || {
        with_run(|run| {
            let _ = validate(bag.path(), depth, run, &mut |_| panic!("as a test"));
        });
    });
    assert!(!cancel.is_cancelled(), "the caller's token is unchanged");
}
