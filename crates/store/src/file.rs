//! Reading and writing one file.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::thread;

use hashlane_files::{AtomicFile, Overwrite, read_limited, sync};
use hashlane_metainfo::Torrent;
use rustix::fs::OFlags;
use serde::de::DeserializeOwned;

use crate::error::StoreError;

/// The permissions of each file: only its user may read it, because .torrent files and links contain passkeys.
pub(crate) const MODE: u32 = 0o600;

/// Length limit in bytes of a .torrent file, as in the program's other commands.
const MAX_TORRENT_LEN: u64 = 32 << 20;

/// Number of files that are written at once.
const WRITERS: usize = 16;

/// Reads a regular file of at most `max_len` bytes. A link, a pipe and a device are refused, not followed or waited for.
pub(crate) fn read(path: &Path, max_len: u64) -> Result<Vec<u8>, StoreError> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(flags.bits().cast_signed());
    let file = match options.open(path) {
        // `open` reports a link as a loop of links.
        Err(error) if path.is_symlink() => {
            let reason = format!("a symbolic link, not a regular file ({error})");
            return Err(StoreError::damaged(path, reason));
        }
        file => file.map_err(StoreError::at(path))?,
    };
    if !file.metadata().map_err(StoreError::at(path))?.is_file() {
        return Err(StoreError::damaged(path, "not a regular file"));
    }
    let mut bytes = Vec::new();
    if !read_limited(file, max_len, &mut bytes).map_err(StoreError::at(path))? {
        let reason = format!("longer than {max_len} bytes, the limit of this file");
        return Err(StoreError::damaged(path, reason));
    }
    Ok(bytes)
}

/// Reads a .torrent file.
pub(crate) fn read_torrent(path: &Path) -> Result<Torrent, StoreError> {
    let bytes = read(path, MAX_TORRENT_LEN)?;
    Torrent::parse(bytes).map_err(|error| StoreError::damaged(path, error.to_string()))
}

/// Reads a TOML file. The error has the line, but no text of the file, which can contain secrets.
pub(crate) fn read_toml<T: DeserializeOwned>(path: &Path, max_len: u64) -> Result<T, StoreError> {
    let bytes = read(path, max_len)?;
    let damaged = |offset: Option<usize>, reason: String| StoreError::Damaged {
        path: path.to_owned(),
        line: offset.map(|offset| line_of(&bytes, offset)),
        reason,
    };
    let text = str::from_utf8(&bytes)
        .map_err(|error| damaged(Some(error.valid_up_to()), "not UTF-8".to_owned()))?;
    toml::from_str(text).map_err(|error| {
        let reason = error.message().trim().replace('\n', ", ");
        damaged(error.span().map(|span| span.start), reason)
    })
}

/// Returns the line of an offset, from 1.
fn line_of(bytes: &[u8], offset: usize) -> usize {
    let before = bytes.get(..offset).unwrap_or(bytes);
    before.split(|byte| *byte == b'\n').count()
}

/// Writes a file whole or not at all. Its bytes are on the disk afterwards; its name is there after [`sync_folder`].
pub(crate) fn write(path: &Path, bytes: &[u8], overwrite: Overwrite) -> Result<(), StoreError> {
    let write = || {
        let file = AtomicFile::beside(path, MODE)?;
        file.as_file().write_all(bytes)?;
        file.put(path, overwrite)
    };
    write().map_err(StoreError::at(path))
}

/// Writes files as [`write()`] does, several at once: a file system writes its journal once for all that wait for it. Returns
/// a result for each file.
pub(crate) fn write_all<B: AsRef<[u8]> + Sync>(
    files: &[(PathBuf, B)],
    overwrite: Overwrite,
) -> Vec<Result<(), StoreError>> {
    let write_part = |part: &[(PathBuf, B)]| -> Vec<_> {
        let part = part.iter();
        part.map(|(path, bytes)| write(path, bytes.as_ref(), overwrite))
            .collect()
    };
    let mut parts = files.chunks(files.len().div_ceil(WRITERS).max(1));
    let first = parts.next().unwrap_or_default();
    thread::scope(|scope| {
        let threads: Vec<_> = parts
            .map(|part| {
                let thread = thread::Builder::new().name("store".into());
                (part, thread.spawn_scoped(scope, || write_part(part)))
            })
            .collect();
        let mut results = write_part(first);
        for (part, thread) in threads {
            results.extend(match thread {
                Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
                // The system has no more threads.
                Err(_) => write_part(part),
            });
        }
        results
    })
}

/// Writes the names of a folder to the disk.
pub(crate) fn sync_folder(folder: &Path) -> Result<(), StoreError> {
    let synced = File::open(folder).and_then(|folder| sync(&folder));
    synced.map_err(StoreError::at(folder))
}
