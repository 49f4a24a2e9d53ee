//! Files that are written whole or not at all.

#[cfg(unix)]
use std::fs::TryLockError;
use std::fs::{self, File, Metadata};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::bail;
pub use hashlane_files::Overwrite;
use hashlane_files::{AtomicFile, UNFINISHED_FILES};

/// The permissions of a new file, from which the umask takes some away.
const MODE: u32 = 0o666;

/// Writes a file under a temporary name, then moves it to its place. The new file gets the permissions of the file that
/// it replaces.
///
/// # Errors
/// The file cannot be written, or it exists and may not be replaced.
pub fn write(path: &Path, bytes: &[u8], overwrite: Overwrite) -> anyhow::Result<()> {
    let place = place_of(path)?;
    let before = place.metadata().ok();
    if before.as_ref().is_some_and(|before| !before.is_file()) {
        // A pipe or terminal cannot be replaced by a file.
        return Ok(fs::OpenOptions::new()
            .write(true)
            .open(place)?
            .write_all(bytes)?);
    }
    let file = AtomicFile::beside(&place, MODE)?;
    if let Some(before) = before {
        copy_permissions(file.as_file(), &before)?;
    }
    file.as_file().write_all(bytes)?;
    match file.put(&place, overwrite) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => bail!(EXISTS),
        result => Ok(result?),
    }
}

/// A file that is written piece by piece and gets its name at the end.
#[derive(Debug)]
pub(crate) struct NewFile {
    file: AtomicFile,
    place: PathBuf,
    overwrite: Overwrite,
}

impl NewFile {
    /// Refuses every path that [`write()`] refuses, and pipes and devices.
    pub(crate) fn create(path: &Path, overwrite: Overwrite) -> anyhow::Result<Self> {
        check(path, overwrite)?;
        let place = place_of(path)?;
        let before = place.metadata().ok();
        if before.as_ref().is_some_and(|before| !before.is_file()) {
            bail!("is not a regular file");
        }
        let file = AtomicFile::beside(&place, MODE)?;
        if let Some(before) = before {
            copy_permissions(file.as_file(), &before)?;
        }
        Ok(Self {
            file,
            place,
            overwrite,
        })
    }

    /// Returns a stream that writes to the file.
    pub(crate) fn stream(&self) -> io::Result<File> {
        self.file.as_file().try_clone()
    }

    /// Returns the place of the file, without links.
    pub(crate) fn place(&self) -> &Path {
        &self.place
    }

    /// Gives the file another name.
    pub(crate) fn put_at(self, path: &Path) -> anyhow::Result<()> {
        let place = place_of(path)?;
        Self { place, ..self }.put()
    }

    /// Gives the file its name.
    pub(crate) fn put(self) -> anyhow::Result<()> {
        match self.file.put(&self.place, self.overwrite) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => bail!(EXISTS),
            result => Ok(result?),
        }
    }
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

/// Gives a file the permissions of another file, which may be private, and its owner if the system allows it.
fn copy_permissions(file: &File, other: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt as _, fchown};
        // Only the superuser can change the owner. For other users, the new file belongs to the user who runs the
        // program.
        let _ = fchown(file, Some(other.uid()), Some(other.gid()));
    }
    file.set_permissions(other.permissions())
}

/// Refuses early every path that [`write()`] would refuse after the work is done.
///
/// # Errors
/// [`write()`] would fail.
pub fn check(path: &Path, overwrite: Overwrite) -> anyhow::Result<()> {
    let place = place_of(path)?;
    let before = place.symlink_metadata().ok();
    if before.as_ref().is_some_and(Metadata::is_dir) {
        bail!("is a directory");
    }
    // `place_of` follows links, so a link here leads nowhere.
    if before
        .as_ref()
        .is_none_or(|before| before.is_file() || before.is_symlink())
    {
        if overwrite == Overwrite::No && before.is_some() {
            bail!(EXISTS);
        }
        AtomicFile::beside(&place, MODE)?;
    }
    Ok(())
}

const EXISTS: &str = "exists: use --force to replace it";

/// Returns the place where a path leads through links. The file itself may not exist.
pub(crate) fn place_of(path: &Path) -> io::Result<PathBuf> {
    match fs::canonicalize(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let name = path.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
            let folder = path
                .parent()
                .filter(|folder| !folder.as_os_str().is_empty());
            Ok(fs::canonicalize(folder.unwrap_or(Path::new(".")))?.join(name))
        }
        result => result,
    }
}
