//! What requests may do.

use std::path::{Path, PathBuf};

use hashlane_api::Refusal;
use hashlane_files::{resolved, resolved_folder};

use crate::disk::{Silent, on_disk};

/// What requests of other programs may do.
#[derive(Clone, Debug, Default)]
pub struct Rights {
    /// Folders in which content may be placed, with all folders below them.
    pub folders: Vec<PathBuf>,
    /// Whether content may be deleted.
    pub may_delete: bool,
    /// Whether .torrent files may be fetched from this machine and the local network.
    pub fetches_local: bool,
}

impl Rights {
    /// Refuses a folder in which content may not be placed.
    ///
    /// # Errors
    /// Returns [`Refusal::Forbidden`], or [`Refusal::Conflict`] if the disk of the folder does not answer.
    pub fn check_folder(&self, folder: &Path) -> Result<(), Refusal> {
        if is_below_any(folder, &self.folders)? {
            return Ok(());
        }
        Err(Refusal::Forbidden(format!(
            "{}: not in a folder that the configuration allows for content",
            folder.display()
        )))
    }
}

impl From<Silent> for Refusal {
    fn from(silent: Silent) -> Self {
        Self::Conflict(silent.to_string())
    }
}

/// Returns `true` if a folder is one of the roots or below one, with symbolic links followed; see [`hashlane_files::is_below`].
/// Nothing is below a root whose disk does not answer.
///
/// # Errors
/// Returns [`Silent`] if the disk of the folder does not answer.
pub fn is_below_any(folder: &Path, roots: &[PathBuf]) -> Result<bool, Silent> {
    let asked = folder.to_owned();
    let Some(folder) = on_disk(folder, move || resolved_folder(&asked))? else {
        return Ok(false);
    };
    let is_above = |root: &PathBuf| {
        let asked = root.clone();
        let root = on_disk(root, move || resolved(&asked)).ok().flatten();
        root.is_some_and(|root| folder.starts_with(root))
    };
    Ok(roots.iter().any(is_above))
}
