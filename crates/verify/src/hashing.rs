//! Hashes groups of pieces side by side.

use std::ops::Range;
use std::sync::PoisonError;
use std::time::Instant;

use hashlane_metainfo::PieceIndex;
use hashlane_metainfo::merkle::{LEAF_LEN, Node, Subtree, TreeBuilder, roots_of};
use hashlane_sha::{Engine, Sha1, Sha1Digest, Sha256, Sha256Digest};

use crate::files::Files;
use crate::layout::Layout;
use crate::news::Outbox;
use crate::pace::Pace;
use crate::piece::PieceDigests;
use crate::schedule::Grouping;
use crate::source::{Refusal, Source};
use crate::worker::Job;

/// Bytes of each piece that both families hash before either goes on: with sixteen pieces side by
/// side these are 1 MiB, which the core still has in its cache the second time.
const SHARED_LEN: usize = 64 << 10;

/// Hashers for a group of pieces, kept from group to group.
pub(crate) struct Hashing {
    sha1: Vec<Sha1>,
    trees: Vec<TreeBuilder>,
    pace: Pace,
}

impl Hashing {
    pub(crate) fn new(job: &Job<'_>) -> Self {
        Self {
            sha1: Vec::new(),
            trees: Vec::new(),
            pace: Pace::new(job.disk_seeks),
        }
    }

    /// Whether bytes may be fetched in any order.
    pub(crate) fn allows_any_order(&self) -> bool {
        self.pace.allows_any_order()
    }

    /// Whether anything is known of the disk by now.
    pub(crate) fn knows_pace(&self) -> bool {
        self.pace.is_known()
    }

    /// The digests of pieces, read side by side through windows, or why there is none. Nothing at
    /// all if somebody asked to stop before the end.
    pub(crate) fn group<S: Source>(
        &mut self,
        job: &Job<'_>,
        files: &mut Files<'_>,
        source: &mut S,
        grouping: Grouping,
        pieces: &[PieceIndex],
        outbox: &mut Outbox,
    ) -> Vec<Result<PieceDigests, Refusal>> {
        self.start(job, pieces.len());
        let longest = pieces
            .iter()
            .map(|piece| job.layout.piece_len(*piece))
            .max()
            .unwrap_or(0);
        let mut refusals: Vec<Option<Refusal>> = vec![None; pieces.len()];
        let in_order = !self.pace.allows_any_order();
        let mut heads = in_order.then(|| job.heads.lock().unwrap_or_else(PoisonError::into_inner));
        let mut done_bytes = 0;
        for begin in (0..u64::from(longest)).step_by(grouping.window_len) {
            if job.cancel.is_cancelled() {
                return Vec::new();
            }
            let windows = pieces
                .iter()
                .zip(&refusals)
                .map(|(&piece, refusal)| match refusal {
                    None => job.layout.window(piece, begin, grouping.window_len as u64),
                    Some(_) => 0..0,
                });
            let windows: Vec<_> = windows.collect();
            let started = Instant::now();
            source.load(job.layout, files, &windows, |i, refusal| {
                refusals[i] = Some(refusal);
            });
            if job.cancel.is_cancelled() {
                return Vec::new();
            }
            let len_bytes: u64 = windows.iter().map(|window| window.end - window.start).sum();
            self.pace.note(len_bytes, started.elapsed());
            let is_last = begin + grouping.window_len as u64 >= u64::from(longest);
            if is_last {
                // The disk can go on while we hash.
                heads = None;
            }
            let any_order = self.pace.allows_any_order();
            if !S::JUMPS && in_order && any_order {
                // There was no need to go one after the other. A road with all lanes busy is worth
                // more than what has been read.
                refusals.fill(Some(Refusal::TryOther));
                break;
            }
            let inputs: Vec<&[u8]> = (0..pieces.len()).map(|i| source.bytes(i)).collect();
            self.update(job, pieces, &windows, &inputs, grouping.window_len);
            done_bytes += len_bytes;
            outbox.pending(done_bytes);
            if outbox.is_due() {
                outbox.send();
            }
            let is_too_slow = S::JUMPS && !any_order && !is_last;
            if is_too_slow || !source.is_intact() {
                refusals.fill(Some(Refusal::TryOther));
                break;
            }
        }
        drop(heads);
        let results = self.finish(job, pieces).into_iter().zip(refusals);
        results
            .map(|(digests, refusal)| refusal.map_or(Ok(digests), Err))
            .collect()
    }

    fn start(&mut self, job: &Job<'_>, n_pieces: usize) {
        let families = job.layout.families();
        if families.v1 && self.sha1.len() < n_pieces {
            self.sha1.resize(n_pieces, Sha1::with_engine(job.engine));
        }
        if families.v2 && self.trees.len() < n_pieces {
            self.trees.resize(n_pieces, TreeBuilder::default());
        }
        self.sha1.iter_mut().for_each(Sha1::reset);
        self.trees.iter_mut().for_each(TreeBuilder::clear);
    }

    /// Hashes the next window of each piece: the bytes that `inputs` has of the content that
    /// `windows` says. They are empty where a window is refused.
    fn update(
        &mut self,
        job: &Job<'_>,
        pieces: &[PieceIndex],
        windows: &[Range<u64>],
        inputs: &[&[u8]],
        window_len: usize,
    ) {
        let families = job.layout.families();
        let step = if families.v1 && families.v2 {
            window_len.min(SHARED_LEN)
        } else {
            window_len
        };
        for begin in (0..window_len).step_by(step) {
            let parts = inputs.iter().map(|input| {
                let rest = &input[begin.min(input.len())..];
                &rest[..step.min(rest.len())]
            });
            let parts: Vec<&[u8]> = parts.collect();
            if families.v1 {
                job.engine
                    .update_many(&mut self.sha1[..pieces.len()], &parts)
                    .expect("there is an input for each hasher");
            }
            if families.v2 {
                let starts = windows.iter().map(|window| window.start + begin as u64);
                let leaves = Leaves::of(job.layout, pieces, starts, &parts, step);
                let roots = leaves.roots(job.engine);
                let trees = self.trees.iter_mut().zip(&leaves.trees).zip(roots);
                for ((tree, subtree), root) in trees.filter(|((_, tree), _)| tree.n_leaves > 0) {
                    tree.push(root, subtree.height);
                }
            }
        }
    }

    fn finish(&mut self, job: &Job<'_>, pieces: &[PieceIndex]) -> Vec<PieceDigests> {
        let families = job.layout.families();
        let mut v1 = vec![Sha1Digest::default(); if families.v1 { pieces.len() } else { 0 }];
        let hashers = &mut self.sha1[..v1.len()];
        job.engine
            .finalize_many(hashers, &mut v1)
            .expect("there is a digest for each hasher");
        let digests = pieces.iter().enumerate().map(|(i, piece)| PieceDigests {
            v1: v1.get(i).map(|digest| (*digest).into()),
            v2: families
                .v2
                .then(|| self.trees[i].finish(job.layout.tree_height(*piece))),
        });
        digests.collect()
    }
}

/// The leaves of parts of several pieces (BEP 52), one piece after the other.
struct Leaves<'b> {
    bytes: Vec<&'b [u8]>,
    /// The part of each piece's tree that they make.
    trees: Vec<Subtree>,
}

impl<'b> Leaves<'b> {
    /// Of the parts of at most `step` bytes, a power of two of leaves, that start at these offsets
    /// of the content. A part of less ends its file.
    fn of(
        layout: &Layout,
        pieces: &[PieceIndex],
        starts: impl Iterator<Item = u64>,
        parts: &[&'b [u8]],
        step: usize,
    ) -> Self {
        let mut bytes = Vec::new();
        let mut trees = Vec::with_capacity(pieces.len());
        let step_height = (step as u32 / LEAF_LEN).trailing_zeros();
        for ((piece, start), part) in pieces.iter().zip(starts).zip(parts) {
            let len_bytes = layout.data_end(*piece).saturating_sub(start);
            let len_bytes = part
                .len()
                .min(usize::try_from(len_bytes).unwrap_or(usize::MAX));
            let leaves = part[..len_bytes].chunks(LEAF_LEN as usize);
            trees.push(Subtree {
                n_leaves: leaves.len(),
                height: step_height.min(layout.tree_height(*piece)),
            });
            bytes.extend(leaves);
        }
        Self { bytes, trees }
    }

    fn roots(&self, engine: Engine) -> Vec<Node> {
        let mut digests = vec![Sha256Digest::default(); self.bytes.len()];
        engine
            .digest_many::<Sha256>(&self.bytes, &mut digests)
            .expect("there is a digest for each leaf");
        let nodes: Vec<Node> = digests.into_iter().map(Node::from).collect();
        roots_of(engine, &nodes, &self.trees)
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::path::{Path, PathBuf};

    use hashlane_metainfo::Lengths;
    use sha1::Digest as _;

    use super::*;
    use crate::content::Places;
    use crate::schedule::{HOT_BATCH_LEN, IN_ORDER_BATCH_LEN, MAPPED_BATCH_LEN};
    use crate::{CancelToken, Families, FileIndex, Options, scan};

    const LEAF: usize = LEAF_LEN as usize;
    const PIECE: usize = 64 * LEAF;

    /// Files that nobody opens.
    #[derive(Debug)]
    struct Nowhere;

    impl Places for Nowhere {
        fn root(&self) -> &Path {
            Path::new("nowhere")
        }

        fn path_of(&self, _: FileIndex) -> io::Result<PathBuf> {
            Err(io::ErrorKind::NotFound.into())
        }
    }

    /// By definition (BEP 52): recursive, over so many leaves.
    fn root(bytes: &[u8], n_leaves: usize) -> Node {
        if n_leaves == 1 && bytes.is_empty() {
            return [0; 32];
        }
        if n_leaves == 1 {
            return sha2::Sha256::digest(bytes).into();
        }
        let (left, right) = bytes.split_at(bytes.len().min(n_leaves / 2 * LEAF));
        let below = [left, right].map(|half| root(half, n_leaves / 2));
        sha2::Sha256::digest(below.as_flattened()).into()
    }

    /// Of all pieces in one group, through windows of this length. `content` has the padding.
    fn digests(
        content: &[u8],
        layout: &Layout,
        window_len: usize,
        families: Families,
    ) -> Vec<PieceDigests> {
        let cancel = CancelToken::default();
        let (job, _) = scan::plan(layout, &Nowhere, &Options::default(), &cancel).unwrap();
        let pieces: Vec<PieceIndex> = layout.lengths().pieces().collect();
        let mut hashing = Hashing::new(&job);
        assert_eq!(layout.families(), families);
        // Hashers are used again and again.
        for _ in 0..2 {
            hashing.start(&job, pieces.len());
            for begin in (0..PIECE as u64).step_by(window_len) {
                let window = |piece| layout.window(piece, begin, window_len as u64);
                let windows: Vec<_> = pieces.iter().map(|piece| window(*piece)).collect();
                let inputs = windows.iter();
                let inputs = inputs.map(|range| &content[range.start as usize..range.end as usize]);
                let inputs: Vec<&[u8]> = inputs.collect();
                hashing.update(&job, &pieces, &windows, &inputs, window_len);
            }
        }
        hashing.finish(&job, &pieces)
    }

    /// On a disk that seeks, windows are of whole pieces of which a part may be padding. None of
    /// it gets into a leaf, wherever the file ends: in any of the parts that both families take
    /// turns at.
    #[test]
    fn windows_of_every_length_lead_to_the_same_digests() {
        let mut lengths = vec![1, LEAF, PIECE + 77];
        for n_leaves in [1, 3, 4, 5, 11, 16, 17, 33, 60, 64] {
            lengths.extend([n_leaves * LEAF - 1, n_leaves * LEAF]);
        }
        let mut content = Vec::new();
        let mut places = Vec::new();
        let mut expected = Vec::new();
        for (i, length) in lengths.into_iter().enumerate() {
            let bytes: Vec<u8> = (0..length)
                .map(|at| (at / 5 + at / 977 + i) as u8)
                .collect();
            places.push((content.len() as u64, length as u64));
            for piece in bytes.chunks(PIECE) {
                content.extend_from_slice(piece);
                content.resize(content.len().next_multiple_of(PIECE), 0);
                let n_leaves = length.div_ceil(LEAF).next_power_of_two().min(PIECE / LEAF);
                expected.push(PieceDigests {
                    v1: Some(sha1::Sha1::digest(&content[content.len() - PIECE..]).into()),
                    v2: Some(root(piece, n_leaves)),
                });
            }
        }
        let all_lengths = Lengths::new(content.len() as u64, PIECE as u64).unwrap();
        let mut window_lens = vec![LEAF, SHARED_LEN / 2, SHARED_LEN, 2 * SHARED_LEN];
        for grouping in [
            Grouping::side_by_side(all_lengths, HOT_BATCH_LEN),
            Grouping::side_by_side(all_lengths, MAPPED_BATCH_LEN),
            Grouping::in_file_order(all_lengths, IN_ORDER_BATCH_LEN),
        ] {
            window_lens.push(grouping.window_len);
        }
        assert!(window_lens.contains(&PIECE));
        for [v1, v2] in [[true, true], [true, false], [false, true]] {
            let families = Families { v1, v2 };
            let layout = Layout::of_places(places.iter().copied(), all_lengths, families);
            for window_len in &window_lens {
                let found = digests(&content, &layout, *window_len, families);
                assert_eq!(found.len(), expected.len());
                for (i, (found, expected)) in found.iter().zip(&expected).enumerate() {
                    let expected = PieceDigests {
                        v1: expected.v1.filter(|_| v1),
                        v2: expected.v2.filter(|_| v2),
                    };
                    assert_eq!(*found, expected, "piece {i}, {window_len}, {families:?}");
                }
            }
        }
    }
}
