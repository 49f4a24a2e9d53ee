//! Sessions of rTorrent.

use std::fs;
use std::path::Path;

use hashlane_api::{Priority, Target};
use hashlane_import::{Note, Program, Source, Start};

use crate::fixture::{
    Item, TRACKER, failures, keys, made, read_mapped, renamed, session, torrents, trackers,
};

const PROGRAM: Program = Program::RTorrent;

#[test]
fn a_session_has_every_field() {
    let torrents = torrents(PROGRAM, &session("rtorrent"));
    assert_eq!(torrents.len(), 7);
    for torrent in torrents.values() {
        assert_eq!(trackers(torrent), [TRACKER]);
        assert_eq!(torrent.renamed, renamed(&[]));
        assert_eq!(torrent.goal.ratio, Target::Inherited);
    }

    let one = &torrents["one.bin"];
    assert_eq!(one.content, Path::new("/srv/torrents/one.bin"));
    assert_eq!(one.labels, ["iso images"]);
    assert_eq!(one.statistics.added, Some(1_700_000_000));
    assert!(one.statistics.completed > Some(1_700_000_000));
    assert_eq!(one.statistics.seeding_seconds, None);
    assert!(one.start == Start::Queued);
    assert_eq!(
        one.notes,
        [
            Note::NotCarried("the comment of ruTorrent".into()),
            Note::NotCarried("the limits of throttle group \"slow\"".into()),
        ]
    );

    // The torrent's name occurs twice.
    let album = &torrents["album"];
    assert_eq!(album.content, Path::new("/srv/torrents/album/album"));
    assert_eq!(
        album.priorities,
        [Priority::Skip, Priority::High, Priority::Normal]
    );
    assert!(album.start == Start::Paused);

    // The folder has another name.
    assert_eq!(torrents["partial"].content, Path::new("/srv/torrents/half"));
    assert_eq!(torrents["partial"].statistics.completed, None);
    assert_eq!(
        torrents["both"].content,
        Path::new("/srv/torrents/films/both")
    );
    assert_eq!(torrents["sent.bin"].statistics.sent_bytes, 33_000);
    assert_eq!(torrents["fetched.bin"].statistics.received_bytes, 34_000);
    let linked = &torrents["linked"];
    assert!(matches!(linked.source, Source::Magnet(_)));
    assert_eq!(linked.content, Path::new("/srv/torrents"));
}

fn write(folder: &Path, state: &Item, resume: &Item) {
    let (torrent, id) = made();
    let path = |suffix: &str| folder.join(format!("{id}.torrent{suffix}"));
    let announced = [b"d8:announce10:http://a/x".as_slice(), &torrent[1..]].concat();
    fs::write(path(""), announced).unwrap();
    fs::write(path(".rtorrent"), state.encoded()).unwrap();
    fs::write(path(".libtorrent_resume"), resume.encoded()).unwrap();
}

#[test]
fn disabled_trackers_are_left_out_and_added_ones_kept() {
    let folder = tempfile::tempdir().unwrap();
    let flags = |enabled: i64, extra: i64| {
        keys([("enabled", enabled.into()), ("extra_tracker", extra.into())])
    };
    let all = keys([
        ("http://a/x", flags(0, 0)),
        ("http://b/x", flags(1, 1)),
        ("dht://", flags(1, 1)),
    ]);
    let state = keys([("directory", "/d/name".into())]);
    write(folder.path(), &state, &keys([("trackers", all)]));
    let torrent = &torrents(PROGRAM, folder.path())["name"];
    assert_eq!(trackers(torrent), ["http://b/x"]);
    assert_eq!(torrent.content, Path::new("/d/name"));
}

#[test]
fn a_relative_or_missing_folder_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        &keys([("directory", "./name".into())]),
        &keys([]),
    );
    let failure = failures(PROGRAM, folder.path()).remove(0);
    assert!(
        failure.contains(".torrent.rtorrent: ./name is no absolute path"),
        "{failure}"
    );
    let found = read_mapped(PROGRAM, folder.path(), &[".=/home/user"])
        .remove(0)
        .unwrap();
    assert_eq!(found.content, Path::new("/home/user/name"));
    write(folder.path(), &keys([]), &keys([]));
    let failure = failures(PROGRAM, folder.path()).remove(0);
    assert!(
        failure.ends_with(".torrent.rtorrent: the folder of the content is unknown"),
        "{failure}"
    );
}
