//! What requests may do.

use std::path::{Path, PathBuf};

use hashlane_api::Refusal;
use hashlane_files::is_below;

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
    /// Returns [`Refusal::Forbidden`].
    pub fn check_folder(&self, folder: &Path) -> Result<(), Refusal> {
        if self.folders.iter().any(|root| is_below(folder, root)) {
            return Ok(());
        }
        Err(Refusal::Forbidden(format!(
            "{}: not in a folder that the configuration allows for content",
            folder.display()
        )))
    }
}
