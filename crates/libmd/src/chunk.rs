//! Reads a part of a file into a context.

use std::ffi::{CStr, OsStr};
use std::fs::File;
use std::io::{ErrorKind, Read as _, Result, Seek as _, SeekFrom};
use std::os::unix::ffi::OsStrExt as _;

use crate::context::Context;

/// Length of the buffer in bytes. It is on the stack, as in libmd, because the C functions cannot
/// report a lack of memory.
const BUFFER_LEN: usize = 16 * 1024;

/// Returns the context of `length` bytes of a file from `offset` on. The part ends at the end of
/// the file at the latest, and extends to it if `length` is 0 or negative. A negative offset counts
/// as 0.
pub(crate) fn read<C: Context>(name: &CStr, offset: libc::off_t, length: libc::off_t) -> Result<C> {
    let mut file = File::open(OsStr::from_bytes(name.to_bytes()))?;
    match u64::try_from(offset) {
        Ok(0) | Err(_) => {}
        Ok(offset) => _ = file.seek(SeekFrom::Start(offset))?,
    }
    let length = u64::try_from(length).ok().filter(|length| *length > 0);
    let mut file = file.take(length.unwrap_or(u64::MAX));
    let mut context = C::initial();
    let mut buffer = [0; BUFFER_LEN];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(context),
            Ok(n_read) => context.update(&buffer[..n_read]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
