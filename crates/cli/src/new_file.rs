//! Files that are written whole or not at all, with the errors of the command line.

#[cfg(unix)]
use std::fs::Metadata;
#[cfg(unix)]
use std::fs::TryLockError;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

pub use hashlane_files::Overwrite;
use hashlane_files::UNFINISHED_FILES;
pub(crate) use hashlane_files::{NewFile, place_of};

/// Writes a file under a temporary name, then moves it to its place. The new file gets the permissions of the file that
/// it replaces.
///
/// # Errors
/// The file cannot be written, or it exists and may not be replaced.
pub fn write(path: &Path, bytes: &[u8], overwrite: Overwrite) -> anyhow::Result<()> {
    if is_stream(path) {
        // A pipe or terminal cannot be replaced by a file.
        let mut stream = fs::OpenOptions::new().write(true).open(path)?;
        return Ok(stream.write_all(bytes)?);
    }
    let file = NewFile::create(path, overwrite).map_err(refusal)?;
    file.as_file().write_all(bytes)?;
    file.put().map_err(refusal)
}

/// Refuses early every path that [`write()`] would refuse after the work is done.
///
/// # Errors
/// [`write()`] would fail.
pub fn check(path: &Path, overwrite: Overwrite) -> anyhow::Result<()> {
    if !is_stream(path) {
        NewFile::create(path, overwrite).map_err(refusal)?;
    }
    Ok(())
}

/// Returns the error of a new file, with the remedy if the file exists.
pub(crate) fn refusal(error: io::Error) -> anyhow::Error {
    match error.kind() {
        io::ErrorKind::AlreadyExists => anyhow::anyhow!("exists: use --force to replace it"),
        _ => error.into(),
    }
}

/// Returns `true` for a pipe, terminal or other device.
fn is_stream(path: &Path) -> bool {
    let metadata = path.metadata();
    metadata.is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

/// Waits until no other run of this program holds the file at `place`, and holds the file until the result is dropped.
/// A caller that reads a file, changes its bytes and replaces it holds the file meanwhile, so that no change of another
/// run is lost. `waiting` is called if the function has to wait.
///
/// Returns `None` if `place` has no regular file, or its file system has no locks.
#[cfg(unix)]
pub(crate) fn lock(place: &Path, waiting: impl FnOnce()) -> io::Result<Option<File>> {
    use std::os::unix::fs::MetadataExt as _;
    let id = |metadata: &Metadata| (metadata.dev(), metadata.ino());
    let mut waiting = Some(waiting);
    loop {
        let before = match place.metadata() {
            Ok(before) if before.is_file() => before,
            _ => return Ok(None),
        };
        // NFS locks a file exclusively only if it is open for writing. A read-only file can be replaced, too.
        let options = |write| File::options().read(true).write(write).open(place);
        let file = match options(true).or_else(|_| options(false)) {
            // Another run is replacing the file, or the file cannot be read, which its reader reports.
            Err(_) if !place.exists() => continue,
            Err(_) => return Ok(None),
            Ok(file) => file,
        };
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                waiting.take().into_iter().for_each(|waiting| waiting());
                file.lock()?;
            }
            Err(TryLockError::Error(_)) => return Ok(None),
        }
        // The run that held the file may have replaced it.
        let is_current = place.metadata().is_ok_and(|now| id(&now) == id(&before))
            && id(&file.metadata()?) == id(&before);
        if is_current {
            return Ok(Some(file));
        }
    }
}

/// Returns `None`: a locked file cannot be replaced on this system.
#[cfg(not(unix))]
pub(crate) fn lock(_: &Path, _: impl FnOnce()) -> io::Result<Option<File>> {
    Ok(None)
}

/// Returns `true` if a path belongs to a temporary file of this or another process.
pub(crate) fn is_temporary(path: &Path) -> bool {
    path.file_name()
        .is_some_and(|name| UNFINISHED_FILES.contains(name))
}
