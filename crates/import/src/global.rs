//! Settings of a program for all of its torrents. They are notes, because a state folder can have the torrents of several
//! programs.

use crate::Note;

pub(crate) const DOWNLOAD_LIMIT: &str = "download limit of all torrents";
pub(crate) const UPLOAD_LIMIT: &str = "upload limit of all torrents";
pub(crate) const ALTERNATIVE_DOWNLOAD_LIMIT: &str = "alternative download limit of all torrents";
pub(crate) const ALTERNATIVE_UPLOAD_LIMIT: &str = "alternative upload limit of all torrents";
pub(crate) const ALTERNATIVE_TIMES: &str =
    "times of the alternative limits, which [schedule] sets here";
pub(crate) const RATIO: &str = "ratio goal of all torrents";
pub(crate) const SEEDING_TIME: &str = "seeding time goal of all torrents";
pub(crate) const IDLE_TIME: &str = "time without uploads after which seeding ends, of all torrents";
pub(crate) const DOWNLOADS: &str = "maximum number of active downloads";
pub(crate) const UPLOADS: &str = "maximum number of active uploads";
pub(crate) const ACTIVE: &str = "maximum number of active torrents";

/// Returns a note for each setting that is in use. `None` is a setting that is not.
pub(crate) fn notes<'s>(
    settings: impl IntoIterator<Item = (&'s str, Option<String>)>,
) -> impl Iterator<Item = Note> {
    let in_use = settings.into_iter();
    in_use.filter_map(|(what, value)| Some(Note::NotCarried(format!("{what}: {}", value?))))
}
