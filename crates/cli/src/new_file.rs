//! Files that are written whole or not at all.

#[cfg(unix)]
use std::fs::TryLockError;
use std::fs::{self, File, Metadata};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::bail;
use hashlane_files::{TemporaryNames, hold_new};
use tempfile::NamedTempFile;

/// Whether an existing file may be replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overwrite {
    /// An existing file is an error.
    No,
    /// An existing file is replaced.
    Yes,
}

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
    let file = NewFile::beside(&place)?;
    if let Some(before) = before {
        be_like(file.as_file(), &before)?;
    }
    file.as_file().write_all(bytes)?;
    // The bytes are on the disk before the file has its name, so a power cut leaves either the old or the new file.
    file.as_file().sync_all()?;
    match file.put(&place, overwrite) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => bail!(EXISTS),
        result => Ok(result?),
    }
}

/// Waits until no other run of this program holds the file at `place`, and holds the file until the result is dropped.
/// A caller that reads a file, changes its bytes and replaces it holds the file meanwhile, so that no change of another
/// run is lost. `waiting` is called if the function has to wait.
///
/// Returns `None` if `place` has no regular file, or its file system has no locks.
#[cfg(unix)]
pub(crate) fn hold(place: &Path, waiting: impl FnOnce()) -> io::Result<Option<File>> {
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
pub(crate) fn hold(_: &Path, _: impl FnOnce()) -> io::Result<Option<File>> {
    Ok(None)
}

/// A file without a name, or with a temporary name if the file system does not support unnamed files. A file without a
/// name disappears with the process, even if a signal ends it.
enum NewFile {
    #[cfg(target_os = "linux")]
    Unnamed(File, PathBuf),
    Named(NamedTempFile),
}

/// The names of temporary files.
const TEMPORARY: TemporaryNames = TemporaryNames {
    prefix: ".hashlane-",
    suffix: ".tmp",
};

/// Returns `true` if a path belongs to a temporary file of this or another process.
pub(crate) fn is_temporary(path: &Path) -> bool {
    path.file_name()
        .is_some_and(|name| TEMPORARY.contains(name))
}

impl NewFile {
    /// Creates a file in the folder of `place`. The umask decides who may read the file, as for any new file.
    fn beside(place: &Path) -> io::Result<Self> {
        let folder = place.parent().unwrap_or(Path::new("/"));
        TEMPORARY.remove_abandoned_once(folder);
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::{CWD, Mode, OFlags};
            let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
            if let Ok(file) = rustix::fs::openat(CWD, folder, flags, Mode::from_raw_mode(0o666)) {
                use std::os::fd::AsRawFd as _;
                let path = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
                // Without this path, the file cannot get a name.
                if path.symlink_metadata().is_ok() {
                    let file = File::from(file);
                    // The file gets a temporary name before it replaces another file.
                    hold_new(&file, &path);
                    return Ok(Self::Unnamed(file, path));
                }
            }
        }
        loop {
            // The error would name the temporary file, which means nothing to the user.
            let file = temporary().tempfile_in(folder);
            let file = file.map_err(|error| error.kind())?;
            if hold_new(file.as_file(), file.path()) {
                return Ok(Self::Named(file));
            }
        }
    }

    fn as_file(&self) -> &File {
        match self {
            #[cfg(target_os = "linux")]
            Self::Unnamed(file, _) => file,
            Self::Named(file) => file.as_file(),
        }
    }

    /// Gives the file its name.
    fn put(self, place: &Path, overwrite: Overwrite) -> io::Result<()> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Unnamed(_file, path) => put_unnamed(&path, place, overwrite),
            Self::Named(file) => {
                let result = match overwrite {
                    Overwrite::Yes => file.persist(place),
                    Overwrite::No => file.persist_noclobber(place),
                };
                result.map(drop).map_err(|error| error.error)
            }
        }
    }
}

/// Gives its name to an unnamed file that is open at `path`. A hard link cannot replace a file, so an existing file is
/// replaced through a temporary name.
#[cfg(target_os = "linux")]
fn put_unnamed(path: &Path, place: &Path, overwrite: Overwrite) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD};
    let link = |to: &Path| -> io::Result<()> {
        Ok(rustix::fs::linkat(
            CWD,
            path,
            CWD,
            to,
            AtFlags::SYMLINK_FOLLOW,
        )?)
    };
    match link(place) {
        Err(error)
            if error.kind() == io::ErrorKind::AlreadyExists && overwrite == Overwrite::Yes =>
        {
            let folder = place.parent().unwrap_or(Path::new("/"));
            let named = temporary().make_in(folder, link)?;
            Ok(named.into_temp_path().persist(place)?)
        }
        result => result,
    }
}

/// Returns the builder of temporary files.
fn temporary() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMPORARY.prefix).suffix(TEMPORARY.suffix);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder
}

/// Gives a file the permissions of another file, which may be private, and its owner if the system allows it.
fn be_like(file: &File, other: &Metadata) -> io::Result<()> {
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
        NewFile::beside(&place)?;
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
