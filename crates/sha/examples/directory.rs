//! Prints the SHA-256 of every file in a folder. Hashes as many files at once as there are lanes.
//!
//!     cargo run --release --example directory -- FOLDER

use std::fs::{self, File};
use std::io;

use hashlane_sha::{Engine, Sha256};

fn main() -> io::Result<()> {
    let folder = std::env::args_os().nth(1).unwrap_or_else(|| ".".into());
    let paths = fs::read_dir(folder)?.filter_map(|entry| Some(entry.ok()?.path()));
    let files = paths.filter(|path| path.is_file());
    let files = files.map(|path| (path.clone(), File::open(path)));
    Engine::detect().digest_readers::<Sha256, _, _>(files, |path, digest| match digest {
        Ok(digest) => println!("{digest}  {}", path.display()),
        Err(error) => eprintln!("{}: {error}", path.display()),
    });
    Ok(())
}
