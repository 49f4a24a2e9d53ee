//! Sessions of qBittorrent.

use std::fs;
use std::num::NonZeroU32;
use std::path::Path;
use std::time::Duration;

use hashlane_api::{Priority, Target};
use hashlane_import::{Imported, Note, Program, Source, Start};
use hashlane_metainfo::{FileKind, Version};

use crate::fixture::{
    Item, TRACKER, copy, failures, keys, made, read_mapped, renamed, session, torrents, trackers,
};

const PROGRAM: Program = Program::QBittorrent;

/// The resume data of the torrent whose pieces have several blocks.
const RESUME_OF_LAYERED: &str =
    "data/BT_backup/1f0037537a06621ffe75e3e9a938473d1e05f62d.fastresume";

#[test]
fn fastresume_files_and_the_database_have_every_field() {
    for folder in ["qbittorrent", "qbittorrent-sqlite"] {
        let torrents = torrents(PROGRAM, &session(folder));
        assert_eq!(torrents.len(), 9, "{folder}");
        for torrent in torrents.values() {
            // The .torrent files of qBittorrent have no trackers.
            assert_eq!(trackers(torrent), [TRACKER], "{folder}");
            assert!(torrent.statistics.added > Some(1_700_000_000), "{folder}");
        }

        let one = &torrents["one.bin"];
        assert_eq!(one.content, Path::new("/srv/torrents/one.bin"));
        assert_eq!(one.category.as_deref(), Some("films"));
        assert_eq!(one.labels, ["iso images", "linux"]);
        assert_eq!(one.rates.up, NonZeroU32::new(102_400));
        assert_eq!(one.rates.down, NonZeroU32::new(204_800));
        assert_eq!(one.goal.ratio, Target::At(2.5));
        assert_eq!(one.goal.time, Target::At(Duration::from_secs(36_000)));
        assert_eq!(one.goal.idle, Target::Inherited);
        assert!(one.statistics.completed.is_some() && one.statistics.seeding_seconds > Some(0));
        assert!(one.start == Start::Queued && one.name.is_none() && one.priorities.is_empty());
        assert!(one.is_super_seeding);
        assert_eq!(one.notes, []);

        let album = &torrents["album"];
        assert_eq!(album.content, Path::new("/srv/torrents/album"));
        assert_eq!(album.renamed, renamed(&[(2, "sub/renamed b.txt")]));
        assert_eq!(
            album.priorities,
            [Priority::Skip, Priority::High, Priority::Normal]
        );
        assert!(album.start == Start::Paused && album.statistics.completed.is_none());

        // The folder of the category, and libtorrent's list of files with padding.
        let both = &torrents["both"];
        assert_eq!(both.content, Path::new("/srv/torrents/films/both"));
        assert_eq!(both.name.as_deref(), Some("A name of my own"));
        assert_eq!(both.category.as_deref(), Some("films"));
        assert_eq!(both.priorities, [Priority::Normal, Priority::High]);
        let Source::Torrent(torrent) = &both.source else {
            panic!("{both:?}")
        };
        assert_eq!(torrent.version(), Version::Hybrid);

        // Without the torrent's folder.
        let second = &torrents["second"];
        assert_eq!(second.content, Path::new("/srv/torrents"));
        assert_eq!(second.renamed, renamed(&[]));
        assert_eq!(
            second.priorities,
            [Priority::Normal, Priority::Normal, Priority::Skip]
        );
        let Source::Torrent(torrent) = &second.source else {
            panic!("{second:?}")
        };
        assert_eq!(torrent.version(), Version::V2);

        // In the folder for incomplete torrents, with a renamed folder.
        let partial = &torrents["partial"];
        assert_eq!(partial.content, Path::new("/srv/torrents/incomplete/half"));
        assert!(partial.renamed.is_empty() && partial.is_sequential);
        let folder_of_all = "/srv/torrents".into();
        assert_eq!(
            partial.notes,
            [Note::Unfinished {
                folder: folder_of_all
            }]
        );

        // A file that was put into a folder.
        let sent = &torrents["sent.bin"];
        assert_eq!(sent.content, Path::new("/srv/torrents/sent/sent.bin"));
        assert_eq!(sent.name.as_deref(), Some("sent"));
        assert_eq!(torrents["fetched.bin"].goal.ratio, Target::Never);
        assert_eq!(torrents["fetched.bin"].goal.time, Target::Never);

        let linked = &torrents["linked"];
        assert!(matches!(linked.source, Source::Magnet(_)));
        assert_eq!(linked.content, Path::new("/srv/torrents/linked"));
    }
    // The database has the statistics of its last write, before the exchange.
    let torrents = torrents(PROGRAM, &session("qbittorrent"));
    assert_eq!(torrents["sent.bin"].statistics.sent_bytes, 33_000);
    assert_eq!(torrents["fetched.bin"].statistics.received_bytes, 34_000);
}

/// Returns the number of pieces in the layer of each file.
fn layers(torrent: &Imported) -> Vec<Option<usize>> {
    let Source::Torrent(torrent) = &torrent.source else {
        panic!("{torrent:?}")
    };
    let files = torrent.files().iter();
    let files = files.filter(|file| file.kind() != FileKind::Padding);
    files
        .map(|file| file.piece_layer().map(<[_]>::len))
        .collect()
}

/// The .torrent files of qBittorrent have no piece layers. Its resume data has the hashes of blocks, or of pieces of one block.
/// Each layer leads to the root in the info dictionary, or the torrent would be refused.
#[test]
fn piece_layers_come_from_the_resume_data() {
    for folder in ["qbittorrent", "qbittorrent-sqlite"] {
        let torrents = torrents(PROGRAM, &session(folder));
        // The last piece of the first file has two of four blocks, and that of the second one.
        assert_eq!(
            layers(&torrents["layered"]),
            [Some(3), Some(2), None],
            "{folder}"
        );
        assert_eq!(
            layers(&torrents["second"]),
            [Some(2), Some(2), None],
            "{folder}"
        );
        assert_eq!(layers(&torrents["both"]), [Some(2), Some(2)], "{folder}");
    }
}

/// Hashes that do not lead to the root, and trees of another form, leave the torrent without the layer.
#[test]
fn wrong_trees_are_not_used() {
    let copied = tempfile::tempdir().unwrap();
    copy(&session("qbittorrent"), copied.path());
    let file = copied.path().join(RESUME_OF_LAYERED);
    let resume = fs::read(&file).unwrap();
    let first = resume
        .windows(9)
        .position(|text| text == b"6:hashes3")
        .unwrap();
    let is_digit = |byte: &u8| *byte == b':';
    let mut changed = resume.clone();
    changed[first + 8 + resume[first + 8..].iter().position(is_digit).unwrap() + 1] ^= 1;
    fs::write(&file, changed).unwrap();
    let torrent = &torrents(PROGRAM, copied.path())["layered"];
    assert_eq!(layers(torrent), [None, Some(2), None]);
    let note = "piece layer of file 0, which does not match its root";
    assert_eq!(torrent.notes, [Note::NotCarried(note.into())]);
    let text = |bytes: &[u8]| bytes.iter().copied().map(char::from).collect::<String>();
    for (from, to) in [
        ("4:mask31:0", "4:mask31:1"),
        ("4:mask31:", "4:mass31:"),
        ("5:treesl", "5:treexl"),
    ] {
        let changed = text(&resume).replacen(from, to, 1);
        assert_ne!(changed, text(&resume), "{from}");
        let bytes: Vec<u8> = changed.chars().map(|byte| byte as u8).collect();
        fs::write(&file, bytes).unwrap();
        let torrent = &torrents(PROGRAM, copied.path())["layered"];
        assert_eq!(layers(torrent)[0], None, "{from}");
    }
}

#[test]
fn any_folder_of_the_profile_is_accepted() {
    let profile = tempfile::tempdir().unwrap();
    let inner = profile.path().join("qBittorrent");
    copy(&session("qbittorrent"), &inner);
    for folder in [
        "",
        "qBittorrent",
        "qBittorrent/data",
        "qBittorrent/data/BT_backup",
    ] {
        let torrents = torrents(PROGRAM, &profile.path().join(folder));
        assert_eq!(torrents.len(), 9, "{folder}");
    }
    let error = hashlane_import::read(
        PROGRAM,
        &inner.join("config"),
        hashlane_import::Options::default(),
    );
    let error = error.unwrap_err().to_string();
    assert!(error.ends_with("is no session: expected a folder BT_backup with .fastresume files, or a file torrents.db"), "{error}");
}

/// Writes a session of one torrent, and returns its place.
fn place(data: &Path, resume: &Item, maps: &[&str]) -> Result<(String, String), String> {
    let (torrent, id) = made();
    let backup = data.join("BT_backup");
    fs::create_dir_all(&backup).unwrap();
    fs::write(backup.join(format!("{id}.torrent")), torrent).unwrap();
    fs::write(backup.join(format!("{id}.fastresume")), resume.encoded()).unwrap();
    let torrent = read_mapped(PROGRAM, data, maps).remove(0);
    let torrent = torrent.map_err(|failure| failure.reason.to_string())?;
    let renamed = format!("{:?}", torrent.renamed);
    Ok((torrent.content.to_str().unwrap().to_owned(), renamed))
}

#[test]
fn folders_come_from_the_torrent_its_category_or_all_torrents() {
    let profile = tempfile::tempdir().unwrap();
    let (data, config) = (profile.path().join("data"), profile.path().join("config"));
    fs::create_dir_all(&config).unwrap();
    let conf = "[BitTorrent]\nSession\\DefaultSavePath=/all/\n";
    fs::write(config.join("qBittorrent.conf"), conf).unwrap();
    fs::write(
        config.join("categories.json"),
        r#"{"own":{"save_path":"/own"},"below":{"save_path":"b"},"none":{"save_path":""}}"#,
    )
    .unwrap();
    let base = profile.path().to_str().unwrap();
    for (resume, content) in [
        (
            keys([
                ("save_path", "/now".into()),
                ("qBt-savePath", "/then".into()),
            ]),
            "/now/name",
        ),
        (keys([("qBt-savePath", "/then".into())]), "/then/name"),
        (
            keys([
                ("qBt-savePath", "/then".into()),
                ("qBt-downloadPath", "/part".into()),
                ("qBt-seedStatus", 0.into()),
            ]),
            "/part/name",
        ),
        (
            keys([
                ("qBt-savePath", "/then".into()),
                ("qBt-downloadPath", "/part".into()),
                ("qBt-seedStatus", 1.into()),
            ]),
            "/then/name",
        ),
        (keys([("qBt-savePath", "".into())]), "/all/name"),
        (keys([("qBt-category", "own".into())]), "/own/name"),
        (keys([("qBt-category", "below".into())]), "/all/b/name"),
        (keys([("qBt-category", "none".into())]), "/all/none/name"),
        // A portable installation.
        (
            keys([("save_path", "downloads".into())]),
            &format!("{base}/downloads/name"),
        ),
        // Without the torrent's folder, and without a list of renamed files.
        (
            keys([
                ("save_path", "/now".into()),
                ("qBt-contentLayout", "NoSubfolder".into()),
            ]),
            "/now",
        ),
        (
            keys([
                ("save_path", "/now".into()),
                ("qBt-hasRootFolder", 0.into()),
            ]),
            "/now",
        ),
    ] {
        let found = place(&data, &resume, &[]).unwrap();
        assert_eq!(found, (content.to_owned(), "{}".to_owned()));
    }
    let outside = keys([("qBt-category", "../out".into())]);
    assert_eq!(
        place(&data, &outside, &[]).unwrap_err(),
        "the folder of the content is unknown"
    );
}

#[test]
fn sessions_of_windows_need_a_map() {
    let profile = tempfile::tempdir().unwrap();
    let files = Item::List(vec!["name\\c".into(), "name\\sub\\b".into()]);
    let resume = keys([("mapped_files", files), ("save_path", "D:\\films".into())]);
    let found = place(profile.path(), &resume, &["D:/films=/films"]).unwrap();
    assert_eq!(
        found,
        ("/films/name".into(), "{0: RelativePath(\"c\")}".into())
    );
    let error = place(profile.path(), &resume, &[]).unwrap_err();
    assert_eq!(
        error,
        "D:/films/name is no absolute path on this machine: map it with --map OLD=NEW"
    );
}

#[test]
fn a_file_of_another_torrent_is_refused() {
    let copied = tempfile::tempdir().unwrap();
    copy(&session("qbittorrent/data"), copied.path());
    let (torrent, id) = made();
    let one = "681d56bb517eee10e4bffe9bfdc0335320d615b7";
    fs::write(
        copied.path().join(format!("BT_backup/{one}.torrent")),
        torrent,
    )
    .unwrap();
    let failures = failures(PROGRAM, copied.path());
    assert_eq!(failures.len(), 1);
    assert!(
        failures[0].ends_with(&format!(
            "{one}.fastresume: the .torrent file has the info-hash {id}, expected {one}"
        )),
        "{failures:?}"
    );
}
