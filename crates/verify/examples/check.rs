//! Lists the files of a torrent that are not complete: `check TORRENT FOLDER`.

use std::error::Error;
use std::path::Path;

use hashlane_metainfo::Torrent;
use hashlane_verify::{CancelToken, Content, FileState, HashVersions, Options, verify};

/// Returns a line for each incomplete file, and one for the torrent.
pub(crate) fn check(torrent: &Path, folder: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let torrent = Torrent::parse(std::fs::read(torrent)?)?;
    let content = Content::in_folder(&torrent, folder)?;
    let versions = HashVersions::of(torrent.version());
    let (options, cancel) = (Options::default(), CancelToken::default());
    let report = verify(&content, versions, &options, &cancel, &mut |_| ())?;

    let mut lines = Vec::new();
    for file in report.files() {
        if file.state != FileState::Whole {
            let path = torrent.file(file.index.get()).path();
            lines.push(format!("{path}: {} pieces are wrong", file.counts.bad));
        }
    }
    let counts = report.counts();
    lines.push(format!("{} of {} pieces", counts.have, counts.total()));
    Ok(lines)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let (Some(torrent), Some(folder)) = (arguments.next(), arguments.next()) else {
        return Err("usage: check TORRENT FOLDER".into());
    };
    for line in check(torrent.as_ref(), folder.as_ref())? {
        println!("{line}");
    }
    Ok(())
}
