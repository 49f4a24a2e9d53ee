//! Files in folders and in lists that are left out.

use std::path::{Path, PathBuf};

use hashlane_files::Globs;

use super::arguments::Sum;
use crate::new_file;
use crate::options::globs;

/// The files in folders that are left out.
#[derive(Clone)]
pub(super) struct Filter {
    excludes: Globs,
    /// The file that the digests are written to.
    output: Option<PathBuf>,
}

impl Filter {
    pub(super) fn new(sum: &Sum) -> anyhow::Result<Self> {
        Ok(Self {
            excludes: globs(Globs::ignoring_case(), "--exclude", &sum.excludes)?,
            output: None,
        })
    }

    /// Also leaves out a file, by its path without links.
    pub(super) fn without(self, output: &Path) -> Self {
        Self {
            output: Some(output.to_owned()),
            ..self
        }
    }

    /// Returns `true` if a file below the folder `root` is hashed.
    pub(super) fn takes(&self, root: &Path, file: &Path) -> bool {
        let inside = file.strip_prefix(root).unwrap_or(file);
        self.takes_name(inside) && !self.is_output(file)
    }

    /// Returns `true` if a file with this name in a list, or this path below a folder, is not left out.
    pub(super) fn takes_name(&self, name: &Path) -> bool {
        !self.excludes.is_match_or_inside(name)
    }

    /// Returns `true` for the output, and for the unfinished output of this or another process.
    fn is_output(&self, file: &Path) -> bool {
        let Some(output) = &self.output else {
            return false;
        };
        let is_same_name = file.file_name() == output.file_name();
        let is_same = || file.canonicalize().is_ok_and(|file| file == *output);
        new_file::is_temporary(file) || is_same_name && is_same()
    }
}
