//! Reading into a buffer.

use std::ops::Range;

use hashlane_files::{DIRECT_UNIT, DirectQueue, DirectRead};

use super::{Reader, Refusal, Window};
use crate::messages::Messages;
use crate::open_files::{Fault, OpenFiles};
use crate::read_speed::{MIN_SAMPLE_LEN, ReadSpeed};
use crate::schedule::{Batch, HOT_BATCH_LEN, IN_ORDER_BATCH_LEN};

/// Windows begin at multiples of this many bytes in memory. The system copies three times as fast
/// to such an address as to an address that `malloc` returns, 16 bytes after the start of a page.
/// Reads of 32 KiB reach 7 and 2 GB/s (EPYC, Zen 3, Linux 6, November 2026).
const ALIGNMENT: usize = 64;

/// Maximum length of one read past the page cache. Longer windows are several reads at the same time.
const DIRECT_READ_LEN: usize = 1 << 20;

/// Reads files into a buffer. Takes any window, from any number of files.
#[derive(Debug, Default)]
pub(crate) struct Buffered {
    /// Reads past the page cache, if they are wanted and the system has them.
    direct: Option<DirectQueue>,
    /// Number of bytes to read at a time past the page cache.
    direct_len: usize,
    buffer: Vec<u8>,
    /// The position of each window in the buffer.
    windows: Vec<Range<usize>>,
}

impl Buffered {
    /// Returns a reader that reads past the page cache where the system can.
    pub(crate) fn direct(len_bytes: usize) -> Self {
        Self {
            direct: DirectQueue::new().ok(),
            direct_len: len_bytes,
            ..Self::default()
        }
    }
}

impl Reader for Buffered {
    fn batch(&self, speed: ReadSpeed) -> Batch {
        match (speed.allows_any_order(), speed.is_known()) {
            (true, _) if self.direct.is_some() => Batch::SideBySide(self.direct_len),
            (true, _) => Batch::SideBySide(HOT_BATCH_LEN),
            (false, _) if self.direct.is_some() => Batch::InOrder(self.direct_len),
            (false, true) => Batch::InOrder(IN_ORDER_BATCH_LEN),
            // Enough bytes to measure the speed.
            (false, false) => Batch::InOrder(2 * MIN_SAMPLE_LEN as usize),
        }
    }

    fn load<M: Messages>(
        &mut self,
        messages: &M,
        files: &mut OpenFiles<'_>,
        _: ReadSpeed,
        windows: &mut [Window<'_>],
        mut refuse: impl FnMut(usize, Refusal),
    ) {
        let alignment = if self.direct.is_some() {
            DIRECT_UNIT
        } else {
            ALIGNMENT
        };
        let room = |window: &Window<'_>| room(window, alignment);
        let total: usize = windows.iter().map(room).sum();
        if self.buffer.len() < total + alignment {
            self.buffer.resize(total + alignment, 0);
        }
        self.windows.clear();
        let mut start = match self.buffer.as_ptr().align_offset(alignment) {
            padding if padding < alignment => padding,
            // `align_offset` may fail, although it does not on any known system.
            _ => 0,
        };
        let mut loaded = match &mut self.direct {
            Some(queue) => {
                let places = windows.iter().scan(start, |next, window| {
                    let place = *next;
                    *next += room(window);
                    Some(place)
                });
                let places: Vec<usize> = places.collect();
                load_direct(messages, files, queue, windows, &places, &mut self.buffer)
            }
            None => Vec::new(),
        }
        .into_iter();
        for (i, window) in windows.iter_mut().enumerate() {
            if files.is_cancelled() {
                // The caller does not use the windows of a cancelled run.
                return;
            }
            let end = start + room(window);
            if let Some(Some(range)) = loaded.next() {
                self.windows.push(range);
                start = end;
                continue;
            }
            match read_window(messages, files, window, &mut self.buffer[start..end]) {
                Ok(bytes) => self.windows.push(start + bytes.start..start + bytes.end),
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

/// Returns the number of bytes that a window takes in the buffer.
fn room(window: &Window<'_>, alignment: usize) -> usize {
    match window.len() {
        0 => 0,
        len => len.next_multiple_of(alignment) + alignment,
    }
}

/// Reads the windows that lie in one file past the page cache, all at once. Returns their positions in the buffer, and `None`
/// for windows that must be read in another way: because they lie in several files, the file system has no direct reads, or a
/// read failed.
fn load_direct<M: Messages>(
    messages: &M,
    files: &mut OpenFiles<'_>,
    queue: &mut DirectQueue,
    windows: &[Window<'_>],
    places: &[usize],
    buffer: &mut [u8],
) -> Vec<Option<Range<usize>>> {
    let (mut sources, mut first_file) = (Vec::new(), None);
    for (i, (window, place)) in windows.iter().zip(places).enumerate() {
        if window.range.is_empty() || window.stream.is_some() {
            continue;
        }
        let mut extents = messages.extents(window.message, window.range.clone());
        let (Some(extent), None) = (extents.next(), extents.next()) else {
            continue;
        };
        let source = extent
            .file
            .and_then(|file| files.open(file).ok()?.on_disk().cloned());
        if let Some(source) = source {
            first_file = first_file.or(extent.file);
            sources.push((i, source, extent.offset, *place));
        }
        if files.is_crowded() {
            // The files of further windows are opened one by one.
            break;
        }
    }
    let unit = DIRECT_UNIT as u64;
    // The disk works on the parts of a long window at the same time, too.
    let mut reads = Vec::new();
    let mut windows_of_reads = Vec::new();
    for (source, (i, file, offset, place)) in sources.iter().enumerate() {
        let start = offset / unit * unit;
        let end = (offset + windows[*i].len() as u64).next_multiple_of(unit);
        for at in (start..end).step_by(DIRECT_READ_LEN) {
            let part = place + (at - start) as usize;
            let len_bytes = (end - at).min(DIRECT_READ_LEN as u64) as usize;
            reads.push(DirectRead {
                file,
                offset: at,
                part: part..part + len_bytes,
            });
            windows_of_reads.push(source);
        }
    }
    // The reads of a batch lie next to each other, mostly in one file.
    if let Some(file) = first_file {
        files.reading().start(file);
    }
    let lengths = queue.read(buffer, &reads);
    // The number of bytes of each window, as far as they follow each other.
    let mut read_lens = vec![0; sources.len()];
    for ((read, source), length) in reads.iter().zip(windows_of_reads).zip(lengths) {
        let place = sources[source].3;
        if read_lens[source] == read.part.start - place {
            read_lens[source] += length;
        }
    }
    let mut loaded = vec![None; windows.len()];
    for ((i, _, offset, place), length) in sources.iter().zip(read_lens) {
        let begin = (offset % unit) as usize;
        let end = begin + windows[*i].len();
        if length >= end {
            loaded[*i] = Some(place + begin..place + end);
        }
    }
    loaded
}

/// Reads a window into `buffer` and returns its position. The result is shorter than requested only
/// at the end of a stream.
fn read_window<M: Messages>(
    messages: &M,
    files: &mut OpenFiles<'_>,
    window: &mut Window<'_>,
    buffer: &mut [u8],
) -> Result<Range<usize>, Fault> {
    let len_bytes = window.len();
    if len_bytes == 0 {
        return Ok(0..0);
    }
    if let Some((file, stream)) = &mut window.stream {
        files.reading().start(*file);
        return match stream.read(&mut buffer[..len_bytes]) {
            Ok(n) => Ok(0..n),
            Err(error) => Err(files.note_failure(*file, Some(stream.position()), error)),
        };
    }
    let mut extents = messages
        .extents(window.message, window.range.clone())
        .peekable();
    // The pages of the first file then begin at aligned addresses.
    let start = extents
        .peek()
        .map_or(0, |extent| (extent.offset % ALIGNMENT as u64) as usize);
    let mut rest = &mut buffer[start..start + len_bytes];
    for extent in extents {
        if files.is_cancelled() {
            break;
        }
        let bytes = rest
            .split_off_mut(..extent.len_bytes as usize)
            .unwrap_or_default();
        match extent.file {
            None => bytes.fill(0),
            Some(file) => files.read(file, bytes, extent.offset)?,
        }
    }
    Ok(start..start + len_bytes)
}
