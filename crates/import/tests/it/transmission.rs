//! Sessions of Transmission.

use std::fs;
use std::num::NonZeroU32;
use std::path::Path;
use std::time::Duration;

use hashlane_api::{Priority, Target};
use hashlane_import::{Note, Program, Source, Start};

use crate::fixture::{
    Item, TRACKER, copy, keys, made, name, read_mapped, renamed, session, torrents, trackers,
};

const PROGRAM: Program = Program::Transmission;

#[test]
fn a_session_has_every_field() {
    let torrents = torrents(PROGRAM, &session("transmission"));
    assert_eq!(torrents.len(), 7);
    for torrent in torrents.values() {
        assert_eq!(trackers(torrent), [TRACKER]);
        assert!(torrent.statistics.added > Some(1_700_000_000));
    }

    let one = &torrents["one.bin"];
    assert_eq!(one.content, Path::new("/srv/torrents/one.bin"));
    assert_eq!(one.labels, ["linux", "iso images"]);
    assert_eq!(
        (one.rates.down, one.rates.up),
        (NonZeroU32::new(200_000), NonZeroU32::new(100_000))
    );
    assert_eq!(one.goal.ratio, Target::At(2.5));
    assert_eq!(one.goal.idle, Target::At(Duration::from_secs(5_400)));
    assert!(one.start == Start::Queued && one.statistics.seeding_seconds > Some(0));
    assert_eq!(
        one.notes,
        [Note::NotCarried("priority of the torrent".into())]
    );

    let album = &torrents["album"];
    assert_eq!(album.content, Path::new("/srv/torrents/album"));
    assert_eq!(album.renamed, renamed(&[(2, "sub/renamed b.txt")]));
    assert_eq!(
        album.priorities,
        [Priority::Skip, Priority::High, Priority::Normal]
    );
    assert!(album.start == Start::Paused);
    assert_eq!((album.rates.down, album.rates.up), (None, None));

    let partial = &torrents["partial"];
    assert_eq!(partial.content, Path::new("/srv/torrents/half"));
    // The root was renamed, and the program lists the torrent under its name.
    assert_eq!(partial.name.as_deref(), Some("half"));
    assert!(one.name.is_none() && album.name.is_none());
    assert_eq!(partial.renamed, renamed(&[]));
    assert_eq!(partial.priorities, [Priority::Normal, Priority::Low]);
    assert_eq!(partial.notes, [Note::Suffix { suffix: ".part" }]);

    assert_eq!(
        torrents["both"].content,
        Path::new("/srv/torrents/films/both")
    );
    let sent = &torrents["sent.bin"];
    assert_eq!(
        (sent.goal.ratio, sent.goal.idle),
        (Target::Never, Target::Never)
    );
    assert!(sent.statistics.sent_bytes >= 33_000);
    let fetched = &torrents["fetched.bin"];
    assert_eq!(fetched.statistics.received_bytes, 34_000);
    assert!(fetched.statistics.completed > Some(1_700_000_000));
    let linked = &torrents["linked"];
    assert!(matches!(linked.source, Source::Magnet(_)));
    assert_eq!(linked.content, Path::new("/srv/torrents/linked"));
}

/// Writes a session of one torrent. `stem` is the name of its state.
fn write(folder: &Path, stem: &str, resume: &Item) {
    let (torrent, id) = made();
    for name in ["torrents", "resume"] {
        fs::create_dir_all(folder.join(name)).unwrap();
    }
    fs::write(folder.join(format!("torrents/{id}.torrent")), torrent).unwrap();
    fs::write(
        folder.join(format!("resume/{stem}.resume")),
        resume.encoded(),
    )
    .unwrap();
}

/// Version 4.1 writes `_` in keys, and magnet links into files of their own.
#[test]
fn names_of_new_and_old_versions_are_read() {
    let (_, id) = made();
    let limit = keys([("speed_Bps", 5.into()), ("use_speed_limit", 1.into())]);
    let new = keys([
        ("added_date", 7.into()),
        ("destination", "/d".into()),
        (
            "ratio_limit",
            keys([("ratio_limit", "1.5".into()), ("ratio_mode", 1.into())]),
        ),
        ("seeding_time_seconds", 9.into()),
        ("sequential_download", 1.into()),
        ("speed_limit_up", limit),
    ]);
    let session = tempfile::tempdir().unwrap();
    write(session.path(), &id, &new);
    let link = "magnet:?xt=urn:btih:c12fe1c06bba254a9dc9f519b335aa7c1367a88a&dn=linked";
    fs::write(
        session
            .path()
            .join("torrents/c12fe1c06bba254a9dc9f519b335aa7c1367a88a.magnet"),
        link,
    )
    .unwrap();
    let resume = keys([("destination", "/l".into())]).encoded();
    fs::write(
        session
            .path()
            .join("resume/c12fe1c06bba254a9dc9f519b335aa7c1367a88a.resume"),
        resume,
    )
    .unwrap();
    let found = torrents(PROGRAM, session.path());
    let named = &found["name"];
    assert_eq!(named.statistics.added, Some(7));
    assert_eq!(named.statistics.seeding_seconds, Some(9));
    assert_eq!(named.goal.ratio, Target::At(1.5));
    assert_eq!(named.rates.up, NonZeroU32::new(5));
    assert!(named.is_sequential);
    assert_eq!(found["linked"].content, Path::new("/l"));

    // Version 2 called the state after the torrent.
    let session = tempfile::tempdir().unwrap();
    write(
        session.path(),
        &format!("name.{}", &id[..16]),
        &keys([("destination", "/old".into())]),
    );
    assert_eq!(
        torrents(PROGRAM, session.path())["name"].content,
        Path::new("/old/name")
    );
}

#[test]
fn unfinished_content_is_found_where_it_is() {
    let disk = tempfile::tempdir().unwrap();
    let (_, id) = made();
    let resume = keys([
        ("destination", "/whole".into()),
        ("incomplete-dir", "/part".into()),
    ]);
    write(&disk.path().join("session"), &id, &resume);
    let maps =
        ["whole", "part"].map(|name| format!("/{name}={}", disk.path().join(name).display()));
    let content = || {
        let torrents = read_mapped(
            PROGRAM,
            &disk.path().join("session"),
            &maps.each_ref().map(String::as_str),
        );
        let torrent = torrents.into_iter().next().unwrap().unwrap();
        (
            torrent
                .content
                .strip_prefix(disk.path())
                .unwrap()
                .to_owned(),
            torrent.notes,
        )
    };
    assert_eq!(content().0, Path::new("whole/name"));
    fs::create_dir_all(disk.path().join("part/name")).unwrap();
    let (found, notes) = content();
    assert_eq!(found, Path::new("part/name"));
    assert!(notes.contains(&Note::Unfinished {
        folder: disk.path().join("whole")
    }));
    fs::create_dir_all(disk.path().join("whole/name")).unwrap();
    assert_eq!(content().0, Path::new("whole/name"));
}

#[test]
fn a_torrent_without_state_is_in_the_default_folder() {
    let session = tempfile::tempdir().unwrap();
    write(session.path(), "another", &keys([]));
    let failure = read_mapped(PROGRAM, session.path(), &[])
        .remove(0)
        .unwrap_err();
    assert_eq!(
        failure.reason.to_string(),
        "the folder of the content is unknown"
    );
    fs::write(
        session.path().join("settings.json"),
        r#"{"download_dir": "/default"}"#,
    )
    .unwrap();
    let torrent = &torrents(PROGRAM, session.path())["name"];
    assert_eq!(torrent.content, Path::new("/default/name"));
    assert!(torrent.notes.contains(&Note::DefaultFolder));
}

/// Version 4.1 keeps the order of the queue. Torrents that are not in it come last.
#[test]
fn torrents_are_in_the_order_of_the_queue() {
    let copied = tempfile::tempdir().unwrap();
    copy(&session("transmission"), copied.path());
    let names = || -> Vec<String> {
        let torrents = read_mapped(PROGRAM, copied.path(), &[]).into_iter();
        torrents.map(|torrent| name(&torrent.unwrap())).collect()
    };
    let without = names();
    let mut files: Vec<String> = fs::read_dir(copied.path().join("torrents"))
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort_unstable();
    let queue = serde_json::json!([files[4], 7, "unknown.torrent", files[1]]);
    fs::write(copied.path().join("queue.json"), queue.to_string()).unwrap();
    let mut expected = vec![without[4].clone(), without[1].clone()];
    expected.extend(
        without
            .iter()
            .filter(|name| !expected.contains(name))
            .cloned()
            .collect::<Vec<_>>(),
    );
    assert_eq!(names(), expected);
}
