//! The files that a worker has open.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use hashlane_files::{Region, SourceFile};

use crate::content::Places;
use crate::{CancelToken, FileIndex};

/// Files that a worker keeps open: sixteen pieces that are read side by side each go from one file to
/// the next, at the same time. More are of no use.
const MAX_OPEN: usize = 64;

/// What a worker found out about a file.
#[derive(Debug)]
pub(crate) struct FileFact {
    pub(crate) file: FileIndex,
    pub(crate) found: Found,
}

#[derive(Debug)]
pub(crate) enum Found {
    /// It is there, with this length in bytes.
    Present(u64),
    /// It is not there.
    Absent,
    /// It could not be read from `offset` on, or not even be opened.
    Failed {
        offset: Option<u64>,
        error: io::Error,
    },
}

/// Why bytes of a file cannot be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The file is absent, or too short.
    Missing,
    /// The system could not read it. The error is in a [`FileFact`].
    Unreadable,
}

/// Opens files when they are needed, and closes the ones that were not needed for longest.
#[derive(Debug)]
pub(crate) struct Files<'a> {
    places: &'a dyn Places,
    cancel: &'a CancelToken,
    max_open: usize,
    /// In the order of their last use.
    open: Vec<(FileIndex, Result<OpenFile, Fault>)>,
    facts: Vec<FileFact>,
}

#[derive(Debug)]
pub(crate) struct OpenFile {
    pub(crate) source: Arc<SourceFile>,
    /// The stretch of data or hole that was asked about last.
    region: Region,
}

impl<'a> Files<'a> {
    /// Keeps at most `max_open` files open, but at least one.
    pub(crate) fn new(places: &'a dyn Places, max_open: usize, cancel: &'a CancelToken) -> Self {
        Self {
            places,
            cancel,
            max_open,
            open: Vec::new(),
            facts: Vec::new(),
        }
    }

    /// Whether somebody asked to stop: then no more files need be opened.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// How many files each of so many workers may keep open here, and as many again under its maps:
    /// together half of what the process may.
    pub(crate) fn share_of(n_workers: usize) -> usize {
        let limit = usize::try_from(hashlane_files::max_open_files() / 4).unwrap_or(usize::MAX);
        (limit / n_workers.max(1)).clamp(1, MAX_OPEN)
    }

    /// What was found out since the last call.
    pub(crate) fn take_facts(&mut self) -> Vec<FileFact> {
        std::mem::take(&mut self.facts)
    }

    /// The file, opened if it is not open yet.
    pub(crate) fn open(&mut self, file: FileIndex) -> Result<&mut OpenFile, Fault> {
        match self.open.iter().rposition(|(index, _)| *index == file) {
            Some(i) if i + 1 == self.open.len() => {}
            Some(i) => self.open[i..].rotate_left(1),
            None => {
                if self.open.len() >= self.max_open.max(1) {
                    drop(self.open.remove(0));
                }
                let opened = self.open_now(file);
                self.open.push((file, opened));
            }
        }
        let (_, opened) = self.open.last_mut().expect("the file was put there");
        opened.as_mut().map_err(|fault| *fault)
    }

    /// Reads bytes of a file that should be there.
    pub(crate) fn read(
        &mut self,
        file: FileIndex,
        buffer: &mut [u8],
        offset: u64,
    ) -> Result<(), Fault> {
        match self.open(file)?.source.read_at(buffer, offset) {
            Ok(n) if n == buffer.len() => Ok(()),
            Ok(_) => Err(Fault::Missing),
            Err(error) => {
                self.facts.push(FileFact {
                    file,
                    found: Found::Failed {
                        offset: Some(offset),
                        error,
                    },
                });
                Err(Fault::Unreadable)
            }
        }
    }

    fn open_now(&mut self, file: FileIndex) -> Result<OpenFile, Fault> {
        let mut opened = self
            .places
            .path_of(file)
            .and_then(|path| SourceFile::open(&path));
        if opened.as_ref().is_err_and(is_out_of_descriptors) {
            self.open.clear();
            opened = self
                .places
                .path_of(file)
                .and_then(|path| SourceFile::open(&path));
        }
        let (found, opened) = match opened {
            Ok(source) => {
                let region = Region {
                    range: 0..0,
                    is_hole: false,
                };
                let found = Found::Present(source.len_bytes());
                (
                    found,
                    Ok(OpenFile {
                        source: Arc::new(source),
                        region,
                    }),
                )
            }
            Err(error) if is_absent(&error) => (Found::Absent, Err(Fault::Missing)),
            Err(error) => (
                Found::Failed {
                    offset: None,
                    error,
                },
                Err(Fault::Unreadable),
            ),
        };
        self.facts.push(FileFact { file, found });
        opened
    }
}

impl OpenFile {
    /// Whether all of these bytes lie in holes. The answer is kept for the bytes after them.
    pub(crate) fn is_hole(&mut self, bytes: Range<u64>) -> bool {
        let mut offset = bytes.start;
        while offset < bytes.end {
            if !self.region.range.contains(&offset) {
                self.region = self.source.region_at(offset);
            }
            if !self.region.is_hole || self.region.range.is_empty() {
                return false;
            }
            offset = self.region.range.end;
        }
        true
    }
}

/// Whether the file, or a folder on the way to it, does not exist.
pub(crate) fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// EMFILE and ENFILE, which the standard library has no kind for. The numbers are those of every
/// Unix; elsewhere they mean nothing, and then one more attempt does no harm.
fn is_out_of_descriptors(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(23 | 24))
}
