//! Files that cannot be hashed, that change, and that have holes.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use hashlane_trees::{CancelToken, Error, Event, Failure, Fsverity, Item, Options, hash_files};

use crate::judge::{hashes, write_files};
use crate::random::Random;

/// Result of 700 MiB of zeros in blocks of 1024 bytes, by fsverity 1.5.
#[cfg(target_os = "linux")]
const SPARSE: &str = "sha256:99195b62cbc0302420e4cddb3f42cfbadcdc7d57441159f78aed80a5cd4d0dc6";

#[test]
fn files_that_cannot_be_hashed_do_not_disturb_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let mut paths = write_files(folder.path(), &[10_000, 20_000], &mut Random::new(3));
    let alone = hashes(&Fsverity::default(), &paths, &Options::default());
    paths.insert(1, folder.path().join("absent"));
    paths.insert(2, folder.path().to_owned());
    if cfg!(target_os = "linux") {
        paths.push(PathBuf::from("/proc/version"));
        paths.push(PathBuf::from("/dev/null"));
    }
    let found = hashes(&Fsverity::default(), &paths, &Options::default());
    assert_eq!([&found[0], &found[3]], [&alone[0], &alone[1]]);
    for (i, failure) in found.iter().enumerate() {
        let is_readable = i == 0 || i == 3;
        assert_eq!(
            failure.starts_with("not opened: "),
            !is_readable,
            "{failure}"
        );
    }
}

#[test]
fn a_file_that_changes_while_it_is_read_has_no_result() {
    let folder = tempfile::tempdir().unwrap();
    let lens = [3 << 20, 40 << 20, 5000];
    for change in ["grow", "shrink", "write"] {
        let paths = write_files(folder.path(), &lens, &mut Random::new(4));
        // The times of files have the resolution of a tick of the kernel, at most 10 ms.
        std::thread::sleep(std::time::Duration::from_millis(50));
        let items = paths.iter().map(|path| Item::new(path, path.clone()));
        let mut outcomes = Vec::new();
        let options = Options::default().threads(std::num::NonZeroUsize::new(1));
        hash_files(
            &Fsverity::default(),
            items,
            &options,
            &CancelToken::default(),
            |event| {
                if let Event::Outcome(path, outcome) = event {
                    if *path == paths[0] {
                        let mut file = OpenOptions::new().write(true).open(&paths[1]).unwrap();
                        match change {
                            "shrink" => file.set_len(lens[1] as u64 / 2).unwrap(),
                            "grow" => file.set_len(lens[1] as u64 + 1).unwrap(),
                            _ => file.write_all(b"x").unwrap(),
                        }
                    }
                    outcomes.push(outcome);
                }
                Ok::<_, Error>(())
            },
        )
        .unwrap();
        let is_expected = matches!(outcomes[..], [Ok(_), Err(Failure::Changed), Ok(_)]);
        assert!(is_expected, "{change}: {outcomes:?}");
    }
}

#[test]
fn a_sparse_file_has_the_result_of_its_zeros() {
    let folder = tempfile::tempdir().unwrap();
    let paths = ["sparse", "full"].map(|name| folder.path().join(name));
    let len = 5 << 20;
    let mut content = vec![0; len];
    content[3_000_000..3_100_000].fill(7);
    fs::write(&paths[1], &content).unwrap();
    let sparse = fs::File::create(&paths[0]).unwrap();
    sparse.set_len(len as u64).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::FileExt::write_all_at(&sparse, &content[3_000_000..3_100_000], 3_000_000)
        .unwrap();
    #[cfg(not(unix))]
    fs::write(&paths[0], &content).unwrap();
    for function in [
        hashlane_trees::Algorithm::Sha256,
        hashlane_trees::Algorithm::Sha512,
    ] {
        let format = Fsverity::new(function, 4096, *b"salt").unwrap();
        let found = hashes(&format, &paths, &Options::default());
        assert_eq!(found[0], found[1]);
    }
}

/// More leaves than a segment has, so that a file continues in the next segment.
#[cfg(target_os = "linux")]
#[test]
fn a_file_of_several_segments_has_one_result() {
    let folder = tempfile::tempdir().unwrap();
    let mut paths = write_files(folder.path(), &[5000, 700], &mut Random::new(5));
    let (sparse, len) = (folder.path().join("sparse"), 700_u64 << 20);
    fs::File::create(&sparse).unwrap().set_len(len).unwrap();
    paths.insert(1, sparse);
    let format = Fsverity::new(hashlane_trees::Algorithm::Sha256, 1024, []).unwrap();
    let found = hashes(&format, &paths, &Options::default());
    assert_eq!(found[1], SPARSE);
}

#[test]
fn an_error_of_the_receiver_and_a_cancelled_token_end_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let paths = write_files(folder.path(), &[5000, 0, 700], &mut Random::new(6));
    let items = || paths.iter().map(|path| Item::new(path, ()));
    let (mut n_outcomes, cancel) = (0, CancelToken::default());
    let format = Fsverity::default();
    let result = hash_files(&format, items(), &Options::default(), &cancel, |event| {
        if let Event::Outcome(..) = event {
            n_outcomes += 1;
            return Err(Stop::Receiver);
        }
        Ok(())
    });
    assert!(matches!(result, Err(Stop::Receiver)), "{result:?}");
    assert_eq!(n_outcomes, 1);
    assert!(!cancel.is_cancelled(), "the caller's token is unchanged");
    cancel.cancel();
    hash_files(&format, items(), &Options::default(), &cancel, |event| {
        assert!(matches!(event, Event::Pause { .. }), "{event:?}");
        Ok::<_, Stop>(())
    })
    .unwrap();
}

#[derive(Debug)]
enum Stop {
    Receiver,
    Run,
}

impl From<Error> for Stop {
    fn from(_: Error) -> Self {
        Self::Run
    }
}

/// The threads of the run end, and the panic reaches the caller.
#[test]
fn a_panic_of_the_receiver_ends_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let paths = write_files(folder.path(), &[70_000; 200], &mut Random::new(7));
    let items = paths.iter().map(|path| Item::new(path, ()));
    let (options, cancel) = (Options::default(), CancelToken::default());
    let run = || {
        hash_files(
            &Fsverity::default(),
            items,
            &options,
            &cancel,
            |_| -> Result<(), Stop> { panic!("as a test") },
        )
    };
    let panic = catch_unwind(AssertUnwindSafe(run)).unwrap_err();
    assert_eq!(panic.downcast_ref(), Some(&"as a test"));
    assert!(!cancel.is_cancelled(), "the caller's token is unchanged");
}
