//! Verification of some pieces, and of content that is not on the disk.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::thread::{self, ThreadId};

use hashlane_metainfo::{NewContent, Version};
use hashlane_verify::{
    CancelToken, Choice, Content, CreateError, FileState, HashProgress, Options, PieceState,
    ReadAt, Readers, Selection, SourceTree, Verification, hash_source_tree, hash_source_tree_on,
};

use crate::fixture::{Fixture, letters, noise};
use crate::plan::{LEAF, PlannedTorrent};

const VERSIONS: [Version; 3] = [Version::V1, Version::V2, Version::Hybrid];

/// A file of three pieces, and one of two.
fn plan(version: Version) -> PlannedTorrent {
    PlannedTorrent::folder(version, LEAF)
        .file("a", noise(1, 3 * LEAF))
        .file("b", noise(2, LEAF + 100))
}

#[test]
fn only_the_chosen_pieces_are_read() {
    for version in VERSIONS {
        let fixture = Fixture::of(&plan(version));
        let mut wrong = noise(1, 3 * LEAF);
        wrong[2 * LEAF] ^= 1;
        fixture.write("a", &wrong);
        let torrent = fixture.torrent();
        let content = Content::in_folder(&torrent, fixture.parent()).expect("the name is ASCII");
        for (pieces, states, file_states) in [
            (0..5, "hhbhh", [FileState::Partial, FileState::Whole]),
            (1..2, "-h---", [FileState::Partial, FileState::Unchecked]),
            (2..4, "--bh-", [FileState::Partial, FileState::Partial]),
            (5..9, "-----", [FileState::Unchecked, FileState::Unchecked]),
        ] {
            let mut last = None;
            let verification = Verification::new(&content).pieces(pieces.clone());
            let report = verification.run(|progress| last = Some(*progress));
            let report = report.expect("it can be done");
            assert_eq!(letters(&report), states, "{version:?} {pieces:?}");
            assert!(!report.is_cancelled());
            let found: Vec<FileState> = report.files().iter().map(|file| file.state).collect();
            assert_eq!(found, file_states, "{version:?} {pieces:?}");
            if let Some(last) = last {
                assert_eq!(last.hashed_bytes, last.total_bytes);
            }
        }
    }
}

#[test]
fn pieces_with_one_hash_are_read_together() {
    let fixture = Fixture::of(&plan(Version::V2).without_layers());
    let torrent = fixture.torrent();
    let content = Content::in_folder(&torrent, fixture.parent()).expect("the name is ASCII");
    let report = Verification::new(&content).pieces(1..2).run(|_| ());
    assert_eq!(letters(&report.expect("it can be done")), "hhh--");
}

/// Content that is read in short parts, from an object that fails at an offset.
struct Object<'b> {
    bytes: &'b [u8],
    fails_at: u64,
}

impl ReadAt for Object<'_> {
    fn len_bytes(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let n = buffer.len().min(1000);
        if (offset..offset + n as u64).contains(&self.fails_at) {
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        self.bytes.read_at(&mut buffer[..n], offset)
    }
}

#[test]
fn content_need_not_be_on_the_disk() {
    for version in VERSIONS {
        let fixture = Fixture::of(&plan(version));
        let torrent = fixture.torrent();
        let contents = [noise(1, 3 * LEAF), noise(2, LEAF + 100)];
        // Nothing is read from the disk.
        fs::remove_dir_all(fixture.parent()).expect("the folder can be removed");
        // A hybrid torrent has padding, so files are numbered by their lengths.
        let verify = |fails_at: u64, absent: Option<usize>, threads: usize| {
            let files = Readers::new(|file| {
                let length = torrent.file(file.get()).length() as usize;
                let index = usize::from(length != 3 * LEAF);
                if absent == Some(index) {
                    return Err(io::ErrorKind::NotFound.into());
                }
                Ok(Box::new(Object {
                    bytes: &contents[index],
                    fails_at: if index == 0 { fails_at } else { u64::MAX },
                }))
            });
            let options = Options::default().threads(NonZeroUsize::new(threads));
            let report = Verification::of(&torrent, &files)
                .options(options)
                .run(|_| ());
            report.expect("it can be done")
        };
        for threads in [1, 3] {
            let report = verify(u64::MAX, None, threads);
            assert_eq!(letters(&report), "hhhhh", "{version:?}");
            assert!(report.is_complete());
            let report = verify(LEAF as u64 + 5, None, threads);
            assert_eq!(letters(&report), "hxhhh", "{version:?}");
            let error = report.files()[0].error.as_ref().expect("it is reported");
            assert_eq!(error.error.kind(), io::ErrorKind::ConnectionReset);
            let report = verify(u64::MAX, Some(1), threads);
            assert_eq!(letters(&report), "hhhmm", "{version:?}");
            assert_eq!(report.files()[1].state, FileState::Missing);
        }
    }
}

#[test]
fn a_dropped_guard_cancels() {
    let fixture = Fixture::of(&plan(Version::V1));
    let torrent = fixture.torrent();
    let content = Content::in_folder(&torrent, fixture.parent()).expect("the name is ASCII");
    let cancel = CancelToken::default();
    drop(cancel.cancel_on_drop());
    let report = Verification::new(&content).cancel(&cancel).run(|_| ());
    let report = report.expect("it can be done");
    assert!(report.is_cancelled());
    assert!(
        report
            .pieces()
            .iter()
            .all(|state| *state == PieceState::Unchecked)
    );
}

/// Calls the work on this many threads, and notes them.
fn on_counted_threads(
    n_calls: usize,
    threads: &Mutex<HashSet<ThreadId>>,
) -> impl FnOnce(&(dyn Fn() + Sync)) {
    move |work| {
        let noted = || {
            let mut threads = threads.lock().expect("no thread panics");
            threads.insert(thread::current().id());
            drop(threads);
            work();
        };
        thread::scope(|scope| (0..n_calls).for_each(|_| drop(scope.spawn(noted))));
    }
}

#[test]
fn threads_of_the_caller_verify_and_hash() {
    for version in VERSIONS {
        let fixture = Fixture::of(&plan(version));
        let mut wrong = noise(1, 3 * LEAF);
        wrong[2 * LEAF] ^= 1;
        fixture.write("a", &wrong);
        let torrent = fixture.torrent();
        let content = Content::in_folder(&torrent, fixture.parent()).expect("the name is ASCII");
        for n_calls in [0, 1, 3] {
            let (threads, reporters) = (Mutex::default(), Mutex::new(HashSet::new()));
            let options = Options::default().threads(NonZeroUsize::new(2));
            let mut last = None;
            let report = Verification::new(&content).options(options).run_on(
                on_counted_threads(n_calls, &threads),
                |progress| {
                    reporters.lock().unwrap().insert(thread::current().id());
                    last = Some(*progress);
                },
            );
            let report = report.expect("it can be done");
            assert_eq!(letters(&report), "hhbhh", "{version:?} {n_calls}");
            let last = last.expect("the end is reported");
            assert_eq!(last.hashed_bytes, last.total_bytes);
            let threads: HashSet<_> = threads.into_inner().unwrap();
            assert_eq!(threads.len(), n_calls);
            let reporters = reporters.into_inner().unwrap();
            let own = HashSet::from([thread::current().id()]);
            let expected = if n_calls == 0 { &own } else { &threads };
            assert!(reporters.is_subset(expected), "only these threads work");
        }
    }
}

#[test]
fn threads_of_the_caller_hash_new_content() {
    let folder = tempfile::tempdir().expect("the folder is created");
    for (name, bytes) in [("a", noise(1, 3 * LEAF)), ("b", noise(2, LEAF + 100))] {
        fs::write(folder.path().join(name), bytes).expect("the file is written");
    }
    let selection = Selection::new(&|_| Choice::Take);
    let tree = SourceTree::find(folder.path(), &selection, false).expect("there are files");
    for version in VERSIONS {
        let content = NewContent::new(version, LEAF as u32, b"n".to_vec(), false, tree.files());
        let content = content.expect("the content is valid");
        let (options, cancel) = (Options::default(), CancelToken::default());
        let expected = hash_source_tree(&tree, &content, &options, &cancel, &mut |_| ());
        let expected = expected.expect("the files can be read");
        let (threads, mut last) = (Mutex::default(), None);
        let on_threads = on_counted_threads(2, &threads);
        let progress = |progress: &HashProgress| last = Some(*progress);
        let hashes = hash_source_tree_on(&tree, &content, &options, &cancel, on_threads, progress);
        assert_eq!(
            hashes.expect("the files can be read"),
            expected,
            "{version:?}"
        );
        let last = last.expect("the end is reported");
        assert_eq!(last.hashed_bytes, last.total_bytes);
        cancel.cancel();
        let on_threads = on_counted_threads(1, &threads);
        let hashes = hash_source_tree_on(&tree, &content, &options, &cancel, on_threads, |_| ());
        assert!(matches!(hashes, Err(CreateError::Cancelled)));
    }
}
