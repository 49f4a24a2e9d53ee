//! Methods of bringing bytes of files into memory.
//!
//! - `buffered.rs`: reads into a buffer
//! - `mapped.rs`: maps into memory

mod buffered;
mod mapped;

use std::ops::Range;

use hashlane_files::ByteStream;

use crate::messages::{FileIndex, Messages};
use crate::open_files::{Fault, OpenFiles};
use crate::read_speed::ReadSpeed;
use crate::schedule::Batch;

pub(crate) use buffered::Buffered;
pub(crate) use mapped::Mapped;

/// A reason that a reader has no bytes for a window.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The bytes cannot be read.
    Fault(Fault),
    /// This reader cannot read them. The other reader may, and otherwise knows the reason.
    TryOther,
}

/// A request for the next bytes of a message.
#[derive(Debug)]
pub(crate) struct Window<'s> {
    pub(crate) message: u32,
    /// Range of bytes of the message. Empty for a message that has to wait.
    pub(crate) range: Range<u64>,
    /// The file, if the message is all of a file. It may end before the end of the range.
    pub(crate) stream: Option<(FileIndex, &'s mut ByteStream)>,
}

impl Window<'_> {
    pub(crate) fn len(&self) -> usize {
        (self.range.end - self.range.start) as usize
    }
}

/// A method of bringing bytes of files into memory.
pub(crate) trait Reader {
    /// Whether the reader jumps between messages even if the disk seeks.
    const JUMPS: bool;

    /// Returns the shape of the next batch.
    fn batch(speed: ReadSpeed) -> Batch;

    /// Loads windows in the place of those loaded before. Calls `refuse` with the position of each
    /// window that has no bytes.
    fn load<M: Messages>(
        &mut self,
        messages: &M,
        files: &mut OpenFiles<'_>,
        windows: &mut [Window<'_>],
        refuse: impl FnMut(usize, Refusal),
    );

    /// Returns the bytes of a window; none if it was refused.
    fn bytes(&self, window: usize) -> &[u8];

    /// Returns `true` if all bytes seen since the last load were those of the files.
    fn is_intact(&self) -> bool;
}
