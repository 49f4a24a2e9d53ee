//! The names of files that Hashlane makes beside content. They are never content: the next run would change them.

use std::ffi::OsStr;

use crate::atomic::UNFINISHED_FILES;
#[cfg(unix)]
use crate::relocate::UNFINISHED_MOVES;

/// The name of the catalogue of an archive in its folder, unless another place is chosen.
pub const CATALOGUE_NAME: &str = ".hashlane-archive.sqlite";

/// What `SQLite` adds to the name of a catalogue for the files beside it, and the archive for its lock.
pub const CATALOGUE_SUFFIXES: [&str; 5] = ["", "-wal", "-shm", "-journal", "-lock"];

/// What an archive adds to the name of its catalogue for a recovery file, before the number of its set.
pub const RECOVERY_SUFFIX: &str = "-recovery-";

/// Returns `true` for what is added to the name of a catalogue for the files beside it.
pub fn is_catalogue_suffix(suffix: &[u8]) -> bool {
    let mut suffixes = CATALOGUE_SUFFIXES.iter();
    suffixes.any(|known| known.as_bytes() == suffix)
        || suffix.starts_with(RECOVERY_SUFFIX.as_bytes()) && suffix.ends_with(b".par2")
}

/// Returns `true` if Hashlane gives this name to its own files: catalogues of archives and the recovery files beside them, and
/// files that are not finished.
pub fn is_own_name(name: &OsStr) -> bool {
    let is_catalogue = || {
        let name = name.as_encoded_bytes();
        let suffix = name.strip_prefix(CATALOGUE_NAME.as_bytes());
        suffix.is_some_and(is_catalogue_suffix)
    };
    #[cfg(unix)]
    let is_move = UNFINISHED_MOVES.contains(name);
    #[cfg(not(unix))]
    let is_move = false;
    UNFINISHED_FILES.contains(name) || is_move || is_staging(name) || is_catalogue()
}

/// Returns `true` for a file with the pieces of a download that belong to files not chosen: `.hashlane-INFOHASH.part`.
fn is_staging(name: &OsStr) -> bool {
    let name = name
        .to_str()
        .and_then(|name| name.strip_prefix(".hashlane-"));
    let digits = name.and_then(|name| name.strip_suffix(".part"));
    digits.is_some_and(|digits| {
        matches!(digits.len(), 40 | 64) && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_of_hashlane_are_known() {
        let staging = format!(".hashlane-{}.part", "a1".repeat(20));
        for name in [
            ".hashlane-archive.sqlite",
            ".hashlane-archive.sqlite-wal",
            ".hashlane-archive.sqlite-lock",
            ".hashlane-archive.sqlite-recovery-00000001.par2",
            ".hashlane-archive.sqlite-recovery-00000001.vol00+10.par2",
            ".hashlane-Ab1234.tmp",
            ".hashlane-moving-Ab1234",
            &staging,
        ] {
            // Moves exist only on Unix.
            let is_own = cfg!(unix) || !name.contains("moving");
            assert_eq!(is_own_name(name.as_ref()), is_own, "{name}");
        }
        for name in [
            "hashlane-archive.sqlite",
            ".hashlane-archive.sqlite-old",
            ".hashlane-archive.sqlite.bak",
            ".hashlane-archive.sqlite-recovery-1.par2.damaged-1",
            ".hashlane-archive.sqlite-recovery",
            ".hashlane-payload",
            ".hashlane-.part",
            ".hashlane",
            "a.tmp",
        ] {
            assert!(!is_own_name(name.as_ref()), "{name}");
        }
    }
}
