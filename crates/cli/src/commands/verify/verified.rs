//! The result of one verification, for all forms of output.

use std::path::Path;

use hashlane_verify::{Content, Report};

use super::outside::Outside;

/// A torrent that was verified.
pub(super) struct Verified<'v> {
    /// The path of the .torrent file, as given.
    pub(super) torrent_path: &'v Path,
    pub(super) content: &'v Content,
    pub(super) report: &'v Report,
    pub(super) outside: Outside,
}
