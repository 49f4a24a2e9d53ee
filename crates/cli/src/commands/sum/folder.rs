//! Tree hashes of whole folders.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use hashlane_sha::Engine;
use hashlane_sums::{Options, bytes_of};
use hashlane_trees::{
    ApkIdsig, BtRoot, Chunks, Cid, DmVerity, Format, Fsverity, Git, GitMode, Glacier, Item,
    Outcome, S3,
};

use super::filter::Filter;
use super::output::{Output, problem};

/// A format that may have results for folders, made of those of their entries.
pub(super) trait OfFolders: Format + Clone {
    /// Returns the format of a file with this result, or the reason why it is not known.
    fn for_result(&self, _result: &str, _path: &Path) -> Result<Self, String> {
        Ok(self.clone())
    }

    /// Returns `true` if files of both formats can be hashed side by side.
    fn is_same(&self, _other: &Self) -> bool {
        true
    }

    /// Returns the reason why another result does not mean that the file is changed.
    fn doubt(&self) -> Option<String> {
        None
    }

    /// Whether folders have a result.
    const HAS_FOLDERS: bool = false;

    /// Whether names must be Unicode.
    const NEEDS_UNICODE: bool = false;

    /// The entry that makes a folder a repository. It is left out of the folder to hash, and not expected below.
    const REPOSITORY: Option<&'static str> = None;

    /// Whether a folder without entries is part of the folder above.
    const KEEPS_EMPTY: bool = true;

    /// Returns the result of a symbolic link, or `None` if links cannot be part of a folder.
    fn link(&self, _: Engine, _: &[u8]) -> Option<Self::Hash> {
        None
    }

    /// Returns the result of a folder with these entries.
    fn node(&self, _: Engine, _: Vec<Hashed<Self::Hash>>) -> anyhow::Result<Self::Hash> {
        anyhow::bail!("is a directory")
    }
}

/// The name, the kind and the result of an entry.
type Hashed<H> = (Vec<u8>, GitMode, H);

impl OfFolders for Fsverity {}

impl OfFolders for Glacier {}

impl OfFolders for ApkIdsig {}

impl OfFolders for Chunks {}

impl OfFolders for BtRoot {}

impl OfFolders for DmVerity {}

impl OfFolders for S3 {
    fn for_result(&self, result: &str, path: &Path) -> Result<Self, String> {
        // A file without a length is reported when it is opened.
        let len_bytes = path.metadata().map_or(0, |metadata| metadata.len());
        let format = self.for_checksum(result, len_bytes);
        format.map_err(|reason| format!("{reason}: choose --part-size"))
    }

    fn is_same(&self, other: &Self) -> bool {
        self == other
    }

    fn doubt(&self) -> Option<String> {
        let reason = self.other_lens()?;
        Some(format!(
            "{reason}, and those of 8 MiB have another result: choose --part-size"
        ))
    }
}

impl OfFolders for Cid {
    const HAS_FOLDERS: bool = true;
    const NEEDS_UNICODE: bool = true;

    fn node(&self, engine: Engine, entries: Vec<Hashed<Self::Hash>>) -> anyhow::Result<Self::Hash> {
        let nodes = entries.into_iter().map(|(name, _, node)| (name, node));
        Ok(self.folder(engine, nodes.collect())?)
    }
}

impl OfFolders for Git {
    const HAS_FOLDERS: bool = true;
    const REPOSITORY: Option<&'static str> = Some(".git");
    const KEEPS_EMPTY: bool = false;

    fn link(&self, engine: Engine, target: &[u8]) -> Option<Self::Hash> {
        Some(self.blob(engine, target))
    }

    fn node(&self, engine: Engine, entries: Vec<Hashed<Self::Hash>>) -> anyhow::Result<Self::Hash> {
        Ok(self.tree(engine, entries))
    }
}

/// Returns the result of a folder and the number of bytes of its files, or the reason why there is none.
pub(super) fn hash_folder<F: OfFolders>(
    format: &F,
    output: &mut Output<'_>,
    options: &Options,
    filter: &Filter,
    path: &Path,
) -> anyhow::Result<(F::Hash, u64)> {
    let mut tree = Tree::<F> {
        format,
        engine: options.engine,
        root: path,
        filter,
        files: Vec::new(),
        hashes: Vec::new(),
    };
    let entries = tree.entries(path)?;
    tree.hashes.resize_with(tree.files.len(), || None);
    let (mut total, mut failure) = (0, None);
    let files = tree.files.iter().enumerate();
    let items = files.map(|(i, path)| Item::new(path, (i, &**path)));
    let hashes = &mut tree.hashes;
    output.hash_trees(format, items, options, encoded, |_, (i, path), outcome| {
        match outcome {
            Outcome::Hash(hash, len_bytes) => {
                total += len_bytes;
                hashes[*i] = Some(hash);
            }
            other => {
                let path = path.display();
                failure.get_or_insert_with(|| format!("{path}: {}", problem(&other)));
            }
        }
        Ok(())
    })?;
    if let Some(failure) = failure {
        anyhow::bail!(failure);
    }
    Ok((tree.node(path, entries)?, total))
}

/// Returns the bytes of a path.
fn encoded<'p>((_, path): &'p (usize, &Path)) -> &'p [u8] {
    path.as_os_str().as_encoded_bytes()
}

/// The files of a folder, and those of all folders in it.
struct Tree<'t, F: Format> {
    format: &'t F,
    engine: Engine,
    root: &'t Path,
    filter: &'t Filter,
    files: Vec<PathBuf>,
    /// The result of each file.
    hashes: Vec<Option<F::Hash>>,
}

/// An entry of a folder, with its name.
type Named<H> = (Vec<u8>, Entry<H>);

enum Entry<H> {
    /// The index of a file, and whether its owner may execute it.
    File(usize, bool),
    Link(H),
    Folder(PathBuf, Vec<Named<H>>),
}

impl<F: OfFolders> Tree<'_, F> {
    /// Returns the entries of a folder. Anything that cannot be part of the result is an error, because the result of the rest
    /// would look like that of the whole.
    fn entries(&mut self, folder: &Path) -> anyhow::Result<Vec<Named<F::Hash>>> {
        let shown = || folder.display().to_string();
        let mut entries = Vec::new();
        for entry in fs::read_dir(folder).with_context(shown)? {
            let entry = entry.with_context(shown)?;
            let (path, name) = (entry.path(), entry.file_name());
            let is_repository = F::REPOSITORY.is_some_and(|repository| repository == name);
            if is_repository && folder == self.root || !self.filter.takes(self.root, &path) {
                continue;
            }
            let shown = path.display();
            anyhow::ensure!(
                !is_repository,
                "{}: is a repository of its own: leave it out with --exclude",
                folder.display()
            );
            anyhow::ensure!(
                !F::NEEDS_UNICODE || name.to_str().is_some(),
                "{shown}: the name is not Unicode"
            );
            let metadata = entry.metadata().with_context(|| shown.to_string())?;
            let name = bytes_of(Path::new(&name)).into_owned();
            if metadata.is_dir() {
                let below = self.entries(&path)?;
                if F::KEEPS_EMPTY || !below.is_empty() {
                    entries.push((name, Entry::Folder(path, below)));
                }
            } else if metadata.is_file() {
                entries.push((
                    name,
                    Entry::File(self.files.len(), is_executable(&metadata)),
                ));
                self.files.push(path);
            } else if metadata.is_symlink() {
                let target = fs::read_link(&path).with_context(|| shown.to_string())?;
                let Some(link) = self.format.link(self.engine, &bytes_of(&target)) else {
                    anyhow::bail!("{shown}: is a symbolic link: leave it out with --exclude");
                };
                entries.push((name, Entry::Link(link)));
            } else {
                anyhow::bail!("{shown}: is not a regular file: leave it out with --exclude");
            }
        }
        Ok(entries)
    }

    /// Returns the result of a folder from those of its files.
    fn node(&mut self, path: &Path, entries: Vec<Named<F::Hash>>) -> anyhow::Result<F::Hash> {
        let mut hashed = Vec::with_capacity(entries.len());
        for (name, entry) in entries {
            hashed.push(match entry {
                Entry::File(i, is_executable) => {
                    // A file has no result if Ctrl-C came before.
                    let hash = self.hashes[i].take().context("interrupted")?;
                    let mode = if is_executable {
                        GitMode::Executable
                    } else {
                        GitMode::File
                    };
                    (name, mode, hash)
                }
                Entry::Link(hash) => (name, GitMode::Link, hash),
                Entry::Folder(path, below) => (name, GitMode::Folder, self.node(&path, below)?),
            });
        }
        let node = self.format.node(self.engine, hashed);
        node.with_context(|| path.display().to_string())
    }
}

#[cfg(unix)]
fn is_executable(metadata: &Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o100 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &Metadata) -> bool {
    false
}
