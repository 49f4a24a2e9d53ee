//! Mapping into memory.
#![allow(unsafe_code)]

use std::io;
use std::ops::Range;

use hashlane_files::{CachedFile, MapArena, MappedBytes, SourceFile};

use super::{Reader, Refusal, Window};
use crate::messages::{Extent, Messages};
use crate::open_files::OpenFiles;
use crate::read_speed::ReadSpeed;
use crate::schedule::{Batch, MAPPED_BATCH_LEN};

/// A reader that maps files into memory. Each window must lie in one file. Consecutive windows of a
/// file share one map.
#[derive(Debug)]
pub(crate) struct Mapped {
    arena: MapArena,
    /// The map of each window, and the position of the window in the map.
    windows: Vec<Option<(MappedBytes, Range<usize>)>>,
    /// The mapped files, which stay open until the next load, and the length that each must have.
    files: Vec<(CachedFile<SourceFile>, u64)>,
}

/// Consecutive windows of a file.
struct Stretch {
    source: CachedFile<SourceFile>,
    bytes: Range<u64>,
    windows: Range<usize>,
}

impl Mapped {
    /// Reserves addresses for batches.
    pub(crate) fn new() -> io::Result<Self> {
        // Windows may begin and end inside a page, and each map is aligned to at most twice its length
        // if there is room. Windows that no longer fit are read instead.
        let arena = MapArena::new(3 * MAPPED_BATCH_LEN + (1 << 20))?;
        Ok(Self {
            arena,
            windows: Vec::new(),
            files: Vec::new(),
        })
    }

    fn map(
        &mut self,
        stretch: Stretch,
        windows: &[Window<'_>],
        refuse: &mut impl FnMut(usize, Refusal),
    ) {
        let Stretch {
            source,
            bytes,
            windows: indexes,
        } = stretch;
        let len_bytes = (bytes.end - bytes.start) as usize;
        // SAFETY: the windows are read on this thread, by hashers of this crate alone: `share` in `run.rs` uses no maps
        // for other hashers. Their engine is sound if a byte changes. Nothing else reads the windows, and the digests are
        // reported only after `is_intact` has found all bytes to be those of the file.
        let mapped = unsafe { self.arena.map(&source, bytes.start, len_bytes) };
        self.files.push((source, bytes.end));
        let mut start = 0;
        for i in indexes {
            let end = start + windows[i].len();
            match mapped {
                Ok(mapped) => self.windows[i] = Some((mapped, start..end)),
                Err(_) => refuse(i, Refusal::TryOther),
            }
            start = end;
        }
    }
}

impl Reader for Mapped {
    /// Returns a batch of messages side by side: on a slow disk, [`Self::load`] refuses them.
    fn batch(&self, _: ReadSpeed) -> Batch {
        Batch::SideBySide(MAPPED_BATCH_LEN)
    }

    fn load<M: Messages>(
        &mut self,
        messages: &M,
        files: &mut OpenFiles<'_>,
        speed: ReadSpeed,
        windows: &mut [Window<'_>],
        mut refuse: impl FnMut(usize, Refusal),
    ) {
        self.arena.reset();
        self.files.clear();
        self.windows.clear();
        self.windows.resize(windows.len(), None);
        let mut last: Option<Stretch> = None;
        let mut first_file = None;
        for (i, window) in windows.iter().enumerate() {
            if window.range.is_empty() {
                continue;
            }
            if first_file.is_none() {
                let mut extents = messages.extents(window.message, window.range.clone());
                first_file = extents.next().and_then(|extent| extent.file);
            }
            let source = if speed.allows_any_order() {
                source_of(messages, files, window)
            } else {
                None
            };
            let Some((source, bytes)) = source else {
                refuse(i, Refusal::TryOther);
                continue;
            };
            match &mut last {
                Some(last)
                    if last.source.is_same(&source)
                        && last.bytes.end == bytes.start
                        && last.windows.end == i =>
                {
                    last.bytes.end = bytes.end;
                    last.windows.end = i + 1;
                }
                _ => {
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
        // The pages of a batch lie next to each other, mostly in one file. Those that are not cached are read when they are hashed.
        if let Some(file) = first_file {
            files.reading().start(file);
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

/// Returns the file that contains a window, and the position of the bytes in the file. Returns
/// `None` if the bytes must be read, because they lie in several files, the file cannot be opened,
/// or too many files are open.
fn source_of<M: Messages>(
    messages: &M,
    files: &mut OpenFiles<'_>,
    window: &Window<'_>,
) -> Option<(CachedFile<SourceFile>, Range<u64>)> {
    let mut extents = messages.extents(window.message, window.range.clone());
    let (Some(extent), None) = (extents.next(), extents.next()) else {
        return None;
    };
    let Extent {
        file,
        offset,
        len_bytes,
    } = extent;
    let source = files.open(file?).ok()?.on_disk()?.clone();
    (!files.is_crowded()).then_some((source, offset..offset + len_bytes))
}
