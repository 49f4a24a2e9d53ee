//! Files of random lengths, and comparisons of results with those of other programs.

use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};

use hashlane_trees::{
    CancelToken, Error, Event, Failure, Format, IoMode, Item, Options, hash_files,
};

use crate::random::Random;

/// Writes files with these lengths and random bytes. Their names are their numbers.
pub(crate) fn write_files(folder: &Path, lens: &[usize], numbers: &mut Random) -> Vec<PathBuf> {
    let files = lens.iter().enumerate().map(|(i, len)| {
        let path = folder.join(i.to_string());
        fs::write(&path, numbers.bytes(*len)).unwrap();
        path
    });
    files.collect()
}

/// Returns the results of files, or the debug form of their failures.
pub(crate) fn hashes<H: Display>(
    format: &dyn Format<Hash = H>,
    paths: &[PathBuf],
    options: &Options,
) -> Vec<String> {
    let items = paths.iter().enumerate().map(|(i, path)| Item::new(path, i));
    let mut hashes = Vec::new();
    hash_files(format, items, options, &CancelToken::default(), |event| {
        if let Event::Outcome(i, outcome) = event {
            assert_eq!(*i, hashes.len(), "outcomes come in order");
            hashes.push(match outcome {
                Ok((hash, len)) => {
                    assert_eq!(len, paths[*i].metadata().unwrap().len());
                    hash.to_string()
                }
                Err(Failure::NotOpened(error)) => format!("not opened: {error}"),
                Err(Failure::NotRead(error)) => format!("not read: {error}"),
                Err(Failure::NotWritten(error)) => format!("not written: {error}"),
                Err(Failure::Changed) => "changed".into(),
                Err(Failure::TooShort(min)) => format!("shorter than {min}"),
                Err(Failure::TooLong(max)) => format!("longer than {max}"),
                Err(Failure::NotMultiple(unit)) => format!("no multiple of {unit}"),
            });
        }
        Ok::<_, Error>(())
    })
    .unwrap();
    hashes
}

/// Compares results of files, mapped and read, with those of another program, which are in lower case. `lens` are the lengths of
/// the files.
pub(crate) fn assert_hashes<H: Display>(
    format: &dyn Format<Hash = H>,
    paths: &[PathBuf],
    lens: &[usize],
    expected: &[String],
) {
    let mut modes = vec![IoMode::Pread];
    modes.extend(cfg!(target_os = "linux").then_some(IoMode::Mmap));
    for io in modes {
        let options = Options::default().io(io).allow_signal_handler();
        let found = hashes(format, paths, &options);
        for ((found, expected), len) in found.iter().zip(expected).zip(lens) {
            assert_eq!(found, expected, "{io:?}: {len} bytes");
        }
        assert_eq!((found.len(), expected.len()), (lens.len(), lens.len()));
    }
    let upper_case = expected[0].to_ascii_uppercase();
    assert_eq!(format.normalized(&upper_case).as_ref(), Some(&expected[0]));
}
