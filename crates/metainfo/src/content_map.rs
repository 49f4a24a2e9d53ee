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

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::{FileKind, InfoHashes, PathComponent, Torrent, TorrentPath};

/// The first line.
const HEADER: &[u8] = b"hashlane content map 1";

/// The first line without its version.
const MAGIC: &[u8] = b"hashlane content map ";

/// Where the files of some torrents lie, one by one: the result of a search, or written by a person.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContentMap {
    torrents: Vec<MappedTorrent>,
}

/// Where the files of one torrent lie.
#[derive(Clone, Debug, PartialEq, Eq)]
struct MappedTorrent {
    /// The info-hashes in hexadecimal.
    info_hashes: Vec<String>,
    /// The files, by their paths in the torrent.
    files: BTreeMap<Vec<u8>, MappedFile>,
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
        let torrent = self.torrents.last_mut();
        let torrent = torrent.ok_or("the first line after the header must name a torrent")?;
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
        let hashes = str::from_utf8(hashes).map_err(|_| INFO_HASH)?;
        let hashes: Vec<String> = hashes.split(' ').map(str::to_owned).collect();
        let is_hash = |hash: &String| {
            let is_digit = |digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f');
            matches!(hash.len(), 40 | 64) && hash.bytes().all(is_digit)
        };
        if !hashes.iter().all(is_hash) || hashes.len() > 2 {
            return Err(INFO_HASH);
        }
        if self.torrents.iter().any(|it| it.is_of(&hashes)) {
            return Err("the torrent has a line already");
        }
        self.torrents.push(MappedTorrent {
            info_hashes: hashes,
            files: BTreeMap::new(),
        });
        Ok(())
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
        let info_hashes = texts_of(torrent.info_hashes());
        self.torrents.retain(|it| !it.is_of(&info_hashes));
        let files = files.into_iter().map(|(file, place)| {
            let path = bytes_of(torrent.file(file).path());
            (path, MappedFile { line: 0, place })
        });
        self.torrents.push(MappedTorrent {
            info_hashes,
            files: files.collect(),
        });
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
        for torrent in &self.torrents {
            text.extend_from_slice(b"torrent ");
            text.extend_from_slice(torrent.info_hashes.join(" ").as_bytes());
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
        let hashes = texts_of(torrent.info_hashes());
        let mapped = self.torrents.iter().find(|it| it.is_of(&hashes));
        let mapped = mapped.ok_or_else(|| MapError::NoTorrent {
            info_hash: hashes[0].clone(),
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

impl MappedTorrent {
    /// Returns `true` if the torrent has one of these info-hashes.
    fn is_of(&self, info_hashes: &[String]) -> bool {
        self.info_hashes
            .iter()
            .any(|hash| info_hashes.contains(hash))
    }
}

/// Returns the info-hashes in hexadecimal. There is at least one.
fn texts_of(info_hashes: InfoHashes) -> Vec<String> {
    let v1 = info_hashes.v1().map(|hash| hash.to_string());
    let v2 = info_hashes.v2().map(|hash| hash.to_string());
    v1.into_iter().chain(v2).collect()
}

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
