//! The cache of Hugging Face, and downloads with `--local-dir`.
//!
//! In the cache, each repository has `blobs/`, whose names are entity tags and whose files can be links to `blobs/` of the cache, and `snapshots/REVISION/` with links to blobs. A download
//! has a record for each file, whose second line is the entity tag.

use std::io;
use std::path::Path;

use hashlane_files::is_absent;
use hashlane_sums::Algorithm;

use super::found::{Found, Name};
use crate::file::KnownFile;
use crate::text;

/// The folder of the records in a download.
pub(super) const RECORDS: &str = ".cache/huggingface/download";

/// Maximum length of a record in bytes.
const MAX_RECORD_LEN: u64 = 4096;

/// How the folders of repositories start in a cache.
const KINDS: [&str; 3] = ["models--", "datasets--", "spaces--"];

/// Returns `true` for a cache, or a repository in it.
pub(super) fn is_cache(folder: &Path) -> bool {
    is_repository(folder) || repositories(folder).next().is_some()
}

fn is_repository(folder: &Path) -> bool {
    folder.join("blobs").is_dir() && folder.join("snapshots").is_dir()
}

/// Returns the repositories of a cache.
fn repositories(cache: &Path) -> impl Iterator<Item = std::path::PathBuf> + use<> {
    let entries = cache.read_dir().into_iter().flatten().flatten();
    entries.filter_map(|entry| {
        let name = entry.file_name();
        let name = name.to_str()?;
        let is_named = KINDS.iter().any(|kind| name.starts_with(kind));
        let has = |folder: &str| entry.path().join(folder).is_dir();
        // One that has lost its blobs is to be reported.
        (is_named && (has("blobs") || has("snapshots"))).then(|| entry.path())
    })
}

/// Reads a cache, or a repository in it.
pub(super) fn read_cache(folder: &Path, found: &mut Found) {
    if is_repository(folder) {
        return read_repository(folder, found);
    }
    let mut repositories: Vec<_> = repositories(folder).collect();
    repositories.sort_unstable();
    for repository in repositories {
        read_repository(&repository, found);
    }
}

fn read_repository(folder: &Path, found: &mut Found) {
    let meaning = |_: &Path, name: &str| {
        if let Some(digest) = text::entity_tag(name.as_bytes()) {
            return Name::Digest(digest);
        }
        match name.rsplit_once('.') {
            Some((_, "incomplete")) => Name::Unfinished,
            Some((_, "lock")) => Name::Other,
            _ => Name::Unknown,
        }
    };
    found.add_files_and_links(&folder.join("blobs"), meaning, is_shared);
    found.each_link(&folder.join("snapshots"), &|found, link| {
        if link.metadata().is_err_and(|error| is_absent(&error)) {
            found.add_missing(link);
        }
    });
}

/// Returns `true` for a blob that its cache shares with other repositories (`huggingface_hub` since 1.32): a link to
/// `../../blobs/f5/f5...`, whose name is a Xet hash, and not the digest of the file.
fn is_shared(link: &Path) -> bool {
    let Ok(target) = link.read_link() else {
        return false;
    };
    let parts: Option<Vec<&str>> = target.iter().map(|part| part.to_str()).collect();
    let is_named = match parts.as_deref() {
        Some(["..", "..", "blobs", start, name]) => {
            name.starts_with(start) && text::digest(Algorithm::Sha256, name.as_bytes()).is_some()
        }
        _ => false,
    };
    // Neither the folders nor the file may lead elsewhere.
    let place = link.parent().map(|folder| folder.join(&target));
    let is_file = |path: &Path| {
        path.symlink_metadata()
            .is_ok_and(|metadata| metadata.is_file())
    };
    let is_folder = |path: &Path| {
        path.symlink_metadata()
            .is_ok_and(|metadata| metadata.is_dir())
    };
    is_named
        && place.is_some_and(|place| {
            let mut folders = place.ancestors().skip(1).take(2);
            // A blob that is absent is missing, and not a link that leads elsewhere.
            let is_absent = place
                .symlink_metadata()
                .is_err_and(|error| is_absent(&error));
            is_absent || is_file(&place) && folders.all(is_folder)
        })
}

/// Reads a download.
pub(super) fn read_download(folder: &Path, found: &mut Found) {
    let records = folder.join(RECORDS);
    for record in hashlane_files::walk_files(&records, false) {
        let Some(record) = found.file(record) else {
            continue;
        };
        let extension = record.extension().and_then(|extension| extension.to_str());
        if extension == Some("incomplete") {
            found.n_unfinished += 1;
        }
        let inside = record.strip_prefix(&records).ok();
        let (Some("metadata"), Some(inside)) = (extension, inside) else {
            continue;
        };
        let path = folder.join(inside.with_extension(""));
        match text::read(&record, MAX_RECORD_LEN) {
            Err(error) => found.add_error(&record, error),
            Ok(lines) => {
                let tag = lines.split(|byte| *byte == b'\n').nth(1);
                let tag = tag.map(<[u8]>::trim_ascii).and_then(text::entity_tag);
                match tag {
                    None => found.add_error(
                        &record,
                        io::Error::other("line 2 is no entity tag with a digest"),
                    ),
                    Some(_) if !path.exists() => found.add_missing(&path),
                    Some(digest) => found.files.push(KnownFile {
                        path,
                        len_bytes: None,
                        digest,
                    }),
                }
            }
        }
    }
}
