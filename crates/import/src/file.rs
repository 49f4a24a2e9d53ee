//! Limits, and files that are read whole.

use std::path::{Path, PathBuf};

use hashlane_files::SourceFile;

use crate::{Reason, SessionError};

/// Maximum length of a .torrent file, and of the file with its state, in bytes.
pub const MAX_TORRENT_BYTES: u64 = 32 << 20;

/// Maximum length of a file with the state of all torrents, in bytes. Deluge has such a file, about 1 KiB for each
/// torrent of version 1.
pub const MAX_SESSION_FILE_BYTES: u64 = 512 << 20;

/// Maximum length of a settings file, in bytes.
pub(crate) const MAX_SETTINGS_BYTES: u64 = 16 << 20;

/// Maximum number of torrents of a session.
pub const MAX_TORRENTS: usize = 1_000_000;

/// Reads a regular file that is not a symbolic link. Does not change its access time if the system allows it.
pub(crate) fn read(path: &Path, max_bytes: u64) -> Result<Vec<u8>, Reason> {
    if path.symlink_metadata()?.is_symlink() {
        return Err(Reason::Link);
    }
    let file = SourceFile::open(path)?;
    if file.len_bytes() > max_bytes {
        return Err(Reason::TooLong { max_bytes });
    }
    // One more byte than expected shows whether the file grows.
    let mut bytes = vec![0; file.len_bytes() as usize + 1];
    let length = file.read_at(&mut bytes, 0)?;
    if length == bytes.len() {
        return Err(Reason::Io(std::io::Error::other("grows while it is read")));
    }
    bytes.truncate(length);
    Ok(bytes)
}

/// Reads a file as [`read`] does. Returns `None` if it does not exist.
pub(crate) fn read_if_present(path: &Path, max_bytes: u64) -> Result<Option<Vec<u8>>, Reason> {
    match read(path, max_bytes) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(Reason::Io(error)) if hashlane_files::is_absent(&error) => Ok(None),
        Err(reason) => Err(reason),
    }
}

/// Reads a settings file of JSON. Returns `None` if it does not exist.
pub(crate) fn read_json(path: &Path) -> Result<Option<serde_json::Value>, SessionError> {
    let json = || {
        let Some(bytes) = read_if_present(path, MAX_SETTINGS_BYTES)? else {
            return Ok(None);
        };
        serde_json::from_slice(&bytes)
            .map(Some)
            .map_err(Reason::Json)
    };
    json().map_err(|reason| session_error(path, reason))
}

/// Returns the names in a folder that end in `suffix`, without it and sorted. A folder that does not exist has none.
pub(crate) fn names(folder: &Path, suffix: &str) -> Result<Vec<String>, SessionError> {
    let names = || {
        let entries = match folder.read_dir() {
            Ok(entries) => entries,
            Err(error) if hashlane_files::is_absent(&error) => return Ok(Vec::new()),
            Err(error) => return Err(Reason::Io(error)),
        };
        let mut names = Vec::new();
        for entry in entries {
            // Names that are not Unicode are not of a session: programs name the files.
            let Ok(name) = entry?.file_name().into_string() else {
                continue;
            };
            if let Some(stem) = name.strip_suffix(suffix) {
                names.push(stem.to_owned());
            }
            if names.len() > MAX_TORRENTS {
                return Err(Reason::TooMany { max: MAX_TORRENTS });
            }
        }
        names.sort_unstable();
        Ok(names)
    };
    names().map_err(|reason| session_error(folder, reason))
}

pub(crate) fn session_error(path: &Path, reason: impl Into<Reason>) -> SessionError {
    SessionError {
        path: path.to_owned(),
        reason: reason.into(),
    }
}

/// Returns the first of these paths that exists.
pub(crate) fn first_existing(paths: impl IntoIterator<Item = PathBuf>) -> Option<PathBuf> {
    paths.into_iter().find(|path| path.exists())
}
