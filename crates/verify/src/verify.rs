//! Finds out which pieces of a torrent are there.

use std::time::Instant;

use crate::files::Files;
use crate::links;
use crate::report::ReportBuilder;
use crate::scan::scan;
use crate::{CancelToken, Content, Error, Families, Layout, Options, PieceCounts, Report};

/// How far a verification is.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Bytes that are behind us: of the pieces whose digests are known, and of what is hashed of
    /// others.
    pub hashed_bytes: u64,
    /// Bytes that are judged in all.
    pub total_bytes: u64,
    /// How many pieces are in each state.
    pub counts: PieceCounts,
}

/// Finds out which pieces of a torrent are in its `content`, reading and nothing else.
///
/// Of a hybrid torrent both kinds of hashes are judged, in one pass, or the one in `families`.
/// `progress` is called on this thread, some fifty times a second for each worker. When `cancel`
/// asks to stop, the report comes at once, with what is known by then.
///
/// # Errors
/// Only if nothing could be verified at all: [`Error::NoSuchHashes`] if the torrent has nothing in
/// `families`. Files that are absent or cannot be read are in the report.
pub fn verify(
    content: &Content,
    families: Families,
    options: &Options,
    cancel: &CancelToken,
    mut progress: impl FnMut(&Progress),
) -> Result<Report, Error> {
    let started = Instant::now();
    let torrent = content.torrent();
    let families = families.and(Families::of(torrent.version()));
    if families.is_empty() {
        return Err(Error::NoSuchHashes {
            version: torrent.version(),
        });
    }
    let layout = Layout::new(torrent, families);
    let total_bytes = layout.total_bytes();
    let mut builder = ReportBuilder::new(torrent, &layout, options.engine);
    scan(&layout, content, options, cancel, |news, pending_bytes| {
        for (piece, result) in news.pieces {
            builder.piece(piece, result);
        }
        for fact in news.facts {
            builder.file(fact);
        }
        progress(&Progress {
            hashed_bytes: builder.checked_bytes() + pending_bytes,
            total_bytes,
            counts: builder.counts(),
        });
    })?;

    let mut is_cut_short = builder.is_cut_short();
    let mut files = Files::new(content, 1, cancel);
    for file in builder.unheard() {
        if cancel.is_cancelled() {
            is_cut_short = true;
            break;
        }
        if builder.is_link(file) {
            builder.link(file, links::look_at(content, file));
            continue;
        }
        // What comes of it is among the facts.
        let _ = files.open(file);
        files
            .take_facts()
            .into_iter()
            .for_each(|fact| builder.file(fact));
    }
    Ok(builder.build(started.elapsed(), is_cut_short))
}
