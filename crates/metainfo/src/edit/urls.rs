//! URLs of trackers and web seeds that are removed, or in which a text is replaced.

use super::EditError;
use super::rewrite::{Change, encoded, list_of};
use crate::bencode::Value;
use crate::is_url;
use crate::metadata::{first_values, list};

/// Changes of existing URLs. They come before other changes of the same lists.
/// Write `..UrlChanges::default()` in a literal, because changes may be added.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UrlChanges {
    /// Trackers to remove: URLs, or hosts, with or without port.
    pub removed_trackers: Vec<String>,
    /// Web seeds to remove, of both types: URLs, or hosts.
    pub removed_web_seeds: Vec<String>,
    /// Texts to replace in the URLs of trackers and web seeds, each with its replacement.
    pub replaced: Vec<(String, String)>,
}

/// The rules for one list of URLs.
#[derive(Clone, Copy)]
struct Rules<'r> {
    removed: &'r [String],
    replaced: &'r [(String, String)],
}

impl UrlChanges {
    /// Returns the changes of a .torrent file.
    pub(super) fn changes(&self, metainfo: Value<'_>) -> Result<Vec<Change>, EditError> {
        if *self == Self::default() {
            return Ok(Vec::new());
        }
        let replaced = &self.replaced;
        let trackers = Rules {
            removed: &self.removed_trackers,
            replaced,
        };
        let web_seeds = Rules {
            removed: &self.removed_web_seeds,
            replaced,
        };
        let mut changes = trackers.of_trackers(metainfo)?;
        for key in ["url-list", "httpseeds"] {
            let [value] = first_values(metainfo, [key]);
            let Some(value) = value else { continue };
            // A single URL may be stored without a list.
            let new = match value.as_bytes() {
                Some(_) => web_seeds.of_url(value)?,
                None => web_seeds.of_list(value)?,
            };
            if new.as_deref() != Some(value.encoded()) {
                changes.push((key, new));
            }
        }
        Ok(changes)
    }
}

impl Rules<'_> {
    fn of_trackers(self, metainfo: Value<'_>) -> Result<Vec<Change>, EditError> {
        let [announce, tiers] = first_values(metainfo, ["announce", "announce-list"]);
        let mut changes = Vec::new();
        let mut new_tiers = None;
        if let Some(tiers) = tiers.filter(|tiers| tiers.as_list().is_some()) {
            let mut kept = Vec::new();
            for tier in list(tiers) {
                match tier.as_list() {
                    Some(_) => kept.extend(self.of_list(tier)?),
                    None => kept.push(tier.encoded().to_vec()),
                }
            }
            let new = (!kept.is_empty()).then(|| list_of(kept));
            if new.as_deref() != Some(tiers.encoded()) {
                changes.push(("announce-list", new.clone()));
            }
            new_tiers = new;
        }
        if let Some(announce) = announce {
            let new = self.of_url(announce)?;
            // Programs that do not support tiers get the first remaining tracker.
            let new = new.or_else(|| first_url(new_tiers.as_deref()?));
            if new.as_deref() != Some(announce.encoded()) {
                changes.push(("announce", new));
            }
        }
        Ok(changes)
    }

    /// Returns the encoded list with the URLs that remain, or `None` if the last one is removed.
    fn of_list(self, urls: Value<'_>) -> Result<Option<Vec<u8>>, EditError> {
        let before = list(urls).count();
        let new = list(urls).map(|url| self.of_url(url));
        let new: Vec<Vec<u8>> = new
            .filter_map(Result::transpose)
            .collect::<Result<_, _>>()?;
        Ok((before == 0 || !new.is_empty()).then(|| list_of(new)))
    }

    /// Returns the encoded URL, or `None` if it is removed. Values that are not text are kept unchanged.
    fn of_url(self, value: Value<'_>) -> Result<Option<Vec<u8>>, EditError> {
        let text = value.as_bytes().and_then(|url| str::from_utf8(url).ok());
        let Some(url) = text else {
            return Ok(Some(value.encoded().to_vec()));
        };
        if self.removed.iter().any(|named| is_named(url.trim(), named)) {
            return Ok(None);
        }
        let replace = |url: String, (old, new): &(String, String)| url.replace(old.as_str(), new);
        let new = self.replaced.iter().fold(url.to_owned(), replace);
        if new == url {
            return Ok(Some(value.encoded().to_vec()));
        }
        if is_url(new.trim()) {
            Ok(Some(encoded(|writer| writer.bytes(new))))
        } else {
            Err(EditError::NotUrl(url.to_owned()))
        }
    }
}

/// Returns `true` if a URL, its host, or its host and port are named.
fn is_named(url: &str, named: &str) -> bool {
    if url == named {
        return true;
    }
    let Some((_, rest)) = url.split_once("://") else {
        return false;
    };
    // RFC 3986, section 3.2.
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    let place = authority.rsplit('@').next().unwrap_or(authority);
    let port = place.rsplit_once(':');
    let port = port.filter(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
    let host = port.map_or(place, |(host, _)| host);
    !named.is_empty()
        && [place, host]
            .iter()
            .any(|part| part.eq_ignore_ascii_case(named))
}

/// Returns the first URL of encoded tiers, encoded.
fn first_url(tiers: &[u8]) -> Option<Vec<u8>> {
    let tiers = Value::parse(tiers).ok()?;
    let mut urls = list(tiers).flat_map(list);
    let url = urls.find(|url| url.as_bytes().is_some_and(|url| !url.is_empty()))?;
    Some(url.encoded().to_vec())
}
