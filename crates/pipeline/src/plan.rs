//! State that all workers share.

use std::sync::Mutex;

use crate::CancelToken;
use crate::open_files::FileSet;
use crate::read_speed::ReadSpeed;
use crate::schedule::Schedule;

/// State that all workers share, read-only except where a field says otherwise.
#[derive(Debug)]
pub(crate) struct Plan<'a, M> {
    pub(crate) messages: &'a M,
    pub(crate) files: &'a dyn FileSet,
    /// Written once for each run of messages.
    pub(crate) schedule: Schedule,
    /// Whether messages may be mapped.
    pub(crate) use_maps: bool,
    /// Knowledge about the disk before anything is read.
    pub(crate) speed: ReadSpeed,
    /// Locked while a batch is read from a rotational disk, so that one worker at a time moves the
    /// heads of the disk.
    pub(crate) disk_turn: Mutex<()>,
    /// Number of streams that a worker may have open.
    pub(crate) max_streams: usize,
    /// Number of messages that a worker may process at the same time.
    pub(crate) max_busy: usize,
    pub(crate) cancel: &'a CancelToken,
}
