//! Events of the session in the log, by `tracing`.

use hashlane_swarm::Event;
use tracing::{debug, info, trace, warn};

/// Logs an event of the torrent with this label, or of the session. Texts of peers and trackers are logged as quoted strings, which
/// do not control a terminal.
pub(crate) fn event(torrent: Option<&str>, event: &Event) {
    match event {
        Event::Metadata(_, info) => info!(torrent, bytes = info.len(), "metadata received"),
        Event::PieceFailed(_, piece) => warn!(torrent, piece, "piece failed its hash check"),
        // libtorrent also reports pieces and torrents that were complete when they were added. The torrent itself logs what
        // arrived.
        Event::PieceFinished(..) | Event::Finished(_) => {}
        Event::Prioritized(_) => debug!(torrent, "priorities are in effect"),
        // The torrent itself logs the error with which it fails. Many blocks can fail with it.
        Event::Failed(_, reason) => debug!(torrent, reason, "stopped"),
        Event::FileFailed { failure, text, .. } => {
            let reason = failure
                .as_ref()
                .map_or_else(|| text.clone(), ToString::to_string);
            debug!(torrent, reason, "file failed");
        }
        Event::Listening(address) => info!(%address, "listening"),
        Event::ListenFailed { port, text, .. } => warn!(port, reason = text, "cannot listen"),
        Event::TrackerReplied(_, url, peers) => debug!(torrent, url, peers, "tracker replied"),
        // The torrent itself logs a problem once.
        Event::TrackerFailed(_, reason) => debug!(torrent, reason, "tracker failed"),
        Event::WebSeedFailed(_, reason) => debug!(torrent, reason, "web seed failed"),
        Event::PeerConnected(_, peer) => debug!(torrent, peer, "peer connected"),
        Event::PeerGone(_, reason) => debug!(torrent, reason, "peer disconnected"),
        Event::PeerUnreached(_, reason) => debug!(torrent, reason, "peer not reached"),
        Event::PeerBanned(_, peer) => warn!(torrent, peer, "peer is banned"),
        Event::BlockSent(_, piece) => trace!(torrent, piece, "block was sent"),
        Event::Log(line) => trace!(line, "libtorrent"),
        Event::Dropped => warn!("events were dropped: too many were waiting"),
        Event::Removed(_) => debug!(torrent, "left the session"),
        other => debug!(torrent, event = ?other, "other"),
    }
}
