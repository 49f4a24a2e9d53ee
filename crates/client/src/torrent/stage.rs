//! The stages of a torrent, and the only function that changes them.
//!
//! A stage is replaced, never taken: [`Stages::advance`] makes the next stage from a reference to the current one. So no
//! stage is lost if a result arrives too late or a step fails, and no placeholder exists. [`LeadsTo`] lists the changes
//! that are possible; another one does not compile. `STATE.md` beside this file explains them.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hashlane_metainfo::Magnet;
use hashlane_swarm::Stamps;

use crate::error::Absence;
use crate::event::Outcome;
use crate::places::Claim;
use crate::stored::StoredTorrent;

/// Minimum time between two comparisons of all files with their state at the last verification.
const CHECK_INTERVAL: Duration = Duration::from_secs(5);

/// Comparisons, and the verifications that follow them, take at most one part in this many of the time.
const MAX_SHARE: u32 = 20;

/// The stage of a torrent.
pub(super) enum Stage {
    Opening(Opening),
    Metadata(Box<Metadata>),
    Leaving(Box<Leaving>),
    Verifying(Verifying),
    Confirming(Confirming),
    Absent(Box<Absent>),
    Moving(Moving),
    Active(Box<Active>),
    Over(Outcome),
}

/// The .torrent file is being read or fetched.
#[derive(Default)]
pub(super) struct Opening {
    /// Peers that the magnet link of the torrent led to.
    pub(super) peers: Vec<SocketAddr>,
}

/// The session requests the metadata of a magnet link from peers.
pub(super) struct Metadata {
    pub(super) magnet: Box<Magnet>,
}

/// The metadata of a magnet link is known, and the session is removing the link.
pub(super) struct Leaving {
    pub(super) magnet: Magnet,
    /// The info dictionary.
    pub(super) info: Vec<u8>,
    /// Known peers.
    pub(super) peers: Vec<SocketAddr>,
}

/// The content is being verified, or waits for its verification. The torrent joins the session afterwards.
pub(super) struct Verifying {
    pub(super) stored: Arc<StoredTorrent>,
    /// Known peers.
    pub(super) peers: Vec<SocketAddr>,
}

/// The user decides whether wrong pieces may be replaced.
pub(super) struct Confirming {
    pub(super) stored: Arc<StoredTorrent>,
    /// Known peers.
    pub(super) peers: Vec<SocketAddr>,
}

/// No content is present, and the torrent waits for it: to serve it, or to continue its download.
pub(super) struct Absent {
    pub(super) stored: Arc<StoredTorrent>,
    /// The state of the files at the last verification.
    pub(super) stamps: Stamps,
    pub(super) check: Check,
    /// Known peers.
    pub(super) peers: Vec<SocketAddr>,
    pub(super) absence: Absence,
    /// The reason to show while the files do not change.
    pub(super) reason: Option<String>,
}

/// The content moves to another folder.
pub(super) struct Moving {
    /// Whether it was downloaded by this process.
    pub(super) is_new: bool,
    /// Known peers.
    pub(super) peers: Vec<SocketAddr>,
    /// The place before a move by command. Without it, the move is the end of a download.
    pub(super) relocation: Option<Before>,
}

/// The place of the content before a move.
pub(super) struct Before {
    pub(super) stored: Arc<StoredTorrent>,
    /// The files before the move.
    pub(super) claim: Option<Arc<Claim>>,
}

/// The torrent is in the session.
pub(super) struct Active {
    pub(super) stored: Arc<StoredTorrent>,
    /// An entry for each piece: whether it is present.
    pub(super) have: Vec<bool>,
    /// Whether all content (of a download, all selected content) was present at the last verification.
    pub(super) is_complete: bool,
    pub(super) phase: Phase,
    pub(super) check: Check,
    /// Whether files are missing that are created when the paused download starts.
    pub(super) is_deferred: bool,
    /// Whether another program changed the files after the download, so that nothing is written to them.
    pub(super) is_foreign: bool,
}

/// The phase of an active torrent.
#[derive(Clone, Copy)]
pub(super) enum Phase {
    /// Pieces are missing.
    Downloading,
    /// All pieces have arrived, and the content is being verified again.
    Rechecking,
    /// The torrent is served.
    Serving,
}

/// The schedule of comparisons of a torrent's files.
#[derive(Clone, Copy, Debug)]
pub(super) enum Check {
    Running {
        started: Instant,
    },
    /// All files are compared at `next`. A file that a peer requests can be compared earlier, from `earliest` on.
    Waiting {
        earliest: Instant,
        next: Instant,
    },
}

impl Check {
    /// Returns the schedule after a check of this duration.
    pub(super) fn after(took: Duration) -> Self {
        let now = Instant::now();
        Self::Waiting {
            earliest: now + took,
            next: now + CHECK_INTERVAL.max(took.saturating_mul(MAX_SHARE)),
        }
    }
}

/// The data of a stage that is not the last one.
pub(super) trait StageData: Sized {
    fn of(stage: &Stage) -> Option<&Self>;
    fn of_mut(stage: &mut Stage) -> Option<&mut Self>;
    fn into_stage(self) -> Stage;
}

/// Connects the data of stages to the variants of [`Stage`].
macro_rules! stage_data {
    ($($data:ident: $wrap:expr;)*) => {$(
        impl StageData for $data {
            fn of(stage: &Stage) -> Option<&Self> {
                match stage {
                    Stage::$data(data) => Some(data),
                    _ => None,
                }
            }

            fn of_mut(stage: &mut Stage) -> Option<&mut Self> {
                match stage {
                    Stage::$data(data) => Some(data),
                    _ => None,
                }
            }

            fn into_stage(self) -> Stage {
                Stage::$data($wrap(self))
            }
        }
    )*};
}

stage_data! {
    Opening: std::convert::identity;
    Metadata: Box::new;
    Leaving: Box::new;
    Verifying: std::convert::identity;
    Confirming: std::convert::identity;
    Absent: Box::new;
    Moving: std::convert::identity;
    Active: Box::new;
}

/// Declares that the stage `Next` can follow a stage. Every stage can also end.
pub(super) trait LeadsTo<Next: StageData>: StageData {}

impl LeadsTo<Metadata> for Opening {}
impl LeadsTo<Leaving> for Metadata {}
impl LeadsTo<Opening> for Leaving {}
impl LeadsTo<Verifying> for Opening {}
impl LeadsTo<Confirming> for Verifying {}
impl LeadsTo<Verifying> for Confirming {}
impl LeadsTo<Absent> for Verifying {}
impl LeadsTo<Verifying> for Absent {}
impl LeadsTo<Active> for Verifying {}
impl LeadsTo<Moving> for Verifying {}
impl LeadsTo<Moving> for Active {}
impl LeadsTo<Verifying> for Active {}
impl LeadsTo<Verifying> for Moving {}

/// The current stage of a torrent.
pub(super) struct Stages(Stage);

impl Default for Stages {
    fn default() -> Self {
        Self(Stage::Opening(Opening::default()))
    }
}

impl Stages {
    /// Returns the current stage.
    pub(super) fn current(&self) -> &Stage {
        &self.0
    }

    /// Returns the data of the current stage, if it is this one.
    pub(super) fn get<T: StageData>(&self) -> Option<&T> {
        T::of(&self.0)
    }

    /// Returns the data of the current stage, if it is this one.
    pub(super) fn get_mut<T: StageData>(&mut self) -> Option<&mut T> {
        T::of_mut(&mut self.0)
    }

    /// Enters the stage that `step` makes from the current one. Returns `false`, and changes nothing, if the torrent is in
    /// another stage than `From`.
    pub(super) fn advance<From: LeadsTo<To>, To: StageData>(
        &mut self,
        step: impl FnOnce(&From) -> To,
    ) -> bool {
        let next = self.get().map(step);
        let is_next = next.is_some();
        if let Some(next) = next {
            self.0 = next.into_stage();
        }
        is_next
    }

    /// Ends the torrent. A torrent that is over keeps its outcome.
    pub(super) fn end(&mut self, outcome: Outcome) {
        if self.outcome().is_none() {
            self.0 = Stage::Over(outcome);
        }
    }

    /// Returns the outcome, if the torrent is over.
    pub(super) fn outcome(&self) -> Option<Outcome> {
        match self.0 {
            Stage::Over(outcome) => Some(outcome),
            _ => None,
        }
    }

    /// Returns the phase, if the torrent is active.
    pub(super) fn phase(&self) -> Option<Phase> {
        self.get().map(|active: &Active| active.phase)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    const PEER: ([u8; 4], u16) = ([127, 0, 0, 1], 1);

    fn metadata(_: &Opening) -> Metadata {
        let link = format!("magnet:?xt=urn:btih:{}", "a5".repeat(20));
        Metadata {
            magnet: Box::new(link.parse().unwrap()),
        }
    }

    fn leaving(from: &Metadata) -> Leaving {
        Leaving {
            magnet: (*from.magnet).clone(),
            info: Vec::new(),
            peers: vec![PEER.into()],
        }
    }

    /// Returns the stages of a magnet link that has left the session.
    fn opening() -> Stages {
        let mut stages = Stages::default();
        assert!(stages.advance(metadata));
        assert!(stages.advance(leaving));
        assert!(stages.advance(|leaving: &Leaving| Opening {
            peers: leaving.peers.clone(),
        }));
        stages
    }

    fn peers(stages: &Stages) -> Option<&[SocketAddr]> {
        stages.get().map(|opening: &Opening| &opening.peers[..])
    }

    #[test]
    fn a_late_result_changes_no_stage() {
        let mut stages = opening();
        let is_next = stages.advance(|_: &Moving| -> Verifying { unreachable!() });
        assert!(!is_next);
        assert_eq!(peers(&stages), Some(&[PEER.into()][..]));
    }

    #[test]
    fn a_step_that_fails_changes_no_stage() {
        let mut stages = opening();
        let step = || stages.advance(|_: &Opening| -> Metadata { panic!("a bug in a step") });
        assert!(catch_unwind(AssertUnwindSafe(step)).is_err());
        assert_eq!(peers(&stages), Some(&[PEER.into()][..]));
    }

    #[test]
    fn the_first_outcome_stays() {
        let mut stages = opening();
        stages.end(Outcome::Failed);
        stages.end(Outcome::Complete);
        assert_eq!(stages.outcome(), Some(Outcome::Failed));
        assert!(!stages.advance(metadata));
        assert_eq!(stages.outcome(), Some(Outcome::Failed));
    }
}
