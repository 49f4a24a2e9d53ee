//! Tree hashes of whole folders.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use hashlane_sha::Engine;
use hashlane_sums::{Options, bytes_of};
use hashlane_trees::{Cid, CidNode, Format, Fsverity, Item, Outcome};

use super::filter::Filter;
use super::output::{Output, problem};

/// A format whose results for folders the command can compute.
pub(super) trait OfFolders: Format {
    /// Whether folders have a result.
    const HAS_FOLDERS: bool;

    /// Returns the result of a folder and the number of bytes of its files, or the reason why there is none.
    fn folder(
        &self,
        output: &mut Output<'_>,
        options: &Options,
        filter: &Filter,
        path: &Path,
    ) -> anyhow::Result<(Self::Hash, u64)>;
}

impl OfFolders for Fsverity {
    const HAS_FOLDERS: bool = false;

    fn folder(
        &self,
        _: &mut Output<'_>,
        _: &Options,
        _: &Filter,
        _: &Path,
    ) -> anyhow::Result<(Self::Hash, u64)> {
        anyhow::bail!("is a directory")
    }
}

impl OfFolders for Cid {
    const HAS_FOLDERS: bool = true;

    fn folder(
        &self,
        output: &mut Output<'_>,
        options: &Options,
        filter: &Filter,
        path: &Path,
    ) -> anyhow::Result<(CidNode, u64)> {
        let mut tree = Tree {
            root: path,
            filter,
            files: Vec::new(),
        };
        let entries = tree.entries(path)?;
        let mut nodes: Vec<Option<CidNode>> = vec![None; tree.files.len()];
        let (mut total, mut failure) = (0, None);
        let items = tree
            .files
            .iter()
            .enumerate()
            .map(|(i, path)| Item::new(path, (i, &**path)));
        output.hash_trees(self, items, options, encoded, |_, (i, path), outcome| {
            match outcome {
                Outcome::Hash(node, len_bytes) => {
                    total += len_bytes;
                    nodes[*i] = Some(node);
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
        let node = node_of(*self, options.engine, path, entries, &mut nodes)?;
        Ok((node, total))
    }
}

/// Returns the bytes of a path.
fn encoded<'p>((_, path): &'p (usize, &Path)) -> &'p [u8] {
    path.as_os_str().as_encoded_bytes()
}

/// The files of a folder, and those of all folders in it.
struct Tree<'t> {
    root: &'t Path,
    filter: &'t Filter,
    files: Vec<PathBuf>,
}

/// An entry of a folder, with its name.
type Named = (Vec<u8>, Entry);

enum Entry {
    /// The index of a file.
    File(usize),
    Folder(PathBuf, Vec<Named>),
}

impl Tree<'_> {
    /// Returns the entries of a folder. Anything that cannot be part of a CID is an error, because the CID of the rest would
    /// look like that of the whole.
    fn entries(&mut self, folder: &Path) -> anyhow::Result<Vec<Named>> {
        let shown = || folder.display().to_string();
        let mut entries = Vec::new();
        for entry in fs::read_dir(folder).with_context(shown)? {
            let entry = entry.with_context(shown)?;
            let (path, name) = (entry.path(), entry.file_name());
            if !self.filter.takes(self.root, &path) {
                continue;
            }
            let shown = path.display();
            anyhow::ensure!(name.to_str().is_some(), "{shown}: the name is not Unicode");
            let kind = entry.file_type().with_context(|| shown.to_string())?;
            let name = bytes_of(Path::new(&name)).into_owned();
            if kind.is_dir() {
                let below = self.entries(&path)?;
                entries.push((name, Entry::Folder(path, below)));
            } else if kind.is_file() {
                entries.push((name, Entry::File(self.files.len())));
                self.files.push(path);
            } else if kind.is_symlink() {
                anyhow::bail!("{shown}: is a symbolic link: leave it out with --exclude");
            } else {
                anyhow::bail!("{shown}: is not a regular file: leave it out with --exclude");
            }
        }
        Ok(entries)
    }
}

/// Returns the CID of a folder from those of its files.
fn node_of(
    format: Cid,
    engine: Engine,
    path: &Path,
    entries: Vec<Named>,
    nodes: &mut [Option<CidNode>],
) -> anyhow::Result<CidNode> {
    let mut links = Vec::with_capacity(entries.len());
    for (name, entry) in entries {
        let node = match entry {
            // A file has no node if Ctrl-C came before.
            Entry::File(i) => nodes[i].take().context("interrupted")?,
            Entry::Folder(path, below) => node_of(format, engine, &path, below, nodes)?,
        };
        links.push((name, node));
    }
    let node = format.folder(engine, links);
    node.with_context(|| path.display().to_string())
}
