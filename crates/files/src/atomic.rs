//! Files that are written whole or not at all.

use std::fs::File;
use std::io;
use std::path::Path;
#[cfg(target_os = "linux")]
use std::path::PathBuf;

use tempfile::NamedTempFile;

use crate::temporary::{TemporaryNames, hold_new};

/// The names of files that are being written.
pub const UNFINISHED_FILES: TemporaryNames = TemporaryNames {
    prefix: ".hashlane-",
    suffix: ".tmp",
};

/// Whether an existing file may be replaced. There is no third choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overwrite {
    /// An existing file is an error.
    No,
    /// An existing file is replaced.
    Yes,
}

/// A file without a name, or with a temporary name if the file system does not support unnamed
/// files. It gets its name when it is complete. A file without a name disappears with the process,
/// even if a signal ends it.
#[derive(Debug)]
pub struct AtomicFile(Form);

#[derive(Debug)]
enum Form {
    #[cfg(target_os = "linux")]
    Unnamed(File, PathBuf),
    Named(NamedTempFile),
}

impl AtomicFile {
    /// Creates a file in the folder of `place`, and removes the unfinished files of processes that
    /// have ended. `mode` are the permissions on Unix. As for any new file, the umask takes some
    /// of them away.
    ///
    /// # Errors
    /// The system's error if the folder takes no file.
    pub fn beside(place: &Path, mode: u32) -> io::Result<Self> {
        let folder = folder_of(place);
        UNFINISHED_FILES.remove_abandoned_once(folder);
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::{CWD, Mode, OFlags};
            let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
            if let Ok(file) = rustix::fs::openat(CWD, folder, flags, Mode::from_raw_mode(mode)) {
                use std::os::fd::AsRawFd as _;
                let path = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
                // Without this path, the file cannot get a name.
                if path.symlink_metadata().is_ok() {
                    let file = File::from(file);
                    // The file gets a temporary name before it replaces another file.
                    hold_new(&file, &path);
                    return Ok(Self(Form::Unnamed(file, path)));
                }
            }
        }
        loop {
            let file = temporary(mode).tempfile_in(folder);
            // The error would name the temporary file, which means nothing to the user.
            let file = file.map_err(|error| error.kind())?;
            if hold_new(file.as_file(), file.path()) {
                return Ok(Self(Form::Named(file)));
            }
        }
    }

    /// Returns the file, to write its bytes and to change its permissions.
    pub fn as_file(&self) -> &File {
        match &self.0 {
            #[cfg(target_os = "linux")]
            Form::Unnamed(file, _) => file,
            Form::Named(file) => file.as_file(),
        }
    }

    /// Gives the file its name. The bytes are on the disk before, so a power cut leaves either the
    /// old or the new file.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`] if the place is taken and may not be overwritten, and other
    /// errors of the system.
    pub fn put(self, place: &Path, overwrite: Overwrite) -> io::Result<()> {
        self.as_file().sync_all()?;
        match self.0 {
            #[cfg(target_os = "linux")]
            Form::Unnamed(_file, path) => put_unnamed(&path, place, overwrite),
            Form::Named(file) => {
                let result = match overwrite {
                    Overwrite::Yes => file.persist(place),
                    Overwrite::No => file.persist_noclobber(place),
                };
                result.map(drop).map_err(|error| error.error)
            }
        }
    }
}

/// Gives its name to an unnamed file that is open at `path`. A hard link cannot replace a file, so
/// an existing file is replaced through a temporary name.
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
            // A link has the permissions of its file.
            let named = temporary(0).make_in(folder_of(place), link)?;
            Ok(named.into_temp_path().persist(place)?)
        }
        result => result,
    }
}

fn folder_of(place: &Path) -> &Path {
    place.parent().unwrap_or(Path::new("/"))
}

/// Returns the builder of temporary files with these permissions on Unix.
#[cfg_attr(
    not(unix),
    expect(unused_variables, reason = "other systems have no such permissions")
)]
fn temporary(mode: u32) -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder
        .prefix(UNFINISHED_FILES.prefix)
        .suffix(UNFINISHED_FILES.suffix);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(std::fs::Permissions::from_mode(mode));
    }
    builder
}
