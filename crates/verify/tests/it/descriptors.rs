//! Verification in a process with a low limit of open files.

use std::fs::File;
use std::num::NonZeroUsize;

use hashlane_verify::{FileState, IoMode, Options};
use rustix::process::{Resource, Rlimit, setrlimit};

use crate::fixture::Fixture;
use crate::own_process::alone;
use crate::plan::Entry;

/// Without a shared budget, the workers would open more files than the limit allows.
#[test]
fn a_low_limit_of_open_files_makes_nothing_unreadable() {
    let name = "a_low_limit_of_open_files_makes_nothing_unreadable";
    with_few_descriptors(name, verify_many_files);
}

/// Without any descriptor, the files are unreadable for that reason, and not absent or wrong.
#[test]
fn files_that_no_descriptor_is_left_for_are_unreadable() {
    let name = "files_that_no_descriptor_is_left_for_are_unreadable";
    with_few_descriptors(name, verify_without_descriptors);
}

/// Runs a test in a process with a low limit.
#[track_caller]
fn with_few_descriptors(name: &str, test: impl FnOnce()) {
    alone(&format!("descriptors::{name}"), || {
        let limit = Rlimit {
            current: Some(48),
            maximum: Some(48),
        };
        setrlimit(Resource::Nofile, limit).expect("a lower limit");
        test();
    });
}

fn verify_without_descriptors() {
    let entries = ["a", "b"].map(|name| Entry::file(name, 100));
    let fixture = Fixture::folder(&entries, 100);
    let mut taken = Vec::new();
    let full = loop {
        match File::open("/dev/null") {
            Ok(file) => taken.push(file),
            Err(error) => break error,
        }
    };
    let report = fixture.verify_with(&Options::default());
    drop(taken);
    for file in report.files() {
        assert_eq!(file.state, FileState::Unreadable);
        let error = file.error.as_ref().expect("the reason is reported");
        assert_eq!(error.error.raw_os_error(), full.raw_os_error());
    }
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
            let options = Options::default().threads(NonZeroUsize::new(n_threads));
            let options = options.io(io).allow_signal_handler();
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
