//! Sessions for the tests.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use hashlane_import::{Failure, Imported, Options, Program, RelativePath, Source, read};
use hashlane_metainfo::bencode::Writer;

/// Returns the folder of a session that a program wrote.
pub(crate) fn session(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(name)
}

pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// Reads a session with these pairs of `--map`.
pub(crate) fn read_mapped(
    program: Program,
    folder: &Path,
    maps: &[&str],
) -> Vec<Result<Imported, Failure>> {
    let mut options = Options::default();
    options.map = maps
        .iter()
        .map(|map| map.parse::<hashlane_import::PathMap>().unwrap())
        .collect();
    read(program, folder, options).unwrap().collect()
}

/// Reads a session without failures. The torrents are called by the names of their torrents or links.
pub(crate) fn torrents(program: Program, folder: &Path) -> BTreeMap<String, Imported> {
    let torrents = read_mapped(program, folder, &[]).into_iter();
    torrents
        .map(|torrent| torrent.unwrap())
        .map(|torrent| (name(&torrent), torrent))
        .collect()
}

pub(crate) fn name(torrent: &Imported) -> String {
    match &torrent.source {
        Source::Torrent(torrent) => String::from_utf8(torrent.name().as_bytes().into()).unwrap(),
        Source::Magnet(magnet) => magnet.name.clone().unwrap(),
    }
}

/// Returns the errors of a session.
pub(crate) fn failures(program: Program, folder: &Path) -> Vec<String> {
    let torrents = read_mapped(program, folder, &[]).into_iter();
    torrents
        .filter_map(Result::err)
        .map(|failure| failure.to_string())
        .collect()
}

pub(crate) fn renamed(pairs: &[(usize, &str)]) -> BTreeMap<usize, RelativePath> {
    let parse = |path: &str| RelativePath::parse(path.as_bytes()).unwrap();
    pairs
        .iter()
        .map(|(file, path)| (*file, parse(path)))
        .collect()
}

/// Returns the trackers of a torrent or link.
pub(crate) fn trackers(torrent: &Imported) -> Vec<String> {
    match &torrent.source {
        Source::Torrent(torrent) => {
            let metadata = torrent.metadata_ref();
            metadata
                .trackers()
                .flat_map(|tier| tier.urls())
                .map(|url| url.to_string())
                .collect()
        }
        Source::Magnet(magnet) => magnet.trackers.clone(),
    }
}

/// The tracker of all torrents of the fixtures.
pub(crate) const TRACKER: &str = "http://tracker.example:6969/announce";

/// A bencoded value.
#[derive(Clone)]
pub(crate) enum Item {
    Number(i64),
    Text(Vec<u8>),
    List(Vec<Item>),
    Keys(BTreeMap<&'static str, Item>),
}

impl From<&str> for Item {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<i64> for Item {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl Item {
    pub(crate) fn encoded(&self) -> Vec<u8> {
        let mut writer = Writer::new();
        self.write(&mut writer);
        writer.finish()
    }

    fn write(&self, writer: &mut Writer) {
        match self {
            Self::Number(number) => writer.integer(*number),
            Self::Text(text) => writer.bytes(text),
            Self::List(items) => {
                writer.begin_list();
                for item in items {
                    item.write(writer);
                }
                writer.end();
            }
            Self::Keys(keys) => {
                writer.begin_dictionary();
                for (key, item) in keys {
                    item.write(writer.key(key));
                }
                writer.end();
            }
        }
    }
}

/// Returns a dictionary.
pub(crate) fn keys<const N: usize>(keys: [(&'static str, Item); N]) -> Item {
    Item::Keys(keys.into())
}

/// A torrent with the files `a` and `sub/b`, and its info-hash.
pub(crate) fn made() -> (Vec<u8>, String) {
    let info = b"d5:filesld6:lengthi1e4:pathl1:aeed6:lengthi1e4:pathl3:sub1:beee4:name4:name\
        12:piece lengthi16384e6:pieces20:aaaaaaaaaaaaaaaaaaaae";
    let bytes = [b"d4:info".as_slice(), info, b"e"].concat();
    let torrent = hashlane_metainfo::Torrent::parse(bytes.clone()).unwrap();
    (bytes, torrent.info_hashes().v1().unwrap().to_string())
}
