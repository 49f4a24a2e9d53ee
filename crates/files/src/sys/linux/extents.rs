//! The place of a file on its disk (`FS_IOC_FIEMAP`, Documentation/filesystems/fiemap.rst of Linux).

#![allow(unsafe_code)]

use std::fs::File;
use std::io;

use rustix::ioctl::{Opcode, Updater, ioctl, opcode};

use crate::file::DiskExtent;

/// Number of extents of one request.
const PER_REQUEST: usize = 32;

/// Maximum number of requests for a file: 4,096 extents.
const MAX_REQUESTS: usize = 128;

/// The extent is the last one of the file.
const LAST: u32 = 0x1;

/// Other files use the same bytes of the disk.
const SHARED: u32 = 0x2000;

/// The file system joined adjacent extents.
const MERGED: u32 = 0x1000;

/// Flag of a request: the system writes bytes to the disk first that are only in memory.
const SYNC: u32 = 0x1;

/// The place of the bytes is not known (`FIEMAP_EXTENT_UNKNOWN`), for example because they are not written yet.
const UNKNOWN: u32 = 0x2;

/// `struct fiemap` of linux/fiemap.h, without its extents.
#[repr(C)]
struct Header {
    start: u64,
    length: u64,
    flags: u32,
    mapped_extents: u32,
    extent_count: u32,
    reserved: u32,
}

/// `struct fiemap_extent` of linux/fiemap.h.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Extent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved_64: [u64; 2],
    flags: u32,
    reserved: [u32; 3],
}

#[repr(C)]
struct Request {
    header: Header,
    extents: [Extent; PER_REQUEST],
}

/// The number of the request has the length of the header alone.
const FIEMAP: Opcode = opcode::read_write::<Header>(b'f', 11);

/// Returns the extents of a file. Adjacent ones are joined.
pub(crate) fn disk_extents(file: &File) -> io::Result<Vec<DiskExtent>> {
    let mut all = Vec::new();
    each(file, 0, |extent| {
        if extent.flags & UNKNOWN == 0 {
            push(&mut all, extent);
        }
    })?;
    Ok(all)
}

/// Returns the extents of a file if all of its bytes are shared with other files, and `None` otherwise.
pub(crate) fn shared_extents(file: &File) -> io::Result<Option<Vec<DiskExtent>>> {
    let ask = |flags| {
        let (mut all, mut are_shared) = (Vec::new(), true);
        let is_complete = each(file, flags, |extent| {
            // Any other flag means that the place does not determine the bytes. Btrfs reports the same place for all parts of
            // a compressed extent.
            are_shared &= extent.flags & !(LAST | MERGED) == SHARED;
            push(&mut all, extent);
        })?;
        Ok((is_complete && are_shared && !all.is_empty()).then_some(all))
    };
    // Few files share their bytes: nothing is written for the others. Bytes that are only in memory are not shared any more,
    // although the places on the disk are, until they are written.
    match ask(0)? {
        Some(_) => ask(SYNC),
        None => Ok(None),
    }
}

/// Calls `visit` with each extent of a file. Returns `false` if the file has more extents than are asked for.
fn each(file: &File, flags: u32, mut visit: impl FnMut(&Extent)) -> io::Result<bool> {
    let mut start = 0;
    for _ in 0..MAX_REQUESTS {
        let mut request = Request {
            header: Header {
                start,
                length: u64::MAX - start,
                flags,
                mapped_extents: 0,
                extent_count: PER_REQUEST as u32,
                reserved: 0,
            },
            extents: [Extent::default(); PER_REQUEST],
        };
        // SAFETY: the system writes at most `extent_count` extents, for which `request` has room, and any bytes are valid
        // values of both structures.
        unsafe { ioctl(file, Updater::<FIEMAP, _>::new(&mut request))? };
        let n = (request.header.mapped_extents as usize).min(PER_REQUEST);
        request.extents[..n].iter().for_each(&mut visit);
        let Some(last) = request.extents[..n].last() else {
            return Ok(true);
        };
        if last.flags & LAST != 0 {
            return Ok(true);
        }
        let next = last.logical.saturating_add(last.length);
        if next <= start {
            return Ok(false);
        }
        start = next;
    }
    Ok(false)
}

/// Adds an extent, or extends the last one.
fn push(all: &mut Vec<DiskExtent>, extent: &Extent) {
    if let Some(last) = all.last_mut()
        && last.offset.checked_add(last.len_bytes) == Some(extent.logical)
        && last.on_disk.checked_add(last.len_bytes) == Some(extent.physical)
    {
        last.len_bytes = last.len_bytes.saturating_add(extent.length);
        return;
    }
    all.push(DiskExtent {
        offset: extent.logical,
        on_disk: extent.physical,
        len_bytes: extent.length,
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::not_run::not_run;

    #[test]
    fn structures_have_the_lengths_of_the_system() {
        assert_eq!((size_of::<Header>(), size_of::<Extent>()), (32, 56));
    }

    /// The temporary folder can be on any file system, so only what holds for all is asserted.
    #[test]
    fn extents_are_in_order_and_within_the_file() {
        let file = tempfile::tempfile_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        std::os::unix::fs::FileExt::write_all_at(&file, &vec![1; 100_000], 1 << 20).unwrap();
        file.sync_all().unwrap();
        let extents = match disk_extents(&file) {
            Err(error) => {
                return not_run(
                    "extents of a file",
                    &format!("the file system has none ({error})"),
                    "use a checkout on ext4, XFS or Btrfs",
                );
            }
            Ok(extents) => extents,
        };
        assert!(!extents.is_empty());
        let end = |extent: &DiskExtent| extent.offset + extent.len_bytes;
        assert!(
            extents
                .windows(2)
                .all(|pair| end(&pair[0]) <= pair[1].offset)
        );
        assert!(extents[0].offset <= 1 << 20, "{extents:?}");
        assert!(
            end(extents.last().unwrap()) >= (1 << 20) + 100_000,
            "{extents:?}"
        );
        assert!(extents.iter().all(|extent| extent.on_disk > 0));
    }
}
