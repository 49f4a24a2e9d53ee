//! Readers, which bring bytes of files into memory.
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

/// A reason for which a reader has no bytes for a window.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The bytes cannot be read.
    Fault(Fault),
    /// This reader cannot read the bytes. The other reader can, or reports the reason.
    TryOther,
}

/// A request for the next bytes of a message.
#[derive(Debug)]
pub(crate) struct Window<'s> {
    pub(crate) message: u32,
    /// Range of bytes of the message. Empty for a message that must wait.
    pub(crate) range: Range<u64>,
    /// The file, if the message is a whole file. It may end before the end of the range.
    pub(crate) stream: Option<(FileIndex, &'s mut ByteStream)>,
}

impl Window<'_> {
    pub(crate) fn len(&self) -> usize {
        (self.range.end - self.range.start) as usize
    }
}

/// A way to bring bytes of files into memory.
pub(crate) trait Reader {
    /// Returns the shape of the next batch.
    fn batch(&self, speed: ReadSpeed) -> Batch;

    /// Replaces the loaded windows. Calls `refuse` with the index of each window that has no bytes.
    fn load<M: Messages>(
        &mut self,
        messages: &M,
        files: &mut OpenFiles<'_>,
        speed: ReadSpeed,
        windows: &mut [Window<'_>],
        refuse: impl FnMut(usize, Refusal),
    );

    /// Returns the bytes of a window. Empty if the window was refused.
    fn bytes(&self, window: usize) -> &[u8];

    /// Returns `true` if all bytes read since the last load were bytes of the files.
    fn is_intact(&self) -> bool;
}
