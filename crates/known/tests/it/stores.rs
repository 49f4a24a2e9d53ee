//! Stores whose names are digests.

use std::fs;
use std::path::{Path, PathBuf};

use hashlane_known::store::{self, Layout, Problem};
use hashlane_known::{KnownDigest, KnownFile};
use serde_json::{Value, json};

fn write(root: &Path, name: &str, text: impl AsRef<[u8]>) {
    let path = root.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn sha(digit: char) -> String {
    digit.to_string().repeat(64)
}

/// Returns the paths of files below `root`, sorted.
fn paths(root: &Path, files: &[KnownFile]) -> Vec<PathBuf> {
    let paths = files
        .iter()
        .map(|file| file.path.strip_prefix(root).unwrap());
    let mut paths: Vec<PathBuf> = paths.map(Path::to_owned).collect();
    paths.sort();
    paths
}

/// Returns the problems by their paths below `root`, sorted.
fn problems(root: &Path, store: &store::Store) -> Vec<(String, &'static str)> {
    let named = store.problems.iter().map(|(path, problem)| {
        let kind = match problem {
            Problem::Missing => "missing",
            Problem::Unknown => "unknown",
            Problem::Unreadable(_) => "unreadable",
        };
        (path.strip_prefix(root).unwrap().display().to_string(), kind)
    });
    let mut named: Vec<_> = named.collect();
    named.sort();
    named
}

#[test]
fn models_of_ollama() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let (a, b, c, d) = (sha('a'), sha('b'), sha('c'), sha('d'));
    write(root, &format!("models/blobs/sha256-{a}"), "config");
    write(root, &format!("models/blobs/sha256:{b}"), "layer");
    write(root, &format!("models/blobs/sha256-{c}-partial"), "l");
    write(root, &format!("models/blobs/sha256-{c}-partial-0"), "l");
    write(root, "models/blobs/notes", "");
    let manifest = json!({
        "config": {"digest": format!("sha256:{a}"), "size": 6},
        "layers": [{"digest": format!("sha256:{b}"), "size": 9}, {"digest": format!("sha256:{d}"), "size": 1}],
    });
    write(
        root,
        "models/manifests/registry.ollama.ai/library/x/latest",
        manifest.to_string(),
    );
    write(
        root,
        "models/manifests/registry.ollama.ai/library/x/broken",
        "{",
    );
    let store = store::read(root).unwrap();
    assert_eq!(store.layout, Layout::Ollama);
    assert_eq!(store.n_unfinished, 2);
    let expected = [
        format!("models/blobs/sha256-{a}"),
        format!("models/blobs/sha256:{b}"),
    ];
    assert_eq!(paths(root, &store.files), expected.map(PathBuf::from));
    let lengths: Vec<_> = store.files.iter().map(|file| file.len_bytes).collect();
    assert_eq!(lengths, [Some(6), Some(9)]);
    let expected = [
        ("models/blobs/notes".to_owned(), "unknown"),
        (format!("models/blobs/sha256-{d}"), "missing"),
        (
            "models/manifests/registry.ollama.ai/library/x/broken".to_owned(),
            "unreadable",
        ),
    ];
    assert_eq!(problems(root, &store), expected);
}

fn oci(index: &Value, blobs: &[(String, String)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        "oci-layout",
        r#"{"imageLayoutVersion": "1.0.0"}"#,
    );
    write(folder.path(), "index.json", index.to_string());
    for (name, text) in blobs {
        write(folder.path(), &format!("blobs/sha256/{name}"), text);
    }
    folder
}

fn descriptor(digit: char, kind: &str) -> Value {
    json!({"digest": format!("sha256:{}", sha(digit)), "size": 2, "mediaType": format!("application/vnd.oci.image.{kind}")})
}

#[test]
fn manifests_of_oci_layouts() {
    let index =
        json!({"manifests": [descriptor('a', "index.v1+json"), descriptor('a', "index.v1+json")]});
    let mut foreign = descriptor('f', "layer.nondistributable.v1.tar");
    foreign["urls"] = json!(["https://example.org/layer"]);
    let nested = json!({"manifests": [descriptor('b', "manifest.v1+json")]});
    let manifest = json!({
        "config": descriptor('c', "config.v1+json"),
        "layers": [descriptor('d', "layer.v1.tar"), descriptor('e', "layer.v1.tar"), foreign],
    });
    let blobs = [
        (sha('a'), nested.to_string()),
        (sha('b'), manifest.to_string()),
        (sha('c'), "{}".to_owned()),
        (sha('d'), "no manifest".to_owned()),
    ];
    let folder = oci(&index, &blobs);
    write(
        folder.path(),
        &format!("blobs/sha512/{}", "9".repeat(128)),
        "",
    );
    write(folder.path(), &format!("blobs/sha512/{}", sha('9')), "");
    let store = store::read(folder.path()).unwrap();
    assert_eq!(store.layout, Layout::Oci);
    assert_eq!(store.files.len(), 5);
    let sized = store.files.iter().filter(|file| file.len_bytes == Some(2));
    assert_eq!(sized.count(), 4);
    let expected = [
        (format!("blobs/sha256/{}", sha('e')), "missing"),
        (format!("blobs/sha512/{}", sha('9')), "unknown"),
    ];
    assert_eq!(problems(folder.path(), &store), expected);
}

#[test]
fn other_blobs_are_no_manifests_and_the_digest_decides_between_lengths() {
    let artifact =
        json!({"digest": format!("sha256:{}", sha('b')), "size": 1, "mediaType": "text/plain"});
    let mut other = artifact.clone();
    other["size"] = json!(3);
    let index = json!({"manifests": [artifact, other]});
    let folder = oci(&index, &[(sha('b'), "text".to_owned())]);
    let store = store::read(folder.path()).unwrap();
    assert!(store.problems.is_empty(), "{:?}", store.problems);
    assert_eq!(store.files.len(), 1);
    assert_eq!(store.files[0].len_bytes, None);
}

#[test]
fn manifests_cannot_name_files_elsewhere_or_run_for_ever() {
    let hostile = |digest: &str| json!({"digest": digest, "size": 1});
    let index = json!({"manifests": [
        descriptor('a', "index.v1+json"),
        hostile("sha256:../../../etc/passwd"), hostile("sha256"), hostile("md5:00"), hostile(&format!("sha256:{}", sha('A'))),
    ]});
    // A manifest that names itself.
    let own = json!({"manifests": [descriptor('a', "index.v1+json")]});
    let folder = oci(&index, &[(sha('a'), own.to_string())]);
    let store = store::read(folder.path()).unwrap();
    assert_eq!(store.files.len(), 1);
    assert_eq!(
        problems(folder.path(), &store),
        vec![("index.json".to_owned(), "unreadable"); 4]
    );
}

#[test]
fn objects_of_git_lfs_and_restic() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    write(root, &format!("lfs/objects/aa/aa/{}", sha('a')), "");
    write(root, "lfs/objects/aa/aa/other", "");
    let store = store::read(root).unwrap();
    assert_eq!((store.layout, store.files.len()), (Layout::GitLfs, 1));
    assert_eq!(
        problems(root, &store),
        [("lfs/objects/aa/aa/other".to_owned(), "unknown")]
    );

    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    write(root, "config", "");
    for name in ["data/aa", "index", "keys", "snapshots", "locks"] {
        write(root, &format!("{name}/{}", sha('a')), "");
    }
    write(root, &format!("data/aa/{}-tmp-123", sha('a')), "");
    let store = store::read(root).unwrap();
    assert_eq!(
        (store.layout, store.files.len(), store.n_unfinished),
        (Layout::Restic, 4, 1)
    );
    assert!(store.problems.is_empty());
}

#[cfg(unix)]
#[test]
fn repositories_of_hugging_face() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let (large, small) = (sha('a'), "b".repeat(40));
    for repository in ["models--x--y", "datasets--x--z"] {
        write(root, &format!("hub/{repository}/blobs/{large}"), "");
        write(root, &format!("hub/{repository}/blobs/{small}"), "");
        write(
            root,
            &format!("hub/{repository}/blobs/{large}.incomplete"),
            "",
        );
        let snapshot = root.join(format!("hub/{repository}/snapshots/1/in"));
        fs::create_dir_all(&snapshot).unwrap();
        let link = |target: &str, name: &str| {
            std::os::unix::fs::symlink(format!("../../../blobs/{target}"), snapshot.join(name))
                .unwrap();
        };
        link(&large, "whole");
        link(&sha('c'), "broken");
    }
    let store = store::read(root).unwrap();
    assert_eq!(
        (store.layout, store.files.len(), store.n_unfinished),
        (Layout::HuggingFace, 4, 2)
    );
    let blobs = store
        .files
        .iter()
        .filter(|file| matches!(file.digest, KnownDigest::GitBlob(_)));
    assert_eq!(blobs.count(), 2);
    let expected = ["datasets--x--z", "models--x--y"]
        .map(|repository| (format!("hub/{repository}/snapshots/1/in/broken"), "missing"));
    assert_eq!(problems(root, &store), expected);

    let repository = root.join("hub/models--x--y");
    let store = store::read(&repository).unwrap();
    assert_eq!(store.files.len(), 2);

    // Blobs behind links are not checked, and a repository without blobs is damaged.
    let blob = repository.join("blobs").join(&large);
    fs::remove_file(&blob).unwrap();
    std::os::unix::fs::symlink("/dev/null", &blob).unwrap();
    let store = store::read(&repository).unwrap();
    assert_eq!(store.files.len(), 1);
    let name = format!("blobs/{large}");
    assert!(problems(&repository, &store).contains(&(name, "unreadable")));
    fs::remove_dir_all(repository.join("blobs")).unwrap();
    let store = store::read(root).unwrap();
    let found = problems(root, &store);
    assert!(found.contains(&("hub/models--x--y/blobs".to_owned(), "unreadable")));
    assert!(found.contains(&(
        "hub/models--x--y/snapshots/1/in/whole".to_owned(),
        "missing"
    )));
}

/// A blob that the cache shares is behind a link of a certain form.
#[cfg(unix)]
#[test]
fn blobs_that_a_cache_of_hugging_face_shares() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let large = sha('a');
    write(root, &format!("hub/models--x--y/blobs/{large}"), "");
    fs::create_dir_all(root.join("hub/models--x--y/snapshots")).unwrap();
    let repository = root.join("hub/models--x--y");
    let blob = repository.join("blobs").join(&large);
    let shared = |start: &str, name: &str| {
        fs::remove_file(&blob).unwrap();
        let target = format!("../../blobs/{start}/{name}");
        std::os::unix::fs::symlink(target, &blob).unwrap();
        let store = store::read(&repository).unwrap();
        let files = paths(&repository, &store.files);
        files.contains(&PathBuf::from(format!("blobs/{large}")))
    };
    let xet = format!("f5{}", "0".repeat(62));
    write(root, &format!("hub/blobs/f5/{xet}"), "");
    write(root, &format!("hub/blobs/f6/{xet}"), "");
    write(root, "hub/blobs/f5/f5", "");
    assert!(shared("f5", &xet));
    assert!(!shared("f6", &xet));
    assert!(!shared("f5", "f5"));
    assert!(
        shared("f5", &format!("f5{}", "1".repeat(62))),
        "it is missing"
    );
    let outside = root.join("outside");
    fs::rename(root.join("hub/blobs/f5"), &outside).unwrap();
    std::os::unix::fs::symlink(&outside, root.join("hub/blobs/f5")).unwrap();
    assert!(!shared("f5", &xet));
}

#[test]
fn records_of_downloads() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let record = |tag: &str| format!("{}\n{tag}\n1.5\n", "0".repeat(40));
    let records = ".cache/huggingface/download";
    write(root, "in/a.bin", "");
    write(
        root,
        &format!("{records}/in/a.bin.metadata"),
        record(&sha('a')),
    );
    write(root, &format!("{records}/gone.metadata"), record(&sha('a')));
    write(root, &format!("{records}/odd.metadata"), record("W/odd"));
    write(root, &format!("{records}/b.incomplete"), "");
    let store = store::read(root).unwrap();
    assert_eq!(
        (store.layout, store.n_unfinished),
        (Layout::HuggingFaceDownload, 1)
    );
    assert_eq!(paths(root, &store.files), [PathBuf::from("in/a.bin")]);
    let expected = [
        (format!("{records}/odd.metadata"), "unreadable"),
        ("gone".to_owned(), "missing"),
    ];
    assert_eq!(problems(root, &store), expected);
}

#[test]
fn other_folders_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(
        store::read(folder.path()),
        Err(store::Error::Unknown)
    ));
    fs::create_dir(folder.path().join("objects")).unwrap();
    assert!(matches!(
        store::read(folder.path()),
        Err(store::Error::Unknown)
    ));
    assert!(matches!(
        store::read(&folder.path().join("absent")),
        Err(store::Error::Io(_))
    ));
}
