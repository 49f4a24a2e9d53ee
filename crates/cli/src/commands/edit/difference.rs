//! The difference between a torrent and its edited form.

use std::collections::HashSet;
use std::fmt::Display;
use std::io::Write;

use data_encoding::HEXLOWER;
use hashlane_metainfo::{MetadataRef, Torrent};
use serde::Serialize;

use crate::links::{Mask, Passkeys};
use crate::output::text::{Escaped, HostAndPort, date};

/// A field that changes, with its name in `show --json`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct Change {
    /// The name of the field in `show --json`.
    field: &'static str,
    /// Values before, without passkeys unless `--show-passkey` is given.
    removed: Vec<String>,
    /// Values after, likewise.
    added: Vec<String>,
}

/// A value and its text in reports.
struct Item {
    value: String,
    text: String,
}

impl Item {
    fn plain(value: String) -> Self {
        let text = value.clone();
        Self { value, text }
    }

    /// Returns the items of a field with at most one value.
    fn of(value: Option<impl Display>) -> Vec<Self> {
        let value = value.map(|value| Self::plain(value.to_string()));
        value.into_iter().collect()
    }
}

/// Returns the fields that differ.
pub(super) fn changes(before: &Torrent, after: &Torrent, passkeys: Passkeys) -> Vec<Change> {
    let pairs = fields(before, passkeys)
        .into_iter()
        .zip(fields(after, passkeys));
    let changes = pairs.map(|((field, before), (_, after))| Change {
        field,
        removed: missing(&before, &after),
        added: missing(&after, &before),
    });
    changes
        .filter(|change| !change.removed.is_empty() || !change.added.is_empty())
        .collect()
}

/// Returns the items of one list that another list lacks.
fn missing(of: &[Item], from: &[Item]) -> Vec<String> {
    let known: HashSet<&str> = from.iter().map(|item| item.value.as_str()).collect();
    let missing = of
        .iter()
        .filter(|item| !known.contains(item.value.as_str()));
    missing.map(|item| item.text.clone()).collect()
}

/// Returns the fields that `edit` can change, always in the same order.
fn fields(torrent: &Torrent, passkeys: Passkeys) -> Vec<(&'static str, Vec<Item>)> {
    let keys = torrent.metadata_ref();
    let mask = passkeys.of(&keys);
    let hashes = torrent.info_hashes();
    let date = keys.creation_date.map(|seconds| Item {
        value: seconds.to_string(),
        text: date(seconds),
    });
    let web_seed = |url: hashlane_metainfo::Text<'_>| Item {
        value: url.to_string(),
        text: mask.web_seed(url),
    };
    let text = |text: Option<hashlane_metainfo::Text<'_>>| {
        let item = text.map(|text| Item {
            value: text.to_string(),
            text: mask.text(text).to_string(),
        });
        item.into_iter().collect()
    };
    let nodes = keys.nodes();
    let nodes = nodes.map(|(host, port)| Item::plain(HostAndPort(host, port).to_string()));
    let similar = keys
        .similar()
        .map(|hash| Item::plain(HEXLOWER.encode(hash)));
    let collections = keys.collections();
    let collections = collections.map(|name| Item {
        value: name.to_string(),
        text: mask.text(name).to_string(),
    });
    vec![
        ("name", Item::of(Some(torrent.name()))),
        ("info_hash_v1", Item::of(hashes.v1())),
        ("info_hash_v2", Item::of(hashes.v2())),
        ("private", Item::of(keys.is_private.then_some("yes"))),
        ("source", text(keys.source)),
        ("comment", text(keys.comment)),
        ("created_by", text(keys.created_by)),
        ("creation_date", date.into_iter().collect()),
        ("trackers", trackers(&keys, &mask)),
        ("web_seeds", keys.web_seeds().map(web_seed).collect()),
        ("http_seeds", keys.http_seeds().map(web_seed).collect()),
        ("nodes", nodes.collect()),
        ("similar", similar.collect()),
        ("collections", collections.collect()),
    ]
}

/// Returns the trackers with their tiers, and the tracker for programs that do not support tiers.
fn trackers(keys: &MetadataRef<'_>, mask: &Mask) -> Vec<Item> {
    let mut items = Vec::new();
    for (tier, urls) in (1..).zip(keys.trackers()) {
        items.extend(urls.urls().map(|url| Item {
            value: format!("tier {tier}  {url}"),
            text: format!("tier {tier}  {}", mask.tracker(url)),
        }));
    }
    let mut listed = keys.trackers().flat_map(|tier| tier.urls());
    let announce = keys.announce.filter(|url| !listed.any(|one| one == *url));
    items.extend(announce.map(|url| Item {
        value: url.to_string(),
        text: mask.tracker(url),
    }));
    items
}

/// Prints the fields with the values that they lose and gain.
pub(super) fn print(out: &mut dyn Write, changes: &[Change]) -> anyhow::Result<()> {
    for change in changes {
        let name = change.field.replace('_', " ");
        let removed = change.removed.iter().map(|value| ('-', value));
        let added = change.added.iter().map(|value| ('+', value));
        for (sign, value) in removed.chain(added) {
            writeln!(out, "  {sign} {name:<13}  {}", Escaped(value))?;
        }
    }
    Ok(())
}
