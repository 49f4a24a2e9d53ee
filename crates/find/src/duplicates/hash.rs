//! Digests of parts of files, and of whole files.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::{Path, PathBuf};

use hashlane_pipeline::{
    CancelToken, Error, FileIndex, FileSet, Found, MessageDigest, MessageLen, Options, Progress,
    hash_messages,
};
use hashlane_sha::{Sha256, Sha256Digest, digest};

use super::file::{CHANGED, DuplicateFile};
use super::parts::{Ends, Parts, Pieces};

/// Digests of files.
pub(super) struct Hashing<'f> {
    set: Set<'f>,
    options: &'f Options,
    cancel: &'f CancelToken,
    /// Digests of the digests of all pieces.
    wholes: HashMap<u32, Sha256Digest>,
    failed: BTreeMap<u32, io::Error>,
    n_bytes: u64,
}

/// Digests of the pieces of a file that is being read.
struct Unfinished {
    left: usize,
    digests: Vec<Sha256Digest>,
}

impl<'f> Hashing<'f> {
    pub(super) fn new(
        folders: &'f [PathBuf],
        files: &'f [DuplicateFile],
        options: &'f Options,
        cancel: &'f CancelToken,
    ) -> Self {
        Self {
            set: Set { folders, files },
            options,
            cancel,
            wholes: HashMap::new(),
            failed: BTreeMap::new(),
            n_bytes: 0,
        }
    }

    /// Returns the files of groups in the order of the disk.
    pub(super) fn in_disk_order(&self, groups: &[Vec<u32>]) -> Vec<u32> {
        let mut files = groups.concat();
        files.sort_by_key(|file| (self.set.files[*file as usize].inode, *file));
        files
    }

    /// Returns the digests of the ends of files.
    pub(super) fn run_ends(
        &mut self,
        ends: &Ends<'_>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<HashMap<u32, Sha256Digest>, Error> {
        let mut digests = HashMap::new();
        self.run(ends, progress, |message, digest| {
            digests.insert(ends.file(message), digest);
        })?;
        Ok(digests)
    }

    /// Hashes all pieces of some files. The digest of a file is that of the digests of its pieces.
    pub(super) fn run_pieces(
        &mut self,
        pieces: &Pieces<'_>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), Error> {
        let mut unfinished: HashMap<u32, Unfinished> = HashMap::new();
        let mut wholes = std::mem::take(&mut self.wholes);
        self.run(pieces, progress, |message, found| {
            let file = pieces.file(message);
            let (position, n_pieces) = pieces.position(message);
            let of_file = unfinished.entry(file).or_insert_with(|| Unfinished {
                left: n_pieces,
                digests: vec![Sha256Digest::default(); n_pieces],
            });
            of_file.digests[position] = found;
            of_file.left -= 1;
            if of_file.left == 0 {
                let digests = of_file.digests.iter();
                let bytes: Vec<u8> = digests.flat_map(|it| <[u8; 32]>::from(*it)).collect();
                unfinished.remove(&file);
                wholes.insert(file, digest::<Sha256>(&bytes));
            }
        })?;
        self.wholes = wholes;
        Ok(())
    }

    /// Returns the digests of whole files, by their indices.
    pub(super) fn wholes(&self) -> &HashMap<u32, Sha256Digest> {
        &self.wholes
    }

    /// Returns the files that could not be read, with the reasons, and the number of bytes that were hashed.
    pub(super) fn finish(self) -> (Vec<(u32, io::Error)>, u64) {
        (self.failed.into_iter().collect(), self.n_bytes)
    }

    /// Hashes all messages. `receive` gets each one that has a digest.
    fn run<P: Parts>(
        &mut self,
        parts: &P,
        progress: &mut dyn FnMut(Progress),
        mut receive: impl FnMut(u32, Sha256Digest),
    ) -> Result<(), Error> {
        let lens = (0..parts.count()).map(|message| match parts.len(message) {
            MessageLen::Bytes(len_bytes) => len_bytes,
            _ => 0,
        });
        let total_bytes = lens.sum();
        let mut hashed_bytes = 0;
        let failed = &mut self.failed;
        hash_messages(
            parts,
            &self.set,
            MessageDigest::<Sha256>::new,
            self.options,
            self.cancel,
            |results| {
                for fact in results.facts {
                    if let Found::Absent(error) | Found::Failed { error, .. } = fact.found {
                        failed.insert(fact.file.get() as u32, error);
                    }
                }
                for result in results.messages {
                    hashed_bytes += result.len_bytes;
                    if let Ok(digest) = result.digest {
                        receive(result.message, digest);
                    } else {
                        let file = failed.entry(parts.file(result.message));
                        file.or_insert_with(|| io::Error::other(CHANGED));
                    }
                }
                progress(Progress {
                    hashed_bytes: hashed_bytes + results.pending_bytes,
                    total_bytes,
                });
            },
        )?;
        self.n_bytes += hashed_bytes;
        Ok(())
    }
}

/// The files, by the first of their names.
#[derive(Debug)]
struct Set<'f> {
    folders: &'f [PathBuf],
    files: &'f [DuplicateFile],
}

impl FileSet for Set<'_> {
    fn root(&self) -> &Path {
        self.folders.first().map_or(Path::new(""), PathBuf::as_path)
    }

    fn path_of(&self, file: FileIndex) -> io::Result<PathBuf> {
        Ok(self.files[file.get()].names[0].clone())
    }
}
