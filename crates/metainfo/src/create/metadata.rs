//! Writes the keys of a new .torrent file that do not describe its content.

use crate::bencode::Writer;

/// The keys of a new torrent that do not describe its content, see [`Metadata`](crate::Metadata). Write
/// `..NewMetadata::default()` in a literal, because keys may be added.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default))]
#[expect(missing_docs, reason = "they are described where they are read")]
pub struct NewMetadata {
    pub trackers: Vec<Vec<String>>,
    pub web_seeds: Vec<String>,
    pub nodes: Vec<(String, u16)>,
    pub comment: Option<String>,
    pub created_by: Option<String>,
    pub creation_date: Option<i64>,
    pub is_private: bool,
    pub source: Option<String>,
    /// Random text in the info dictionary, which gives equal content another info-hash. Other programs
    /// write and ignore the same key, `entropy`.
    pub entropy: Option<String>,
}

impl NewMetadata {
    /// Writes the keys that are sorted before `info`.
    pub(super) fn write_before_info(&self, writer: &mut Writer) {
        let mut urls = self.trackers.iter().flatten();
        if let Some(first) = urls.next() {
            writer.key("announce").bytes(first);
            if urls.next().is_some() {
                writer.key("announce-list").begin_list();
                for tier in &self.trackers {
                    writer.begin_list();
                    for url in tier {
                        writer.bytes(url);
                    }
                    writer.end();
                }
                writer.end();
            }
        }
        if let Some(comment) = &self.comment {
            writer.key("comment").bytes(comment);
        }
        if let Some(created_by) = &self.created_by {
            writer.key("created by").bytes(created_by);
        }
        if let Some(creation_date) = self.creation_date {
            writer.key("creation date").integer(creation_date);
        }
    }

    pub(super) fn write_nodes(&self, writer: &mut Writer) {
        if self.nodes.is_empty() {
            return;
        }
        writer.key("nodes").begin_list();
        for (host, port) in &self.nodes {
            writer.begin_list();
            writer.bytes(host);
            writer.integer((*port).into());
            writer.end();
        }
        writer.end();
    }

    pub(super) fn write_web_seeds(&self, writer: &mut Writer) {
        if self.web_seeds.is_empty() {
            return;
        }
        writer.key("url-list").begin_list();
        for url in &self.web_seeds {
            writer.bytes(url);
        }
        writer.end();
    }
}
