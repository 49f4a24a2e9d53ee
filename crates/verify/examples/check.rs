//! Lists the files of a torrent that are not complete: `check TORRENT FOLDER`.

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

use hashlane_metainfo::Torrent;
use hashlane_verify::{CancelToken, Content, HashVersions, Options, verify};

/// Returns a line for each incomplete file, and one for the torrent.
pub(crate) fn check(torrent: &Path, folder: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let named = |error: &dyn Error| format!("{}: {error}", torrent.display());
    let bytes = std::fs::read(torrent).map_err(|error| named(&error))?;
    let torrent = Torrent::parse(bytes).map_err(|error| named(&error))?;
    let content = Content::in_folder(&torrent, folder)?;
    let versions = HashVersions::of(torrent.version());
    let (options, cancel) = (Options::default(), CancelToken::default());
    let report = verify(&content, versions, &options, &cancel, &mut |_| ())?;

    let mut lines = Vec::new();
    for file in report.files() {
        if !file.state.is_whole() {
            let path = torrent.file(file.index.get()).path();
            lines.push(format!("{path}: {}", file.state.name()));
        }
    }
    let counts = report.counts();
    lines.push(format!("{} of {} pieces", counts.have, counts.total()));
    Ok(lines)
}

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let (Some(torrent), Some(folder)) = (arguments.next(), arguments.next()) else {
        eprintln!("usage: check TORRENT FOLDER");
        return ExitCode::FAILURE;
    };
    match check(torrent.as_ref(), folder.as_ref()) {
        Ok(lines) => {
            for line in lines {
                println!("{line}");
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("check: {error}");
            ExitCode::FAILURE
        }
    }
}
