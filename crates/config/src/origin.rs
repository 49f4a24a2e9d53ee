//! The place of a value.

use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file that was read.
#[derive(Debug)]
pub struct ConfigFile {
    /// The path as it was found or given.
    pub(crate) path: PathBuf,
    /// The home folder of the user, for paths that start with `~/`.
    pub(crate) home: Option<PathBuf>,
    /// The owner and the mode of the open file (Unix).
    pub(crate) permissions: Option<Permissions>,
}

/// The owner and the mode of a file or folder.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Permissions {
    pub(crate) owner: u32,
    pub(crate) mode: u32,
}

/// Bits of a mode that let users other than the owner write.
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// The bit of a folder whose files only their owners can replace.
const STICKY: u32 = 0o1000;

impl Permissions {
    #[cfg(unix)]
    #[expect(
        clippy::unnecessary_wraps,
        reason = "other systems do not show the owner"
    )]
    pub(crate) fn of(metadata: &std::fs::Metadata) -> Option<Self> {
        use std::os::unix::fs::MetadataExt as _;
        Some(Self {
            owner: metadata.uid(),
            mode: metadata.mode(),
        })
    }

    #[cfg(not(unix))]
    pub(crate) fn of(_: &std::fs::Metadata) -> Option<Self> {
        None
    }

    /// Returns the reason why other users can change a file or folder with these permissions, if they can.
    fn problem(self, path: &Path, is_folder: bool) -> Option<String> {
        let path = path.display();
        if self.owner != 0 && Some(self.owner) != effective_user() {
            return Some(format!(
                "{path} belongs to another user (uid {})",
                self.owner
            ));
        }
        let is_guarded = is_folder && self.mode & STICKY != 0;
        (self.mode & WRITABLE_BY_OTHERS != 0 && !is_guarded).then(|| {
            let mode = self.mode & 0o777;
            format!("other users can write to {path} (mode {mode:03o}): use `chmod go-w`")
        })
    }
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "other systems have no user ids")]
fn effective_user() -> Option<u32> {
    Some(rustix::process::geteuid().as_raw())
}

#[cfg(not(unix))]
fn effective_user() -> Option<u32> {
    None
}

impl ConfigFile {
    pub(crate) fn without_owner(path: PathBuf) -> Self {
        Self {
            path,
            home: None,
            permissions: None,
        }
    }

    /// Returns the path as it was found or given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Checks that only the user of this process, or the superuser, can change the file. Commands are accepted only from
    /// such files, because a user who writes to the file runs programs with the rights of this process.
    ///
    /// # Errors
    /// Names the file or a folder above it, and the reason.
    pub fn check_owner(&self) -> Result<(), String> {
        const RULE: &str = "commands are accepted only from files that no other user can change";
        let Some(permissions) = self.permissions else {
            return Err(format!("{RULE}, and this system does not show who can"));
        };
        let refused = |problem: String| format!("{RULE}, but {problem}");
        if let Some(problem) = permissions.problem(&self.path, false) {
            return Err(refused(problem));
        }
        check_way(&self.path).map_err(refused)
    }
}

/// Maximum number of symbolic links on the way to a file, as on Linux.
const MAX_LINKS: usize = 40;

/// Checks every folder and every symbolic link on the way to a file: a user who can change one of them chooses the file.
///
/// # Errors
/// Names a folder or link that another user can change, or that cannot be examined.
fn check_way(path: &Path) -> Result<(), String> {
    let unknown = |path: &Path, error: &dyn fmt::Display| format!("{}: {error}", path.display());
    let absolute = std::path::absolute(path).map_err(|error| unknown(path, &error))?;
    let parts = |path: &Path| -> Vec<PathBuf> {
        let parts = path.components().rev();
        parts.map(|part| part.as_os_str().into()).collect()
    };
    // A path without links, and the parts that follow, the next one last.
    let mut place = PathBuf::new();
    let mut left = parts(&absolute);
    let mut n_links = 0;
    while let Some(part) = left.pop() {
        if part.as_os_str() == ".." {
            place.pop();
            continue;
        }
        let next = place.join(part);
        let metadata = next.symlink_metadata();
        let metadata = metadata.map_err(|error| unknown(&next, &error))?;
        let permissions = Permissions::of(&metadata);
        let is_link = metadata.is_symlink();
        let problem = permissions.and_then(|permissions| {
            if is_link {
                // The mode of a link means nothing.
                let permissions = Permissions {
                    mode: 0,
                    ..permissions
                };
                return permissions.problem(&next, false);
            }
            permissions.problem(&next, metadata.is_dir())
        });
        if let Some(problem) = problem {
            return Err(problem);
        }
        if is_link {
            n_links += 1;
            if n_links > MAX_LINKS {
                return Err(unknown(&next, &"too many symbolic links"));
            }
            let target = next.read_link().map_err(|error| unknown(&next, &error))?;
            left.extend(parts(&target));
        } else {
            place = next;
        }
    }
    Ok(())
}

/// The place of a value.
#[derive(Clone, Debug)]
pub enum Origin {
    /// A line of a file.
    File {
        /// The file that was read, with its path.
        file: Arc<ConfigFile>,
        /// The line of the key, from 1.
        line: usize,
    },
    /// The environment variable with this name.
    Variable(Arc<str>),
}

impl Origin {
    /// Returns the path that a value of this origin means. In a file, `~/` is the home folder of the user, and other
    /// relative paths start at the folder of the file. In a variable, they start at the working directory.
    pub fn resolve(&self, path: &OsStr) -> PathBuf {
        let path = Path::new(path);
        let Self::File { file, .. } = self else {
            return path.to_owned();
        };
        if let (Some(home), Ok(rest)) = (&file.home, path.strip_prefix("~")) {
            return home.join(rest);
        }
        match file.path.parent() {
            Some(folder) => folder.join(path),
            None => path.to_owned(),
        }
    }

    /// Checks that a command of this origin may be run: see [`ConfigFile::check_owner`].
    ///
    /// # Errors
    /// Other users can change the file.
    pub fn check_owner(&self) -> Result<(), String> {
        match self {
            Self::File { file, .. } => file.check_owner(),
            Self::Variable(_) => Ok(()),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { file, line } => write!(f, "{}: line {line}", file.path.display()),
            Self::Variable(name) => f.write_str(name),
        }
    }
}
