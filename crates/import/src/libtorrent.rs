//! Resume data of libtorrent, which qBittorrent and Deluge keep.

mod layers;
mod numbers;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hashlane_api::Priority;
use hashlane_metainfo::Torrent;
use hashlane_metainfo::bencode::Value;

use crate::dictionary::Dictionary;
use crate::imported::rate;
use crate::path::slashes;
use crate::place::{self, Place};
use crate::source::{self, Sources};
use crate::{Imported, Note, PathMap, Reason, RelativePath, Source, Start};
use numbers::numbers;

/// A torrent as libtorrent describes it.
pub(crate) struct Resume<'a> {
    pub(crate) keys: &'a Dictionary<'a>,
    /// The .torrent file, if the program has it.
    pub(crate) torrent: Option<Vec<u8>>,
    /// The file of the session.
    pub(crate) file: PathBuf,
    /// The info-hash by which the session calls the torrent.
    pub(crate) id: &'a str,
    /// The folder that the paths of the files are below.
    pub(crate) folder: &'a Path,
    /// Whether the paths of files may be separated by `\\`.
    pub(crate) is_windows: bool,
    /// Whether the files of a torrent without renamed files lie in that folder itself.
    pub(crate) is_without_root: bool,
}

impl Resume<'_> {
    /// Returns the torrent. `priority_of` translates the priorities of files.
    pub(crate) fn import(
        self,
        map: &PathMap,
        priority_of: fn(i64) -> Priority,
    ) -> Result<Imported, Reason> {
        let keys = self.keys;
        let mut notes = Vec::new();
        let mut imported = if let Some(bytes) = &self.torrent {
            let torrent = Torrent::parse(bytes.as_slice())?;
            source::check_identity(torrent.info_hashes(), self.id)?;
            let torrent = Sources::read(keys, &mut notes).apply(&torrent)?;
            let torrent = layers::restored(&torrent, keys, &mut notes)?;
            let place = self.place(&torrent)?;
            let content = place::mapped(&place.content, map)?;
            let priorities = priorities(keys, &torrent, priority_of, &mut notes);
            let mut imported = Imported::new(Source::Torrent(torrent), self.file, content);
            imported.has_own_folder = place.has_own_folder;
            imported.renamed = place.renamed;
            imported.set_priorities(priorities);
            imported
        } else {
            let magnet = source::magnet(keys, &mut notes)?;
            source::check_identity(magnet.info_hashes, self.id)?;
            let content = place::mapped(self.folder, map)?;
            Imported::new(Source::Magnet(Box::new(magnet)), self.file, content)
        };
        let managed = keys.integer("auto_managed", &mut notes);
        imported.start = match (managed, keys.integer("paused", &mut notes)) {
            (Some(1), _) => Start::Queued,
            (_, Some(1)) => Start::Paused,
            (Some(_), _) => Start::Forced,
            (None, _) => Start::Queued,
        };
        imported.is_sequential = keys.integer("sequential_download", &mut notes) == Some(1);
        imported.is_super_seeding = keys.integer("super_seeding", &mut notes) == Some(1);
        imported.rates.up = rate(keys.positive("upload_rate_limit", &mut notes));
        imported.rates.down = rate(keys.positive("download_rate_limit", &mut notes));
        let statistics = &mut imported.statistics;
        statistics.sent_bytes = keys.positive("total_uploaded", &mut notes).unwrap_or(0);
        statistics.received_bytes = keys.positive("total_downloaded", &mut notes).unwrap_or(0);
        statistics.added = keys.positive("added_time", &mut notes);
        statistics.completed = keys.positive("completed_time", &mut notes);
        statistics.seeding_seconds = Some(keys.positive("seeding_time", &mut notes).unwrap_or(0));
        // The first bit of each byte is that of a piece.
        let pieces = keys.value("pieces").and_then(Value::as_bytes);
        statistics.had_content = pieces.is_some_and(|it| it.iter().any(|piece| piece & 1 == 1));
        if keys.integer("share_mode", &mut notes) == Some(1) {
            notes.push(Note::NotCarried("share mode".into()));
        }
        imported.notes = notes;
        Ok(imported)
    }

    fn place(&self, torrent: &Torrent) -> Result<Place, Reason> {
        let names = self.names(torrent)?;
        if names.is_empty() && self.is_without_root && !torrent.is_single_file() {
            return Ok(place::as_folder(self.folder.to_owned()));
        }
        place::in_folder(torrent, self.folder, &names)
    }

    /// Returns the paths of renamed files.
    fn names(&self, torrent: &Torrent) -> Result<BTreeMap<usize, RelativePath>, Reason> {
        let mut names = BTreeMap::new();
        let Some(items) = self.keys.items("mapped_files")? else {
            return Ok(names);
        };
        let mut numbers = numbers(torrent).enumerate().peekable();
        for (index, item) in items.enumerate() {
            let Some((number, _)) = numbers.next_if(|(_, other)| *other == index) else {
                // Padding, or an entry after the last file.
                continue;
            };
            let path = item.as_bytes().unwrap_or_default();
            // Files that keep their names are empty.
            if path.is_empty() {
                continue;
            }
            let path = if self.is_windows {
                slashes(path)
            } else {
                path.into()
            };
            let path = self.below_folder(&path);
            let path = RelativePath::parse(path).map_err(|source| Reason::Renamed {
                number: index,
                source,
            })?;
            names.insert(number, path);
        }
        Ok(names)
    }

    /// Returns an absolute path relative to the folder, if it is below the folder.
    fn below_folder<'p>(&self, path: &'p [u8]) -> &'p [u8] {
        let folder = self.folder.as_os_str().as_encoded_bytes();
        let rest = path
            .strip_prefix(folder)
            .and_then(|rest| rest.strip_prefix(b"/"));
        rest.unwrap_or(path)
    }
}

/// Returns the priority of each file. Files without an entry have the usual one.
fn priorities(
    keys: &Dictionary<'_>,
    torrent: &Torrent,
    priority_of: fn(i64) -> Priority,
    notes: &mut Vec<Note>,
) -> Vec<Priority> {
    let Some(entries) = keys.integers("file_priority", notes) else {
        return Vec::new();
    };
    let of = |number: usize| entries.get(number).copied().flatten();
    let priorities = numbers(torrent).map(|number| of(number).map(priority_of));
    priorities.map(Option::unwrap_or_default).collect()
}
