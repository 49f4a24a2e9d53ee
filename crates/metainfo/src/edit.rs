//! Edits .torrent files, and keeps the bytes of everything that is not edited.

mod rewrite;
mod sources;
mod urls;

use std::collections::{BTreeMap, HashSet};

use crate::bencode::Value;
use crate::merkle::Node;
use crate::metadata::first_values;
use crate::{ComponentError, Error, PathComponent, Torrent, masked_url};

use rewrite::{Change, encoded, encoded_items, list_of, rewrite, text};
pub use urls::UrlChanges;

/// Changes to a .torrent file. `None` keeps a value, and `Some` of an empty value removes it.
/// Write `..Edit::default()` in a literal, because changes may be added.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edit {
    /// Changes of existing URLs of trackers and web seeds.
    pub urls: UrlChanges,
    /// Trackers in tiers (BEP 12).
    pub trackers: Option<ListEdit<Vec<String>>>,
    /// Web seeds (BEP 19).
    pub web_seeds: Option<ListEdit<String>>,
    /// Hosts and ports of DHT nodes (BEP 5).
    pub nodes: Option<ListEdit<(String, u16)>>,
    /// Info-hashes of torrents that share files with this one (BEP 38). Info-hashes in the info dictionary are kept.
    pub similar: Option<ListEdit<[u8; 20]>>,
    /// Names of collections that the torrent belongs to (BEP 38). Names in the info dictionary are kept.
    pub collections: Option<ListEdit<String>>,
    /// Free text for people, outside the info dictionary.
    pub comment: Option<Option<String>>,
    /// Program that created the torrent.
    pub created_by: Option<Option<String>>,
    /// Creation time in seconds since 1970-01-01 UTC.
    pub creation_date: Option<Option<i64>>,
    /// Piece layers (BEP 52) by the pieces root of their files, in the place of all others. The info-hash does not cover them.
    pub piece_layers: Option<BTreeMap<Node, Vec<Node>>>,
    /// Name of the content, which is part of the info dictionary.
    pub name: Option<String>,
    /// Source tag, which is part of the info dictionary.
    pub source: Option<Option<String>>,
    /// Whether the torrent is private (BEP 27), which is part of the info dictionary.
    pub is_private: Option<bool>,
}

/// A change to a list. A program that shows changes must know each, so a new one is a breaking change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListEdit<T> {
    /// Appends these items to the existing ones, which keep their bytes. Duplicates are not added.
    Add(Vec<T>),
    /// Replaces all existing items with these.
    Set(Vec<T>),
}

/// The reason why a torrent cannot be edited.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// The edited torrent would be refused.
    #[error("the edited torrent would be refused: {0}")]
    Refused(#[from] Error),
    /// A replacement would make the URL invalid.
    #[error("{}: not a URL after the replacement", masked_url(.0))]
    NotUrl(String),
    /// The new name cannot be the name of a file or folder.
    #[error("the name {name:?} {}", reason.predicate())]
    Name {
        /// The name that was asked for.
        name: String,
        /// The rule that the name breaks.
        reason: ComponentError,
    },
}

impl Edit {
    /// Returns the .torrent file with these changes.
    ///
    /// Every value that is not changed keeps its bytes, and so do bytes after the end of the
    /// torrent. The info dictionary, and with it the info-hash, changes only if the name, the source
    /// tag or the private flag changes.
    ///
    /// # Errors
    /// Returns an [`EditError`] if a new URL or name is invalid, or a piece layer does not lead to its root.
    pub fn apply(&self, torrent: &Torrent) -> Result<Torrent, EditError> {
        if let Some(name) = &self.name
            && let Err(reason) = PathComponent::try_from(name.as_bytes())
        {
            let name = name.clone();
            return Err(EditError::Name { name, reason });
        }
        let mut edited = torrent.clone();
        let url_changes = self.urls.changes(edited.metainfo_value())?;
        if !url_changes.is_empty() {
            edited = rewritten(&edited, &url_changes)?;
        }
        let mut changes = self.metainfo_changes(&edited);
        let info_changes = self.info_changes(torrent);
        if !info_changes.is_empty() {
            let info = rewrite(torrent.info_value(), &info_changes);
            changes.push(("info", Some(info.into_owned())));
        }
        Ok(rewritten(&edited, &changes)?)
    }

    /// Returns `true` if the edit changes the info-hash.
    pub fn changes_info_hash(&self, torrent: &Torrent) -> bool {
        !self.info_changes(torrent).is_empty()
    }

    /// Returns only real changes: writing an equal value in another encoding would needlessly change the info-hash.
    fn info_changes(&self, torrent: &Torrent) -> Vec<Change> {
        let metadata = torrent.metadata_ref();
        let mut changes = Vec::new();
        if let Some(name) = &self.name {
            changes.extend(name_changes(torrent, name));
        }
        if let Some(source) = &self.source
            && *source != metadata.source.map(|source| source.to_string())
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
            Some(ListEdit::Set(tiers)) => changes.extend(sources::set_trackers(tiers)),
            Some(ListEdit::Add(tiers)) => changes.extend(sources::added_trackers(torrent, tiers)),
        }
        match &self.web_seeds {
            None => {}
            Some(ListEdit::Set(urls)) => changes.push(set("url-list", urls.iter().map(text))),
            Some(ListEdit::Add(urls)) => changes.extend(sources::added_web_seeds(torrent, urls)),
        }
        let metainfo = torrent.metainfo_value();
        changes.extend(list_change(metainfo, "nodes", self.nodes.as_ref(), node));
        let hash = |hash: &[u8; 20]| encoded(|writer| writer.bytes(hash));
        changes.extend(list_change(
            metainfo,
            "similar",
            self.similar.as_ref(),
            hash,
        ));
        let collections = self.collections.as_ref();
        changes.extend(list_change(metainfo, "collections", collections, text));
        // Programs show the second key instead of the first one.
        for (value, keys) in [
            (&self.comment, ["comment", "comment.utf-8"]),
            (&self.created_by, ["created by", "created by.utf-8"]),
        ] {
            if let Some(value) = value {
                changes.push((keys[0], value.as_ref().map(text)));
                changes.push((keys[1], None));
            }
        }
        if let Some(date) = self.creation_date {
            let date = date.map(|date| encoded(|writer| writer.integer(date)));
            changes.push(("creation date", date));
        }
        if let Some(layers) = &self.piece_layers {
            let dictionary = encoded(|writer| {
                writer.begin_dictionary();
                for (root, layer) in layers {
                    writer.key(root).bytes(layer.as_flattened());
                }
                writer.end();
            });
            let is_some = !layers.is_empty();
            changes.push(("piece layers", is_some.then_some(dictionary)));
        }
        changes
    }
}

/// Returns a torrent with some keys outside the info dictionary changed.
fn rewritten(torrent: &Torrent, changes: &[Change]) -> Result<Torrent, Error> {
    let mut edited = rewrite(torrent.metainfo_value(), changes).into_owned();
    edited.extend_from_slice(torrent.trailing_bytes());
    Torrent::parse(edited)
}

/// Returns the changes that give the content another name. The file tree of version 2 repeats the
/// name of a single file.
fn name_changes(torrent: &Torrent, name: &String) -> Vec<Change> {
    if torrent.name().as_bytes() == name.as_bytes() {
        return Vec::new();
    }
    let mut changes = vec![("name", Some(text(name))), ("name.utf-8", None)];
    let [tree] = first_values(torrent.info_value(), ["file tree"]);
    let entries = tree.filter(|_| torrent.version().has_v2() && torrent.is_single_file());
    let mut entries = entries.and_then(Value::as_dictionary).into_iter().flatten();
    if let Some(file) = entries.next() {
        let tree = [b"d", &text(name)[..], file.value.encoded(), b"e"].concat();
        changes.push(("file tree", Some(tree)));
    }
    changes
}

fn node((host, port): &(String, u16)) -> Vec<u8> {
    let port = encoded(|writer| writer.integer((*port).into()));
    list_of([text(host), port])
}

/// Returns the change that replaces a list.
fn set(key: &'static str, items: impl ExactSizeIterator<Item = Vec<u8>>) -> Change {
    (key, (items.len() > 0).then(|| list_of(items)))
}

/// Returns the change of a list, if there is one.
fn list_change<T>(
    metainfo: Value<'_>,
    key: &'static str,
    edit: Option<&ListEdit<T>>,
    encode: impl Fn(&T) -> Vec<u8>,
) -> Option<Change> {
    let added = match edit? {
        ListEdit::Set(items) => return Some(set(key, items.iter().map(encode))),
        ListEdit::Add(items) => items.iter().map(encode),
    };
    let [value] = first_values(metainfo, [key]);
    let mut items: Vec<Vec<u8>> = encoded_items(value).collect();
    let n_before = items.len();
    let mut known: HashSet<Vec<u8>> = items.iter().cloned().collect();
    items.extend(added.filter(|item| known.insert(item.clone())));
    (items.len() > n_before).then(|| (key, Some(list_of(items))))
}
