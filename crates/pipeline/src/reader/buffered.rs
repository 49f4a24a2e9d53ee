//! Reading into a buffer.

use std::ops::Range;

use super::{Reader, Refusal, Window};
use crate::messages::Messages;
use crate::open_files::{Fault, OpenFiles};
use crate::read_speed::{MIN_SAMPLE_LEN, ReadSpeed};
use crate::schedule::{Batch, HOT_BATCH_LEN, IN_ORDER_BATCH_LEN};

/// Reads files into a buffer. Takes any window, from any number of files.
#[derive(Debug, Default)]
pub(crate) struct Buffered {
    buffer: Vec<u8>,
    /// The place of each window in the buffer.
    windows: Vec<Range<usize>>,
}

impl Reader for Buffered {
    const JUMPS: bool = false;

    fn batch(speed: ReadSpeed) -> Batch {
        match (speed.allows_any_order(), speed.is_known()) {
            (true, _) => Batch::SideBySide(HOT_BATCH_LEN),
            (false, true) => Batch::InOrder(IN_ORDER_BATCH_LEN),
            // Enough to measure the speed.
            (false, false) => Batch::InOrder(2 * MIN_SAMPLE_LEN as usize),
        }
    }

    fn load<M: Messages>(
        &mut self,
        messages: &M,
        files: &mut OpenFiles<'_>,
        windows: &mut [Window<'_>],
        mut refuse: impl FnMut(usize, Refusal),
    ) {
        let total = windows.iter().map(Window::len).sum();
        if self.buffer.len() < total {
            self.buffer.resize(total, 0);
        }
        self.windows.clear();
        let mut start = 0;
        for (i, window) in windows.iter_mut().enumerate() {
            if files.is_cancelled() {
                // The caller does not use the windows of a cancelled run.
                return;
            }
            let end = start + window.len();
            match read_window(messages, files, window, &mut self.buffer[start..end]) {
                Ok(n) => self.windows.push(start..start + n),
                Err(fault) => {
                    refuse(i, Refusal::Fault(fault));
                    self.windows.push(0..0);
                }
            }
            start = end;
        }
    }

    fn bytes(&self, window: usize) -> &[u8] {
        &self.buffer[self.windows[window].clone()]
    }

    fn is_intact(&self) -> bool {
        true
    }
}

/// Reads a window into `buffer` and returns the number of bytes: fewer than requested only where a
/// stream ends.
fn read_window<M: Messages>(
    messages: &M,
    files: &mut OpenFiles<'_>,
    window: &mut Window<'_>,
    mut buffer: &mut [u8],
) -> Result<usize, Fault> {
    if buffer.is_empty() {
        return Ok(0);
    }
    if let Some((file, stream)) = &mut window.stream {
        let read = stream.read(buffer);
        return read.map_err(|error| files.note_failure(*file, Some(stream.position()), error));
    }
    let len_bytes = buffer.len();
    for extent in messages.extents(window.message, window.range.clone()) {
        if files.is_cancelled() {
            break;
        }
        let bytes = buffer
            .split_off_mut(..extent.len_bytes as usize)
            .unwrap_or_default();
        match extent.file {
            None => bytes.fill(0),
            Some(file) => files.read(file, bytes, extent.offset)?,
        }
    }
    Ok(len_bytes)
}
