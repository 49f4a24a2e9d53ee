//! Creates, verifies or repairs a set, for bench/par2.py.
//!
//!     par2 create SLICE_LEN RECOVERY_SLICES SET FILE...
//!     par2 verify SET
//!     par2 repair SET
//!
//! `PAR2_KERNEL` names a kernel, `PAR2_THREADS` is a number of threads.

use std::error::Error;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use hashlane_files::CancelToken;
use hashlane_par2::{
    Kept, Kernel, NewSet, RecoverySet, Redundancy, Run, Slices, create, repair, verify, volumes_of,
};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let kernel = match std::env::var("PAR2_KERNEL") {
        Ok(name) => Kernel::available()
            .find(|kernel| kernel.name() == name)
            .ok_or("no such kernel")?,
        Err(_) => Kernel::detect(),
    };
    let n_threads = match std::env::var("PAR2_THREADS") {
        Ok(n_threads) => n_threads.parse()?,
        Err(_) => std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
    };
    let mut run = Run {
        n_threads,
        memory: 1 << 30,
        kernel,
        cancel: &CancelToken::default(),
        progress: &mut |_| {},
    };
    let folder = Path::new("");
    match args[..] {
        ["create", slice_len, n_recovery, set, ref files @ ..] => {
            let mut new = NewSet::new("the benchmark of hashlane-par2");
            new.slices = Slices::Len(slice_len.parse()?);
            new.redundancy = Redundancy::Count(n_recovery.parse()?);
            let files: Vec<PathBuf> = files.iter().map(PathBuf::from).collect();
            let created = create(folder, Path::new(set), &files, &new, &mut run)?;
            println!("{} slices, {} passes", created.n_slices, created.n_passes);
        }
        [action @ ("verify" | "repair"), set] => {
            let set = RecoverySet::read(volumes_of(Path::new(set))?, &mut run)?;
            let found = verify(&set, folder, &[], &mut run)?;
            println!("{} of {} slices are missing", found.n_missing, set.n_slices);
            if action == "repair" {
                let repaired = repair(&set, &found, folder, Kept::Yes, &mut run)?;
                println!("{} files repaired", repaired.files.len());
            }
        }
        _ => return Err("create, verify or repair".into()),
    }
    Ok(())
}
