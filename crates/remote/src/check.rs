//! Checks of requests that all protocols share.

use hashlane_api::{Refusal, Source};
use hashlane_metainfo::Magnet;

/// Returns the torrent that a link names. Files of the server cannot be named.
pub(crate) fn link(text: &str) -> Result<Source, Refusal> {
    match Source::of_link(text) {
        Err(_) if !Magnet::has_scheme(text) && !Magnet::is_info_hash(text) => {
            let reason = "expected a magnet link, an info-hash or a URL (http, https); files of the server cannot be named";
            Err(Refusal::Forbidden(reason.to_owned()))
        }
        source => source,
    }
}

/// Returns the folder, which must be absolute: the folder of the server's process is of no use to a program elsewhere.
pub(crate) fn absolute(folder: &str) -> Result<String, Refusal> {
    if folder.starts_with('/') && !folder.contains('\0') {
        Ok(folder.to_owned())
    } else {
        Err(Refusal::Invalid(format!(
            "{folder}: the path of the folder must be absolute"
        )))
    }
}

/// Returns a path below a folder, each part of which names a file or folder.
pub(crate) fn relative_path(path: &str) -> Result<String, Refusal> {
    for name in path.split('/') {
        file_name(name)?;
    }
    Ok(path.to_owned())
}

/// Returns the name of a file or folder, which has no path.
pub(crate) fn file_name(name: &str) -> Result<String, Refusal> {
    if ["", ".", ".."].contains(&name) || name.contains(['/', '\0']) {
        return Err(Refusal::Invalid(format!("{name:?} is no name of a file")));
    }
    Ok(name.to_owned())
}
