//! `--log`: what happens, line by line, for whoever has to find out later.

use std::fs::OpenOptions;
use std::path::Path;
use std::sync::Mutex;

use hashlane_swarm::Event;
use tracing::dispatcher::{DefaultGuard, Dispatch};
use tracing::level_filters::LevelFilter;
use tracing::{debug, error, info, trace, warn};

use crate::swarm_args::LogLevel;

/// Writes what this thread traces to the end of a file, as long as the guard is there.
pub(super) fn start(path: &Path, level: LogLevel) -> std::io::Result<DefaultGuard> {
    let file = OpenOptions::new().create(true).append(true).open(path)?;
    let subscriber = tracing_subscriber::fmt()
        .with_writer(Mutex::new(file))
        .with_ansi(false)
        .with_target(false)
        .with_max_level(match level {
            LogLevel::Error => LevelFilter::ERROR,
            LogLevel::Warn => LevelFilter::WARN,
            LogLevel::Info => LevelFilter::INFO,
            LogLevel::Debug => LevelFilter::DEBUG,
            LogLevel::Trace => LevelFilter::TRACE,
        })
        .finish();
    Ok(tracing::dispatcher::set_default(&Dispatch::new(subscriber)))
}

/// An event of a session, of the torrent as it was given. What others say is written as text in quotes,
/// in which nothing steers a terminal.
pub(super) fn event(torrent: &str, event: &Event) {
    match event {
        Event::Metadata(_, info) => info!(torrent, bytes = info.len(), "metadata has come"),
        // libtorrent tells of those, too, that were there: whoever knows which came says so.
        Event::PieceFinished(..) => {}
        Event::PieceFailed(_, piece) => warn!(torrent, piece, "piece was wrong"),
        Event::Finished(_) => info!(torrent, "all that is wanted has come"),
        Event::Failed(_, reason) => error!(torrent, reason, "stopped"),
        Event::FileFailed { failure, text, .. } => {
            let reason = failure
                .as_ref()
                .map_or_else(|| text.clone(), ToString::to_string);
            error!(torrent, reason, "file failed");
        }
        Event::Listening(address) => info!(%address, "peers are waited for"),
        Event::ListenFailed { port, text, .. } => warn!(port, reason = text, "cannot listen"),
        Event::TrackerReplied(_, url, peers) => debug!(torrent, url, peers, "tracker replied"),
        Event::TrackerFailed(_, reason) => warn!(torrent, reason, "tracker failed"),
        Event::WebSeedFailed(_, reason) => warn!(torrent, reason, "web seed failed"),
        Event::PeerConnected(_, peer) => debug!(torrent, peer, "peer connected"),
        Event::PeerGone(_, reason) => debug!(torrent, reason, "peer is gone"),
        Event::PeerBanned(_, peer) => warn!(torrent, peer, "peer is banned"),
        Event::BlockSent(_, piece) => trace!(torrent, piece, "block was sent"),
        Event::Log(line) => trace!(line, "libtorrent"),
        Event::Dropped => warn!("too much happened at once: not all of it is here"),
        Event::Removed(_) => debug!(torrent, "left the session"),
        other => debug!(torrent, event = ?other, "other"),
    }
}
