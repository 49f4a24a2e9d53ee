use std::fs;
use std::num::NonZeroU32;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use hashlane_api::{Goal, Place, Rates, Target};
use hashlane_metainfo::{InfoHashes, Magnet};
use hashlane_store::{
    Category, Choices, Groups, Metainfo, Name, Priorities, Session, Store, StoreError,
};
use tempfile::TempDir;

use crate::made::{hybrid, names_of_hybrid, torrent};

fn choices() -> Choices {
    Choices::at(Place::Folder("/srv".into()))
}

fn name(number: u32) -> Name {
    torrent(number).info_hashes().into()
}

/// Returns a folder with these torrents.
fn folder_with(numbers: &[u32]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(folder.path()).unwrap();
    for number in numbers {
        store.put(torrent(*number), choices()).unwrap();
    }
    folder
}

fn path(folder: &TempDir, number: u32, suffix: &str) -> PathBuf {
    folder
        .path()
        .join(format!("torrents/{}.{suffix}", name(number)))
}

fn names(store: &Store) -> Vec<Name> {
    store.entries().iter().map(|entry| entry.name()).collect()
}

/// Returns the names of all files of the torrents.
fn files(folder: &TempDir) -> Vec<String> {
    let files = fs::read_dir(folder.path().join("torrents")).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

fn problems(store: &Store) -> Vec<String> {
    store.problems().iter().map(ToString::to_string).collect()
}

#[test]
fn torrents_are_there_again_in_their_order() {
    let folder = folder_with(&[3, 1, 2]);
    let mut store = Store::open(folder.path()).unwrap();
    assert_eq!(names(&store), [3, 1, 2].map(name));
    assert_eq!(problems(&store), [""; 0]);
    let last = Choices {
        order: Some(7),
        paused: true,
        ..Choices::at(Place::Content("/srv/other".into()))
    };
    store.update(name(3), last.clone()).unwrap();
    store.remove(name(1)).unwrap();
    store.put(torrent(4), choices()).unwrap();
    assert_eq!(names(&store), [2, 3, 4].map(name));
    drop(store);
    let store = Store::open(folder.path()).unwrap();
    assert_eq!(names(&store), [2, 3, 4].map(name));
    assert_eq!(store.get(name(3)).unwrap().choices, last);
    assert_eq!(store.get(name(4)).unwrap().choices.order, Some(8));
    assert_eq!(files(&folder).len(), 6);
    let Metainfo::File(path) = &store.get(name(2)).unwrap().metainfo else {
        panic!("the torrent has a file");
    };
    assert_eq!(fs::read(path).unwrap(), torrent(2).bytes());
}

/// A store in memory does the same as a folder.
#[test]
fn a_store_in_memory_keeps_torrents() {
    let mut store = Store::in_memory();
    assert_eq!(store.folder(), None);
    for number in [3, 1, 2] {
        store.put(torrent(number), choices()).unwrap();
    }
    let twice = store.put(torrent(3), choices());
    assert!(matches!(twice, Err(StoreError::Exists(_))), "{twice:?}");
    let magnet = Magnet::new(InfoHashes::V1([7; 20].into()));
    let link = store.put_magnet(magnet, choices()).unwrap().name();
    assert_eq!(store.metadata_file(link), None);
    store.remove(name(1)).unwrap();
    let order = [link, name(2), name(3)];
    store.set_order(&order).unwrap();
    assert_eq!(names(&store), order);
    let labels = Choices {
        labels: ["a".to_owned()].into(),
        ..store.get(name(2)).unwrap().choices.clone()
    };
    store.update(name(2), labels.clone()).unwrap();
    let entry = store.get(name(2)).unwrap();
    assert_eq!(entry.choices, labels);
    let Metainfo::Torrent(bytes) = &entry.metainfo else {
        panic!("the torrent is in memory");
    };
    assert_eq!(bytes.bytes(), torrent(2).bytes());
    let session = Session {
        adds_paused: true,
        ..*store.session()
    };
    store.set_session(session).unwrap();
    store.save_totals().unwrap();
    assert_eq!(*store.session(), session);
}

#[test]
fn an_order_lasts() {
    let folder = folder_with(&[1, 2, 3, 4]);
    let mut store = Store::open(folder.path()).unwrap();
    let before = fs::read(path(&folder, 2, "toml")).unwrap();
    let order = [4, 1, 2, 3].map(name);
    store.set_order(&order).unwrap();
    assert_eq!(names(&store), order);
    // The others stay as they are.
    assert_eq!(fs::read(path(&folder, 2, "toml")).unwrap(), before);
    assert_eq!(store.get(name(4)).unwrap().choices.order, Some(-1));
    drop(store);
    let mut store = Store::open(folder.path()).unwrap();
    assert_eq!(names(&store), order);
    let order = [1, 4, 2, 3].map(name);
    store.set_order(&order).unwrap();
    assert_eq!(names(&store), order);
    assert!(matches!(
        store.set_order(&[name(9)]),
        Err(StoreError::Absent(_))
    ));
}

/// Many choices change together. Unknown torrents are found before anything is written.
#[test]
fn many_choices_change_together() {
    let numbers: Vec<u32> = (1..=40).collect();
    let folder = folder_with(&numbers);
    let mut store = Store::open(folder.path()).unwrap();
    let labelled = |label: &str| Choices {
        labels: [label.to_owned()].into(),
        ..choices()
    };
    let updates = |label: &str| -> Vec<_> {
        let numbers = numbers.iter();
        numbers.map(|it| (name(*it), labelled(label))).collect()
    };
    let mut unknown = updates("no");
    unknown.push((name(99), choices()));
    let refused = store.update_all(unknown);
    assert!(matches!(refused, Err(StoreError::Absent(found)) if found == name(99)));
    store.update_all(updates("a")).unwrap();
    store.update_all(Vec::new()).unwrap();
    let shown = |store: &Store| -> Vec<_> {
        let entries = store.entries().into_iter();
        entries
            .map(|it| (it.name(), it.choices.labels.clone(), it.choices.order))
            .collect()
    };
    let before = shown(&store);
    assert_eq!(before.len(), 40);
    for (number, (found, labels, order)) in (1..).zip(&before) {
        assert_eq!(
            (*found, *order),
            (name(number), Some(i64::from(number) - 1))
        );
        assert_eq!(labels.iter().collect::<Vec<_>>(), ["a"]);
    }
    // Some of the files cannot be written: the others have changed, on the disk and in memory.
    fs::remove_file(path(&folder, 7, "toml")).unwrap();
    fs::create_dir(path(&folder, 7, "toml")).unwrap();
    store.update_all(updates("b")).unwrap_err();
    let is_old = |it: &(Name, std::collections::BTreeSet<String>, Option<i64>)| it.1.contains("a");
    let old: Vec<Name> = shown(&store)
        .iter()
        .filter(|it| is_old(it))
        .map(|it| it.0)
        .collect();
    assert_eq!(old, [name(7)]);
    fs::remove_dir(path(&folder, 7, "toml")).unwrap();
    store.update_all(updates("b")).unwrap();
    let after = shown(&store);
    drop(store);
    assert_eq!(shown(&Store::open(folder.path()).unwrap()), after);
    assert!(!after.iter().any(is_old));
}

#[test]
fn only_the_user_can_read_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let inner = folder.path().join("a/state");
    for state in [folder.path(), &inner] {
        let mut store = Store::open(state).unwrap();
        store.put(torrent(1), choices()).unwrap();
        store
            .put_magnet(Magnet::new(torrent(2).info_hashes()), choices())
            .unwrap();
        store.save_totals().unwrap();
    }
    for state in [folder.path(), &inner] {
        let mut n_files = 0;
        for folder in [state.to_owned(), state.join("torrents")] {
            assert_eq!(folder.metadata().unwrap().mode() & 0o7777, 0o700);
            for file in fs::read_dir(&folder).unwrap() {
                let status = file.unwrap().metadata().unwrap();
                if status.is_file() {
                    n_files += 1;
                    assert_eq!(status.mode() & 0o7777, 0o600);
                }
            }
        }
        assert_eq!(n_files, 7);
    }
}

#[test]
fn a_change_is_refused_as_a_whole() {
    let folder = folder_with(&[1]);
    let mut store = Store::open(folder.path()).unwrap();
    let before = files(&folder);
    let error = store.put(torrent(1), choices()).unwrap_err();
    assert!(matches!(error, StoreError::Exists(found) if found == name(1)));
    let twice = [2, 3, 2].map(|number| (torrent(number), choices()));
    assert!(
        matches!(store.put_all(twice.into()), Err(StoreError::Exists(found)) if found == name(2))
    );
    assert!(matches!(
        store.update(name(9), choices()),
        Err(StoreError::Absent(_))
    ));
    assert!(matches!(store.remove(name(9)), Err(StoreError::Absent(_))));
    let other = store.set_metainfo(name(1), &torrent(2)).unwrap_err();
    assert!(other.to_string().contains("another torrent"), "{other}");
    for place in [Place::Folder("relative".into()), Place::Content("".into())] {
        let error = store
            .put(torrent(2), Choices::at(place.clone()))
            .unwrap_err();
        assert!(
            error.to_string().ends_with("not an absolute path"),
            "{error}"
        );
        assert!(store.update(name(1), Choices::at(place)).is_err());
    }
    assert_eq!(store.get(name(1)).unwrap().choices.place, choices().place);
    assert_eq!(files(&folder), before);
    let many = (10..20).map(|number| (torrent(number), choices()));
    store.put_all(many.collect()).unwrap();
    drop(store);
    let orders = Store::open(folder.path()).unwrap();
    let orders = orders
        .entries()
        .iter()
        .map(|entry| entry.choices.order.unwrap())
        .collect::<Vec<_>>();
    assert_eq!(orders, (0..11).collect::<Vec<_>>());
}

/// The folders after a kill between any two steps of an addition and of a removal.
#[test]
fn an_interrupted_change_is_finished_or_undone() {
    let pending = |folder: &TempDir| {
        fs::rename(
            path(folder, 1, "torrent"),
            path(folder, 1, "torrent.pending"),
        )
        .unwrap();
    };
    for (is_present, interrupt) in [
        (true, &pending as &dyn Fn(&TempDir)),
        (false, &|folder| {
            pending(folder);
            fs::remove_file(path(folder, 1, "toml")).unwrap();
        }),
        (false, &|folder| {
            pending(folder);
            fs::remove_file(path(folder, 1, "toml")).unwrap();
            fs::write(folder.path().join("torrents/.hashlane-abcdef.tmp"), "half").unwrap();
        }),
    ] {
        let folder = folder_with(&[1, 2]);
        interrupt(&folder);
        let store = Store::open(folder.path()).unwrap();
        assert_eq!(problems(&store), [""; 0]);
        assert_eq!(store.get(name(1)).is_some(), is_present);
        assert!(store.get(name(2)).is_some());
        assert_eq!(path(&folder, 1, "torrent").exists(), is_present);
        assert!(!path(&folder, 1, "torrent.pending").exists());
    }
}

#[test]
fn a_hybrid_has_the_name_of_version_1() {
    let [v1, v2] = names_of_hybrid();
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(folder.path()).unwrap();
    let info_hashes = hybrid().info_hashes();
    let link = Magnet::new(InfoHashes::V2(info_hashes.v2().unwrap()));
    store.put_magnet(link.clone(), choices()).unwrap();
    assert_eq!(names(&store), [v2]);
    assert_eq!(store.find(info_hashes).unwrap().name(), v2);
    assert!(
        matches!(store.put(hybrid(), choices()), Err(StoreError::Exists(found)) if found == v2)
    );
    assert_eq!(store.set_metainfo(v2, &hybrid()).unwrap(), v1);
    assert_eq!(names(&store), [v1]);
    assert_eq!(
        files(&folder),
        [format!("{v1}.toml"), format!("{v1}.torrent")]
    );
    // Either info-hash finds it.
    assert!(
        matches!(store.put_magnet(link, choices()), Err(StoreError::Exists(found)) if found == v1)
    );
    let only_v1 = Magnet::new(InfoHashes::V1(info_hashes.v1().unwrap()));
    assert!(matches!(
        store.put_magnet(only_v1, choices()),
        Err(StoreError::Exists(_))
    ));
}

/// A client writes the metadata before it asks for content. A kill before `set_metainfo`, or in it, loses nothing.
#[test]
fn metadata_that_a_client_kept_replaces_the_link() {
    let folder = tempfile::tempdir().unwrap();
    let kept = |store: &Store| store.metadata_file(name(1)).unwrap();
    let mut store = Store::open(folder.path()).unwrap();
    store
        .put_magnet(Magnet::new(torrent(1).info_hashes()), choices())
        .unwrap();
    fs::write(kept(&store), torrent(1).bytes()).unwrap();
    drop(store);
    let whole = [format!("{}.toml", name(1)), format!("{}.torrent", name(1))];
    let mut store = Store::open(folder.path()).unwrap();
    assert_eq!(problems(&store), [""; 0]);
    assert_eq!(files(&folder), whole);
    assert_eq!(store.metadata_file(name(1)), None);
    // The next link with this name has its own.
    store.remove(name(1)).unwrap();
    let link = Magnet::new(torrent(1).info_hashes());
    store.put_magnet(link.clone(), choices()).unwrap();
    let (pending, link_text) = (kept(&store), fs::read(path(&folder, 1, "magnet")).unwrap());
    fs::write(&pending, torrent(1).bytes()).unwrap();
    store.set_metainfo(name(1), &torrent(1)).unwrap();
    assert_eq!(files(&folder), whole);
    drop(store);
    fs::write(&pending, torrent(1).bytes()).unwrap();
    fs::write(path(&folder, 1, "magnet"), link_text).unwrap();
    let mut store = Store::open(folder.path()).unwrap();
    assert_eq!(problems(&store), [""; 0]);
    assert_eq!(files(&folder), whole);
    // What is removed leaves nothing.
    store.remove(name(1)).unwrap();
    store.put_magnet(link, choices()).unwrap();
    fs::write(kept(&store), torrent(1).bytes()).unwrap();
    store.remove(name(1)).unwrap();
    assert_eq!(files(&folder), [""; 0]);
    // Links of version 2 get the name of a hybrid only with their metadata.
    let v2 = InfoHashes::V2(hybrid().info_hashes().v2().unwrap());
    let v2 = store.put_magnet(Magnet::new(v2), choices()).unwrap().name();
    assert_eq!(store.metadata_file(v2), None);
}

#[test]
fn a_link_gives_way_to_its_metadata() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(folder.path()).unwrap();
    let link = Magnet::new(torrent(1).info_hashes());
    store.put_magnet(link.clone(), choices()).unwrap();
    let link_text = fs::read(path(&folder, 1, "magnet")).unwrap();
    assert_eq!(store.set_metainfo(name(1), &torrent(1)).unwrap(), name(1));
    assert_eq!(
        files(&folder),
        [format!("{}.toml", name(1)), format!("{}.torrent", name(1))]
    );
    drop(store);
    // A kill between the two steps leaves both.
    fs::write(path(&folder, 1, "magnet"), link_text).unwrap();
    let store = Store::open(folder.path()).unwrap();
    assert!(matches!(
        store.get(name(1)).unwrap().metainfo,
        Metainfo::File(_)
    ));
    assert!(!path(&folder, 1, "magnet").exists());
    assert_eq!(problems(&store), [""; 0]);
    drop(store);
    // If the name changes, it leaves two torrents.
    let [v1, v2] = names_of_hybrid();
    let mut store = Store::open(folder.path()).unwrap();
    store.put(hybrid(), choices()).unwrap();
    drop(store);
    let toml = folder.path().join(format!("torrents/{v1}.toml"));
    fs::copy(&toml, folder.path().join(format!("torrents/{v2}.toml"))).unwrap();
    let link = Magnet::new(InfoHashes::V2(hybrid().info_hashes().v2().unwrap()));
    fs::write(
        folder.path().join(format!("torrents/{v2}.magnet")),
        link.to_string(),
    )
    .unwrap();
    let store = Store::open(folder.path()).unwrap();
    assert_eq!(problems(&store), [""; 0]);
    assert_eq!(names(&store).len(), 2);
    assert!(store.get(v1).is_some() && store.get(v2).is_none());
    assert_eq!(files(&folder).len(), 4);
}

/// Two links to one hybrid stay, with their choices, when the metadata of one is known: a person added both.
#[test]
fn a_second_link_to_a_hybrid_stays() {
    let [v1, v2] = names_of_hybrid();
    let info_hashes = hybrid().info_hashes();
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(folder.path()).unwrap();
    let only_v1 = Magnet::new(InfoHashes::V1(info_hashes.v1().unwrap()));
    let only_v2 = Magnet::new(InfoHashes::V2(info_hashes.v2().unwrap()));
    store.put_magnet(only_v1, choices()).unwrap();
    store.put_magnet(only_v2, choices()).unwrap();
    let second = store.set_metainfo(v2, &hybrid());
    assert!(matches!(second, Err(StoreError::Exists(found)) if found == v1));
    assert_eq!(store.set_metainfo(v1, &hybrid()).unwrap(), v1);
    let before = store.get(v2).unwrap().choices.clone();
    drop(store);
    let store = Store::open(folder.path()).unwrap();
    assert_eq!(problems(&store), [""; 0]);
    assert!(matches!(store.get(v1).unwrap().metainfo, Metainfo::File(_)));
    assert_eq!(store.get(v2).unwrap().choices, before);
}

/// Damages the two files of a torrent.
type Damage = fn(&Path, &Path);

/// Damages, each with a part of its report.
const DAMAGES: &[(&str, Damage)] = &[
    (
        ".toml:2: invalid type: string \"no\", expected a boolean",
        |_, toml| {
            fs::write(toml, "folder = '/srv'\npaused = 'no'\n").unwrap();
        },
    ),
    (".toml:1: unknown field `foldre`", |_, toml| {
        fs::write(toml, "foldre = 3\n").unwrap();
    }),
    (".toml:3: not UTF-8", |_, toml| {
        fs::write(toml, b"a = 3\n\n\xFF").unwrap();
    }),
    (".toml: longer than 8388608 bytes", |_, toml| {
        fs::File::create(toml).unwrap().set_len(9 << 20).unwrap();
    }),
    (".toml: a symbolic link", |_, toml| {
        fs::remove_file(toml).unwrap();
        symlink("/dev/zero", toml).unwrap();
    }),
    (".toml: not a regular file", |_, toml| {
        fs::remove_file(toml).unwrap();
        fs::create_dir(toml).unwrap();
    }),
    (
        ".toml: neither a .torrent file nor a magnet link",
        |torrent, _| {
            fs::remove_file(torrent).unwrap();
        },
    ),
    (".toml is missing", |_, toml| fs::remove_file(toml).unwrap()),
    (".torrent: ", |torrent, _| {
        fs::write(torrent, "d4:info").unwrap();
    }),
    (".torrent: not a regular file", |torrent, _| {
        fs::remove_file(torrent).unwrap();
        let status = std::process::Command::new("mkfifo").arg(torrent).status();
        assert!(status.unwrap().success());
    }),
    (".torrent: contains the torrent", |torrent, _| {
        fs::write(torrent, crate::made::torrent(3).bytes()).unwrap();
    }),
    (".torrent: longer than 33554432 bytes", |torrent, _| {
        fs::File::create(torrent)
            .unwrap()
            .set_len(33 << 20)
            .unwrap();
    }),
    (".torrent.pending: ignored, because", |torrent, _| {
        fs::write(torrent.with_extension("torrent.pending"), "x").unwrap();
    }),
    ("NAMES: not a file of a torrent", |torrent, _| {
        fs::write(torrent.with_file_name("NAMES"), "x").unwrap();
    }),
];

#[test]
fn damage_is_reported_kept_and_hides_nothing() {
    for (reason, damage) in DAMAGES {
        let folder = folder_with(&[1, 2]);
        damage(&path(&folder, 1, "torrent"), &path(&folder, 1, "toml"));
        let before = files(&folder);
        let mut store = Store::open(folder.path()).unwrap();
        let found = problems(&store);
        assert_eq!(found.len(), 1, "{reason}: {found:?}");
        assert!(found[0].contains(reason), "{reason}: {found:?}");
        assert!(store.get(name(2)).is_some(), "{reason}");
        if store.get(name(1)).is_none() {
            let error = store.put(torrent(1), choices()).unwrap_err();
            assert!(
                error.to_string().contains("damaged, and not replaced"),
                "{error}"
            );
        }
        assert_eq!(files(&folder), before, "{reason}");
    }
}

#[test]
fn a_second_program_is_refused() {
    let folder = folder_with(&[1]);
    let store = Store::open(folder.path()).unwrap();
    let error = Store::open(folder.path()).unwrap_err();
    let expected = format!(
        "{}: in use by process {}",
        folder.path().display(),
        std::process::id()
    );
    assert_eq!(error.to_string(), expected);
    drop(store);
    Store::open(folder.path()).unwrap();
}

#[test]
fn a_folder_of_format_1_is_read() {
    let folder = folder_with(&[1]);
    let format = folder.path().join("format");
    fs::write(&format, "hashlane-state 1\n").unwrap();
    let text = "folder = \"/srv\"\nmove_to = \"/new\"\ncategory = \"tv\"\nlabels = [\"a\"]\n\
                sequential = true\nsuper_seeding = true\npaused = true\norder = 3\n\n[goal]\nratio = 1.5\nseconds = 60\n\n\
                [limits]\ndown = 7\n\n[priorities]\nskip = [2]\n";
    let of_torrent = path(&folder, 1, "toml");
    fs::write(&of_torrent, text).unwrap();
    let groups = "labels = [\"a\"]\n\n[categories.tv]\nfolder = \"/srv/tv\"\n";
    fs::write(folder.path().join("groups.toml"), groups).unwrap();
    let store = Store::open(folder.path()).unwrap();
    assert_eq!(problems(&store), [""; 0]);
    let expected = Choices {
        move_to: Some("/new".into()),
        goal: Goal {
            ratio: Target::At(1.5),
            time: Target::At(Duration::from_secs(60)),
            idle: Target::Inherited,
        },
        category: Some("tv".to_owned()),
        labels: ["a".to_owned()].into(),
        limits: Rates {
            down: NonZeroU32::new(7),
            up: None,
        },
        priorities: Priorities {
            skip: [2].into(),
            ..Priorities::default()
        },
        sequential: true,
        super_seeding: true,
        paused: true,
        order: Some(3),
        ..choices()
    };
    assert_eq!(store.get(name(1)).unwrap().choices, expected);
    let category = &store.groups().categories["tv"];
    assert_eq!(category.folder.as_deref(), Some(Path::new("/srv/tv")));
    // No program that does not know the new keys opens the folder from now on, and the files are as they were.
    assert_eq!(fs::read_to_string(format).unwrap(), "hashlane-state 2\n");
    assert_eq!(fs::read_to_string(of_torrent).unwrap(), text);
}

#[test]
fn other_folders_are_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "x").unwrap();
    let error = Store::open(folder.path()).unwrap_err();
    assert!(
        error.to_string().contains("it contains \"file\""),
        "{error}"
    );
    let error = Store::open(folder.path().join("file")).unwrap_err();
    assert!(error.to_string().ends_with("file: not a folder"), "{error}");
    let newer = folder_with(&[1]);
    fs::write(newer.path().join("format"), "hashlane-state 3\n").unwrap();
    let before = files(&newer);
    let error = Store::open(newer.path()).unwrap_err();
    assert!(
        error.to_string().contains("format 3 of a newer version"),
        "{error}"
    );
    assert_eq!(files(&newer), before);
}

#[test]
fn categories_and_labels_last() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(folder.path()).unwrap();
    assert_eq!(*store.groups(), Groups::default());
    let tv = Category {
        folder: Some("/srv/tv".into()),
        goal: Goal {
            ratio: Target::At(2.0),
            time: Target::Never,
            idle: Target::Inherited,
        },
    };
    let groups = Groups {
        labels: ["a \"label\"".to_owned()].into(),
        categories: [
            ("tv".to_owned(), tv),
            ("films".to_owned(), Category::default()),
        ]
        .into(),
    };
    store.set_groups(groups.clone()).unwrap();
    drop(store);
    assert_eq!(*Store::open(folder.path()).unwrap().groups(), groups);
    let file = folder.path().join("groups.toml");
    fs::write(&file, "labels = 3\n").unwrap();
    let mut store = Store::open(folder.path()).unwrap();
    assert_eq!(*store.groups(), Groups::default());
    let found = problems(&store);
    assert!(
        found
            .iter()
            .any(|problem| problem.contains("groups.toml:1: ")),
        "{found:?}"
    );
    store.set_groups(groups).unwrap();
    let kept = fs::read_to_string(folder.path().join("groups.toml.damaged-1")).unwrap();
    assert_eq!(kept, "labels = 3\n");
}

#[test]
fn limits_that_requests_set_last() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(folder.path()).unwrap();
    assert_eq!(*store.session(), Session::default());
    let session = Session {
        alternative: true,
        max_down: Target::At(NonZeroU32::MIN),
        max_up: Target::Never,
        max_active_downloads: Target::At(NonZeroU32::MAX),
        goal: Goal {
            ratio: Target::At(1.5),
            ..Goal::default()
        },
        ..Session::default()
    };
    store.set_session(session).unwrap();
    drop(store);
    let file = folder.path().join("session.toml");
    let text = fs::read_to_string(&file).unwrap();
    let expected = "alternative = true\nmax_down = 1\nmax_up = \"never\"\nmax_active_downloads = 4294967295\n\n\
                    [goal]\nratio = 1.5\n";
    assert_eq!(text, expected);
    assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o600);
    assert_eq!(*Store::open(folder.path()).unwrap().session(), session);
    // A limit of zero would stop all torrents.
    fs::write(&file, "max_down = 0\n").unwrap();
    let store = Store::open(folder.path()).unwrap();
    assert_eq!(*store.session(), Session::default());
    let found = problems(&store);
    assert!(
        found
            .iter()
            .any(|problem| problem.contains("session.toml:1: ")),
        "{found:?}"
    );
}

#[test]
fn totals_last() {
    let folder = folder_with(&[1, 2, 3]);
    let written = path(&folder, 1, "torrent")
        .metadata()
        .unwrap()
        .mtime()
        .cast_unsigned();
    let mut store = Store::open(folder.path()).unwrap();
    // The folder has no totals yet, as after a kill.
    assert_eq!(store.totals().torrents[&name(1)].added, written);
    let totals = store.totals_mut();
    totals.all.sent = u64::MAX;
    for number in [1, 2, 3] {
        let one = totals.torrents.get_mut(&name(number)).unwrap();
        (one.sent, one.completed) = (u64::from(number), Some(17));
    }
    store.save_totals().unwrap();
    store.remove(name(2)).unwrap();
    drop(store);
    fs::write(path(&folder, 3, "toml"), "broken").unwrap();
    let mut store = Store::open(folder.path()).unwrap();
    let saved = store.totals().clone();
    assert_eq!(saved.all.sent, u64::MAX);
    assert_eq!(saved.torrents[&name(1)].sent, 1);
    assert!(!saved.torrents.contains_key(&name(2)));
    // A torrent whose files can be repaired keeps its totals.
    assert_eq!(saved.torrents[&name(3)].completed, Some(17));
    store.put(torrent(2), choices()).unwrap();
    assert_eq!(store.totals().torrents[&name(2)].sent, 0);
    drop(store);
    let totals = folder.path().join("totals.toml");
    fs::write(&totals, "[all]\nsent = -1\n").unwrap();
    let store = Store::open(folder.path()).unwrap();
    assert_eq!(store.totals().all.sent, 0);
    let found = problems(&store);
    assert!(
        found
            .iter()
            .any(|problem| problem.contains("totals.toml:2: ")),
        "{found:?}"
    );
    store.save_totals().unwrap();
    let kept = fs::read_to_string(folder.path().join("totals.toml.damaged-1")).unwrap();
    assert_eq!(kept, "[all]\nsent = -1\n");
}
