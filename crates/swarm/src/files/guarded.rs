//! Files that may belong to the user: their bytes of the torrent are staged, and then compared. A file that differs is renamed
//! and replaced.

use std::io;
use std::path::{Path, PathBuf};

use hashlane_files::is_out_of_descriptors;
use hashlane_verify::FileIndex;

use super::{COPY_LEN, TorrentFiles, lock, unrelated};
use crate::guard::{IfDifferent, Replaced, Staging};

impl TorrentFiles {
    /// Guards a file: writes to these parts, each of one piece, are staged, and reads return the staged bytes.
    pub(crate) fn guard(
        &self,
        index: FileIndex,
        parts: impl IntoIterator<Item = (u64, u64)>,
        if_different: IfDifferent,
    ) {
        lock(&self.guard).add(index.get(), parts, if_different);
    }

    pub(crate) fn is_guarded(&self, index: FileIndex) -> bool {
        lock(&self.guard).get(index.get()).is_some()
    }

    /// Compares a guarded file with its staged bytes, after the piece with the byte at `offset` was found right. A file
    /// with other bytes is renamed and replaced, if that is permitted.
    pub(crate) fn settle(&self, index: FileIndex, offset: u64) -> io::Result<()> {
        let result = self.settle_part(index, offset);
        self.keep_failure(index, result)
    }

    fn settle_part(&self, index: FileIndex, offset: u64) -> io::Result<()> {
        let (part, if_different, is_gone) = {
            let mut guard = lock(&self.guard);
            let Some(part) = guard.staged(index.get(), offset) else {
                return Ok(());
            };
            let file = guard.get(index.get()).expect("it has a part");
            (part, file.if_different, file.is_gone)
        };
        // The user can have exchanged the file.
        self.open.remove(&index);
        if !is_gone && self.is_equal(index, part.offset, part.len_bytes)? {
            lock(&self.guard).unstage(index.get(), offset);
            return Ok(());
        }
        match if_different {
            IfDifferent::Rename if !self.is_elsewhere(index) => self.replace(index.get()),
            IfDifferent::Rename | IfDifferent::Fail => Err(unrelated()),
            IfDifferent::Keep => Ok(()),
        }
    }

    /// Returns `true` if a guarded file has the staged bytes.
    fn is_equal(&self, index: FileIndex, offset: u64, len_bytes: u64) -> io::Result<bool> {
        let file = match self.to_read(index) {
            Err(error) if is_out_of_descriptors(&error) => return Err(error),
            // An absent file differs, and so does one that cannot be read: it is renamed, not changed.
            Err(_) => return Ok(false),
            Ok(file) => file,
        };
        let (mut staged, mut found) = (Vec::new(), Vec::new());
        for at in (offset..offset + len_bytes).step_by(COPY_LEN) {
            let n = (offset + len_bytes - at).min(COPY_LEN as u64) as usize;
            staged.resize(n, 0);
            found.resize(n, 0);
            self.read_staged(index.get(), &mut staged, at)?;
            let is_read = file.as_source().read_exact_at(&mut found, at).is_ok();
            if !is_read || staged != found {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Renames a guarded file, and makes a new one of its bytes and the staged ones. Continues where an earlier call failed
    /// for lack of a descriptor.
    fn replace(&self, index: usize) -> io::Result<()> {
        let path = &self.entries[index].path;
        let (kept_as, parts) = {
            let mut guard = lock(&self.guard);
            let file = guard.get_mut(index).expect("the file is guarded");
            if !file.is_gone {
                file.kept_as = self.rename_aside(path)?;
                file.is_gone = true;
                if let Some(kept_as) = &file.kept_as {
                    lock(&self.replaced).push(Replaced {
                        path: self.folder.join(path),
                        kept_as: self.folder.join(kept_as),
                    });
                }
            }
            (file.kept_as.clone(), file.parts.clone())
        };
        let to = self.open_to_write(index)?;
        let mut buffer = vec![0; COPY_LEN];
        if let Some(kept) = kept_as {
            // Other pieces of the file can be right. Bytes that cannot be read are in no such piece.
            let from = self.root().open_file(&kept)?;
            let len_bytes = from.len_bytes().min(to.as_source().len_bytes());
            for at in (0..len_bytes).step_by(COPY_LEN) {
                let n = (len_bytes - at).min(COPY_LEN as u64) as usize;
                if from.read_exact_at(&mut buffer[..n], at).is_ok() {
                    to.write_all_at(&buffer[..n], at)?;
                }
            }
        }
        for part in parts {
            if lock(&self.guard).staged(index, part.offset).is_none() {
                continue;
            }
            for at in (part.offset..part.offset + part.len_bytes).step_by(COPY_LEN) {
                let n = (part.offset + part.len_bytes - at).min(COPY_LEN as u64) as usize;
                self.read_staged(index, &mut buffer[..n], at)?;
                to.write_all_at(&buffer[..n], at)?;
            }
        }
        // A descriptor of the renamed file would serve bytes that are not of the torrent.
        self.open.remove(&FileIndex::new(index));
        lock(&self.guard).remove(index);
        Ok(())
    }

    /// Renames a file to the first free name of `NAME.replaced-1`, `NAME.replaced-2` and so on. Returns the new path, or
    /// `None` if the file is absent.
    fn rename_aside(&self, path: &Path) -> io::Result<Option<PathBuf>> {
        let root = self.writable_root()?;
        for n in 1_u32.. {
            let mut name = path.as_os_str().to_owned();
            name.push(format!(".replaced-{n}"));
            let kept = PathBuf::from(name);
            if self.entries.iter().any(|entry| entry.path == kept) {
                continue;
            }
            match root.rename_new(path, &kept) {
                Ok(()) => return Ok(Some(kept)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    fn read_staged(&self, index: usize, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        lock(&self.guard).read(index, buffer, offset, &self.staging()?)?;
        Ok(())
    }

    pub(super) fn staging(&self) -> io::Result<Staging<'_>> {
        Ok(Staging {
            root: self.writable_root()?,
            path: &self.staging_path,
            cache: &self.staging,
        })
    }

    /// Drops all staged bytes.
    pub(crate) fn discard_staged(&self) {
        if let Ok(staging) = self.staging() {
            lock(&self.guard).clean(true, &staging);
        }
    }

    pub(super) fn discard_own_staged(&self) {
        if lock(&self.guard).is_created() {
            self.discard_staged();
        }
    }
}
