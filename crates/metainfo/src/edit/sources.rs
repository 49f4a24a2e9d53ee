//! Trackers and web seeds that are added or replaced as a whole.

use std::collections::HashSet;

use super::rewrite::{Change, encoded_items, list_of, text};
use crate::Torrent;
use crate::metadata::{first_values, list};

/// Returns the changes that replace all trackers.
pub(super) fn set_trackers(tiers: &[Vec<String>]) -> [Change; 2] {
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
pub(super) fn added_trackers(torrent: &Torrent, tiers: &[Vec<String>]) -> Vec<Change> {
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
    // Programs that support tiers ignore `announce` as soon as there are tiers. The tracker becomes a separate tier, so
    // that it is not lost.
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
pub(super) fn added_web_seeds(torrent: &Torrent, urls: &[String]) -> Option<Change> {
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
