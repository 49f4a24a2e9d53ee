//! Verifies a torrent on the threads of a rayon pool.
//!
//! `cargo run --release -p hashlane-verify --example rayon -- TORRENT FOLDER`

use std::error::Error;
use std::num::NonZeroUsize;

use hashlane_metainfo::Torrent;
use hashlane_verify::{Content, Options, Verification};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let (Some(torrent), Some(folder)) = (arguments.next(), arguments.next()) else {
        return Err("usage: rayon TORRENT FOLDER".into());
    };
    let torrent = Torrent::from_reader(std::fs::File::open(torrent)?, 10 << 20)?;
    let content = Content::in_folder(&torrent, folder)?;

    let pool = rayon::ThreadPoolBuilder::new().build()?;
    let options = Options::default().threads(NonZeroUsize::new(pool.current_num_threads()));
    let report = Verification::new(&content).options(options).run_on(
        // Each thread of the pool takes pieces until none are left.
        |work| drop(pool.broadcast(|_| work())),
        |progress| eprint!("\r{} bytes", progress.hashed_bytes),
    )?;

    let counts = report.counts();
    println!("\n{} of {} pieces", counts.have, counts.total());
    Ok(())
}
