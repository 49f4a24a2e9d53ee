//! Content maps: text that says where the files of torrents lie, one by one.
//!
//! ```text
//! hashlane content map 1
//! torrent 2b5f43dd0ce2b6a9aa5ad7e0cd9ba7e04bd7fd1f
//! lincoln/1862.txt<TAB>/srv/disk/third.txt
//! empty.txt<TAB>
//! ```
//!
//! A line `torrent` has the info-hashes of a torrent. The lines after it have the path of a file in the torrent and its path
//! on the disk, as bytes in which backslash, tab, line feed and carriage return are escaped. A file without bytes needs no
//! path on the disk.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::path::{Path, PathBuf};

use data_encoding::HEXLOWER;

use crate::{FileKind, InfoHashV1, InfoHashV2, InfoHashes, PathComponent, Torrent, TorrentPath};

/// The first line.
const HEADER: &[u8] = b"hashlane content map 1";

/// The first line without its version.
const MAGIC: &[u8] = b"hashlane content map ";

/// Where the files of some torrents lie, one by one: the result of a search, or written by a person.
///
/// Finding, adding and replacing a torrent takes logarithmic time in the number of torrents, and time in the number of its own
/// files. Two maps are equal if they have the same torrents in the same order.
#[derive(Clone, Debug, Default)]
pub struct ContentMap {
    /// The torrents in their order, by ascending numbers.
    torrents: BTreeMap<u64, MappedTorrent>,
    /// The number of the torrent of each info-hash.
    numbers: HashMap<AnyInfoHash, u64>,
}

impl PartialEq for ContentMap {
    fn eq(&self, other: &Self) -> bool {
        self.torrents.values().eq(other.torrents.values())
    }
}

impl Eq for ContentMap {}

/// Where the files of one torrent lie.
#[derive(Clone, Debug, PartialEq, Eq)]
struct MappedTorrent {
    info_hashes: Vec<AnyInfoHash>,
    /// The files, by their paths in the torrent.
    files: BTreeMap<Vec<u8>, MappedFile>,
}

/// An info-hash of either version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum AnyInfoHash {
    V1(InfoHashV1),
    V2(InfoHashV2),
}

impl AnyInfoHash {
    /// Returns the info-hashes of a torrent. There is at least one.
    fn of(info_hashes: InfoHashes) -> Vec<Self> {
        let v1 = info_hashes.v1().map(Self::V1);
        let v2 = info_hashes.v2().map(Self::V2);
        v1.into_iter().chain(v2).collect()
    }

    /// Reads 40 or 64 digits.
    fn read(digits: &[u8]) -> Option<Self> {
        let bytes = HEXLOWER.decode(digits).ok()?;
        if let Ok(v1) = <[u8; 20]>::try_from(bytes.as_slice()) {
            return Some(Self::V1(v1.into()));
        }
        let v2 = <[u8; 32]>::try_from(bytes.as_slice()).ok()?;
        Some(Self::V2(v2.into()))
    }
}

impl fmt::Display for AnyInfoHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::V1(v1) => v1.fmt(f),
            Self::V2(v2) => v2.fmt(f),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct MappedFile {
    /// The number of the line, from 1 on. 0 if the file was not read from text.
    line: usize,
    place: MappedPlace,
}

/// Where a mapped file lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MappedPlace {
    /// At this absolute path.
    At(PathBuf),
    /// Nowhere: the file has no bytes, so it needs no place.
    Empty,
}

impl MappedPlace {
    /// Returns the path on the disk, if the file has one.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::At(path) => Some(path),
            Self::Empty => None,
        }
    }
}

/// The reason why a content map cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MapError {
    /// The text is not a content map.
    #[error("is not a content map: the first line is not `hashlane content map 1`")]
    NotMap,
    /// The map has a version that is not known.
    #[error("is a content map of another version; only version 1 is known")]
    Version,
    /// A line is wrong.
    #[error("line {line}: {problem}")]
    Line {
        /// The number of the line, from 1 on.
        line: usize,
        /// What is wrong.
        problem: &'static str,
    },
    /// A line has a file that the torrent does not have.
    #[error("line {line}: the torrent has no file {path:?}")]
    UnknownFile {
        /// The number of the line, from 1 on.
        line: usize,
        /// The path of the file, with replacements for bytes that are not Unicode.
        path: String,
    },
    /// The map does not have the torrent.
    #[error("has no files of the torrent {info_hash}")]
    NoTorrent {
        /// An info-hash of the torrent in hexadecimal.
        info_hash: String,
    },
}

impl ContentMap {
    /// Length limit of a map in bytes that a reader should apply: about a million files with long paths.
    pub const MAX_LEN: u64 = 256 << 20;

    /// Parses the text of a map.
    ///
    /// # Errors
    /// Names the first line that is wrong. A text that ends within a line is refused, because it was probably cut off.
    pub fn parse(text: &[u8]) -> Result<Self, MapError> {
        let mut lines = text.split_inclusive(|byte| *byte == b'\n').zip(1..);
        match lines.next().map(|(line, _)| line) {
            Some(line) if line.strip_suffix(b"\n") == Some(HEADER) => {}
            Some(HEADER) => {
                return Err(MapError::Line {
                    line: 1,
                    problem: CUT_OFF,
                });
            }
            Some(line) if line.starts_with(MAGIC) => return Err(MapError::Version),
            _ => return Err(MapError::NotMap),
        }
        let mut map = Self::default();
        for (line, number) in lines {
            map.add_line(line, number)
                .map_err(|problem| MapError::Line {
                    line: number,
                    problem,
                })?;
        }
        Ok(map)
    }

    fn add_line(&mut self, line: &[u8], number: usize) -> Result<(), &'static str> {
        let line = line.strip_suffix(b"\n").ok_or(CUT_OFF)?;
        let Some(tab) = line.iter().position(|byte| *byte == b'\t') else {
            return self.add_torrent(line);
        };
        let (path, place) = (unescaped(&line[..tab])?, unescaped(&line[tab + 1..])?);
        if path.is_empty() {
            return Err("the path in the torrent is missing");
        }
        let place = if place.is_empty() {
            MappedPlace::Empty
        } else {
            let place = path_of(place).ok_or("the path on the disk is not Unicode")?;
            if !place.is_absolute() {
                return Err("the path on the disk is not absolute");
            }
            MappedPlace::At(place)
        };
        let mut torrent = self.torrents.last_entry();
        let torrent = torrent
            .as_mut()
            .ok_or("the first line after the header must name a torrent")?
            .get_mut();
        let file = MappedFile {
            line: number,
            place,
        };
        match torrent.files.insert(path, file) {
            Some(_) => Err("the file of the torrent has a line already"),
            None => Ok(()),
        }
    }

    /// Adds a torrent by the line with its info-hashes.
    fn add_torrent(&mut self, line: &[u8]) -> Result<(), &'static str> {
        let hashes = line
            .strip_prefix(b"torrent ")
            .ok_or("is neither `torrent` with info-hashes nor two paths with a tab between them")?;
        let mut info_hashes = Vec::new();
        for digits in hashes.split(|byte| *byte == b' ') {
            if info_hashes.len() == 2 {
                return Err(INFO_HASH);
            }
            info_hashes.push(AnyInfoHash::read(digits).ok_or(INFO_HASH)?);
        }
        if info_hashes.iter().any(|it| self.numbers.contains_key(it)) {
            return Err("the torrent has a line already");
        }
        self.push(MappedTorrent {
            info_hashes,
            files: BTreeMap::new(),
        });
        Ok(())
    }

    /// Adds a torrent after the others. None of them has one of its info-hashes.
    fn push(&mut self, torrent: MappedTorrent) {
        let last = self.torrents.last_key_value();
        let number = last.map_or(0, |(last, _)| last + 1);
        let numbers = torrent.info_hashes.iter().map(|it| (*it, number));
        self.numbers.extend(numbers);
        self.torrents.insert(number, torrent);
    }

    /// Adds a torrent and the places of some of its files, by their indexes. Replaces an earlier entry of the torrent.
    ///
    /// # Panics
    /// Panics if an index belongs to another torrent, with more files.
    pub fn insert(
        &mut self,
        torrent: &Torrent,
        files: impl IntoIterator<Item = (usize, MappedPlace)>,
    ) {
        let info_hashes = AnyInfoHash::of(torrent.info_hashes());
        // A hybrid torrent can replace two entries, one of each version.
        for info_hash in &info_hashes {
            let number = self.numbers.get(info_hash);
            let replaced = number.and_then(|number| self.torrents.remove(number));
            for info_hash in replaced.iter().flat_map(|it| &it.info_hashes) {
                self.numbers.remove(info_hash);
            }
        }
        let files = files.into_iter().map(|(file, place)| {
            let path = bytes_of(torrent.file(file).path());
            (path, MappedFile { line: 0, place })
        });
        let files = files.collect();
        self.push(MappedTorrent { info_hashes, files });
    }

    /// Returns the map with the files of one torrent.
    ///
    /// # Errors
    /// Those of [`Self::places_of`].
    pub fn only(&self, torrent: &Torrent) -> Result<Self, MapError> {
        let mut map = Self::default();
        map.insert(torrent, self.places_of(torrent)?);
        Ok(map)
    }

    /// Returns the text of the map.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut text = HEADER.to_vec();
        text.push(b'\n');
        for torrent in self.torrents.values() {
            text.extend_from_slice(b"torrent");
            for info_hash in &torrent.info_hashes {
                text.extend_from_slice(format!(" {info_hash}").as_bytes());
            }
            text.push(b'\n');
            for (path, file) in &torrent.files {
                escape_into(&mut text, path);
                text.push(b'\t');
                if let Some(place) = file.place.path() {
                    escape_into(&mut text, place.as_os_str().as_encoded_bytes());
                }
                text.push(b'\n');
            }
        }
        text
    }

    /// Returns the places of a torrent's files, by their indexes.
    ///
    /// # Errors
    /// The map does not have the torrent, or has lines that do not fit the torrent.
    pub fn places_of(&self, torrent: &Torrent) -> Result<BTreeMap<usize, MappedPlace>, MapError> {
        let info_hashes = AnyInfoHash::of(torrent.info_hashes());
        let mut numbers = info_hashes.iter().filter_map(|it| self.numbers.get(it));
        let mapped = numbers.next().and_then(|number| self.torrents.get(number));
        let mapped = mapped.ok_or_else(|| MapError::NoTorrent {
            info_hash: info_hashes[0].to_string(),
        })?;
        let files = torrent.files().iter().enumerate();
        let regular = files.filter(|(_, file)| file.kind() == FileKind::Regular);
        let known: BTreeMap<Vec<u8>, (usize, u64)> = regular
            .map(|(index, file)| (bytes_of(file.path()), (index, file.length())))
            .collect();
        let mut places = BTreeMap::new();
        for (path, file) in &mapped.files {
            let line = file.line;
            let Some((index, length)) = known.get(path) else {
                let path = String::from_utf8_lossy(path).into_owned();
                return Err(MapError::UnknownFile { line, path });
            };
            if file.place == MappedPlace::Empty && *length > 0 {
                let problem = "the file has bytes, so it needs a path on the disk";
                return Err(MapError::Line { line, problem });
            }
            places.insert(*index, file.place.clone());
        }
        Ok(places)
    }
}

const CUT_OFF: &str = "ends without a line feed: the map was probably cut off";

const INFO_HASH: &str = "an info-hash is not 40 or 64 digits in lower-case hexadecimal";

fn bytes_of(path: TorrentPath<'_>) -> Vec<u8> {
    let components: Vec<&[u8]> = path.components().map(PathComponent::as_bytes).collect();
    components.join(&b'/')
}

/// Returns a path of the system, if these bytes are one.
#[cfg_attr(
    unix,
    expect(
        clippy::unnecessary_wraps,
        reason = "paths of other systems are Unicode"
    )
)]
fn path_of(bytes: Vec<u8>) -> Option<PathBuf> {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStringExt as _;
        Some(std::ffi::OsString::from_vec(bytes).into())
    }
    #[cfg(not(unix))]
    {
        Some(String::from_utf8(bytes).ok()?.into())
    }
}

/// The bytes that are escaped, and the letter of each.
const ESCAPES: [(u8, u8); 4] = [(b'\\', b'\\'), (b'\t', b't'), (b'\n', b'n'), (b'\r', b'r')];

fn escape_into(text: &mut Vec<u8>, bytes: &[u8]) {
    for byte in bytes {
        match ESCAPES.iter().find(|(escaped, _)| escaped == byte) {
            Some((_, letter)) => text.extend_from_slice(&[b'\\', *letter]),
            None => text.push(*byte),
        }
    }
}

fn unescaped(text: &[u8]) -> Result<Vec<u8>, &'static str> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.iter();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'\\' => {
                let letter = rest.next();
                let escape = ESCAPES.iter().find(|(_, it)| Some(it) == letter);
                escape
                    .ok_or("a backslash must be followed by another one, t, n or r")?
                    .0
            }
            b'\0' => return Err("a path has a zero byte"),
            b'\t' => return Err("a tab within a path must be written as \\t"),
            // Editors of other systems add it, and it would be a part of the path.
            b'\r' => return Err("a carriage return must be written as \\r"),
            byte => *byte,
        });
    }
    Ok(bytes)
}
