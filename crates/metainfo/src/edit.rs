//! Changes to .torrent files that leave alone what they do not mean.

use std::borrow::Cow;

use crate::bencode::{Entry, Value, Writer};
use crate::{Error, Torrent};

/// What is to be different in a .torrent file. `None` leaves it as it is, and `Some` of nothing
/// removes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edit {
    /// The trackers, in tiers (BEP 12).
    pub trackers: Option<Vec<Vec<String>>>,
    /// The web seeds (BEP 19).
    pub web_seeds: Option<Vec<String>>,
    /// The comment.
    pub comment: Option<Option<String>>,
    /// The source, which is in the info dictionary.
    pub source: Option<Option<String>>,
    /// Whether the torrent is private (BEP 27), which is in the info dictionary.
    pub is_private: Option<bool>,
}

/// What is written in the place of a key: `None` for nothing.
type Change = (&'static str, Option<Vec<u8>>);

impl Edit {
    /// The .torrent file with these changes, of a file that `torrent` was read from.
    ///
    /// Every value that is not changed keeps its bytes. The info dictionary as a whole does, and
    /// with it the info-hash, unless the source or the privacy are to be something else than they
    /// are. Bytes after the end of the torrent are dropped.
    ///
    /// # Errors
    /// An [`Error`] if what comes out would be refused, which nothing that was not refused before
    /// leads to.
    pub fn apply(&self, torrent: &Torrent<'_>) -> Result<Vec<u8>, Error> {
        let mut changes = self.metainfo_changes();
        let info_changes = self.info_changes(torrent);
        if !info_changes.is_empty() {
            let info = rewrite(torrent.info_value(), &info_changes);
            changes.push(("info", Some(info.into_owned())));
        }
        let edited = rewrite(torrent.metainfo_value(), &changes).into_owned();
        Torrent::parse(&edited)?;
        Ok(edited)
    }

    /// Whether the info-hash would be another one.
    pub fn changes_info_hash(&self, torrent: &Torrent<'_>) -> bool {
        !self.info_changes(torrent).is_empty()
    }

    /// Only what would be different: a value that is written anew in another way than it was would
    /// make another torrent out of the same one.
    fn info_changes(&self, torrent: &Torrent<'_>) -> Vec<Change> {
        let metadata = torrent.metadata();
        let mut changes = Vec::new();
        if let Some(source) = &self.source
            && source.as_deref() != metadata.source.as_deref()
        {
            changes.push(("source", source.as_ref().map(text)));
        }
        if let Some(is_private) = self.is_private
            && is_private != metadata.is_private
        {
            let flag = is_private.then(|| encoded(|writer| writer.integer(1)));
            changes.push(("private", flag));
        }
        changes
    }

    fn metainfo_changes(&self) -> Vec<Change> {
        let mut changes = Vec::new();
        if let Some(tiers) = &self.trackers {
            let n_urls = tiers.iter().flatten().count();
            let first = tiers.iter().flatten().next();
            changes.push(("announce", first.map(text)));
            let list = encoded(|writer| {
                writer.begin_list();
                for tier in tiers.iter().filter(|tier| !tier.is_empty()) {
                    write_list(writer, tier);
                }
                writer.end();
            });
            changes.push(("announce-list", (n_urls > 1).then_some(list)));
        }
        if let Some(urls) = &self.web_seeds {
            let list = encoded(|writer| write_list(writer, urls));
            changes.push(("url-list", (!urls.is_empty()).then_some(list)));
        }
        if let Some(comment) = &self.comment {
            changes.push(("comment", comment.as_ref().map(text)));
            // It would be shown in the place of the new one.
            changes.push(("comment.utf-8", None));
        }
        changes
    }
}

/// A dictionary with some values changed, added or removed, and all others as they are. New keys
/// come before the first key that is greater.
fn rewrite<'a>(dictionary: Value<'a>, changes: &[Change]) -> Cow<'a, [u8]> {
    if changes.is_empty() {
        return dictionary.encoded().into();
    }
    let mut entries: Vec<(&[u8], Cow<'_, [u8]>)> = Vec::new();
    for Entry { key, value, .. } in dictionary.as_dictionary().into_iter().flatten() {
        if !changes.iter().any(|(changed, _)| changed.as_bytes() == key) {
            entries.push((key, value.encoded().into()));
        }
    }
    for (key, value) in changes {
        if let Some(value) = value {
            let key = key.as_bytes();
            let place = entries.iter().position(|(other, _)| *other > key);
            let place = place.unwrap_or(entries.len());
            entries.insert(place, (key, value.into()));
        }
    }
    let mut edited = vec![b'd'];
    for (key, value) in entries {
        edited.extend(encoded(|writer| writer.bytes(key)));
        edited.extend_from_slice(&value);
    }
    edited.push(b'e');
    edited.into()
}

fn text(text: &String) -> Vec<u8> {
    encoded(|writer| writer.bytes(text))
}

fn write_list(writer: &mut Writer, items: &[String]) {
    writer.begin_list();
    for item in items {
        writer.bytes(item);
    }
    writer.end();
}

fn encoded(write: impl FnOnce(&mut Writer)) -> Vec<u8> {
    let mut writer = Writer::new();
    write(&mut writer);
    writer.finish()
}
