//! Maps of files that change.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

use hashlane_files::{MapArena, MappedBytes, Region, SourceFile};

use crate::not_run::not_run;

const PAGE: usize = 4096;

fn file_of(bytes: &[u8]) -> (tempfile::TempDir, std::path::PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    fs::write(&path, bytes).unwrap();
    (dir, path)
}

/// Maps bytes of a file of this test.
fn map(
    arena: &mut MapArena,
    file: &SourceFile,
    offset: u64,
    len_bytes: usize,
) -> io::Result<MappedBytes> {
    // SAFETY: the tests compare the bytes on this thread.
    unsafe { arena.map(file, offset, len_bytes) }
}

fn numbered(n_bytes: usize) -> Vec<u8> {
    (0..n_bytes).map(|i| (i / PAGE + i) as u8).collect()
}

#[test]
fn windows_show_the_bytes_of_the_file() {
    let bytes = numbered(10 * PAGE + 100);
    let (_dir, path) = file_of(&bytes);
    let file = SourceFile::open(&path).unwrap();
    let mut arena = MapArena::new(64 * PAGE).unwrap();
    let first = map(&mut arena, &file, 5, 3 * PAGE).unwrap();
    let last = map(&mut arena, &file, 9 * PAGE as u64 - 1, PAGE + 101).unwrap();
    let none = map(&mut arena, &file, 0, 0).unwrap();
    assert_eq!(arena.bytes(first), &bytes[5..3 * PAGE + 5]);
    assert_eq!(arena.bytes(last), &bytes[9 * PAGE - 1..]);
    assert_eq!(arena.bytes(none), b"");
    assert!(arena.is_intact());
}

#[test]
fn a_file_that_shrinks_under_a_window_is_noticed() {
    let (_dir, path) = file_of(&numbered(8 * PAGE));
    let file = SourceFile::open(&path).unwrap();
    let mut arena = MapArena::new(8 * PAGE).unwrap();
    for round in 0..2 {
        let window = map(&mut arena, &file, 0, 8 * PAGE).unwrap();
        OpenOptions::new()
            .write(true)
            .open(&path)
            .unwrap()
            .set_len(3 * PAGE as u64)
            .unwrap();
        assert!(arena.is_intact(), "nothing was read yet");
        assert_eq!(
            arena.bytes(window)[..3 * PAGE],
            numbered(3 * PAGE),
            "round {round}"
        );
        assert_eq!(
            arena.bytes(window)[3 * PAGE..],
            vec![0; 5 * PAGE],
            "round {round}"
        );
        assert!(!arena.is_intact(), "round {round}");
        fs::write(&path, numbered(8 * PAGE)).unwrap();
        arena.reset();
        assert!(arena.is_intact());
    }
}

#[test]
fn mapping_beyond_the_end_is_an_error() {
    let (_dir, path) = file_of(&numbered(PAGE + 1));
    let file = SourceFile::open(&path).unwrap();
    let mut arena = MapArena::new(64 * PAGE).unwrap();
    let error = map(&mut arena, &file, 0, 3 * PAGE).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    assert!(arena.is_intact());
}

#[test]
fn an_arena_holds_no_more_than_its_size() {
    let (_dir, path) = file_of(&numbered(8 * PAGE));
    let file = SourceFile::open(&path).unwrap();
    let mut arena = MapArena::new(4 * PAGE).unwrap();
    map(&mut arena, &file, 1, 3 * PAGE).unwrap();
    assert_eq!(
        map(&mut arena, &file, 0, 1).unwrap_err().kind(),
        io::ErrorKind::StorageFull
    );
    arena.reset();
    map(&mut arena, &file, 0, 4 * PAGE).unwrap();
}

/// A length that wraps around the address space must not become a window of one page.
#[test]
fn lengths_that_overflow_are_refused() {
    let (_dir, path) = file_of(&numbered(PAGE));
    let file = SourceFile::open(&path).unwrap();
    let mut arena = MapArena::new(4 * PAGE).unwrap();
    for len_bytes in [usize::MAX, usize::MAX - 5, usize::MAX - PAGE + 1] {
        for offset in [0, 10, PAGE as u64 - 1] {
            let error = map(&mut arena, &file, offset, len_bytes).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        }
    }
    let error = MapArena::new(usize::MAX - 5).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::OutOfMemory);
}

#[test]
#[should_panic(expected = "before the last reset")]
fn a_window_does_not_outlive_a_reset() {
    let (_dir, path) = file_of(&numbered(PAGE));
    let file = SourceFile::open(&path).unwrap();
    let mut arena = MapArena::new(PAGE).unwrap();
    let window = map(&mut arena, &file, 0, PAGE).unwrap();
    arena.reset();
    arena.bytes(window);
}

#[test]
#[should_panic(expected = "another arena")]
fn a_window_belongs_to_one_arena() {
    let (_dir, path) = file_of(&numbered(PAGE));
    let file = SourceFile::open(&path).unwrap();
    let mut first = MapArena::new(PAGE).unwrap();
    let window = map(&mut first, &file, 0, PAGE).unwrap();
    drop(first);
    let mut second = MapArena::new(PAGE).unwrap();
    map(&mut second, &file, 0, PAGE).unwrap();
    second.bytes(window);
}

#[test]
fn a_thread_has_one_arena() {
    let arena = MapArena::new(PAGE).unwrap();
    assert_eq!(
        MapArena::new(PAGE).unwrap_err().kind(),
        io::ErrorKind::ResourceBusy
    );
    std::thread::spawn(|| drop(MapArena::new(PAGE).unwrap()))
        .join()
        .unwrap();
    drop(arena);
    MapArena::new(PAGE).unwrap();
}

#[test]
fn holes_are_found() {
    const MIB: u64 = 1 << 20;
    let (_dir, path) = file_of(b"");
    let mut file = File::create(&path).unwrap();
    file.set_len(10 * MIB).unwrap();
    io::Seek::seek(&mut file, io::SeekFrom::Start(4 * MIB)).unwrap();
    file.write_all(&vec![1; 1 << 20]).unwrap();
    let file = SourceFile::open(&path).unwrap();
    let hole = |range| Region {
        range,
        is_hole: true,
    };
    let data = |range| Region {
        range,
        is_hole: false,
    };
    if file.region_at(0).is_hole {
        assert_eq!(file.region_at(0), hole(0..4 * MIB));
        assert_eq!(file.region_at(MIB), hole(MIB..4 * MIB));
        assert_eq!(file.region_at(4 * MIB + 5), data(4 * MIB + 5..5 * MIB));
        assert_eq!(file.region_at(5 * MIB), hole(5 * MIB..10 * MIB));
        assert!(!file.region_at(10 * MIB).is_hole);
    } else {
        not_run(
            "holes of a file",
            "the file system keeps none",
            "set TMPDIR to a folder on ext4, XFS, Btrfs or tmpfs",
        );
    }
}

/// No data follows the end of a truncated file, but the rest is not a hole. Otherwise a missing
/// piece of zeros would be accepted.
#[test]
fn a_truncated_end_is_not_a_hole() {
    let (_dir, path) = file_of(&numbered(8 * PAGE));
    let file = SourceFile::open(&path).unwrap();
    File::options()
        .write(true)
        .open(&path)
        .unwrap()
        .set_len(2 * PAGE as u64)
        .unwrap();
    for offset in [2 * PAGE as u64, 4 * PAGE as u64] {
        assert!(!file.region_at(offset).is_hole, "{offset}");
    }
}

#[test]
fn only_regular_files_are_opened() {
    let (dir, path) = file_of(b"abc");
    assert_eq!(
        SourceFile::open(dir.path()).unwrap_err().kind(),
        io::ErrorKind::IsADirectory
    );
    let missing = dir.path().join("missing");
    assert_eq!(
        SourceFile::open(&missing).unwrap_err().kind(),
        io::ErrorKind::NotFound
    );
    let device = SourceFile::open(Path::new("/dev/null")).unwrap_err();
    assert_eq!(device.to_string(), "not a regular file");
    // A named pipe without a writer must not block.
    let pipe = dir.path().join("pipe");
    let made = std::process::Command::new("mkfifo")
        .arg(&pipe)
        .status()
        .unwrap();
    assert!(made.success());
    assert_eq!(
        SourceFile::open(&pipe).unwrap_err().to_string(),
        "not a regular file"
    );

    let file = SourceFile::open(&path).unwrap();
    let mut buffer = [0; 5];
    assert_eq!(file.read_at(&mut buffer, 1).unwrap(), 2);
    assert_eq!(&buffer[..2], b"bc");
    assert_eq!(file.len_bytes(), 3);
}
