//! Bytes on the disk that two files share.

#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;

use rustix::ioctl::{Opcode, Updater, opcode};

/// The head of `struct file_dedupe_range` (linux/fs.h).
#[repr(C)]
struct Head {
    src_offset: u64,
    src_length: u64,
    dest_count: u16,
    reserved1: u16,
    reserved2: u32,
}

/// `struct file_dedupe_range` with one `struct file_dedupe_range_info`.
#[repr(C)]
struct Request {
    head: Head,
    dest_fd: i64,
    dest_offset: u64,
    bytes_deduped: u64,
    status: i32,
    reserved: u32,
}

/// `FIDEDUPERANGE`, whose size is that of the head (`ioctl_fideduperange(2)`).
const FIDEDUPERANGE: Opcode = opcode::read_write::<Head>(0x94, 54);

/// `FILE_DEDUPE_RANGE_DIFFERS`.
const DIFFERS: i32 = 1;

/// Bytes to compare in one call. Btrfs takes at most as many.
const MAX_LEN: u64 = 16 << 20;

/// Lets a range of `file` share the bytes of the same range of `kept`, if they are equal. Returns the number of bytes that
/// are shared, which can be less than `len_bytes`, or `None` if the bytes differ.
pub(crate) fn share_range(
    kept: &File,
    file: &File,
    offset: u64,
    len_bytes: u64,
) -> io::Result<Option<u64>> {
    let mut request = Request {
        head: Head {
            src_offset: offset,
            src_length: len_bytes.min(MAX_LEN),
            dest_count: 1,
            reserved1: 0,
            reserved2: 0,
        },
        dest_fd: file.as_raw_fd().into(),
        dest_offset: offset,
        bytes_deduped: 0,
        status: 0,
        reserved: 0,
    };
    // SAFETY: `Request` has the layout of the kernel's structure with `dest_count` infos, and both descriptors are open as
    // long as the files are borrowed.
    unsafe { rustix::ioctl::ioctl(kept, Updater::<FIDEDUPERANGE, Request>::new(&mut request)) }
        .map_err(|error| match error {
            rustix::io::Errno::NOTTY | rustix::io::Errno::OPNOTSUPP => unsupported(),
            error => io::Error::from(error),
        })?;
    match request.status {
        DIFFERS => Ok(None),
        status if status < 0 => {
            let error = io::Error::from_raw_os_error(-status);
            // The kernel reports file systems that cannot share bytes by these two.
            let is_unsupported = matches!(-status, libc::EOPNOTSUPP | libc::EINVAL);
            Err(if is_unsupported { unsupported() } else { error })
        }
        _ => Ok(Some(request.bytes_deduped)),
    }
}

/// The error of a file system that cannot share bytes.
fn unsupported() -> io::Error {
    let reason = "the file system cannot share bytes between files";
    io::Error::new(io::ErrorKind::Unsupported, reason)
}
