//! Files that are on the disk are no longer in the page cache.

use std::fs;
use std::path::Path;

use hashlane_files::Root;

use crate::not_run::not_run;
use crate::own_process::alone;

/// Magic numbers of file systems whose pages can be dropped (statfs(2)).
const DISKS: [(&str, i64); 3] = [
    ("ext4", 0xef53),
    ("xfs", 0x5846_5342),
    ("btrfs", 0x9123_683e),
];

/// Returns the number of bytes that this process has read from disks (`proc_pid_io(5)`). A read
/// that must not wait (`RWF_NOWAIT`) is no substitute: it starts to read ahead, and a fast disk
/// finishes before the call ends.
fn bytes_from_disk() -> Option<u64> {
    let io = fs::read_to_string("/proc/self/io").ok()?;
    let line = io
        .lines()
        .find_map(|line| line.strip_prefix("read_bytes: "));
    line?.parse().ok()
}

#[test]
fn a_synchronised_file_is_read_from_the_disk() {
    alone(
        "sync::a_synchronised_file_is_read_from_the_disk",
        synchronise,
    );
}

fn synchronise() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let kind = rustix::fs::statfs(folder.path()).unwrap().f_type;
    if !DISKS.iter().any(|(_, magic)| *magic == kind) {
        let names = DISKS.map(|(name, _)| name).join(", ");
        return not_run(
            "reads of a synchronised file from the disk",
            &format!("the file system {kind:#x} has no disk"),
            &format!("set CARGO_TARGET_DIR to a folder on one of {names}"),
        );
    }
    if bytes_from_disk().is_none() {
        return not_run(
            "reads of a synchronised file from the disk",
            "the kernel does not count the bytes that are read",
            "use a kernel with CONFIG_TASK_IO_ACCOUNTING",
        );
    }
    let names = ["a", "b"].map(Path::new);
    let paths = names.map(|name| folder.path().join(name));
    let bytes = vec![7; 1 << 20];
    for path in &paths {
        fs::write(path, &bytes).unwrap();
    }
    let root = Root::open(folder.path()).unwrap();
    for name in names {
        root.start_sync(name).unwrap();
    }
    for name in names {
        root.sync_file(name).unwrap();
    }
    root.sync_folder(Path::new("")).unwrap();
    for path in &paths {
        let read = || {
            let before = bytes_from_disk().unwrap();
            assert!(fs::read(path).unwrap() == bytes);
            bytes_from_disk().unwrap() - before
        };
        assert!(read() >= bytes.len() as u64, "{}", path.display());
        assert_eq!(read(), 0, "{}", path.display());
    }
}
