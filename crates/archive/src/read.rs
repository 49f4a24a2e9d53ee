//! Reads and hashes a batch of files side by side.

use std::io;
use std::path::{Path, PathBuf};

use hashlane_files::{ByteStream, SourceFile, Stamp};
use hashlane_pipeline::{
    CancelToken, FileFact, FileIndex, FileSet, Found, IoMode, MessageDigest, MessageResult,
    Options, WholeFiles, hash_messages,
};
use hashlane_sha::{Sha256, Sha256Digest};

use crate::error::Reason;
use crate::record::Record;

/// A file to read.
#[derive(Debug)]
pub(crate) struct Pending {
    /// The path below the folder of the archive.
    pub(crate) path: Vec<u8>,
    /// The path to open.
    pub(crate) place: PathBuf,
    /// The stamp before the file is read.
    pub(crate) stamp: Stamp,
    /// What the catalogue has.
    pub(crate) record: Option<Record>,
}

/// The result for a file.
#[derive(Debug)]
pub(crate) enum Content {
    /// The digest of a file that did not change while it was read.
    Digest(Sha256Digest),
    /// The file changed or vanished while it was read.
    Unstable,
    /// The file cannot be read.
    Unreadable(io::Error),
}

/// What `receive` of [`read`] gets.
pub(crate) enum Read<'b> {
    /// A file has been read.
    File(&'b Pending, Content),
    /// The system has not answered a read of a file for long.
    Silent(&'b Pending),
    /// Number of bytes read of unfinished files.
    Unfinished(u64),
}

/// Reads files, and passes on the content of each as soon as it is known. Files have no content if `cancel` is set. An error of
/// `receive` ends the work.
pub(crate) fn read(
    batch: &[Pending],
    options: &Options,
    cancel: &CancelToken,
    mut receive: impl FnMut(Read<'_>) -> Result<(), Reason>,
) -> Result<(), Reason> {
    Stamp::settle(batch.iter().map(|file| &file.stamp));
    // Files are read to their end, which no map can do.
    let io = match options.io {
        IoMode::Mmap => IoMode::Pread,
        io => io,
    };
    let stop = cancel.child();
    let mut failure = None;
    let messages = WholeFiles {
        count: batch.len() as u32,
    };
    let mut send = |read| {
        if failure.is_none()
            && let Err(reason) = receive(read)
        {
            failure = Some(reason);
            stop.cancel();
        }
    };
    let hasher = MessageDigest::<Sha256>::new;
    hash_messages(
        &messages,
        &Files(batch),
        hasher,
        &options.io(io),
        &stop,
        |results| {
            for file in results.silent {
                send(Read::Silent(&batch[file.get()]));
            }
            for MessageResult {
                message,
                len_bytes,
                digest,
                ..
            } in results.messages
            {
                // If there is no digest, a fact about the file has the reason.
                if let Ok(digest) = digest {
                    let file = &batch[message as usize];
                    let is_same = is_unchanged(file) && len_bytes == file.stamp.length();
                    let content = if is_same {
                        Content::Digest(digest)
                    } else {
                        Content::Unstable
                    };
                    send(Read::File(file, content));
                }
            }
            for FileFact { file, found, .. } in results.facts {
                let error = match found {
                    Found::Present(_) => continue,
                    Found::Skipped => io::ErrorKind::InvalidInput.into(),
                    Found::Absent(error) | Found::Failed { error, .. } => error,
                };
                let file = &batch[file.get()];
                let content = if is_unchanged(file) {
                    Content::Unreadable(error)
                } else {
                    Content::Unstable
                };
                send(Read::File(file, content));
            }
            send(Read::Unfinished(results.pending_bytes));
        },
    )?;
    failure.map_or(Ok(()), Err)
}

fn is_unchanged(file: &Pending) -> bool {
    Stamp::of_regular(&file.place).is_ok_and(|stamp| stamp == Some(file.stamp))
}

/// The files of a batch.
#[derive(Debug)]
struct Files<'b>(&'b [Pending]);

impl FileSet for Files<'_> {
    fn root(&self) -> &Path {
        self.0.first().map_or(Path::new(""), |file| &file.place)
    }

    fn path_of(&self, file: FileIndex) -> io::Result<PathBuf> {
        Ok(self.0[file.get()].place.clone())
    }

    /// Opens a file, unless it was replaced: a link could lead out of the archive.
    fn open_stream(&self, file: FileIndex) -> io::Result<Option<ByteStream>> {
        let file = &self.0[file.get()];
        let source = SourceFile::open(&file.place)?;
        if source.stamp()? != file.stamp {
            return Err(io::Error::other("changed while it was read"));
        }
        ByteStream::of_source(source).map(Some)
    }
}
