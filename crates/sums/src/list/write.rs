//! Lists of files in the formats of other programs, written.

use std::collections::BTreeSet;
use std::fmt;
use std::io::Write as _;
use std::sync::Arc;

use hashlane_hashes::{Algorithm, Digest};

use super::gnu::{LineStyle, write_line};
use super::hashdeep;
use super::mtree;

/// The format of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ListFormat {
    /// Lines of GNU coreutils or of BSD.
    Gnu(LineStyle),
    /// The columns of hashdeep: MD5, SHA-1 and SHA-256.
    Hashdeep,
    /// A specification of mtree: MD5, SHA-1, SHA-256, SHA-384 and SHA-512.
    Mtree,
    /// The names and CRC-32 of an SFV file.
    Sfv,
}

/// The reason why a format cannot have a list or a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unwritable {
    /// The format has no column for the algorithm.
    #[error("the format cannot have {0}")]
    Algorithm(Algorithm),
    /// The format has one column.
    #[error("the format has one algorithm")]
    OneAlgorithm,
    /// The format cannot have a line feed or carriage return in a name, or such a name.
    #[error("the format cannot have this name")]
    Name,
}

impl ListFormat {
    fn has(self, algorithm: Algorithm) -> bool {
        match self {
            Self::Gnu(_) => true,
            Self::Hashdeep => hashdeep::column(algorithm).is_some(),
            Self::Mtree => mtree::keyword(algorithm).is_some(),
            Self::Sfv => algorithm == Algorithm::Crc32,
        }
    }
}

/// A writer of a list.
#[derive(Clone, Debug)]
pub struct ListWriter {
    format: ListFormat,
    algorithms: Arc<[Algorithm]>,
    /// Folders that a specification has already.
    folders: BTreeSet<Vec<u8>>,
}

impl ListWriter {
    /// Returns a writer of lists with these algorithms.
    ///
    /// # Errors
    /// [`Unwritable::Algorithm`] or [`Unwritable::OneAlgorithm`].
    pub fn new(format: ListFormat, algorithms: Arc<[Algorithm]>) -> Result<Self, Unwritable> {
        match algorithms.iter().find(|algorithm| !format.has(**algorithm)) {
            Some(algorithm) => Err(Unwritable::Algorithm(*algorithm)),
            None if format == ListFormat::Sfv && algorithms.len() != 1 => {
                Err(Unwritable::OneAlgorithm)
            }
            None => Ok(Self {
                format,
                algorithms,
                folders: BTreeSet::new(),
            }),
        }
    }

    /// Appends the lines that begin a list.
    pub fn write_header(&self, out: &mut Vec<u8>) {
        match self.format {
            ListFormat::Gnu(_) => {}
            ListFormat::Hashdeep => {
                out.extend(b"%%%% HASHDEEP-1.0\n%%%% size,");
                for algorithm in &*self.algorithms {
                    append(out, format_args!("{},", algorithm.name()));
                }
                out.extend(b"filename\n");
            }
            ListFormat::Mtree => out.extend(b"#mtree v2.0\n. type=dir\n"),
            ListFormat::Sfv => out.extend(b"; SFV\n"),
        }
    }

    /// Appends the lines of a file. The digests are in the order of the algorithms.
    ///
    /// # Errors
    /// [`Unwritable::Name`]. Nothing was appended.
    pub fn write(
        &mut self,
        out: &mut Vec<u8>,
        name: &[u8],
        len_bytes: u64,
        digests: &[Digest],
    ) -> Result<(), Unwritable> {
        match self.format {
            ListFormat::Gnu(style) => {
                for (algorithm, digest) in self.algorithms.iter().zip(digests) {
                    write_line(out, style, *algorithm, digest, name);
                }
                Ok(())
            }
            ListFormat::Hashdeep => write_hashdeep(out, name, len_bytes, digests),
            ListFormat::Mtree => self.write_mtree(out, name, len_bytes, digests),
            ListFormat::Sfv => write_sfv(out, name, digests),
        }
    }

    /// Appends a file, and before it its folders, which mtree requires.
    fn write_mtree(
        &mut self,
        out: &mut Vec<u8>,
        name: &[u8],
        len_bytes: u64,
        digests: &[Digest],
    ) -> Result<(), Unwritable> {
        let mut parts = name
            .split(|byte| *byte == b'/')
            .filter(|part| *part != b".");
        if name.starts_with(b"/") || parts.any(|part| part.is_empty() || part == b"..") {
            return Err(Unwritable::Name);
        }
        let name = name.strip_prefix(b"./").unwrap_or(name);
        let ends = (0..name.len()).filter(|end| name[*end] == b'/');
        for folder in ends.map(|end| &name[..end]) {
            if self.folders.insert(folder.to_vec()) {
                write_mtree_name(out, folder);
                out.extend(b" type=dir\n");
            }
        }
        write_mtree_name(out, name);
        append(out, format_args!(" type=file size={len_bytes}"));
        for (algorithm, digest) in self.algorithms.iter().zip(digests) {
            append(out, format_args!(" {}={digest}", algorithm.name()));
        }
        out.push(b'\n');
        Ok(())
    }
}

/// Appends a path. The slash makes it a full path.
fn write_mtree_name(out: &mut Vec<u8>, name: &[u8]) {
    out.extend(b"./");
    mtree::vis(name, out);
}

fn write_hashdeep(
    out: &mut Vec<u8>,
    name: &[u8],
    len_bytes: u64,
    digests: &[Digest],
) -> Result<(), Unwritable> {
    if !is_line(name) {
        return Err(Unwritable::Name);
    }
    append(out, format_args!("{len_bytes}"));
    for digest in digests {
        append(out, format_args!(",{digest}"));
    }
    out.push(b',');
    out.extend(name);
    out.push(b'\n');
    Ok(())
}

fn write_sfv(out: &mut Vec<u8>, name: &[u8], digests: &[Digest]) -> Result<(), Unwritable> {
    // Comments start with a semicolon. Blanks at the end are not part of a name.
    let is_ignored = name.starts_with(b";") || name.starts_with(b"%%%%");
    if !is_line(name) || is_ignored || name.trim_ascii_end() != name {
        return Err(Unwritable::Name);
    }
    for digest in digests {
        out.extend(name);
        append(
            out,
            format_args!(" {}\n", digest.to_string().to_uppercase()),
        );
    }
    Ok(())
}

fn is_line(name: &[u8]) -> bool {
    !name.contains(&b'\n') && !name.contains(&b'\r')
}

fn append(out: &mut Vec<u8>, text: fmt::Arguments<'_>) {
    // Writing to a vector cannot fail.
    let _ = out.write_fmt(text);
}
