//! Stores whose names are digests.
//!
//! - `found.rs`: what a store contains
//! - `hugging_face.rs`: the cache of Hugging Face, and its downloads
//! - `oci.rs`: layouts of OCI images, and the models of Ollama, which have the same manifests
//! - `objects.rs`: the objects of Git LFS, and repositories of restic

mod found;
mod hugging_face;
mod objects;
mod oci;

use std::io;
use std::path::{Path, PathBuf};

use found::Found;
pub use found::Problem;

use crate::KnownFile;

/// A layout of stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Layout {
    /// The cache of Hugging Face, or a repository in it.
    HuggingFace,
    /// A download of Hugging Face with `--local-dir`.
    HuggingFaceDownload,
    /// The models of Ollama.
    Ollama,
    /// A layout of OCI images.
    Oci,
    /// The objects of Git LFS in a repository of Git.
    GitLfs,
    /// A repository of restic.
    Restic,
}

impl Layout {
    /// All layouts.
    pub const ALL: [Self; 6] = [
        Self::HuggingFace,
        Self::HuggingFaceDownload,
        Self::Ollama,
        Self::Oci,
        Self::GitLfs,
        Self::Restic,
    ];

    /// Returns the name, as used in output.
    pub fn name(self) -> &'static str {
        match self {
            Self::HuggingFace => "huggingface",
            Self::HuggingFaceDownload => "huggingface-download",
            Self::Ollama => "ollama",
            Self::Oci => "oci",
            Self::GitLfs => "git-lfs",
            Self::Restic => "restic",
        }
    }

    /// Returns the folder of the store if `folder` is, or contains, one of this layout.
    fn place(self, folder: &Path) -> Option<PathBuf> {
        let inside = |names: &[&str]| {
            let mut places = names.iter().map(|name| folder.join(name));
            places.find(|place| self.is_at(place))
        };
        match self {
            Self::HuggingFace => inside(&["", "hub"]),
            Self::Ollama => inside(&["", "models"]),
            Self::GitLfs => inside(&["", ".git/lfs", "lfs"]),
            Self::HuggingFaceDownload | Self::Oci | Self::Restic => inside(&[""]),
        }
    }

    fn is_at(self, place: &Path) -> bool {
        let has = |names: &[&str]| names.iter().all(|name| place.join(name).is_dir());
        match self {
            Self::HuggingFace => hugging_face::is_cache(place),
            Self::HuggingFaceDownload => has(&[hugging_face::RECORDS]),
            Self::Ollama => has(&["blobs", "manifests"]),
            Self::Oci => place.join("oci-layout").is_file(),
            Self::GitLfs => place.ends_with("lfs") && has(&["objects"]),
            Self::Restic => {
                has(&["data", "index", "keys", "snapshots"]) && place.join("config").is_file()
            }
        }
    }
}

/// The contents of a store.
#[derive(Debug)]
#[non_exhaustive]
pub struct Store {
    /// The layout.
    pub layout: Layout,
    /// The files whose names, or records, have digests. The paths begin with the folder of the store.
    pub files: Vec<KnownFile>,
    /// Files without a digest, and what prevents a check.
    pub problems: Vec<(PathBuf, Problem)>,
    /// Number of files that a program has not finished. They are no part of the store yet.
    pub n_unfinished: u64,
}

/// The reason why a folder cannot be checked as a store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The folder cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// No layout is recognized.
    #[error("is no store of a known layout ({})", names())]
    Unknown,
}

fn names() -> String {
    Layout::ALL.map(Layout::name).join(", ")
}

/// Recognizes the layout of a store, and lists its files. Links are not followed.
///
/// # Errors
/// The folder cannot be read, or has no known layout. Problems of single files are in the result.
pub fn read(folder: &Path) -> Result<Store, Error> {
    folder.read_dir()?;
    let place = |layout: Layout| layout.place(folder).map(|place| (layout, place));
    let (layout, place) = Layout::ALL
        .into_iter()
        .find_map(place)
        .ok_or(Error::Unknown)?;
    let mut found = Found::default();
    match layout {
        Layout::HuggingFace => hugging_face::read_cache(&place, &mut found),
        Layout::HuggingFaceDownload => hugging_face::read_download(&place, &mut found),
        Layout::Ollama => oci::read_ollama(&place, &mut found),
        Layout::Oci => oci::read_layout(&place, &mut found),
        Layout::GitLfs => objects::read_git_lfs(&place, &mut found),
        Layout::Restic => objects::read_restic(&place, &mut found),
    }
    Ok(Store {
        layout,
        files: found.files,
        problems: found.problems,
        n_unfinished: found.n_unfinished,
    })
}
