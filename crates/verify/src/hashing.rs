//! Hashes groups of pieces side by side.

use std::sync::PoisonError;
use std::time::Instant;

use hashlane_metainfo::PieceIndex;
use hashlane_sha::{Sha1, Sha1Digest};

use crate::files::Files;
use crate::news::Outbox;
use crate::pace::Pace;
use crate::schedule::Grouping;
use crate::source::{Refusal, Source};
use crate::worker::Job;

/// Hashers for a group of pieces, kept from group to group.
pub(crate) struct Hashing {
    hashers: Vec<Sha1>,
    pace: Pace,
}

impl Hashing {
    pub(crate) fn new(job: &Job<'_>) -> Self {
        Self {
            hashers: Vec::new(),
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
    ) -> Vec<Result<Sha1Digest, Refusal>> {
        if self.hashers.len() < pieces.len() {
            self.hashers
                .resize(pieces.len(), Sha1::with_engine(job.engine));
        }
        let hashers = &mut self.hashers[..pieces.len()];
        hashers.iter_mut().for_each(Sha1::reset);

        let lengths = job.layout.lengths();
        let longest = pieces
            .iter()
            .map(|piece| lengths.piece_len(*piece))
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
            source.load(&job.layout, files, &windows, |i, refusal| {
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
            job.engine
                .update_many(hashers, &inputs)
                .expect("there is an input for each hasher");
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

        let mut digests = vec![Sha1Digest::default(); pieces.len()];
        job.engine
            .finalize_many(hashers, &mut digests)
            .expect("there is a digest for each hasher");
        let results = digests.into_iter().zip(refusals);
        results
            .map(|(digest, refusal)| refusal.map_or(Ok(digest), Err))
            .collect()
    }
}
