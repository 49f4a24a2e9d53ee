//! Reads and writes at a position of a file, which change no position that others share with it.

use std::fs::File;
use std::io;

use crate::sys;

/// Fills `buffer` with the bytes from `offset` on. Returns the number of bytes, which is less than the length of `buffer` only
/// at the end of the file.
///
/// Threads can read from one file at the same time, which `seek` and `read` do not allow.
///
/// # Errors
/// The system's error. `buffer` may have been written to.
pub fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match sys::read_at(file, &mut buffer[filled..], offset + filled as u64) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// Fills `buffer` with the bytes from `offset` on.
///
/// # Errors
/// The system's error; `UnexpectedEof` if the file ends before the buffer is full. `buffer` may have been written to.
pub fn read_exact_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    if read_at(file, buffer, offset)? < buffer.len() {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(())
}

/// Writes all of `bytes` from `offset` on.
///
/// # Errors
/// The system's error. A part of `bytes` may have been written.
pub fn write_all_at(file: &File, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match sys::write_at(file, bytes, offset) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(n) => {
                bytes = &bytes[n..];
                offset += n as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
