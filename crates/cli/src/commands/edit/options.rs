//! The options that describe the change.

use anyhow::bail;
use clap::Args;
use hashlane_metainfo::{Edit, InfoHashes, ListEdit, Magnet, UrlChanges};

use crate::options::{Switch as _, Trackers};
use crate::values;

/// The change.
#[derive(Debug, Args)]
#[command(next_help_heading = "Changes")]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of its own"
)]
pub(super) struct Changes {
    #[command(flatten)]
    trackers: Trackers,

    /// Leave out the trackers of the torrent; those of --announce remain
    #[arg(long)]
    no_trackers: bool,

    /// Tracker to remove, by its URL or its host; repeatable
    #[arg(long = "remove-tracker", value_name = "URL|HOST")]
    removed_trackers: Vec<String>,

    /// Web seed to add, a URL that serves the content (BEP 19); repeatable
    #[arg(short, long = "web-seed", value_name = "URL", value_parser = values::url)]
    web_seeds: Vec<String>,

    /// Leave out the web seeds of the torrent; those of --web-seed remain
    #[arg(long)]
    no_web_seeds: bool,

    /// Web seed to remove, by its URL or its host; repeatable
    #[arg(long = "remove-web-seed", value_name = "URL|HOST")]
    removed_web_seeds: Vec<String>,

    /// Replace a text in the URLs of trackers and web seeds, for example a passkey or a host; repeatable
    #[arg(long = "replace", num_args = 2, value_names = ["OLD", "NEW"])]
    replaced: Vec<String>,

    /// DHT node to add (BEP 5); repeatable
    #[arg(long = "node", value_name = "HOST:PORT", value_parser = values::node)]
    nodes: Vec<(String, u16)>,

    /// Leave out the DHT nodes of the torrent; those of --node remain
    #[arg(long)]
    no_nodes: bool,

    /// Comment; an empty TEXT removes it
    #[arg(short, long, value_name = "TEXT")]
    comment: Option<String>,

    /// Program that created the torrent; an empty TEXT removes it
    #[arg(long, value_name = "TEXT")]
    created_by: Option<String>,

    /// Creation date: `now`, or seconds since 1970
    #[arg(long, value_name = "WHEN", value_parser = values::date, conflicts_with = "no_date")]
    date: Option<i64>,

    /// Leave out the creation date
    #[arg(long)]
    no_date: bool,

    /// Info-hash of a torrent that shares files with this one (BEP 38); repeatable
    #[arg(long, value_name = "HASH", value_parser = info_hash)]
    similar: Vec<[u8; 20]>,

    /// Leave out the info-hashes of similar torrents; those of --similar remain
    #[arg(long)]
    no_similar: bool,

    /// Name of a collection that the torrent belongs to (BEP 38); repeatable
    #[arg(long = "collection", value_name = "NAME")]
    collections: Vec<String>,

    /// Leave out the names of collections; those of --collection remain
    #[arg(long)]
    no_collections: bool,

    /// Name of the content on disk, a file or folder. Changes the info-hash
    #[arg(short, long, value_name = "NAME")]
    name: Option<String>,

    /// Source tag; an empty TEXT removes it. Changes the info-hash
    #[arg(short, long, value_name = "TEXT")]
    source: Option<String>,

    /// Allow peers from the trackers only (BEP 27); `--private=0` also allows others. Changes the info-hash
    #[arg(short, long, switch())]
    private: Option<bool>,
}

/// Reads an info-hash of version 1, the only version in BEP 38.
fn info_hash(text: &str) -> Result<[u8; 20], String> {
    let hashes = text.parse::<Magnet>().ok().map(|magnet| magnet.info_hashes);
    let v1 = hashes.and_then(InfoHashes::v1);
    let v1 = v1.ok_or("not an info-hash of version 1, 40 hexadecimal digits")?;
    Ok(v1.into())
}

impl Changes {
    /// Returns the edit, or an error if nothing changes.
    pub(super) fn edit(&self) -> anyhow::Result<Edit> {
        let text = |text: &String| (!text.is_empty()).then(|| text.clone());
        let edit = Edit {
            urls: self.url_changes()?,
            trackers: list(self.no_trackers, &self.trackers.tiers),
            web_seeds: list(self.no_web_seeds, &self.web_seeds),
            nodes: list(self.no_nodes, &self.nodes),
            similar: list(self.no_similar, &self.similar),
            collections: list(self.no_collections, &self.collections),
            comment: self.comment.as_ref().map(text),
            created_by: self.created_by.as_ref().map(text),
            creation_date: if self.no_date {
                Some(None)
            } else {
                self.date.map(Some)
            },
            name: self.name.clone(),
            source: self.source.as_ref().map(text),
            is_private: self.private,
            ..Edit::default()
        };
        if edit == Edit::default() {
            bail!("nothing to change; `hashlane edit --help` lists the options");
        }
        Ok(edit)
    }

    fn url_changes(&self) -> anyhow::Result<UrlChanges> {
        let (pairs, _) = self.replaced.as_chunks();
        let pairs = pairs.iter().map(|[old, new]| (old.clone(), new.clone()));
        let replaced: Vec<(String, String)> = pairs.collect();
        if replaced.iter().any(|(old, _)| old.is_empty()) {
            bail!("--replace: the text to replace is empty");
        }
        Ok(UrlChanges {
            removed_trackers: self.removed_trackers.clone(),
            removed_web_seeds: self.removed_web_seeds.clone(),
            replaced,
        })
    }
}

/// Returns the change to a list: the items are added to the list or replace it.
fn list<T: Clone>(remove: bool, items: &[T]) -> Option<ListEdit<T>> {
    if remove {
        Some(ListEdit::Set(items.to_vec()))
    } else {
        (!items.is_empty()).then(|| ListEdit::Add(items.to_vec()))
    }
}
