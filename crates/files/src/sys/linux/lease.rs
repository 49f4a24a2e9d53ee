//! Finds out whether a program has a file open for writing.

#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;

use crate::file::Writers;

/// Command of `fcntl(2)` that chooses the signal of a broken lease (`F_SETSIG` in linux/fcntl.h).
const F_SETSIG: libc::c_int = 10;

/// File systems whose files other machines or programs change unseen (linux/magic.h): NFS, SMB, CIFS, SMB 2, FUSE, 9P,
/// Ceph and AFS.
const REMOTE: [u32; 8] = [
    0x6969,
    0x517b,
    0xff53_4d42,
    0xfe53_4d42,
    0x6573_5546,
    0x0102_1997,
    0x00c3_6400,
    0x5346_414f,
];

/// Takes a read lease on a file that is open for reading only, and gives it back. The system refuses the lease if any
/// descriptor or memory map can write to the file (`F_SETLEASE` in fcntl(2)).
pub(crate) fn writers(file: &File) -> Writers {
    #[allow(
        clippy::cast_sign_loss,
        reason = "the type depends on the system, and the values have 32 bits"
    )]
    let is_remote = rustix::fs::fstatfs(file).map(|it| REMOTE.contains(&(it.f_type as u32)));
    if is_remote.unwrap_or(true) {
        return Writers::Unknown;
    }
    let fcntl = |command, argument: libc::c_int| {
        // SAFETY: the descriptor is open as long as `file` is borrowed, and both commands take an integer.
        let result = unsafe { libc::fcntl(file.as_raw_fd(), command, argument) };
        if result == -1 {
            Err(io::Error::last_os_error())
        } else {
            Ok(())
        }
    };
    // A program that opens the file for writing while the lease exists waits, and breaks the lease by a signal. The
    // default signal would end this process. SIGURG is ignored unless a handler is installed.
    let lease = fcntl(F_SETSIG, libc::SIGURG).and_then(|()| fcntl(libc::F_SETLEASE, libc::F_RDLCK));
    match lease {
        Ok(()) => {
            // Closing the file would also end the lease.
            let _ = fcntl(libc::F_SETLEASE, libc::F_UNLCK);
            Writers::None
        }
        Err(error) if error.raw_os_error() == Some(libc::EAGAIN) => Writers::Some,
        Err(_) => Writers::Unknown,
    }
}
