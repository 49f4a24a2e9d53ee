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
pub(crate) const ACTION: &str = "what happens at the goals of all torrents";
pub(crate) const INTERFACE: &str = "network interface or address, which --bind sets here";
pub(crate) const PORT: &str = "port for incoming connections, which --port sets here";
pub(crate) const DHT: &str = "distributed hash table, which --no-dht turns off here";
pub(crate) const DISCOVERY: &str =
    "discovery in the local network, which --no-discovery turns off here";
pub(crate) const PEX: &str = "exchange of peers";
pub(crate) const ANONYMOUS: &str = "anonymous mode";
pub(crate) const ENCRYPTION: &str = "encryption of connections, which --encryption sets here";
pub(crate) const PROXY: &str = "proxy, which --proxy sets here";
pub(crate) const FILTER: &str = "filter of addresses";
pub(crate) const PROGRAM: &str = "program that runs for a torrent, which [hooks] sets here";

/// Longest name or address that a note has.
const MAX_TEXT: usize = 64;

/// Returns a short text of a setting, or `in use` for a long one.
pub(crate) fn shown(text: &str) -> Option<String> {
    let is_shown = text.len() <= MAX_TEXT && !text.contains(char::is_control);
    let shown = if is_shown { text } else { "in use" };
    (!text.is_empty()).then(|| shown.to_owned())
}

/// Returns the value of what is turned off or on.
pub(crate) fn switched(is_switched: bool, to: &str) -> Option<String> {
    is_switched.then(|| to.to_owned())
}

/// Returns a note for each setting that is in use. `None` is a setting that is not.
pub(crate) fn notes<'s>(
    settings: impl IntoIterator<Item = (&'s str, Option<String>)>,
) -> impl Iterator<Item = Note> {
    let in_use = settings.into_iter();
    in_use.filter_map(|(what, value)| Some(Note::NotCarried(format!("{what}: {}", value?))))
}
