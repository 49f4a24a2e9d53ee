//! Verification in a process with a low limit of open files.

use std::num::NonZeroUsize;
use std::process::Command;

use hashlane_verify::{IoMode, Options};

use crate::fixture::Fixture;
use crate::plan::Entry;

/// Set in the child process, which has few descriptors.
const IS_CHILD: &str = "HASHLANE_TEST_FEW_DESCRIPTORS";

/// Without a shared budget, the workers would open more files than the limit allows.
#[test]
fn a_low_limit_of_open_files_makes_nothing_unreadable() {
    if std::env::var_os(IS_CHILD).is_some() {
        return verify_many_files();
    }
    // The limit applies to the whole process, so the test runs in a child process.
    let script = r#"ulimit -n 48; exec "$0" "$@""#;
    let output = Command::new("sh")
        .args(["-c", script])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "--nocapture"])
        .arg("descriptors::a_low_limit_of_open_files_makes_nothing_unreadable")
        .env(IS_CHILD, "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}{errors}");
    assert!(text.contains("1 passed"), "{text}");
}

fn verify_many_files() {
    let names: Vec<String> = (0..1000).map(|i| i.to_string()).collect();
    let entries = |length| -> Vec<Entry> {
        let entries = names.iter().map(|name| Entry::file(name, length));
        entries.collect()
    };
    // Ten files in each piece, which are read; then one file per piece, which are mapped.
    verify_several_times(&Fixture::folder(&entries(100), 1000));
    verify_several_times(&Fixture::folder(&entries(4096), 4096));
}

fn verify_several_times(fixture: &Fixture) {
    for io in [IoMode::Auto, IoMode::Mmap, IoMode::Pread] {
        for n_threads in [1, 8, 16] {
            let options = Options {
                threads: NonZeroUsize::new(n_threads),
                io,
                ..Options::default()
            };
            for _ in 0..10 {
                let report = fixture.verify_with(&options);
                let first_error = report.files().iter().find_map(|file| file.error.as_ref());
                assert!(
                    report.is_complete(),
                    "{io:?}, {n_threads} threads: {first_error:?}"
                );
            }
        }
    }
}
