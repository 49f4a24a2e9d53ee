//! Two roads from files to memory.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use hashlane_files::{MapArena, SourceFile, Window};

use crate::files::{Fault, Files};
use crate::layout::Layout;

/// Why a window is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The bytes cannot be had.
    Fault(Fault),
    /// This road cannot have them. The other one may, and knows what is wrong if not.
    TryOther,
}

/// A road from files to memory.
pub(crate) trait Source {
    /// Whether it is used to jump back and forth between pieces, which a disk that seeks resents.
    const JUMPS: bool;

    /// Makes windows, ranges of bytes of the content, available in the place of the ones before.
    /// `refuse` is told the position of each that is not.
    fn load(
        &mut self,
        layout: &Layout,
        files: &mut Files<'_>,
        windows: &[Range<u64>],
        refuse: impl FnMut(usize, Refusal),
    );

    /// The bytes of a window: none if it was refused.
    fn bytes(&self, window: usize) -> &[u8];

    /// Whether what [`Self::bytes`] showed since the last load was the content.
    fn is_intact(&self) -> bool;
}

/// Reads files into a buffer. It takes any window, from any number of files.
#[derive(Debug, Default)]
pub(crate) struct Buffered {
    buffer: Vec<u8>,
    /// Where in the buffer each window is.
    windows: Vec<Range<usize>>,
}

impl Source for Buffered {
    const JUMPS: bool = false;

    fn load(
        &mut self,
        layout: &Layout,
        files: &mut Files<'_>,
        windows: &[Range<u64>],
        mut refuse: impl FnMut(usize, Refusal),
    ) {
        let window_len = |window: &Range<u64>| (window.end - window.start) as usize;
        let total = windows.iter().map(window_len).sum();
        if self.buffer.len() < total {
            self.buffer.resize(total, 0);
        }
        self.windows.clear();
        let mut start = 0;
        for (i, window) in windows.iter().enumerate() {
            let end = start + window_len(window);
            let mut rest = &mut self.buffer[start..end];
            let mut result = Ok(());
            for extent in layout.extents_of(window.clone()) {
                if files.is_cancelled() {
                    // Whoever asked for these windows will not look at them.
                    return;
                }
                let bytes = rest
                    .split_off_mut(..extent.len_bytes as usize)
                    .unwrap_or_default();
                match extent.file {
                    None => bytes.fill(0),
                    Some(file) => result = files.read(file, bytes, extent.offset),
                }
                if result.is_err() {
                    break;
                }
            }
            if let Err(fault) = result {
                refuse(i, Refusal::Fault(fault));
                self.windows.push(0..0);
            } else {
                self.windows.push(start..end);
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

/// Maps files into memory. It takes windows that lie in one file each; windows that follow each
/// other in the file are mapped at once.
#[derive(Debug)]
pub(crate) struct Mapped {
    arena: MapArena,
    /// For each window: what it was mapped with, and where in that it is.
    windows: Vec<Option<(Window, Range<usize>)>>,
    /// The files that are mapped, and how long each has to be. They stay open until the next load.
    files: Vec<(Arc<SourceFile>, u64)>,
    max_files: usize,
}

/// Windows that follow each other in a file.
struct Stretch {
    source: Arc<SourceFile>,
    bytes: Range<u64>,
    windows: Range<usize>,
}

impl Mapped {
    /// Takes batches of at most `batch_len` bytes from at most `max_files` files.
    pub(crate) fn new(batch_len: usize, max_files: usize) -> io::Result<Self> {
        // Windows may begin and end inside a page. What does not fit for that is read instead.
        let arena = MapArena::new(batch_len + (1 << 20))?;
        Ok(Self {
            arena,
            windows: Vec::new(),
            files: Vec::new(),
            max_files,
        })
    }

    fn map(
        &mut self,
        stretch: Stretch,
        windows: &[Range<u64>],
        refuse: &mut impl FnMut(usize, Refusal),
    ) {
        let Stretch {
            source,
            bytes,
            windows: indexes,
        } = stretch;
        if self.files.len() == self.max_files {
            indexes.for_each(|i| refuse(i, Refusal::TryOther));
            return;
        }
        let mapped = self
            .arena
            .map(&source, bytes.start, (bytes.end - bytes.start) as usize);
        self.files.push((source, bytes.end));
        let mut start = 0;
        for i in indexes {
            let end = start + (windows[i].end - windows[i].start) as usize;
            match mapped {
                Ok(mapped) => self.windows[i] = Some((mapped, start..end)),
                Err(_) => refuse(i, Refusal::TryOther),
            }
            start = end;
        }
    }
}

impl Source for Mapped {
    const JUMPS: bool = true;

    fn load(
        &mut self,
        layout: &Layout,
        files: &mut Files<'_>,
        windows: &[Range<u64>],
        mut refuse: impl FnMut(usize, Refusal),
    ) {
        self.arena.reset();
        self.files.clear();
        self.windows.clear();
        self.windows.resize(windows.len(), None);
        let mut last: Option<Stretch> = None;
        for (i, window) in windows.iter().enumerate() {
            let mut extents = layout.extents_of(window.clone());
            let (Some(extent), None) = (extents.next(), extents.next()) else {
                if !window.is_empty() {
                    refuse(i, Refusal::TryOther);
                }
                continue;
            };
            let Some(Ok(opened)) = extent.file.map(|file| files.open(file)) else {
                refuse(i, Refusal::TryOther);
                continue;
            };
            let bytes = extent.offset..extent.offset + extent.len_bytes;
            match &mut last {
                Some(last)
                    if Arc::ptr_eq(&last.source, &opened.source)
                        && last.bytes.end == bytes.start
                        && last.windows.end == i =>
                {
                    last.bytes.end = bytes.end;
                    last.windows.end = i + 1;
                }
                _ => {
                    let source = Arc::clone(&opened.source);
                    let before = last.replace(Stretch {
                        source,
                        bytes,
                        windows: i..i + 1,
                    });
                    if let Some(before) = before {
                        self.map(before, windows, &mut refuse);
                    }
                }
            }
        }
        if let Some(last) = last {
            self.map(last, windows, &mut refuse);
        }
    }

    fn bytes(&self, window: usize) -> &[u8] {
        match &self.windows[window] {
            Some((mapped, range)) => &self.arena.bytes(*mapped)[range.clone()],
            None => &[],
        }
    }

    fn is_intact(&self) -> bool {
        self.arena.is_intact() && self.files.iter().all(|(file, end)| file.reaches(*end))
    }
}
