//! Verification of a torrent's content.

use std::borrow::Cow;
use std::time::Instant;

use hashlane_metainfo::Torrent;
use hashlane_pipeline::{CancelToken, Options, hash_messages, inspect};

use crate::comparison::Comparison;
use crate::content::Content;
use crate::error::Error;
use crate::hash_versions::HashVersions;
use crate::layout::{Layout, files_of};
use crate::links;
use crate::piece::PieceCounts;
use crate::piece_hasher::piece_hasher;
use crate::report::Report;

/// The progress of a verification.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Number of bytes done: all bytes of pieces whose digests are known, and the hashed bytes of other pieces.
    pub hashed_bytes: u64,
    /// Number of bytes to verify.
    pub total_bytes: u64,
    /// Number of pieces in each state.
    pub counts: PieceCounts,
}

/// Determines which pieces of a torrent are in `content`. Only reads.
///
/// Verifies the hashes in `versions` that the torrent has; both kinds of a hybrid torrent are verified in one pass.
/// `progress` is called on this thread, about fifty times per second for each worker. When `cancel` is set, the
/// function returns soon, with a report of the states that are already known.
///
/// # Errors
/// Fails only if nothing can be verified, for example with [`Error::NoSuchHashes`] if the torrent has none of the
/// hashes in `versions`. Absent and unreadable files are in the report.
pub fn verify(
    content: &Content,
    versions: HashVersions,
    options: &Options,
    cancel: &CancelToken,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Report, Error> {
    verify_untrusted(content, &[], versions, options, cancel, progress)
}

/// Determines which pieces of a torrent are in `content`, like [`verify`], without reading the pieces that the caller
/// trusts. `trusted` has an entry for each piece; a piece without an entry is not trusted. A trusted piece counts as
/// present and correct regardless of its bytes.
///
/// If a file has a single hash for all of its pieces, these pieces are trusted together or not at all.
///
/// # Errors
/// As for [`verify`].
pub fn verify_untrusted(
    content: &Content,
    trusted: &[bool],
    versions: HashVersions,
    options: &Options,
    cancel: &CancelToken,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Report, Error> {
    let started = Instant::now();
    let torrent = content.torrent();
    let versions = versions.and(HashVersions::of(torrent.version()));
    if versions.is_empty() {
        return Err(Error::NoSuchHashes {
            version: torrent.version(),
        });
    }
    let mut layout = Layout::new(torrent, versions);
    let trusted = whole_files(torrent, &layout, trusted);
    if trusted.contains(&true) {
        layout = layout.with_messages(|piece| !trusted[piece as usize]);
    }
    let total_bytes = layout.total_bytes();
    let mut comparison = Comparison::new(torrent, &layout, options.engine);
    for (piece, _) in layout
        .lengths()
        .pieces()
        .zip(&*trusted)
        .filter(|(_, trusted)| **trusted)
    {
        comparison.trusted(piece);
    }
    let hasher = |engine| piece_hasher(&layout, engine);
    hash_messages(&layout, content, hasher, options, cancel, |results| {
        for result in results.messages {
            comparison.piece(result.message, result.digest);
        }
        for fact in results.facts {
            comparison.file(fact);
        }
        progress(&Progress {
            hashed_bytes: comparison.checked_bytes() + results.pending_bytes,
            total_bytes,
            counts: comparison.counts(),
        });
    })?;
    let mut is_cancelled = comparison.is_cut_short();
    for file in comparison.unknown_files() {
        if cancel.is_cancelled() {
            is_cancelled = true;
            break;
        }
        if comparison.is_link(file) {
            comparison.link(file, links::compare(content, file));
        } else {
            comparison.file(inspect(content, file));
        }
    }
    Ok(comparison.build(started.elapsed(), is_cancelled))
}

/// Returns an entry for each piece. Removes pieces from the trusted ones: if a file has a single hash for all of its pieces, an untrusted piece can only
/// be verified together with the file's other pieces.
fn whole_files<'t>(torrent: &Torrent, layout: &Layout, trusted: &'t [bool]) -> Cow<'t, [bool]> {
    let mut trusted = Cow::Borrowed(trusted);
    let n_pieces = layout.lengths().piece_count() as usize;
    if trusted.len() != n_pieces {
        trusted.to_mut().resize(n_pieces, false);
    }
    if !layout.hash_versions().v2 {
        return trusted;
    }
    for (index, file) in files_of(torrent) {
        let pieces = layout.pieces_of(index);
        let pieces = pieces.start as usize..pieces.end as usize;
        let has_one_hash = file.piece_layer().is_none() && pieces.len() > 1;
        if has_one_hash && trusted[pieces.clone()].contains(&false) {
            trusted.to_mut()[pieces].fill(false);
        }
    }
    trusted
}
