//! `hashlane import`.

use std::path::{Path, PathBuf};

use crate::fixture::{Ended, end, hashlane};

/// Returns a session that a program wrote, see `crates/import/tests/fixtures/make`.
pub(crate) fn session(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../import/tests/fixtures")
        .join(name)
}

/// Copies the files of a folder into another one.
pub(crate) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}

fn import(program: &str, folder: &Path, args: &[&str]) -> Ended {
    end(hashlane().args(["import", program]).arg(folder).args(args))
}

#[test]
fn a_dry_run_lists_torrents_places_and_notes() {
    let map = "--map=/srv/torrents=/films";
    let ended = import(
        "transmission",
        &session("transmission"),
        &["--dry-run", map],
    );
    let expected = "\
new        32.2 KiB  sent.bin  /films/sent.bin
new        39.1 KiB  album  /films/album  paused
new          64 KiB  half  /films/half  paused
                     unfinished files may end in .part on the disk: remove the suffix to keep their bytes
new        48.8 KiB  both  /films/films/both
new        39.1 KiB  one.bin  /films/one.bin
                     not carried over: priority of the torrent
new        33.2 KiB  fetched.bin  /films/fetched.bin
new            link  linked  /films/linked
7 torrents: 7 to import with 256 KiB of content and 2 notes, 0 already present, 0 failed
";
    assert_eq!(
        (ended.code, &*ended.stdout, &*ended.stderr),
        (Some(0), expected, "")
    );
}

#[test]
fn every_program_has_its_session() {
    for (program, folder, last) in [
        ("qbittorrent", "qbittorrent", "9 torrents: 9 to import"),
        (
            "qbittorrent",
            "qbittorrent-sqlite",
            "9 torrents: 9 to import",
        ),
        ("transmission", "transmission", "7 torrents: 7 to import"),
        ("rtorrent", "rtorrent", "7 torrents: 7 to import"),
        ("deluge", "deluge", "8 torrents: 8 to import"),
    ] {
        let ended = import(program, &session(folder), &["--dry-run"]);
        assert_eq!((ended.code, &*ended.stderr), (Some(0), ""), "{folder}");
        let found = ended.stdout.lines().last().unwrap();
        assert!(found.starts_with(last), "{folder}: {found}");
    }
    let ended = import("deluge", &session("deluge"), &["--dry-run"]);
    assert!(
        ended
            .stdout
            .contains("\nnote: not carried over: what only torrents.state has, a Python pickle")
    );
}

#[test]
fn wrong_usage_is_named() {
    let folder = session("deluge");
    for (program, args, reason) in [
        (
            "deluge",
            &["--dry-run", "--map", "/a"][..],
            "expected OLD=NEW, for example /downloads=/srv/torrents",
        ),
        (
            "deluge",
            &["--dry-run", "--map", "/a=b"],
            "the new folder must be an absolute path",
        ),
        (
            "utorrent",
            &["--dry-run"],
            "[possible values: qbittorrent, transmission, rtorrent, deluge]",
        ),
        (
            "qbittorrent",
            &["--dry-run"],
            "is no session: expected a folder BT_backup with .fastresume files, or a file torrents.db",
        ),
    ] {
        let ended = import(program, &folder, args);
        assert_eq!((ended.code, &*ended.stdout), (Some(2), ""), "{args:?}");
        assert!(ended.stderr.contains(reason), "{args:?}: {}", ended.stderr);
    }
}

#[test]
fn a_torrent_that_cannot_be_read_fails_alone() {
    let copied = tempfile::tempdir().unwrap();
    copy(&session("rtorrent"), copied.path());
    let state = "681D56BB517EEE10E4BFFE9BFDC0335320D615B7.torrent.rtorrent";
    std::fs::write(copied.path().join(state), "d9:directoryi3ee").unwrap();
    let ended = import("rtorrent", copied.path(), &["--dry-run"]);
    assert_eq!(ended.code, Some(2));
    let error = format!(
        "hashlane: {}: the key \"directory\" is an integer, expected a byte string\n",
        copied.path().join(state).display()
    );
    assert_eq!(ended.stderr, error);
    assert!(ended.stdout.ends_with("7 torrents: 6 to import with 217 KiB of content and 1 note, 0 already present, 1 failed\n"), "{}", ended.stdout);
}

/// A program that runs has a file, and so has one that was killed.
#[test]
fn a_program_that_may_be_running_is_a_warning() {
    for (program, lock) in [
        ("qbittorrent", "config/lockfile"),
        ("rtorrent", "rtorrent.lock"),
        ("deluge", "deluged.pid"),
    ] {
        let copied = tempfile::tempdir().unwrap();
        copy(&session(program), copied.path());
        let lock = copied.path().join(lock);
        std::fs::write(&lock, "host:+1").unwrap();
        let ended = import(program, copied.path(), &["--dry-run"]);
        let expected = format!(
            "hashlane: warning: {}: exists, so {program} may be running: end it first, because it writes its state when it ends\n",
            lock.display()
        );
        assert_eq!((ended.code, ended.stderr), (Some(0), expected));
    }
}

#[cfg(unix)]
mod state {
    use std::collections::BTreeMap;
    use std::num::NonZeroU32;
    use std::time::Duration;

    use hashlane_api::{Place, Target};
    use hashlane_metainfo::Top;
    use hashlane_store::{Entry, Metainfo, Store};

    use super::{copy, import, session};

    fn entries(store: &Store) -> BTreeMap<String, Entry> {
        let entries = store.entries().into_iter().cloned();
        entries
            .map(|entry| (entry.name().to_string(), entry))
            .collect()
    }

    #[test]
    fn torrents_get_their_choices_and_totals() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state");
        let args = ["--state-dir", state.to_str().unwrap()];
        let ended = import("qbittorrent", &session("qbittorrent"), &args);
        assert_eq!(
            (ended.code, &*ended.stderr),
            (Some(0), ""),
            "{}",
            ended.stdout
        );
        let last = "9 torrents: 9 imported with 566 KiB of content and 1 note, 0 already present, 0 failed";
        assert_eq!(ended.stdout.lines().last(), Some(last));

        let store = Store::open(&state).unwrap();
        assert!(store.problems().is_empty());
        let entries = entries(&store);
        assert_eq!(entries.len(), 9);
        let one = &entries["681d56bb517eee10e4bffe9bfdc0335320d615b7"];
        let choices = &one.choices;
        assert_eq!(choices.place, Place::Folder("/srv/torrents".into()));
        assert_eq!(choices.category.as_deref(), Some("films"));
        assert!(choices.labels.iter().eq(["iso images", "linux"]));
        assert_eq!(choices.goal.ratio, Target::At(2.5));
        assert_eq!(choices.goal.time, Target::At(Duration::from_secs(36_000)));
        assert_eq!(choices.limits.up, NonZeroU32::new(102_400));
        assert_eq!(choices.limits.down, NonZeroU32::new(204_800));
        assert!(!choices.paused);
        // The trackers, which qBittorrent keeps elsewhere, are in the .torrent file.
        let Metainfo::File(path) = &one.metainfo else {
            panic!("{one:?}")
        };
        let bytes = std::fs::read(path).unwrap();
        let announce = b"8:announce36:http://tracker.example:6969/announce";
        assert!(
            bytes
                .windows(announce.len())
                .any(|window| window == announce)
        );

        let album = &entries["0bf7c96e28f7954fbfdff21fce2c793337c9181d"].choices;
        assert!(album.priorities.skip.iter().eq([&0]) && album.priorities.high.iter().eq([&1]));
        let renamed = [(2, "sub/renamed b.txt".to_owned())];
        assert_eq!(album.names.files(), &renamed.into());
        assert!(album.paused);
        let partial = &entries["1a11b7c97855b06f987b5afc0d5866134782a7f9"].choices;
        assert_eq!(
            partial.place,
            Place::Folder("/srv/torrents/incomplete".into())
        );
        let top = Top::Named("half".to_owned());
        assert_eq!(
            (partial.names.top(), partial.names.files().len()),
            (&top, 0)
        );
        assert!(partial.sequential);
        let linked = &entries["c12fe1c06bba254a9dc9f519b335aa7c1367a88a"];
        assert!(matches!(linked.metainfo, Metainfo::Magnet(_)));
        assert_eq!(
            linked.choices.place,
            Place::Folder("/srv/torrents/linked".into())
        );

        let totals = &store.totals().torrents;
        let of = |id: &str| totals[&id.parse().unwrap()];
        assert_eq!(of("08dd6fdc5a0c6a456efca7beb2bd6666d91c6d7d").sent, 33_000);
        let fetched = of("9082524613b47e7e28d9d001263c7954da1e2e10");
        assert_eq!(fetched.received, 34_000);
        assert!(fetched.added > 1_700_000_000 && fetched.completed.is_some());
        assert!(fetched.seeding_seconds > 0);
        // It is not begun again where no file of it exists, although nothing was received.
        let partial = of("1a11b7c97855b06f987b5afc0d5866134782a7f9");
        assert!(partial.was_present && partial.received == 0);
        assert!(!of("0bf7c96e28f7954fbfdff21fce2c793337c9181d").was_present);
    }

    #[test]
    fn a_forced_start_is_imported() {
        let folder = tempfile::tempdir().unwrap();
        copy(&session("qbittorrent"), folder.path());
        let id = "08dd6fdc5a0c6a456efca7beb2bd6666d91c6d7d";
        let resume = folder
            .path()
            .join(format!("data/BT_backup/{id}.fastresume"));
        let mut bytes = std::fs::read(&resume).unwrap();
        let managed = b"12:auto_managedi1e";
        let at = bytes.windows(managed.len()).position(|it| it == managed);
        bytes[at.unwrap() + managed.len() - 2] = b'0';
        std::fs::write(&resume, bytes).unwrap();
        let state = folder.path().join("state");
        let args = ["--json", "--state-dir", state.to_str().unwrap()];
        let ended = import("qbittorrent", folder.path(), &args);
        let is_forced = |line: &&str| line.contains("\"forced\":true");
        assert_eq!(ended.stdout.lines().filter(is_forced).count(), 1);
        let store = Store::open(&state).unwrap();
        let is_forced = |entry: &&Entry| entry.choices.forced && !entry.choices.paused;
        let forced: Vec<String> = entries(&store)
            .values()
            .filter(is_forced)
            .map(|entry| entry.name().to_string())
            .collect();
        assert_eq!(forced, [id]);
    }

    /// A download without files would count as complete, and one that starts would get all of its files.
    #[test]
    fn a_torrent_without_a_selected_file_is_paused() {
        let folder = tempfile::tempdir().unwrap();
        let (program, state) = (folder.path().join("session"), folder.path().join("state"));
        copy(&session("qbittorrent"), &program);
        let name = "681d56bb517eee10e4bffe9bfdc0335320d615b7";
        let resume = program.join(format!("data/BT_backup/{name}.fastresume"));
        let bytes = std::fs::read(&resume).unwrap();
        let (selected, deselected) = (b"13:file_priorityli1ee", b"13:file_priorityli0ee");
        let at = bytes
            .windows(selected.len())
            .position(|window| window == selected);
        let at = at.expect("the session has the priority");
        let changed = [&bytes[..at], deselected, &bytes[at + selected.len()..]].concat();
        std::fs::write(&resume, changed).unwrap();
        let ended = import(
            "qbittorrent",
            &program,
            &["--state-dir", state.to_str().unwrap()],
        );
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        let note = "no file is selected: it is paused, because a download has at least one file";
        assert!(ended.stdout.contains(note), "{}", ended.stdout);
        assert!(entries(&Store::open(&state).unwrap())[name].choices.paused);
    }

    #[test]
    fn torrents_that_are_present_stay_as_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let args = ["--state-dir", folder.path().to_str().unwrap()];
        assert_eq!(
            import("qbittorrent", &session("qbittorrent"), &args).code,
            Some(0)
        );
        let before = entries(&Store::open(folder.path()).unwrap());
        // The same torrents with other labels. Transmission's "both" is a torrent of its own.
        let ended = import("transmission", &session("transmission"), &args);
        assert_eq!(ended.code, Some(0));
        assert!(
            ended
                .stdout
                .contains("\npresent    39.1 KiB  one.bin  /srv/torrents/one.bin\n")
        );
        assert!(ended.stdout.ends_with("7 torrents: 1 imported with 48.8 KiB of content and 0 notes, 6 already present, 0 failed\n"), "{}", ended.stdout);
        let after = entries(&Store::open(folder.path()).unwrap());
        assert_eq!(after.len(), 10);
        for (name, entry) in before {
            assert_eq!(after[&name].choices, entry.choices, "{name}");
        }
    }

    /// The state folder of a dry run may be in use.
    #[test]
    fn a_dry_run_reads_the_state_folder() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state");
        let args = ["--dry-run", "--state-dir", state.to_str().unwrap()];
        let dry = || import("qbittorrent", &session("qbittorrent"), &args);
        let ended = dry();
        let last = ended.stdout.lines().last().unwrap().to_owned();
        assert!(
            last.starts_with("9 torrents: 9 to import") && last.contains(" 0 already present"),
            "{last}"
        );
        assert!(!state.exists());
        assert_eq!(
            import("qbittorrent", &session("qbittorrent"), &args[1..]).code,
            Some(0)
        );
        let store = Store::open(&state).unwrap();
        let ended = dry();
        assert_eq!((ended.code, &*ended.stderr), (Some(0), ""));
        let last = ended.stdout.lines().last().unwrap();
        assert!(
            last.starts_with("9 torrents: 0 to import") && last.contains(" 9 already present"),
            "{last}"
        );
        drop(store);
    }

    #[test]
    fn categories_keep_their_folders() {
        let copied = tempfile::tempdir().unwrap();
        copy(&session("qbittorrent"), copied.path());
        let categories = r#"{"films": {"save_path": "/srv/films"}, "tv": {"save_path": "shows"}, "none": {"save_path": ""},
            "windows": {"save_path": "D:/w"}}"#;
        std::fs::write(copied.path().join("config/categories.json"), categories).unwrap();
        let state = copied.path().join("state");
        let args = [
            "--state-dir",
            state.to_str().unwrap(),
            "--map",
            "/srv/films=/films",
        ];
        // The folder of a category that the state folder has stays as it is.
        let mut store = Store::open(&state).unwrap();
        let mut groups = store.groups().clone();
        groups.categories.entry("tv".to_owned()).or_default().folder = Some("/mine".into());
        store.set_groups(groups).unwrap();
        drop(store);
        let ended = import("qbittorrent", copied.path(), &args);
        assert_eq!((ended.code, &*ended.stderr), (Some(0), ""));
        assert!(
            ended
                .stdout
                .contains("category  films  /films\ncategory  none\ncategory  tv  "),
            "{}",
            ended.stdout
        );
        assert!(
            ended
                .stdout
                .contains("the folder of the category \"windows\": "),
            "{}",
            ended.stdout
        );
        let store = Store::open(&state).unwrap();
        let categories = &store.groups().categories;
        let folder = |name: &str| categories[name].folder.clone();
        assert_eq!(folder("films"), Some("/films".into()));
        assert_eq!(folder("tv"), Some("/mine".into()));
        assert_eq!((folder("none"), folder("windows")), (None, None));
    }

    /// The keys of qBittorrent 5.2.
    #[test]
    fn categories_keep_their_goals() {
        let copied = tempfile::tempdir().unwrap();
        copy(&session("qbittorrent"), copied.path());
        let categories = r#"{
            "films": {"save_path": "", "ratio_limit": 2.5, "seeding_time_limit": 1440, "inactive_seeding_time_limit": -2,
                "share_limit_action": "Default"},
            "tv": {"save_path": "", "ratio_limit": -1, "seeding_time_limit": -1, "inactive_seeding_time_limit": -1,
                "share_limit_action": "RemoveWithContent", "share_limits_mode": "MatchAll"},
            "mine": {"ratio_limit": 3}, "old": {"save_path": ""},
            "odd": {"ratio_limit": 1e300, "seeding_time_limit": "x"}}"#;
        std::fs::write(copied.path().join("config/categories.json"), categories).unwrap();
        let state = copied.path().join("state");
        let mine = hashlane_api::Goal {
            ratio: Target::At(9.0),
            ..Default::default()
        };
        let mut store = Store::open(&state).unwrap();
        let mut groups = store.groups().clone();
        groups.categories.entry("mine".to_owned()).or_default().goal = mine;
        store.set_groups(groups).unwrap();
        drop(store);
        let args = ["--state-dir", state.to_str().unwrap()];
        let ended = import("qbittorrent", copied.path(), &args);
        assert_eq!((ended.code, &*ended.stderr), (Some(0), ""));
        for part in [
            "category  films  until ratio 2.5, seeding 1440 min\n",
            "category  old\n",
            "category  tv  without goal\n",
            "of the category tv: what happens at the goal: RemoveWithContent\n",
            "of the category tv: all goals must be reached\n",
        ] {
            assert!(ended.stdout.contains(part), "{part}: {}", ended.stdout);
        }
        let store = Store::open(&state).unwrap();
        let goal = |name: &str| store.groups().categories[name].goal;
        let films = hashlane_api::Goal {
            ratio: Target::At(2.5),
            time: Target::At(Duration::from_secs(86_400)),
            idle: Target::Inherited,
        };
        assert_eq!(goal("films"), films);
        assert_eq!(goal("tv"), hashlane_api::Goal::NEVER);
        assert_eq!(goal("mine"), mine);
        assert!(goal("old").is_inherited());
        assert_eq!(goal("odd").time, Target::Inherited);
    }

    #[test]
    fn the_state_folder_is_that_of_the_daemon() {
        let home = tempfile::tempdir().unwrap();
        let mut command = crate::fixture::hashlane();
        command
            .env("XDG_STATE_HOME", home.path().join("state"))
            .env("HOME", home.path());
        command
            .env_remove("XDG_CONFIG_HOME")
            .args(["import", "deluge"]);
        let ended = crate::fixture::end(command.arg(session("deluge")));
        assert_eq!((ended.code, &*ended.stderr), (Some(0), ""));
        let store = Store::open(home.path().join("state/hashlane/daemon")).unwrap();
        assert_eq!(store.entries().len(), 8);
    }

    #[test]
    fn a_state_folder_in_use_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let args = ["--state-dir", folder.path().to_str().unwrap()];
        let ended = import("deluge", &session("deluge"), &args);
        assert_eq!((ended.code, &*ended.stdout), (Some(2), ""));
        let error = format!(
            "hashlane: {}: in use by process {}\n",
            folder.path().display(),
            std::process::id()
        );
        assert_eq!(ended.stderr, error);
        drop(store);
        assert!(entries(&Store::open(folder.path()).unwrap()).is_empty());
    }
}

/// Returns the info-hashes of a state folder in the order of its queue.
fn order_of(state: &Path) -> Vec<String> {
    let torrents = std::fs::read_dir(state.join("torrents")).unwrap();
    let paths = torrents.map(|file| file.unwrap().path());
    let of = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        let order = text.lines().find_map(|line| line.strip_prefix("order = "));
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        (order.unwrap().parse::<i64>().unwrap(), name)
    };
    let choices = paths.filter(|path| path.extension().is_some_and(|it| it == "toml"));
    let mut ordered: Vec<_> = choices.map(of).collect();
    ordered.sort();
    ordered.into_iter().map(|(_, name)| name).collect()
}

/// The order of qBittorrent's queue lasts, that of magnet links among torrents too. What is not in the queue follows.
#[test]
fn the_order_of_the_queue_is_imported() {
    let place = tempfile::tempdir().unwrap();
    let profile = place.path().join("profile");
    copy(&session("qbittorrent"), &profile);
    let backup = profile.join("data/BT_backup");
    let files = std::fs::read_dir(&backup).unwrap();
    let files = files.map(|file| file.unwrap().path());
    let is_resume = |path: &PathBuf| path.extension().is_some_and(|it| it == "fastresume");
    let stems = files.filter(is_resume);
    let stems = stems.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned());
    let mut stems: Vec<String> = stems.collect();
    stems.sort();
    stems.reverse();
    // One of them has no .torrent file.
    assert!(
        stems
            .iter()
            .any(|stem| !backup.join(format!("{stem}.torrent")).exists())
    );
    let (queued, complete) = stems.split_at(6);
    let queue = format!("{}\n{}\n", "0".repeat(40), queued.join("\n"));
    std::fs::write(backup.join("queue"), queue).unwrap();
    let state = place.path().join("state");
    let settings = profile.join("config");
    let args = [
        "--state-dir",
        state.to_str().unwrap(),
        "--settings",
        settings.to_str().unwrap(),
    ];
    let ended = import("qbittorrent", &profile.join("data"), &args);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let mut expected = queued.to_vec();
    expected.extend(complete.iter().rev().cloned());
    let found = order_of(&state);
    assert_eq!(found.len(), expected.len());
    // qBittorrent calls a hybrid by its info-hash of version 2, cut to 40 digits.
    let pairs = expected.iter().zip(&found);
    let other: Vec<_> = pairs
        .filter(|(one, other)| !other.starts_with(*one))
        .collect();
    assert_eq!(other.len(), 1, "{expected:?}: {found:?}");
    assert!(!expected.contains(other[0].1), "{expected:?}: {found:?}");
}
