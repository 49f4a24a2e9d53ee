//! The end of all writing of a torrent, after which its files can be deleted.

use std::io;
use std::ops::Deref;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, TryLockError};

use hashlane_files::WritableRoot;

/// Whether files may be created and written to. Operations that do so hold a lock.
#[derive(Debug, Default)]
pub(crate) struct Writing {
    has_ended: RwLock<bool>,
}

/// The folder of a download, for as long as an operation changes files.
#[derive(Debug)]
pub(crate) struct Writable<'w> {
    root: &'w WritableRoot,
    _not_ended: RwLockReadGuard<'w, bool>,
}

impl Deref for Writable<'_> {
    type Target = WritableRoot;

    fn deref(&self) -> &WritableRoot {
        self.root
    }
}

impl Writing {
    /// Returns the folder for an operation. Never waits: an operation can contain another one, or hold another lock.
    pub(crate) fn of<'w>(&'w self, root: &'w WritableRoot) -> io::Result<Writable<'w>> {
        let ended = || io::Error::other("the torrent was removed");
        let not_ended = match self.has_ended.try_read() {
            Ok(lock) => lock,
            Err(TryLockError::Poisoned(lock)) => lock.into_inner(),
            // Only the end locks out others.
            Err(TryLockError::WouldBlock) => return Err(ended()),
        };
        if *not_ended {
            return Err(ended());
        }
        Ok(Writable {
            root,
            _not_ended: not_ended,
        })
    }

    /// Waits for the running operations, and refuses further ones.
    pub(crate) fn end(&self) {
        let has_ended = self.has_ended.write();
        *has_ended.unwrap_or_else(PoisonError::into_inner) = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn the_end_waits_for_operations_and_refuses_further_ones() {
        let folder = tempfile::tempdir().unwrap();
        let root = WritableRoot::create(folder.path()).unwrap();
        let writing = Writing::default();
        let (done, ended) = mpsc::channel();
        std::thread::scope(|scope| {
            let running = writing.of(&root).unwrap();
            assert!(writing.of(&root).is_ok());
            scope.spawn(|| {
                writing.end();
                done.send(()).unwrap();
            });
            // An operation inside another one is refused at once, and does not wait for the end.
            while writing.of(&root).is_ok() {
                std::thread::yield_now();
            }
            assert!(ended.try_recv().is_err());
            drop(running);
            ended.recv().unwrap();
        });
        assert!(writing.of(&root).is_err());
    }
}
