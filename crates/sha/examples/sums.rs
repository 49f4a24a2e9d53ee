//! Prints the SHA-256 of each file in a folder, as `sha256sum` does. Each lane has one buffer,
//! which is filled and hashed repeatedly, so that large and small files share the lanes.
//!
//! ```sh
//! cargo run --release --package hashlane-sha --example sums -- FOLDER
//! ```

use std::fs::File;
use std::io::{Read as _, Result};
use std::path::PathBuf;

use hashlane_sha::{Engine, LaneQueue, Outcome, Sha256};

const BUFFER_LEN: usize = 256 * 1024;

fn main() -> Result<()> {
    let folder = std::env::args_os().nth(1).unwrap_or_else(|| ".".into());
    let entries = std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
    let paths = entries.collect::<Result<Vec<PathBuf>>>()?;
    let mut paths = paths.into_iter().filter(|path| path.is_file());

    let n_lanes = Engine::detect().lanes::<Sha256>();
    let mut buffers = vec![Vec::with_capacity(BUFFER_LEN); n_lanes];
    let mut queue = LaneQueue::<Sha256, (PathBuf, File), Vec<u8>>::new();
    let (mut hashed, mut started) = (Vec::new(), Vec::new());
    loop {
        if started.is_empty()
            && let Some(path) = paths.next()
        {
            let file = File::open(&path)?;
            started.push(((path, file), Sha256::new()));
        }
        if let Some(((path, mut file), hasher)) = started.pop() {
            let mut buffer = buffers.pop().expect("the queue always has a free lane");
            file.by_ref()
                .take(BUFFER_LEN as u64)
                .read_to_end(&mut buffer)?;
            if buffer.len() < BUFFER_LEN {
                queue.submit_last((path, file), hasher, buffer, |part| hashed.push(part));
            } else {
                queue.submit_part((path, file), hasher, buffer, |part| hashed.push(part));
            }
        } else if queue.is_empty() {
            return Ok(());
        } else {
            queue.flush(|part| hashed.push(part));
        }
        for mut part in hashed.drain(..) {
            part.bytes.clear();
            buffers.push(part.bytes);
            match part.outcome {
                Outcome::Hasher(hasher) => started.push((part.tag, hasher)),
                Outcome::Digest(digest) => println!("{digest}  {}", part.tag.0.display()),
            }
        }
    }
}
