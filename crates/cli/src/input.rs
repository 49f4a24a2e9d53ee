//! Files that a person names to be read once: lists, keys, maps and .torrent files, which can be pipes.

use std::fs::File;
use std::io::{self, Chain, Cursor, Read as _};
use std::path::Path;

/// A file from its start.
pub(crate) type Input = Chain<Cursor<Vec<u8>>, File>;

/// Opens a file. A named pipe that no program writes to is an error, because a read would never return.
pub(crate) fn open(path: &Path) -> io::Result<Input> {
    let file = open_file(path)?;
    let first = wait_for_writer(&file)?;
    Ok(Cursor::new(first).chain(file))
}

/// Opens a file without waiting for the writer of a named pipe.
pub(crate) fn open_file(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    }
    options.open(path)
}

/// Makes reads wait again, and returns the bytes that were read for that. Refuses a named pipe that no program writes to.
#[cfg(unix)]
pub(crate) fn wait_for_writer(mut file: &File) -> io::Result<Vec<u8>> {
    use std::os::unix::fs::FileTypeExt as _;
    let mut bytes = Vec::new();
    if file.metadata()?.file_type().is_fifo() {
        let mut first = [0];
        match file.read(&mut first) {
            Ok(0) => return Err(io::Error::other("is a pipe that no program writes to")),
            Ok(_) => bytes.extend(first),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    rustix::fs::fcntl_setfl(file, rustix::fs::OFlags::empty())?;
    Ok(bytes)
}

#[cfg(not(unix))]
pub(crate) fn wait_for_writer(_file: &File) -> io::Result<Vec<u8>> {
    Ok(Vec::new())
}
