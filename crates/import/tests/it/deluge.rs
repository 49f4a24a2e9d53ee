//! Sessions of Deluge.

use std::fs;
use std::num::NonZeroU32;
use std::path::Path;

use hashlane_api::{Priority, Target};
use hashlane_import::{Options, Program, Source, Start, read};
use hashlane_metainfo::Version;

use crate::fixture::{TRACKER, copy, failures, renamed, session, torrents, trackers};

const PROGRAM: Program = Program::Deluge;

#[test]
fn a_session_has_every_field() {
    let torrents = torrents(PROGRAM, &session("deluge"));
    assert_eq!(torrents.len(), 8);
    for torrent in torrents.values() {
        assert_eq!(trackers(torrent), [TRACKER]);
        assert!(torrent.statistics.added > Some(1_700_000_000));
        assert_eq!(torrent.goal.ratio, Target::Inherited);
        assert!(torrent.notes.is_empty(), "{:?}", torrent.notes);
    }

    let one = &torrents["one.bin"];
    assert_eq!(one.content, Path::new("/srv/torrents/one.bin"));
    assert_eq!(one.labels, ["films"]);
    assert_eq!(
        (one.rates.down, one.rates.up),
        (NonZeroU32::new(204_800), NonZeroU32::new(102_400))
    );
    assert!(one.statistics.completed.is_some() && one.statistics.seeding_seconds > Some(0));
    assert!(one.start == Start::Queued);

    let album = &torrents["album"];
    assert_eq!(album.content, Path::new("/srv/torrents/album"));
    assert_eq!(album.renamed, renamed(&[(2, "sub/renamed b.txt")]));
    assert_eq!(
        album.priorities,
        [Priority::Skip, Priority::High, Priority::Normal]
    );
    assert!(album.start == Start::Paused);

    let partial = &torrents["partial"];
    assert_eq!(partial.content, Path::new("/srv/torrents/half"));
    assert_eq!(partial.renamed, renamed(&[]));
    assert_eq!(partial.priorities, [Priority::Normal, Priority::Low]);
    assert_eq!(partial.statistics.completed, None);

    for (name, version, content) in [
        ("both", Version::Hybrid, "/srv/torrents/films/both"),
        ("second", Version::V2, "/srv/torrents/second"),
    ] {
        let Source::Torrent(torrent) = &torrents[name].source else {
            panic!("{name}")
        };
        assert_eq!(torrent.version(), version);
        assert_eq!(torrents[name].content, Path::new(content));
    }
    assert_eq!(torrents["sent.bin"].statistics.sent_bytes, 33_000);
    assert_eq!(torrents["fetched.bin"].statistics.received_bytes, 34_000);
    let linked = &torrents["linked"];
    assert!(matches!(linked.source, Source::Magnet(_)));
    assert_eq!(linked.content, Path::new("/srv/torrents/linked"));
}

#[test]
fn the_pickle_is_not_opened_and_a_note_says_so() {
    let copied = tempfile::tempdir().unwrap();
    copy(&session("deluge"), copied.path());
    // Opening a folder as a file would be an error.
    let pickle = copied.path().join("state/torrents.state");
    fs::remove_file(&pickle).unwrap();
    fs::create_dir(&pickle).unwrap();
    let torrents = read(PROGRAM, copied.path(), Options::default()).unwrap();
    assert!(
        torrents.notes()[0]
            .to_string()
            .contains("pickle that is never loaded")
    );
    assert_eq!(torrents.flatten().count(), 8);
}

#[test]
fn torrents_without_resume_data_are_errors_of_their_own() {
    let copied = tempfile::tempdir().unwrap();
    copy(&session("deluge"), copied.path());
    let state = copied.path().join("state");
    let fastresume = fs::read(state.join("torrents.fastresume")).unwrap();
    let id = b"40:681d56bb517eee10e4bffe9bfdc0335320d615b7";
    let start = fastresume
        .windows(id.len())
        .position(|window| window == id)
        .unwrap();
    // An id that would be the name of a file elsewhere.
    let mut changed = fastresume;
    changed[start + 3..start + 43].copy_from_slice(b"../../../../../../../../../../etc/passwd");
    fs::write(state.join("torrents.fastresume"), changed).unwrap();
    let failures = failures(PROGRAM, copied.path());
    assert_eq!(failures.len(), 2, "{failures:?}");
    assert!(
        failures[0].ends_with("is not named by the 40 digits of an info-hash"),
        "{failures:?}"
    );
    assert!(
        failures[1].ends_with(
            "681d56bb517eee10e4bffe9bfdc0335320d615b7.torrent: the folder of the content is unknown"
        ),
        "{failures:?}"
    );
}
