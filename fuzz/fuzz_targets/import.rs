//! Arbitrary files as the session of a program: reading never panics, every torrent has a place and file numbers that fit,
//! and every error has a text.
//!
//! The first byte of the input chooses the program. The rest is a .torrent file, the state of the torrent and further state,
//! separated by `SEPARATOR`, or a whole database.

#![no_main]

use std::cell::RefCell;
use std::fs;
use std::path::{Component, Path, PathBuf};

use hashlane_import::{Imported, Options, Program, Source, read};
use hashlane_metainfo::{FileKind, Torrent};
use libfuzzer_sys::fuzz_target;

const SEPARATOR: &[u8] = b"\n--\n";

/// The info-hash of the link in the fixtures, for sessions whose torrent has none.
const LINK: &str = "c12fe1c06bba254a9dc9f519b335aa7c1367a88a";

thread_local! {
    /// A folder in memory, if the system has one: each input is written to files.
    static FOLDER: RefCell<PathBuf> = {
        let memory = Path::new("/dev/shm");
        let parent = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
        RefCell::new(parent.join(format!("hashlane-fuzz-import-{}", std::process::id())))
    };
}

fuzz_target!(|input: &[u8]| {
    let Some((choice, rest)) = input.split_first() else {
        return;
    };
    FOLDER.with_borrow(|folder| {
        let _ = fs::remove_dir_all(folder);
        let program = write(folder, choice % 6, rest);
        check(program, folder);
    });
});

/// Writes a session, and returns its program.
fn write(folder: &Path, choice: u8, rest: &[u8]) -> Program {
    let mut parts = Vec::new();
    let mut rest_of = rest;
    while let Some(at) = rest_of
        .windows(SEPARATOR.len())
        .position(|window| window == SEPARATOR)
    {
        parts.push(&rest_of[..at]);
        rest_of = &rest_of[at + SEPARATOR.len()..];
    }
    parts.push(rest_of);
    let part = |index: usize| parts.get(index).copied().unwrap_or_default();
    let torrent = Torrent::parse(part(0)).ok();
    let id = torrent.map_or(LINK.to_owned(), |torrent| {
        let hashes = torrent.info_hashes();
        let v1 = hashes.v1().map(|hash| hash.to_string());
        v1.or(hashes.v2().map(|hash| hash.to_string()[..40].to_owned()))
            .unwrap_or_default()
    });
    let put = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().expect("it has a folder")).expect("there is room");
        fs::write(path, bytes).expect("there is room");
    };
    match choice {
        0 => {
            put(&format!("data/BT_backup/{id}.fastresume"), part(1));
            if !part(0).is_empty() {
                put(&format!("data/BT_backup/{id}.torrent"), part(0));
            }
            put("config/qBittorrent.conf", part(2));
            put("config/categories.json", part(3));
            Program::QBittorrent
        }
        1 => {
            put("torrents.db", rest);
            Program::QBittorrent
        }
        2 => {
            put(&format!("torrents/{id}.torrent"), part(0));
            put(&format!("resume/{id}.resume"), part(1));
            put("settings.json", part(2));
            if !part(3).is_empty() {
                put("queue.json", part(3));
            }
            Program::Transmission
        }
        3 => {
            put(&format!("torrents/{id}.magnet"), part(0));
            put(&format!("resume/{id}.resume"), part(1));
            Program::Transmission
        }
        4 => {
            put(&format!("{id}.torrent"), part(0));
            put(&format!("{id}.torrent.rtorrent"), part(1));
            put(&format!("{id}.torrent.libtorrent_resume"), part(2));
            Program::RTorrent
        }
        _ => {
            if !part(0).is_empty() {
                put(&format!("state/{id}.torrent"), part(0));
            }
            let head = format!("d40:{id}{}:", part(1).len());
            put(
                "state/torrents.fastresume",
                &[head.as_bytes(), part(1), b"e"].concat(),
            );
            put("label.conf", part(2));
            put("core.conf", part(3));
            Program::Deluge
        }
    }
}

fn check(program: Program, folder: &Path) {
    let mut options = Options::default();
    options.map = "/srv=/mapped".parse().expect("the pair is valid");
    let torrents = match read(program, folder, options) {
        Ok(torrents) => torrents,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    for note in torrents.notes() {
        check_setting(&note.to_string());
    }
    for torrent in torrents {
        match torrent {
            Ok(torrent) => check_torrent(&torrent),
            Err(failure) => assert!(!failure.to_string().is_empty()),
        }
    }
}

/// Checks the note about a setting for all torrents, such as `not carried over: download limit of all torrents: 100 KiB/s`.
fn check_setting(note: &str) {
    let note = note.strip_prefix("not carried over: ");
    let setting = note.and_then(|note| note.rsplit_once(": "));
    let (what, value) = setting.unwrap_or_default();
    if what.ends_with("of all torrents") || what.starts_with("maximum number of active ") {
        let number = value.split(' ').next().expect("a part");
        assert!(number.parse::<f64>().is_ok_and(f64::is_finite), "{note:?}");
        assert!(value.len() < 400 && !value.contains(char::is_control));
    }
}

fn check_torrent(torrent: &Imported) {
    assert!(torrent.content.is_absolute());
    let leaves = |path: &Path| path.components().any(|name| name == Component::ParentDir);
    assert!(!leaves(&torrent.content));
    assert!(!torrent.content.starts_with("/srv"), "the folder is mapped");
    let files = match &torrent.source {
        Source::Torrent(torrent) => {
            let files = torrent.files().iter();
            files
                .filter(|file| file.kind() != FileKind::Padding)
                .count()
        }
        Source::Magnet(_) => 0,
    };
    for (number, path) in &torrent.renamed {
        assert!(*number < files);
        let path = path.below(&torrent.content).expect("names are bytes");
        assert!(path.starts_with(&torrent.content) && !leaves(&path));
    }
    assert!(torrent.priorities.is_empty() || torrent.priorities.len() == files);
    for note in &torrent.notes {
        assert!(!note.to_string().is_empty());
    }
}
