//! The lock of the folder, which one program holds at a time.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;

use crate::error::StoreError;
use crate::file::MODE;

/// The name of the file that is locked.
pub(crate) const NAME: &str = "lock";

/// The lock of a folder, until it is dropped. The system releases it when the process ends, also after a kill.
#[derive(Debug)]
pub(crate) struct Lock(File);

impl Drop for Lock {
    /// Releases the lock now. Otherwise a child process that another thread is starting would hold it until it executes its
    /// program.
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

impl Lock {
    /// Locks the folder.
    pub(crate) fn of(folder: &Path) -> Result<Self, StoreError> {
        let path = folder.join(NAME);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).mode(MODE);
        options.custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed());
        let mut file = options.open(&path).map_err(StoreError::at(&path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(StoreError::InUse {
                    folder: folder.to_owned(),
                    process: holder(&mut file),
                });
            }
            Err(TryLockError::Error(error)) => return Err(StoreError::at(&path)(error)),
        }
        let mut write = || {
            file.set_len(0)?;
            writeln!(file, "{}", std::process::id())
        };
        write().map_err(StoreError::at(&path))?;
        Ok(Self(file))
    }
}

/// Returns the number of the process that holds the lock, which it writes after it has the lock.
fn holder(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.rewind().ok()?;
    file.take(16).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}
