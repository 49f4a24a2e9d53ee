//! A process that runs out of descriptors.

use std::fs::{self, File};
use std::path::Path;
use std::thread;

use hashlane_files::{FileCache, SourceFile};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::own_process::alone;

#[test]
fn a_process_with_few_descriptors_reads_few_files() {
    let name = "descriptors::a_process_with_few_descriptors_reads_few_files";
    alone(name, || read_files(10));
}

#[test]
fn running_out_of_descriptors_closes_files_of_other_threads() {
    let name = "descriptors::running_out_of_descriptors_closes_files_of_other_threads";
    alone(name, || read_files(1000));
}

fn read_files(n_files: usize) {
    const N_THREADS: usize = 4;
    let dir = tempfile::tempdir().unwrap();
    let paths: Vec<_> = (0..n_files)
        .map(|i| dir.path().join(i.to_string()))
        .collect();
    for (i, path) in paths.iter().enumerate() {
        fs::write(path, i.to_string()).unwrap();
    }
    // The first use fixes the budget by the current limit. After that the system allows fewer
    // files.
    let idle = FileCache::new();
    idle.open(usize::MAX, || SourceFile::open(&paths[0]))
        .unwrap();
    let _taken = leave_descriptors(N_THREADS + 2);
    for (i, path) in paths.iter().enumerate().take(4) {
        read(&idle, i, path);
    }
    thread::scope(|scope| {
        for _ in 0..N_THREADS {
            scope.spawn(|| {
                let cache = FileCache::new();
                for _ in 0..3 {
                    for (i, path) in paths.iter().enumerate() {
                        read(&cache, i, path);
                    }
                }
            });
        }
    });
    if n_files > 10 {
        assert!(idle.get(&0).is_none(), "the idle file is still open");
    }
}

fn read(cache: &FileCache<usize, SourceFile>, i: usize, path: &Path) {
    let file = cache
        .get(&i)
        .map_or_else(|| cache.open(i, || SourceFile::open(path)), Ok);
    let mut bytes = [0; 8];
    let n = file.unwrap().read_at(&mut bytes, 0).unwrap();
    assert_eq!(&bytes[..n], i.to_string().as_bytes());
}

/// Lowers the limit and takes all descriptors except `n_free` until the result is dropped.
fn leave_descriptors(n_free: usize) -> Vec<File> {
    let limit = Rlimit {
        current: Some(64),
        ..getrlimit(Resource::Nofile)
    };
    setrlimit(Resource::Nofile, limit).unwrap();
    let open = std::iter::repeat_with(|| File::open("/dev/null"));
    let mut taken: Vec<_> = open.map_while(Result::ok).collect();
    taken.truncate(taken.len() - n_free);
    taken
}
