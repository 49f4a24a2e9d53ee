//! Verifies the content of a torrent.

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

use hashlane_metainfo::Torrent;
use hashlane_verify::{CancelToken, Content, HashVersions, Options, verify};

fn main() -> Result<(), Box<dyn Error>> {
    let [torrent, content] = paths().ok_or("usage: downstream TORRENT CONTENT")?;
    let torrent = Torrent::parse(fs::read(torrent)?)?;
    let content = Content::at(&torrent, content)?;
    let versions = HashVersions { v1: true, v2: true };
    let report = verify(
        &content,
        versions,
        &Options::default(),
        &CancelToken::default(),
        &mut |_| {},
    )?;
    let n_pieces = report.pieces().len();
    println!("{} of {n_pieces} pieces", report.counts().have);
    Ok(())
}

fn paths() -> Option<[PathBuf; 2]> {
    let mut arguments = env::args_os().skip(1).map(PathBuf::from);
    Some([arguments.next()?, arguments.next()?])
}
