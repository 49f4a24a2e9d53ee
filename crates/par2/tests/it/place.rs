//! Folders with protected files, random content, and jobs.

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use hashlane_files::CancelToken;
use hashlane_par2::{
    Created, Error, Kept, Kernel, NewSet, RecoverySet, Repaired, Run, Verification, create, repair,
    verify, volumes_of,
};

/// A temporary folder with files.
pub(crate) struct Folder {
    dir: tempfile::TempDir,
    pub(crate) files: Vec<(PathBuf, Vec<u8>)>,
}

/// The name of the recovery file without slices.
pub(crate) const SET: &str = "set.par2";

impl Folder {
    pub(crate) fn new(files: Vec<(&str, Vec<u8>)>) -> Self {
        let folder = Self {
            dir: tempfile::tempdir().unwrap(),
            files: files
                .into_iter()
                .map(|(name, bytes)| (name.into(), bytes))
                .collect(),
        };
        for (name, bytes) in &folder.files {
            let path = folder.path(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        folder
    }

    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn create(&self, new: &NewSet) -> Created {
        let files: Vec<PathBuf> = self.files.iter().map(|(name, _)| name.clone()).collect();
        with_run(|run| create(self.dir.path(), &self.path(SET), &files, new, run)).unwrap()
    }

    pub(crate) fn set(&self) -> RecoverySet {
        let volumes = volumes_of(&self.path(SET)).unwrap();
        with_run(|run| RecoverySet::read(volumes, run)).unwrap()
    }

    pub(crate) fn verify(&self, others: &[PathBuf]) -> Verification {
        let set = self.set();
        with_run(|run| verify(&set, self.dir.path(), others, run)).unwrap()
    }

    pub(crate) fn repair(&self, others: &[PathBuf]) -> Result<Repaired, Error> {
        let set = self.set();
        let verification = self.verify(others);
        with_run(|run| repair(&set, &verification, self.dir.path(), Kept::Yes, run))
    }

    /// Fails unless all files have their content.
    pub(crate) fn check(&self) {
        for (name, bytes) in &self.files {
            let found = fs::read(self.path(name)).unwrap();
            assert!(found == *bytes, "{}: other content", name.display());
        }
    }

    /// Changes a file.
    pub(crate) fn change(&self, name: &str, change: impl FnOnce(&mut Vec<u8>)) {
        let mut bytes = fs::read(self.path(name)).unwrap();
        change(&mut bytes);
        fs::write(self.path(name), bytes).unwrap();
    }

    pub(crate) fn remove(&self, name: &str) {
        fs::remove_file(self.path(name)).unwrap();
    }
}

/// Runs a job with two threads.
pub(crate) fn with_run<R>(job: impl FnOnce(&mut Run<'_>) -> R) -> R {
    with_memory(1 << 30, job)
}

pub(crate) fn with_memory<R>(memory: u64, job: impl FnOnce(&mut Run<'_>) -> R) -> R {
    job(&mut Run {
        n_threads: NonZeroUsize::new(2).unwrap(),
        memory,
        kernel: Kernel::detect(),
        cancel: &CancelToken::default(),
        progress: &mut |_| {},
    })
}
