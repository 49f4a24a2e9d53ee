//! A torrent of the folder.

use std::fmt;
use std::path::PathBuf;

use hashlane_metainfo::{InfoHashes, Magnet, Torrent};

use crate::choices::Choices;
use crate::name::Name;

/// A torrent of the folder.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The info-hashes of the .torrent file or the link.
    pub info_hashes: InfoHashes,
    /// The name in the metadata, unescaped, or the name in the link. Empty if the link has none.
    pub title: String,
    /// The metadata of the torrent, or the link to it.
    pub metainfo: Metainfo,
    /// What a person chose.
    pub choices: Choices,
    /// The number of the last change of the torrent in this process. No other change has it.
    pub revision: u64,
}

impl Entry {
    /// Returns the name to show: that of a person, or else that of the metadata or the link, or the info-hash.
    pub fn shown_title(&self) -> String {
        let title = self.choices.title.as_ref().unwrap_or(&self.title);
        if title.is_empty() {
            return self.name().to_string();
        }
        title.clone()
    }

    /// Returns the name of the torrent.
    pub fn name(&self) -> Name {
        self.info_hashes.into()
    }
}

/// The metadata of a torrent of the folder, or the link to it.
#[derive(Clone)]
pub enum Metainfo {
    /// A .torrent file with valid contents. The bytes stay on the disk.
    File(PathBuf),
    /// The .torrent file itself, in a store in memory.
    Torrent(Torrent),
    /// A magnet link, whose metadata is not known yet.
    Magnet(Box<Magnet>),
}

/// Without the torrent or the link, which can contain passkeys.
impl fmt::Debug for Metainfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => f.debug_tuple("File").field(path).finish(),
            Self::Torrent(_) => f.write_str("Torrent"),
            Self::Magnet(_) => f.write_str("Magnet"),
        }
    }
}

/// The metadata of a torrent that is added to the folder.
#[derive(Clone)]
pub(crate) enum NewMetainfo {
    Torrent(Torrent),
    Magnet(Box<Magnet>),
}

impl NewMetainfo {
    pub(crate) fn title(&self) -> String {
        match self {
            Self::Torrent(torrent) => title_of(torrent),
            Self::Magnet(magnet) => magnet.name.clone().unwrap_or_default(),
        }
    }
}

/// Returns the name of a torrent as text.
pub(crate) fn title_of(torrent: &Torrent) -> String {
    String::from_utf8_lossy(torrent.name().as_bytes()).into_owned()
}

impl From<Torrent> for NewMetainfo {
    fn from(torrent: Torrent) -> Self {
        Self::Torrent(torrent)
    }
}

impl From<Magnet> for NewMetainfo {
    fn from(magnet: Magnet) -> Self {
        Self::Magnet(Box::new(magnet))
    }
}
