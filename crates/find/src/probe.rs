//! Pieces that are compared with candidates.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::ops::Range;

use hashlane_metainfo::merkle::Node;
use hashlane_pipeline::{
    CancelToken, ChunkHasher, Error, Extent, Found, MessageDigest, MessageHasher, MessageLen,
    Messages, Options, hash_messages,
};
use hashlane_sha::{Engine, Sha1, Sha1Digest};
use hashlane_verify::{PieceRoots, PieceTrees};

use crate::budget::SearchBudget;
use crate::candidates::Candidates;

/// The shape of the merkle tree over a piece (BEP 52).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Tree {
    /// Number of bytes of the file in the piece.
    pub(crate) data_len: u64,
    pub(crate) height: u32,
}

/// Bytes of candidates that may be a piece.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Probe {
    /// The files are candidates.
    pub(crate) extents: Vec<Extent>,
    /// The tree over the piece if its root is computed, otherwise SHA-1.
    pub(crate) tree: Option<Tree>,
}

/// The digest of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Digest {
    V1(Sha1Digest),
    V2(Node),
}

/// Digests of probes that are known. The same bytes of a candidate are often compared with several files.
#[derive(Debug)]
pub(crate) struct Probes<'c> {
    candidates: &'c Candidates,
    /// The limit of the bytes to hash.
    budget: Option<&'c SearchBudget>,
    /// The budget did not have enough left for a round.
    is_refused: bool,
    options: &'c Options,
    cancel: &'c CancelToken,
    /// `None` for bytes that could not be read.
    digests: HashMap<Probe, Option<Digest>>,
    /// Candidates that could not be read, with the reasons.
    unreadable: BTreeMap<u32, io::Error>,
    n_hashed: u64,
    n_bytes: u64,
}

impl<'c> Probes<'c> {
    pub(crate) fn new(
        candidates: &'c Candidates,
        budget: Option<&'c SearchBudget>,
        options: &'c Options,
        cancel: &'c CancelToken,
    ) -> Self {
        Self {
            candidates,
            budget,
            is_refused: false,
            options,
            cancel,
            digests: HashMap::new(),
            unreadable: BTreeMap::new(),
            n_hashed: 0,
            n_bytes: 0,
        }
    }

    /// Hashes the probes that are not known yet, in the order of the disk. `progress` gets the number of bytes of this call
    /// that were hashed so far, and of all bytes to hash. Hashes nothing if the probes have more bytes than may be hashed: some
    /// of them alone would make a file look like the only one that fits.
    pub(crate) fn run(
        &mut self,
        probes: impl IntoIterator<Item = Probe>,
        mut progress: impl FnMut(u64, u64),
    ) -> Result<(), Error> {
        let unknown = probes
            .into_iter()
            .filter(|probe| !self.digests.contains_key(probe));
        let (mut v2, mut v1): (Vec<_>, Vec<_>) = unknown.partition(|probe| probe.tree.is_some());
        for probes in [&mut v1, &mut v2] {
            probes.sort_by_cached_key(|probe| place(probe, self.candidates));
            probes.dedup();
        }
        let len_of = |probes: &[Probe]| probes.iter().map(len_bytes).sum::<u64>();
        let (v1_bytes, total) = (len_of(&v1), len_of(&v1) + len_of(&v2));
        if self.budget.is_some_and(|budget| !budget.take_bytes(total)) {
            self.is_refused = true;
            return Ok(());
        }
        self.n_hashed += (v1.len() + v2.len()) as u64;
        self.n_bytes += total;
        let hasher = MessageDigest::<Sha1>::new;
        self.hash(&v1, hasher, Digest::V1, |done| progress(done, total))?;
        let messages = Pieces(&v2);
        let hasher = |engine: Engine| ChunkHasher::new(PieceRoots::new(&messages, engine), engine);
        self.hash(&v2, hasher, Digest::V2, |done| {
            progress(v1_bytes + done, total);
        })
    }

    fn hash<H: MessageHasher>(
        &mut self,
        probes: &[Probe],
        hasher: impl Fn(Engine) -> H + Sync,
        digest: impl Fn(H::Digest) -> Digest,
        mut progress: impl FnMut(u64),
    ) -> Result<(), Error> {
        if probes.is_empty() {
            return Ok(());
        }
        let Self {
            candidates,
            options,
            cancel,
            ..
        } = *self;
        let mut done = 0;
        hash_messages(
            &Pieces(probes),
            candidates,
            hasher,
            options,
            cancel,
            |results| {
                for fact in results.facts {
                    if let Found::Failed { error, .. } = fact.found {
                        self.unreadable.insert(fact.file.get() as u32, error);
                    }
                }
                for result in results.messages {
                    let probe = &probes[result.message as usize];
                    done += len_bytes(probe);
                    let digest = result.digest.ok().map(&digest);
                    self.digests.insert(probe.clone(), digest);
                }
                progress(done + results.pending_bytes);
            },
        )
    }

    /// Returns `true` if a round was left out, because it had more bytes than may be hashed.
    pub(crate) fn is_refused(&self) -> bool {
        self.is_refused
    }

    /// Returns the limit of the bytes to hash.
    pub(crate) fn budget(&self) -> Option<&'c SearchBudget> {
        self.budget
    }

    /// Returns the number of probes whose digests are known.
    pub(crate) fn n_known(&self) -> usize {
        self.digests.len()
    }

    /// Forgets the digests of probes.
    pub(crate) fn forget(&mut self, probes: impl Iterator<Item = Probe>) {
        for probe in probes {
            self.digests.remove(&probe);
        }
    }

    /// Returns `true` if the digest of a probe is known and is this one.
    pub(crate) fn matches(&self, probe: &Probe, expected: Digest) -> bool {
        self.digests.get(probe).copied().flatten() == Some(expected)
    }

    /// Returns the candidates that could not be read.
    pub(crate) fn unreadable(&self) -> impl Iterator<Item = u32> {
        self.unreadable.keys().copied()
    }

    /// Returns the candidates that could not be read, with the reasons.
    pub(crate) fn take_unreadable(&mut self) -> Vec<(u32, io::Error)> {
        std::mem::take(&mut self.unreadable).into_iter().collect()
    }

    /// Returns the number of pieces that were hashed.
    pub(crate) fn hashed(&self) -> u64 {
        self.n_hashed
    }

    /// Returns the number of bytes that were hashed.
    pub(crate) fn hashed_bytes(&self) -> u64 {
        self.n_bytes
    }
}

fn len_bytes(probe: &Probe) -> u64 {
    probe.extents.iter().map(|extent| extent.len_bytes).sum()
}

/// Returns the place of a probe on the disk, by its first file, as far as it is known.
fn place(probe: &Probe, candidates: &Candidates) -> (u64, u64) {
    let mut files = probe
        .extents
        .iter()
        .filter_map(|extent| Some((extent.file?, extent.offset)));
    files.next().map_or((0, 0), |(file, offset)| {
        (candidates.inode(file.get() as u32), offset)
    })
}

/// Probes as messages.
#[derive(Clone, Copy)]
struct Pieces<'p>(&'p [Probe]);

impl Messages for Pieces<'_> {
    fn count(&self) -> u32 {
        u32::try_from(self.0.len()).unwrap_or(u32::MAX)
    }

    fn usual_len(&self) -> Option<u64> {
        self.0.first().map(len_bytes)
    }

    fn len(&self, message: u32) -> MessageLen {
        MessageLen::Bytes(len_bytes(&self.0[message as usize]))
    }

    fn extents(&self, message: u32, range: Range<u64>) -> impl Iterator<Item = Extent> {
        let mut at = 0;
        self.0[message as usize]
            .extents
            .iter()
            .filter_map(move |extent| {
                let start = at;
                at += extent.len_bytes;
                let (from, to) = (range.start.max(start), range.end.min(at));
                (from < to).then(|| Extent {
                    file: extent.file,
                    offset: if extent.file.is_some() {
                        extent.offset + (from - start)
                    } else {
                        0
                    },
                    len_bytes: to - from,
                })
            })
    }
}

impl PieceTrees for &Pieces<'_> {
    fn data_len(&self, message: u32) -> u64 {
        self.0[message as usize]
            .tree
            .map_or(0, |tree| tree.data_len)
    }

    fn height(&self, message: u32) -> u32 {
        self.0[message as usize].tree.map_or(0, |tree| tree.height)
    }
}

#[cfg(test)]
mod tests {
    use hashlane_pipeline::FileIndex;

    use super::*;

    /// Either all probes of a round are hashed, or none.
    #[test]
    fn probes_beyond_the_budget_are_not_hashed() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(folder.path().join("a"), [7; 100]).expect("the folder takes a file");
        let (options, cancel) = (Options::default(), CancelToken::default());
        let folders = [folder.path().to_owned()];
        let candidates = Candidates::collect_all([], &folders, &cancel, |_| ());
        let budget = SearchBudget::default();
        assert!(budget.take_bytes(budget.bytes_left() - 150));
        let probe = |offset, len_bytes| Probe {
            extents: vec![Extent {
                file: Some(FileIndex::new(0)),
                offset,
                len_bytes,
            }],
            tree: None,
        };
        let mut probes = Probes::new(&candidates, Some(&budget), &options, &cancel);
        let too_many = [probe(0, 100), probe(10, 51)];
        probes.run(too_many, |_, _| ()).expect("SHA-1 is available");
        assert_eq!((probes.n_known(), probes.hashed_bytes()), (0, 0));
        assert!(budget.is_exhausted());
        let fitting = [probe(0, 100), probe(10, 50), probe(0, 100)];
        probes.run(fitting, |_, _| ()).expect("SHA-1 is available");
        assert_eq!((probes.n_known(), probes.hashed_bytes()), (2, 150));
        assert_eq!(budget.bytes_left(), 0);
        let digest = Digest::V1(hashlane_sha::digest::<Sha1>(&[7; 100]));
        assert!(probes.matches(&probe(0, 100), digest));
    }
}
