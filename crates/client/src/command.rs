//! Requests to a running client.

use std::net::SocketAddr;
use std::path::PathBuf;

use crate::limits::SeedLimits;
use hashlane_api::{Content, Patch, Priority, RatesPatch};

/// A request to a running client.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// A request to the torrent with this number: the position of its task.
    Torrent(usize, TorrentCommand),
    /// Changes the rate limits of the session.
    Limit(RatesPatch),
}

/// A request to one torrent.
#[derive(Clone, Debug, PartialEq)]
pub enum TorrentCommand {
    /// Pauses the torrent. A torrent that is still being verified joins the session paused.
    Pause,
    /// Resumes the torrent.
    Resume,
    /// Ends the torrent. Its content stays on disk; an incomplete download counts as failed.
    End,
    /// Sets the priority of files of a download, by their positions among the files except padding. Files that are
    /// selected in addition are prepared first. At least one file stays selected.
    Prioritize(Vec<u32>, Priority),
    /// Answers [`Event::Confirm`](crate::Event::Confirm): the wrong pieces may be replaced.
    Replace,
    /// Answers [`Event::Confirm`](crate::Event::Confirm): nothing is written, and the torrent fails with this reason.
    Keep(String),
    /// Verifies the content again, before all other verifications that wait.
    Verify,
    /// Announces the torrent to its trackers.
    Reannounce,
    /// Adds the tracker with this URL, beside the present ones.
    AddTracker(String),
    /// Uses the trackers of these tiers instead of all others.
    SetTrackers(Vec<Vec<String>>),
    /// Connects to a peer, now and whenever the torrent joins the session.
    AddPeer(SocketAddr),
    /// Changes what a person chose. What only programs keep, such as titles, changes nothing.
    Set(Box<Patch>),
    /// Serves the content until these limits; `None` ends the torrent when its content is complete.
    Seed(Option<SeedLimits>),
    /// Moves the content to this folder.
    Relocate(PathBuf),
    /// Removes the torrent from the client.
    Remove(Remove),
}

/// The treatment of the content of a torrent that is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remove {
    /// The content stays on disk.
    Keep,
    /// The files of the torrent are deleted, and folders of the torrent that are empty then. A file stays if another torrent
    /// of the client has it, or if it is not known to belong to the torrent: it has no right piece, or it changed since its
    /// verification.
    DeleteContent,
}

impl From<Content> for Remove {
    fn from(content: Content) -> Self {
        match content {
            Content::Keep => Self::Keep,
            Content::Delete => Self::DeleteContent,
        }
    }
}
