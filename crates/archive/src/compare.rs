//! The walk of a folder, merged with its catalogue. Both are in the order of the bytes of the paths, so that each is read once
//! from its begin to its end, and no path is looked up.

use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use hashlane_files::{Step, Walk, WalkOrder, is_catalogue_suffix};
use rusqlite::{Connection, Rows};

use crate::error::{Error, Reason};
use crate::record::{COLUMNS, Record, State};

/// What the comparison finds at a path.
#[derive(Debug)]
pub(crate) enum Compared<'c> {
    /// A file that only the folder has.
    New(&'c [u8], State),
    /// A file that both have, with its states in the folder and in the catalogue.
    Both(&'c [u8], State, &'c Known),
    /// A file that only the catalogue has.
    Gone(&'c [u8], &'c Known),
    /// A link, pipe, socket or device.
    Other,
    /// A file or folder that cannot be read. Files of the catalogue that may lie there are left out.
    Failed(&'c [u8], std::io::Error),
}

/// A file of the catalogue.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) state: State,
    pub(crate) digest: [u8; 32],
    pub(crate) is_rotten: bool,
}

/// Compares a folder with its catalogue. The files of the catalogue itself, and others of Hashlane, are left out. An error of `visit` ends the work.
pub(crate) fn compare(
    connection: &Connection,
    catalogue: &Path,
    folder: &Path,
    mut visit: impl FnMut(Compared<'_>) -> Result<(), Reason>,
) -> Result<(), Error> {
    let own = own_path(catalogue, folder);
    let mut files = || -> Result<Option<std::io::Error>, Reason> {
        let select = format!("SELECT {COLUMNS} FROM files ORDER BY path");
        let mut select = connection.prepare(&select)?;
        let mut merge = Merge {
            catalogue: Cursor::new(select.query([])?)?,
            unread: Vec::new(),
        };
        let mut walk = Walk::new(folder).order(WalkOrder::Bytes).with_stamps();
        while let Some(step) = walk.step() {
            let path = walk.path().as_os_str().as_bytes();
            match step {
                // The folder itself.
                Step::Failed(error) if path.is_empty() => return Ok(Some(error)),
                Step::Folder | Step::Own(_) => {}
                _ if is_own(path, own.as_deref()) => {}
                // A slash ends the path of a folder that cannot be read: the catalogue can have what lies below it.
                Step::Failed(_) if walk.is_folder() => {
                    merge.add(&[path, b"/"].concat(), step, &mut visit)?;
                }
                _ => merge.add(path, step, &mut visit)?,
            }
        }
        merge.finish(&mut visit)?;
        Ok(None)
    };
    match files() {
        Ok(None) => Ok(()),
        Ok(Some(error)) => Err(Reason::Io(error).at(folder)),
        Err(reason) => Err(reason.at(catalogue)),
    }
}

/// Returns the path below the folder of the catalogue, if it lies there.
fn own_path(catalogue: &Path, folder: &Path) -> Option<Vec<u8>> {
    let place = catalogue.canonicalize().ok()?;
    let below = place.strip_prefix(folder.canonicalize().ok()?).ok()?;
    Some(hashlane_sums::bytes_of(below).into_owned())
}

/// Returns `true` for the path of the catalogue, and of the files beside it.
fn is_own(path: &[u8], catalogue: Option<&[u8]>) -> bool {
    let suffix = catalogue.and_then(|catalogue| path.strip_prefix(catalogue));
    suffix.is_some_and(is_catalogue_suffix)
}

struct Merge<'c> {
    catalogue: Cursor<'c>,
    /// The last path that could not be read.
    unread: Vec<u8>,
}

impl Merge<'_> {
    /// Adds the next path of the walk.
    fn add(
        &mut self,
        path: &[u8],
        step: Step,
        visit: &mut impl FnMut(Compared<'_>) -> Result<(), Reason>,
    ) -> Result<(), Reason> {
        while !self.catalogue.is_end && self.catalogue.path.as_slice() < path {
            self.visit_gone(visit)?;
        }
        let is_known = !self.catalogue.is_end && self.catalogue.path == path;
        match step {
            Step::File(Some(stamp)) => {
                let state = State::from(stamp);
                if is_known {
                    visit(Compared::Both(path, state, &self.catalogue.known))?;
                    return self.catalogue.advance();
                }
                visit(Compared::New(path, state))
            }
            Step::Failed(error) => {
                self.unread.clear();
                self.unread.extend(path);
                if is_known {
                    self.catalogue.advance()?;
                }
                visit(Compared::Failed(path, error))
            }
            _ => visit(Compared::Other),
        }
    }

    fn visit_gone(
        &mut self,
        visit: &mut impl FnMut(Compared<'_>) -> Result<(), Reason>,
    ) -> Result<(), Reason> {
        let path = &self.catalogue.path;
        if self.unread.is_empty() || !is_at_or_below(path, &self.unread) {
            visit(Compared::Gone(path, &self.catalogue.known))?;
        }
        self.catalogue.advance()
    }

    fn finish(
        mut self,
        visit: &mut impl FnMut(Compared<'_>) -> Result<(), Reason>,
    ) -> Result<(), Reason> {
        while !self.catalogue.is_end {
            self.visit_gone(visit)?;
        }
        Ok(())
    }
}

/// Returns `true` if `path` is `place` or lies below it. A slash may end `place`.
fn is_at_or_below(path: &[u8], place: &[u8]) -> bool {
    let place = place.strip_suffix(b"/").unwrap_or(place);
    let rest = path.strip_prefix(place);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}

/// The files of the catalogue, one after another.
struct Cursor<'c> {
    rows: Rows<'c>,
    path: Vec<u8>,
    known: Known,
    is_end: bool,
}

impl<'c> Cursor<'c> {
    fn new(rows: Rows<'c>) -> Result<Self, Reason> {
        let mut cursor = Self {
            rows,
            path: Vec::new(),
            known: Known {
                state: State::default(),
                digest: [0; 32],
                is_rotten: false,
            },
            is_end: false,
        };
        cursor.advance()?;
        Ok(cursor)
    }

    fn advance(&mut self) -> Result<(), Reason> {
        let Some(row) = self.rows.next()? else {
            self.is_end = true;
            return Ok(());
        };
        let path = Record::path(row)?;
        if path <= self.path.as_slice() {
            return Err(Reason::damaged("its paths are out of order"));
        }
        self.path.clear();
        self.path.extend(path);
        let record = Record::of(row)?;
        self.known = Known {
            state: record.state,
            digest: record.digest.into(),
            is_rotten: record.rot_since.is_some(),
        };
        Ok(())
    }
}
