//! Edits .torrent files, and keeps the bytes of everything that is not edited.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::bencode::{Entry, Value, Writer};
use crate::metadata::{first_values, list};
use crate::{Error, Torrent};

/// Changes to a .torrent file. `None` keeps a value, and `Some` of an empty value removes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edit {
    /// Trackers in tiers (BEP 12).
    pub trackers: Option<UrlEdit<Vec<String>>>,
    /// Web seeds (BEP 19).
    pub web_seeds: Option<UrlEdit<String>>,
    /// Comment.
    pub comment: Option<Option<String>>,
    /// Source tag, which is part of the info dictionary.
    pub source: Option<Option<String>>,
    /// Whether the torrent is private (BEP 27), which is part of the info dictionary.
    pub is_private: Option<bool>,
}

/// A change to a list of URLs, or to tiers of URLs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UrlEdit<T> {
    /// Appends these to the existing ones, which keep their bytes. Duplicates are not added.
    Add(Vec<T>),
    /// Replaces all existing ones by these.
    Set(Vec<T>),
}

/// A key and its new encoded value; `None` removes the key.
type Change = (&'static str, Option<Vec<u8>>);

impl Edit {
    /// Returns the .torrent file with these changes.
    ///
    /// Every value that is not changed keeps its bytes, and so do bytes after the end of the
    /// torrent. The info dictionary, and with it the info-hash, changes only if the source tag or
    /// the private flag changes.
    ///
    /// # Errors
    /// Returns an [`Error`] if the edited torrent would be refused. No edit of a valid torrent
    /// leads to that.
    pub fn apply(&self, torrent: &Torrent) -> Result<Torrent, Error> {
        let mut changes = self.metainfo_changes(torrent);
        let info_changes = self.info_changes(torrent);
        if !info_changes.is_empty() {
            let info = rewrite(torrent.info_value(), &info_changes);
            changes.push(("info", Some(info.into_owned())));
        }
        let mut edited = rewrite(torrent.metainfo_value(), &changes).into_owned();
        edited.extend_from_slice(torrent.trailing_bytes());
        Torrent::parse(edited)
    }

    /// Returns `true` if the edit changes the info-hash.
    pub fn changes_info_hash(&self, torrent: &Torrent) -> bool {
        !self.info_changes(torrent).is_empty()
    }

    /// Returns only real changes: writing an equal value in another encoding would change the
    /// info-hash without need.
    fn info_changes(&self, torrent: &Torrent) -> Vec<Change> {
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

    fn metainfo_changes(&self, torrent: &Torrent) -> Vec<Change> {
        let mut changes = Vec::new();
        match &self.trackers {
            None => {}
            Some(UrlEdit::Set(tiers)) => changes.extend(set_trackers(tiers)),
            Some(UrlEdit::Add(tiers)) => changes.extend(added_trackers(torrent, tiers)),
        }
        match &self.web_seeds {
            None => {}
            Some(UrlEdit::Set(urls)) => {
                let list = list_of(urls.iter().map(text));
                changes.push(("url-list", (!urls.is_empty()).then_some(list)));
            }
            Some(UrlEdit::Add(urls)) => changes.extend(added_web_seeds(torrent, urls)),
        }
        if let Some(comment) = &self.comment {
            changes.push(("comment", comment.as_ref().map(text)));
            // Programs would show it instead of the new comment.
            changes.push(("comment.utf-8", None));
        }
        changes
    }
}

fn set_trackers(tiers: &[Vec<String>]) -> [Change; 2] {
    let urls = tiers.iter().flatten();
    let announce = urls.clone().next().map(text);
    let tiers = tiers.iter().filter(|tier| !tier.is_empty());
    let list = list_of(tiers.map(|tier| list_of(tier.iter().map(text))));
    [
        ("announce", announce),
        ("announce-list", (urls.count() > 1).then_some(list)),
    ]
}

/// Returns the changes that append tiers of trackers.
fn added_trackers(torrent: &Torrent, tiers: &[Vec<String>]) -> Vec<Change> {
    let metadata = torrent.metadata();
    let listed = metadata.trackers.iter().flatten();
    let mut known: HashSet<&str> = listed
        .chain(&metadata.announce)
        .map(AsRef::as_ref)
        .collect();
    let new = tiers.iter().map(|tier| {
        let new = tier.iter().filter(|url| known.insert(url));
        new.cloned().collect::<Vec<String>>()
    });
    let new: Vec<Vec<String>> = new.filter(|tier| !tier.is_empty()).collect();
    if new.is_empty() {
        return Vec::new();
    }
    if metadata.trackers.is_empty() {
        return set_trackers(&new).into();
    }
    let [announce, announce_list] =
        first_values(torrent.metainfo_value(), ["announce", "announce-list"]);
    // Programs that support tiers ignore `announce` as soon as there are tiers. So that this
    // tracker is not lost, it becomes a tier of its own.
    let mut listed = announce_list.into_iter().flat_map(list).flat_map(list);
    let announce = announce.filter(|announce| {
        metadata.announce.is_some() && !listed.any(|url| url.encoded() == announce.encoded())
    });
    let announce = announce.map(|url| list_of([url.encoded()]));
    let new = new.iter().map(|tier| list_of(tier.iter().map(text)));
    let all = announce
        .into_iter()
        .chain(encoded_items(announce_list))
        .chain(new);
    vec![("announce-list", Some(list_of(all)))]
}

/// Returns the change that appends web seeds to a list or to a single URL.
fn added_web_seeds(torrent: &Torrent, urls: &[String]) -> Option<Change> {
    let metadata = torrent.metadata();
    let mut known: HashSet<&str> = metadata.web_seeds.iter().map(AsRef::as_ref).collect();
    let [value] = first_values(torrent.metainfo_value(), ["url-list"]);
    let one = value.filter(|value| value.as_bytes().is_some_and(|url| !url.is_empty()));
    let one = one.map(|url| url.encoded().to_vec());
    let new: Vec<Vec<u8>> = urls
        .iter()
        .filter(|url| known.insert(url))
        .map(text)
        .collect();
    let is_new = !new.is_empty();
    let all = one.into_iter().chain(encoded_items(value)).chain(new);
    is_new.then(|| ("url-list", Some(list_of(all))))
}

/// Returns the encoded items of a list, or nothing if the value is not a list.
fn encoded_items(value: Option<Value<'_>>) -> impl Iterator<Item = Vec<u8>> {
    let items = value.into_iter().flat_map(list);
    items.map(|item| item.encoded().to_vec())
}

/// Returns a dictionary with some values changed, added or removed, and all others unchanged. A new
/// key is inserted before the first greater key.
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

/// Returns a list of values that are already encoded.
fn list_of(items: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Vec<u8> {
    let mut list = vec![b'l'];
    for item in items {
        list.extend_from_slice(item.as_ref());
    }
    list.push(b'e');
    list
}

fn encoded(write: impl FnOnce(&mut Writer)) -> Vec<u8> {
    let mut writer = Writer::new();
    write(&mut writer);
    writer.finish()
}
