//! The origin of a torrent, for another process that continues from this one.

use std::ffi::OsString;
use std::fmt;
use std::path::Path;
use std::time::SystemTime;

use data_encoding::BASE64;
use hashlane_metainfo::Magnet;
use serde::{Deserialize, Serialize};

/// The origin of a torrent that was added while the client ran, or that cannot be read again.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) enum Origin {
    /// A .torrent file in Base64.
    Metainfo(String),
    Magnet(String),
}

/// Without contents, which can have passkeys.
impl fmt::Debug for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Metainfo(_) => "Metainfo",
            Self::Magnet(_) => "Magnet",
        })
    }
}

impl Origin {
    pub(crate) fn of_metainfo(bytes: &[u8]) -> Self {
        Self::Metainfo(BASE64.encode(bytes))
    }

    pub(crate) fn of_magnet(magnet: &Magnet) -> Self {
        Self::Magnet(magnet.to_string())
    }
}

/// A .torrent file of a watched folder when it was added.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct WatchedFile {
    /// Paths need not be UTF-8.
    path: OsString,
    pub(crate) len: u64,
    pub(crate) modified: Option<SystemTime>,
}

impl WatchedFile {
    pub(crate) fn new(path: &Path, len: u64, modified: Option<SystemTime>) -> Self {
        Self {
            path: path.into(),
            len,
            modified,
        }
    }

    pub(crate) fn path(&self) -> &Path {
        Path::new(&self.path)
    }
}
