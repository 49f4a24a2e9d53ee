//! Prints the SHA-256 of every file in a folder. Hashes as many files at once as there are lanes,
//! each read in parts into reused buffers.
//!
//!     cargo run --release --example directory -- FOLDER

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::PathBuf;

use hashlane_sha::{Hashed, LaneQueue, Outcome, Sha256};

/// A hashed part of a file, with the path and the open file.
type Part = Hashed<Sha256, (PathBuf, File), Vec<u8>>;

const PART_LEN: usize = 64 * 1024;

fn main() -> io::Result<()> {
    let folder = std::env::args_os().nth(1).unwrap_or_else(|| ".".into());
    let mut entries = fs::read_dir(folder)?;
    let mut queue = LaneQueue::<Sha256, _, Vec<u8>>::new();
    let (mut hashed, mut buffers) = (Vec::<Part>::new(), Vec::new());
    loop {
        let ((path, mut file), hasher, mut part) = match hashed.pop() {
            Some(Hashed {
                tag: (path, _),
                bytes,
                outcome: Outcome::Digest(digest),
            }) => {
                println!("{digest}  {}", path.display());
                buffers.push(bytes);
                continue;
            }
            Some(Hashed {
                tag,
                bytes,
                outcome: Outcome::Hasher(hasher),
            }) => (tag, hasher, bytes),
            None => match entries.next().transpose()?.map(|entry| entry.path()) {
                Some(path) if path.is_file() => {
                    let file = File::open(&path)?;
                    (
                        (path, file),
                        Sha256::new(),
                        buffers.pop().unwrap_or_default(),
                    )
                }
                Some(_) => continue,
                None if queue.is_empty() => return Ok(()),
                None => {
                    queue.flush(|part| hashed.push(part));
                    continue;
                }
            },
        };
        part.clear();
        let n = file.by_ref().take(PART_LEN as u64).read_to_end(&mut part)?;
        if n == PART_LEN {
            queue.submit_part((path, file), hasher, part, |part| hashed.push(part));
        } else {
            queue.submit_last((path, file), hasher, part, |part| hashed.push(part));
        }
    }
}
