//! The format version of a folder.
//!
//! Every change of what the files can contain makes a new format, because older programs refuse keys that they do not
//! know.

use std::fs;
use std::path::Path;

use hashlane_files::{Overwrite, UNFINISHED_FILES};

use crate::error::StoreError;
use crate::{file, lock};

/// The name of the file with the format.
pub(crate) const NAME: &str = "format";

/// The word before the number in the file.
const WORD: &str = "hashlane-state";

/// Length limit of the file in bytes.
const MAX_LEN: u64 = 64;

/// Rewrites the files of a folder from one format to the next. A kill can end an upgrade at any moment, and the next
/// program then starts it again, so it must accept files of both formats.
pub(crate) type Upgrade = fn(&Path) -> Result<(), StoreError>;

/// The upgrades from each older format, from format 1.
pub(crate) const UPGRADES: &[Upgrade] = &[
    // Format 2 has more keys, which are optional, so the files stay as they are.
    |_| Ok(()),
];

/// Returns with the folder in the newest format: checks it, upgrades it, or makes it if the folder is empty.
pub(crate) fn establish(folder: &Path, upgrades: &[Upgrade]) -> Result<(), StoreError> {
    let newest = 1 + upgrades.len() as u32;
    let path = folder.join(NAME);
    let found = match file::read(&path, MAX_LEN) {
        Err(StoreError::Io { error, .. }) if error.kind() == std::io::ErrorKind::NotFound => {
            refuse_foreign(folder)?;
            return write(folder, newest);
        }
        bytes => bytes?,
    };
    let text = str::from_utf8(&found).unwrap_or("").trim_end();
    let found = text
        .strip_prefix(WORD)
        .and_then(|rest| rest.strip_prefix(' '));
    let found: Option<u32> = found.and_then(|number| number.parse().ok());
    let Some(found) = found.filter(|found| *found > 0) else {
        let reason = format!("expected \"{WORD} {newest}\"");
        return Err(StoreError::damaged(&path, reason));
    };
    if found > newest {
        return Err(StoreError::Newer {
            folder: folder.to_owned(),
            found,
            newest,
        });
    }
    let missing = upgrades.iter().zip(2..).skip(found as usize - 1);
    for (upgrade, next) in missing {
        upgrade(folder)?;
        write(folder, next)?;
    }
    Ok(())
}

fn write(folder: &Path, format: u32) -> Result<(), StoreError> {
    let text = format!("{WORD} {format}\n");
    file::write(&folder.join(NAME), text.as_bytes(), Overwrite::Yes)?;
    file::sync_folder(folder)
}

/// Refuses a folder with files of anything else. A kill while a folder is made leaves its lock and temporary files.
fn refuse_foreign(folder: &Path) -> Result<(), StoreError> {
    for entry in fs::read_dir(folder).map_err(StoreError::at(folder))? {
        let name = entry.map_err(StoreError::at(folder))?.file_name();
        if name != lock::NAME && !UNFINISHED_FILES.contains(&name) {
            return Err(StoreError::Foreign {
                folder: folder.to_owned(),
                found: name.to_string_lossy().into_owned(),
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder_of(format: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(NAME), format).unwrap();
        folder
    }

    fn append(folder: &Path, step: &str) -> Result<(), StoreError> {
        let path = folder.join("steps");
        let steps = fs::read_to_string(&path).unwrap_or_default();
        fs::write(&path, steps + step).map_err(StoreError::at(&path))
    }

    const THREE: &[Upgrade] = &[
        |folder| append(folder, "1"),
        |folder| append(folder, "2"),
        |folder| append(folder, "3"),
    ];

    #[test]
    fn an_older_folder_is_upgraded_step_by_step() {
        for (format, steps) in [("1", "123"), ("2", "23"), ("3", "3"), ("4", "")] {
            let folder = folder_of(&format!("hashlane-state {format}\n"));
            establish(folder.path(), THREE).unwrap();
            let found = fs::read_to_string(folder.path().join("steps"));
            assert_eq!(found.unwrap_or_default(), steps, "{format}");
            let format = fs::read_to_string(folder.path().join(NAME)).unwrap();
            assert_eq!(format, "hashlane-state 4\n");
        }
    }

    #[test]
    fn an_upgrade_that_fails_is_done_again() {
        let folder = folder_of("hashlane-state 1\n");
        let failing: &[Upgrade] = &[
            |folder| append(folder, "1"),
            |folder| Err(StoreError::damaged(folder, "broken")),
        ];
        let error = establish(folder.path(), failing).unwrap_err();
        assert!(error.to_string().ends_with(": broken"), "{error}");
        establish(folder.path(), &THREE[..2]).unwrap();
        let steps = fs::read_to_string(folder.path().join("steps")).unwrap();
        assert_eq!(steps, "12");
    }

    #[test]
    fn newer_and_unreadable_formats_are_refused() {
        let folder = folder_of("hashlane-state 5\n");
        let error = establish(folder.path(), THREE).unwrap_err();
        assert!(
            matches!(
                error,
                StoreError::Newer {
                    found: 5,
                    newest: 4,
                    ..
                }
            ),
            "{error}"
        );
        for format in [
            "",
            "4\n",
            "hashlane-state\n",
            "hashlane-state 0\n",
            "hashlane-state -1\n",
        ] {
            let folder = folder_of(format);
            let error = establish(folder.path(), THREE).unwrap_err();
            assert!(
                matches!(error, StoreError::Damaged { .. }),
                "{format}: {error}"
            );
        }
    }
}
