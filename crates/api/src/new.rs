//! Torrents that are added.

use std::fmt;
use std::path::PathBuf;

use hashlane_metainfo::{ContentLayout, FileKind, Magnet, Torrent};
use serde::{Deserialize, Serialize};

use crate::command::Patch;
use crate::priority::Priority;
use crate::refusal::Refusal;

/// Where the metadata of a torrent that is added comes from.
#[derive(Clone)]
pub enum Source {
    /// A .torrent file.
    Torrent(Torrent),
    /// A magnet link, or an info-hash.
    Magnet(Box<Magnet>),
    /// The URL of a .torrent file.
    Url(String),
}

impl Source {
    /// Reads a .torrent file.
    ///
    /// # Errors
    /// Returns [`Refusal::Invalid`] with the reason.
    pub fn of_file(bytes: impl Into<Vec<u8>>) -> Result<Self, Refusal> {
        let torrent = Torrent::parse(bytes.into());
        torrent
            .map(Self::Torrent)
            .map_err(|error| Refusal::Invalid(error.to_string()))
    }

    /// Reads a magnet link, an info-hash, or a URL (http, https). Files of this machine cannot be named.
    ///
    /// # Errors
    /// Returns [`Refusal::Invalid`] with the reason.
    pub fn of_link(text: &str) -> Result<Self, Refusal> {
        let text = text.trim();
        let is_url = ["http://", "https://"].iter().any(|scheme| {
            let start = text.get(..scheme.len());
            start.is_some_and(|start| start.eq_ignore_ascii_case(scheme))
        });
        if is_url {
            return Ok(Self::Url(text.to_owned()));
        }
        let magnet = Magnet::read(text);
        magnet
            .map(|(magnet, _)| Self::Magnet(Box::new(magnet)))
            .map_err(|error| Refusal::Invalid(error.to_string()))
    }
}

/// Without content: torrents, links and URLs contain passkeys.
impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Torrent(_) => "Torrent",
            Self::Magnet(_) => "Magnet",
            Self::Url(_) => "Url",
        })
    }
}

/// A torrent that is added: exactly one of `link` and `metainfo`, and what a person chooses for it.
#[derive(Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Addition {
    /// A magnet link, an info-hash, or the URL (http, https) of a .torrent file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// The .torrent file in base 64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metainfo: Option<String>,
    /// What a person chooses.
    #[serde(default)]
    pub options: NewTorrent,
}

/// Without the torrent: links contain passkeys.
impl fmt::Debug for Addition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Addition").finish_non_exhaustive()
    }
}

/// Choices for a torrent that is added. Absent fields leave the choice to the program.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct NewTorrent {
    /// Folder for the content, under the torrent's name: an absolute path. Requests may place content there, or in a folder above
    /// it. Without this field, it is that of the category, or of the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder: Option<PathBuf>,
    /// The content itself under any name, an absolute path. It is served, and never written. Not with `folder`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<PathBuf>,
    /// At the socket of a daemon: the text of a content map with the torrent, in base 64. The files that it names are read, and
    /// never written. Not with `content`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_map: Option<String>,
    /// Whether the content has a folder of its own.
    #[serde(skip_serializing_if = "is_default")]
    pub layout: ContentLayout,
    /// Positions of the selected files of a .torrent file, without padding. All files without this field. Not for a link.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub select: Option<Vec<u32>>,
    /// Priorities of files, each with the position of the file, without padding.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub priorities: Vec<(u32, Priority)>,
    /// Whether the torrent starts paused. Without this field, `adds_paused` of the settings decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused: Option<bool>,
    /// What can be changed later, too.
    #[serde(skip_serializing_if = "is_default")]
    pub set: Patch,
}

impl NewTorrent {
    /// Refuses values that no torrent can have, and files that this one does not have.
    ///
    /// # Errors
    /// Returns [`Refusal::Invalid`] with the reason.
    pub fn check(&self, source: &Source) -> Result<(), Refusal> {
        self.set.check()?;
        let invalid = |reason: String| Err(Refusal::Invalid(reason));
        if self.select.as_ref().is_some_and(Vec::is_empty) {
            return invalid("select: at least one file must be selected".into());
        }
        let torrent = match source {
            Source::Torrent(torrent) => torrent,
            Source::Magnet(_) if self.select.is_some() => {
                return invalid("select: the files of a link are not known yet".into());
            }
            // Those of a URL are checked when its file is there.
            Source::Magnet(_) | Source::Url(_) => return Ok(()),
        };
        let files = torrent.files().iter();
        let files = files.filter(|file| file.kind() != FileKind::Padding);
        let n_files = files.count();
        let is_absent = |file: &u32| *file as usize >= n_files;
        let mut select = self.select.iter().flatten().copied();
        if let Some(file) = select.find(is_absent) {
            return invalid(format!("select: there is no file {file}"));
        }
        let mut prioritized = self.priorities.iter().map(|(file, _)| *file);
        match prioritized.find(is_absent) {
            Some(file) => invalid(format!("priorities: there is no file {file}")),
            None => Ok(()),
        }
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_magnets_hashes_and_urls() {
        let hash = "0123456789abcdef0123456789abcdef01234567";
        for text in [hash, &format!(" magnet:?xt=urn:btih:{hash}\n")] {
            let source = Source::of_link(text);
            assert!(
                matches!(source, Ok(Source::Magnet(_))),
                "{text}: {source:?}"
            );
        }
        let source = Source::of_link("HTTPS://example.org/a.torrent");
        assert!(matches!(source, Ok(Source::Url(url)) if url.ends_with("a.torrent")));
        for text in [
            "/etc/passwd",
            "file:///etc/passwd",
            "",
            "ftp://example.org/a.torrent",
        ] {
            let refusal = Source::of_link(text);
            assert!(
                matches!(refusal, Err(Refusal::Invalid(_))),
                "{text}: {refusal:?}"
            );
        }
    }

    #[test]
    fn choices_are_read_as_they_were_written() {
        let new = NewTorrent {
            folder: Some("/a".into()),
            select: Some(vec![0]),
            priorities: vec![(0, Priority::High)],
            paused: Some(true),
            set: Patch {
                labels: Some(["a".into()].into()),
                ..Patch::default()
            },
            ..NewTorrent::default()
        };
        let json = r#"{"folder":"/a","select":[0],"priorities":[[0,"high"]],"paused":true,"set":{"labels":["a"]}}"#;
        assert_eq!(serde_json::to_string(&new).unwrap(), json);
        assert_eq!(serde_json::from_str::<NewTorrent>(json).unwrap(), new);
        assert_eq!(serde_json::to_string(&NewTorrent::default()).unwrap(), "{}");
        let unknown = serde_json::from_str::<NewTorrent>(r#"{"labels":[]}"#);
        assert!(unknown.unwrap_err().to_string().contains("unknown field"));
    }
}
