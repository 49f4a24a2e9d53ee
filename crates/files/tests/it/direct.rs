//! Reads past the page cache.
#![allow(unsafe_code)]

use std::fs;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use hashlane_files::{DIRECT_UNIT, DirectQueue, DirectRead, SourceFile};

use crate::not_run::not_run;
use crate::own_process::alone;

/// Length of the file. Its last unit is not full.
const LEN: usize = 100 * DIRECT_UNIT + 17;

/// A file on a disk, its content, and a queue.
struct Disk {
    _folder: tempfile::TempDir,
    path: PathBuf,
    content: Vec<u8>,
}

impl Disk {
    fn new() -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let path = folder.path().join("file");
        let content: Vec<u8> = (0..LEN).map(|i| (i / 7 % 251) as u8).collect();
        fs::write(&path, &content).unwrap();
        fs::File::open(&path).unwrap().sync_all().unwrap();
        Self {
            _folder: folder,
            path,
            content,
        }
    }

    fn open(&self) -> SourceFile {
        SourceFile::open(&self.path).unwrap()
    }
}

/// Returns a queue, or reports that this system has none.
fn queue() -> Option<DirectQueue> {
    let queue = DirectQueue::new();
    if let Err(error) = &queue {
        not_run(
            "reads past the page cache",
            &format!("io_uring is not allowed ({error})"),
            "allow the system calls io_uring_*",
        );
    }
    queue.ok()
}

/// Returns a buffer, and the place at which its units begin.
fn buffer(n_units: usize) -> (Vec<u8>, usize) {
    let buffer = vec![0; (n_units + 1) * DIRECT_UNIT];
    let start = buffer.as_ptr().align_offset(DIRECT_UNIT);
    (buffer, start)
}

#[test]
fn more_reads_than_the_queue_has_places_for() {
    let (disk, Some(mut queue)) = (Disk::new(), queue()) else {
        return;
    };
    let file = disk.open();
    let (mut buffer, start) = buffer(101);
    let unit = |i: usize| start + i * DIRECT_UNIT..start + (i + 1) * DIRECT_UNIT;
    let reads: Vec<_> = (0..101)
        .map(|i| DirectRead {
            file: &file,
            offset: (i * DIRECT_UNIT) as u64,
            part: unit(i),
        })
        .collect();
    let lengths = queue.read(&mut buffer, &reads);
    if lengths[0] == 0 {
        return not_run(
            "reads past the page cache",
            "the file system has none",
            "set CARGO_TARGET_DIR to a folder on ext4, XFS or Btrfs",
        );
    }
    assert_eq!(lengths[..100], [DIRECT_UNIT; 100]);
    assert_eq!(lengths[100], 17);
    assert!(buffer[start..start + LEN] == disk.content[..]);
    // The file is as before: any read is allowed.
    let mut byte = [0];
    file.read_at(&mut byte, 5).unwrap();
    assert_eq!(byte[0], disk.content[5]);
}

#[test]
fn a_part_outside_of_the_buffer_is_refused_before_anything_is_read() {
    let (disk, Some(mut queue)) = (Disk::new(), queue()) else {
        return;
    };
    let file = disk.open();
    let (mut first, start) = buffer(32);
    for outside in [
        usize::MAX - 4096..usize::MAX,
        0..first.len() + 1,
        Range { start: 9, end: 8 },
    ] {
        let reads = [
            DirectRead {
                file: &file,
                offset: 0,
                part: start..start + 32 * DIRECT_UNIT,
            },
            DirectRead {
                file: &file,
                offset: 0,
                part: outside,
            },
        ];
        catch_unwind(AssertUnwindSafe(|| queue.read(&mut first, &reads))).unwrap_err();
        assert!(first.iter().all(|byte| *byte == 0));
    }
    // A later call performs its own reads alone. Memory of the first buffer may have another owner by then.
    let (mut second, start) = buffer(1);
    let part = start..start + DIRECT_UNIT;
    queue.read(
        &mut second,
        &[DirectRead {
            file: &file,
            offset: 0,
            part,
        }],
    );
    assert!(first.iter().all(|byte| *byte == 0));
}

#[test]
fn a_system_without_the_calls_of_the_queue() {
    alone("direct::a_system_without_the_calls_of_the_queue", || {
        assert_reads_nothing_after(libc::EPERM);
    });
}

/// The system says for ever that it lacks memory.
#[test]
fn a_system_whose_temporary_error_lasts() {
    alone("direct::a_system_whose_temporary_error_lasts", || {
        assert_reads_nothing_after(libc::EAGAIN);
    });
}

/// Checks that a queue ends its reads when its calls fail with this error from now on.
fn assert_reads_nothing_after(errno: libc::c_int) {
    let (disk, Some(mut queue)) = (Disk::new(), queue()) else {
        return;
    };
    deny(libc::SYS_io_uring_enter, errno);
    DirectQueue::new().unwrap_err();
    let file = disk.open();
    let (mut buffer, start) = buffer(2);
    for _ in 0..2 {
        let part = start..start + DIRECT_UNIT;
        let reads = [0, DIRECT_UNIT as u64].map(|offset| DirectRead {
            file: &file,
            offset,
            part: part.clone(),
        });
        assert_eq!(queue.read(&mut buffer, &reads), [0, 0]);
    }
}

/// Makes a system call fail with this error from now on, as the filters of containers do with `EPERM` (seccomp(2)).
fn deny(call: libc::c_long, errno: libc::c_int) {
    let statement = |code: u32, k: u32| libc::sock_filter {
        code: code as u16,
        jt: 0,
        jf: 0,
        k,
    };
    let mut filter = [
        // The number of the call is the first word.
        statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0),
        libc::sock_filter {
            code: (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16,
            jt: 0,
            jf: 1,
            k: u32::try_from(call).unwrap(),
        },
        statement(
            libc::BPF_RET | libc::BPF_K,
            libc::SECCOMP_RET_ERRNO | errno.cast_unsigned(),
        ),
        statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog {
        len: 4,
        filter: filter.as_mut_ptr(),
    };
    // SAFETY: no argument is a pointer.
    let denied = unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
    assert_eq!(denied, 0);
    // SAFETY: the program and its filter outlive the call, which copies both.
    let denied = unsafe {
        libc::prctl(
            libc::PR_SET_SECCOMP,
            libc::SECCOMP_MODE_FILTER,
            &raw const program,
        )
    };
    assert_eq!(denied, 0);
}
