//! Origins of torrents, and torrents that are added with them.

use std::fmt;
use std::fs::File;
use std::path::PathBuf;

use hashlane_api::{InfoHash, RatesPatch};
use hashlane_files::read_limited;
use hashlane_metainfo::{InfoHashes, Magnet, Torrent as Metainfo};
use serde::{Deserialize, Serialize};

use crate::config::{AddOptions, Earlier, MAX_METAINFO_LEN, Mode};
use crate::event::Outcome;
use crate::snapshot::TorrentSnapshot;

/// A torrent and its mode.
#[derive(Debug)]
pub struct Task {
    /// The torrent as the user named it, for snapshots.
    pub label: String,
    /// The origin of the metadata.
    pub source: Source,
    /// What the client does with the torrent.
    pub mode: Mode,
}

/// A function that returns the bytes of a .torrent file. A thread of the client calls it.
pub type ReadMetainfo =
    Box<dyn FnOnce() -> Result<Vec<u8>, Box<dyn std::error::Error + Send + Sync>> + Send>;

/// The origin of a torrent's metadata.
pub enum Source {
    /// A .torrent file that is read later.
    Metainfo(ReadMetainfo),
    /// A .torrent file that was parsed. Its torrent has its info-hashes as soon as it is added.
    Torrent(Metainfo),
    /// A URL (http, https) of a .torrent file.
    Url(String),
    /// A magnet link.
    Magnet(Box<Magnet>),
    /// A torrent that is over: only its state is shown, and its outcome counts.
    Over(Box<Over>),
}

/// A torrent that was over in another process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Over {
    /// The last state.
    pub snapshot: TorrentSnapshot,
    /// The result.
    pub outcome: Outcome,
    /// Whether the other process sent the event of the end.
    pub is_reported: bool,
}

impl Source {
    /// Returns the bytes of a .torrent file as a source.
    pub fn bytes(bytes: Vec<u8>) -> Self {
        Self::Metainfo(Box::new(|| Ok(bytes)))
    }

    /// Returns a .torrent file as a source. A thread of the client reads it, up to 32 MiB.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self::Metainfo(reader(path.into(), MAX_METAINFO_LEN))
    }

    /// Returns an info-hash as a source: a magnet link without anything else.
    pub fn info_hash(info_hash: InfoHash) -> Self {
        let info_hashes = match info_hash {
            InfoHash::V1(v1) => InfoHashes::V1(v1),
            InfoHash::V2(v2) => InfoHashes::V2(v2),
        };
        Self::from(Magnet::new(info_hashes))
    }

    /// Returns the info-hashes of the torrent, if they are known.
    pub(crate) fn info_hashes(&self) -> Option<InfoHashes> {
        match self {
            Self::Torrent(metainfo) => Some(metainfo.info_hashes()),
            Self::Magnet(magnet) => Some(magnet.info_hashes),
            Self::Over(over) => over.snapshot.identity.info_hashes,
            Self::Metainfo(_) | Self::Url(_) => None,
        }
    }

    /// Returns a name of the source for users. URLs and links can contain passkeys, which it does not have.
    pub(crate) fn label(&self) -> String {
        match self {
            Self::Metainfo(_) => "torrent".to_owned(),
            Self::Torrent(metainfo) => {
                String::from_utf8_lossy(metainfo.name().as_bytes()).into_owned()
            }
            Self::Url(_) => "URL".to_owned(),
            Self::Over(over) => over.snapshot.torrent.clone(),
            Self::Magnet(magnet) => {
                let name = magnet.name.clone();
                name.unwrap_or_else(|| "magnet link".to_owned())
            }
        }
    }
}

impl From<Metainfo> for Source {
    fn from(metainfo: Metainfo) -> Self {
        Self::Torrent(metainfo)
    }
}

impl From<Magnet> for Source {
    fn from(magnet: Magnet) -> Self {
        Self::Magnet(Box::new(magnet))
    }
}

/// Returns a function that reads a .torrent file.
pub(crate) fn reader(path: PathBuf, max_len: u64) -> ReadMetainfo {
    Box::new(move || {
        let mut bytes = Vec::new();
        if !read_limited(File::open(&path)?, max_len, &mut bytes)? {
            return Err(format!("longer than {max_len} bytes, the limit of .torrent files").into());
        }
        // The torrent keeps the bytes.
        bytes.shrink_to_fit();
        Ok(bytes)
    })
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Metainfo(_) => f.write_str("Metainfo"),
            // Torrents, URLs and links can contain passkeys.
            Self::Torrent(_) | Self::Url(_) | Self::Magnet(_) | Self::Over(_) => {
                f.write_str(&self.label())
            }
        }
    }
}

/// A torrent that is added while a client runs.
#[derive(Debug)]
pub(crate) struct NewTorrent {
    pub(crate) label: String,
    pub(crate) source: Source,
    /// The mode; `None` for that of [`Additions::mode`](crate::Additions::mode).
    pub(crate) mode: Option<Mode>,
    /// Whether the torrent joins the session paused.
    pub(crate) is_paused: bool,
    pub(crate) labels: Vec<String>,
    pub(crate) limits: RatesPatch,
    pub(crate) is_known: bool,
    pub(crate) earlier: Earlier,
    /// The least number of the torrent.
    pub(crate) number: Option<usize>,
}

impl NewTorrent {
    pub(crate) fn of(source: Source, options: AddOptions) -> Self {
        Self {
            label: options.label.unwrap_or_else(|| source.label()),
            source,
            mode: options.mode,
            is_paused: options.is_paused,
            labels: options.labels,
            limits: options.limits,
            is_known: options.is_known,
            earlier: options.earlier,
            number: options.number,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_output_has_no_keys() {
        let url = "https://tracker.example/download?passkey=0123456789abcdef";
        let link = "magnet:?xt=urn:btih:0123456789012345678901234567890123456789&tr=https%3A%2F%2Ft.example%2Fpassword";
        let link: Magnet = link.parse().expect("the link is valid");
        for source in [Source::Url(url.to_owned()), Source::from(link)] {
            let text = format!("{source:?}");
            assert!(
                !text.contains("passkey") && !text.contains("password"),
                "{text}"
            );
        }
    }
}
