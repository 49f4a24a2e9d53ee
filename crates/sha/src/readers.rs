//! Messages that come from readers. Requires the feature `std`.

use std::io::{self, BufReader, Read};

use crate::algorithm::Algorithm;
use crate::engine::Engine;
use crate::hasher::{Sha1, Sha256};
use crate::queue::{Hashed, LaneQueue, Outcome};

/// Length of the part of a message that is read at once.
const PART_LEN: usize = 64 * 1024;

macro_rules! update_reader {
    ($name:ident) => {
        impl $name {
            /// Appends the bytes of `reader` up to its end to the message. Requires the feature
            /// `std`.
            ///
            /// # Errors
            /// The reader fails. The bytes before the error belong to the message then.
            pub fn update_reader(&mut self, reader: impl Read) -> io::Result<&mut Self> {
                io::copy(&mut BufReader::with_capacity(PART_LEN, reader), self)?;
                Ok(self)
            }
        }
    };
}

update_reader!(Sha1);
update_reader!(Sha256);

impl Engine {
    /// Hashes everything that many readers return, as many readers at once as there are lanes. Each
    /// reader comes with a tag; `done` receives the tag with the digest or the error of its reader,
    /// in unspecified order. Requires the feature `std`.
    ///
    /// The iterator is asked for the next reader only when a lane is free, so few files are open
    /// at once. Readers are read one after the other, in parts of 64 KiB, by this thread.
    ///
    /// ```
    /// use hashlane_sha::{Engine, Sha256};
    /// use std::fs::{self, File};
    ///
    /// let paths = fs::read_dir("src")?.filter_map(|entry| Some(entry.ok()?.path()));
    /// let files = paths.filter(|path| path.is_file());
    /// let files = files.map(|path| (path.clone(), File::open(path)));
    /// Engine::detect().digest_readers::<Sha256, _, _>(files, |path, digest| match digest {
    ///     Ok(digest) => println!("{digest}  {}", path.display()),
    ///     Err(error) => eprintln!("{}: {error}", path.display()),
    /// });
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn digest_readers<A: Algorithm, T, R: Read>(
        &self,
        readers: impl IntoIterator<Item = (T, io::Result<R>)>,
        mut done: impl FnMut(T, io::Result<A::Digest>),
    ) {
        let mut readers = readers.into_iter();
        let mut queue = LaneQueue::<A, (T, R), Vec<u8>>::with_engine(*self);
        let (mut hashed, mut buffers) = (Vec::<Hashed<A, (T, R), Vec<u8>>>::new(), Vec::new());
        loop {
            let (tag, mut reader, hasher, mut part) = if let Some(last) = hashed.pop() {
                let (tag, reader) = last.tag;
                match last.outcome {
                    Outcome::Hasher(hasher) => (tag, reader, hasher, last.bytes),
                    Outcome::Digest(digest) => {
                        done(tag, Ok(digest));
                        buffers.push(last.bytes);
                        continue;
                    }
                }
            } else if let Some((tag, reader)) = readers.next() {
                match reader {
                    Ok(reader) => {
                        let buffer = buffers.pop().unwrap_or_default();
                        (tag, reader, A::with_engine(*self), buffer)
                    }
                    Err(error) => {
                        done(tag, Err(error));
                        continue;
                    }
                }
            } else if queue.is_empty() {
                return;
            } else {
                queue.flush(|part| hashed.push(part));
                continue;
            };
            part.clear();
            match (&mut reader).take(PART_LEN as u64).read_to_end(&mut part) {
                Ok(PART_LEN) => {
                    queue.submit_part((tag, reader), hasher, part, |part| hashed.push(part));
                }
                Ok(_) => queue.submit_last((tag, reader), hasher, part, |part| hashed.push(part)),
                Err(error) => {
                    done(tag, Err(error));
                    buffers.push(part);
                }
            }
        }
    }
}
