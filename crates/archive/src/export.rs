//! The catalogue in formats of other programs.

use std::io::Write as _;

use data_encoding::HEXLOWER;
use hashlane_sha::Sha256Digest;
use hashlane_sums::{LineStyle, write_line};

use crate::catalogue::Catalogue;
use crate::error::Reason;

/// A format of another program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Comma-separated values (RFC 4180) with all columns.
    Csv,
    /// The list of `hashdeep -c sha256`.
    Hashdeep,
    /// The list of `sha256sum`.
    Sha256sum,
}

/// A file of the catalogue.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Entry<'e> {
    /// Path below the folder of the archive, with slashes between components.
    pub path: &'e [u8],
    /// Length in bytes.
    pub size: u64,
    /// Time of modification in nanoseconds since 1970.
    pub mtime_ns: i64,
    /// Time of the last change of content or metadata in nanoseconds since 1970.
    pub ctime_ns: i64,
    /// Number of the file in its file system.
    pub inode: u64,
    /// SHA-256 of the content that the file should have.
    pub digest: Sha256Digest,
    /// Time at which this content was first read, in seconds since 1970.
    pub first_checked: i64,
    /// Time at which the file was last read, in seconds since 1970.
    pub last_checked: i64,
    /// Time at which rot was first found, in seconds since 1970.
    pub rot_since: Option<i64>,
}

impl Catalogue {
    /// Calls `visit` with each file, in the order of the bytes of the paths.
    ///
    /// # Errors
    /// The catalogue cannot be read, or the error of `visit`.
    pub fn for_each<E: From<crate::Error>>(
        &self,
        mut visit: impl FnMut(Entry<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        enum Failure<E> {
            Read(Reason),
            Visit(E),
        }
        impl<E> From<Reason> for Failure<E> {
            fn from(reason: Reason) -> Self {
                Self::Read(reason)
            }
        }
        let result = self.each(|path, record| {
            let entry = Entry {
                path,
                size: record.state.size.unsigned_abs(),
                mtime_ns: record.state.mtime_ns,
                ctime_ns: record.state.ctime_ns,
                inode: record.state.inode.cast_unsigned(),
                digest: record.digest,
                first_checked: record.first_checked,
                last_checked: record.last_checked,
                rot_since: record.rot_since,
            };
            visit(entry).map_err(Failure::Visit)
        });
        result.map_err(|failure| match failure {
            Failure::Read(reason) => reason.at(self.path()).into(),
            Failure::Visit(error) => error,
        })
    }
}

impl Format {
    /// Returns the lines at the begin of a list.
    pub fn header(self) -> &'static [u8] {
        match self {
            // RFC 4180, section 2.
            Self::Csv => b"path,path_hex,size,mtime_ns,ctime_ns,inode,sha256,first_checked,last_checked,rot_since\r\n",
            Self::Hashdeep => {
                b"%%%% HASHDEEP-1.0\n%%%% size,sha256,filename\n## Exported by hashlane archive\n##\n"
            }
            Self::Sha256sum => b"",
        }
    }

    /// Appends the line of a file. Returns `false` if the format cannot have its path.
    pub fn write(self, entry: &Entry<'_>, out: &mut Vec<u8>) -> bool {
        match self {
            Self::Csv => write_csv(entry, out),
            Self::Hashdeep => {
                // hashdeep has no escapes.
                if entry.path.contains(&b'\n') {
                    return false;
                }
                // Writing to a vector cannot fail.
                let _ = write!(out, "{},{},./", entry.size, entry.digest);
                out.extend(entry.path);
                out.push(b'\n');
            }
            Self::Sha256sum => {
                write_line(out, LineStyle::default(), "", entry.digest, entry.path);
            }
        }
        true
    }
}

/// Appends a line. A path that is not UTF-8 stands in the second column as hexadecimal digits.
fn write_csv(entry: &Entry<'_>, out: &mut Vec<u8>) {
    let text = String::from_utf8_lossy(entry.path);
    let is_quoted = text.contains([',', '"', '\r', '\n']);
    let quote = if is_quoted { "\"" } else { "" };
    let path = text.replace('"', "\"\"");
    let hex = match str::from_utf8(entry.path) {
        Ok(_) => String::new(),
        Err(_) => HEXLOWER.encode(entry.path),
    };
    let rot_since = entry.rot_since.map(|time| time.to_string());
    // Writing to a vector cannot fail.
    let _ = write!(
        out,
        "{quote}{path}{quote},{hex},{},{},{},{},{},{},{},{}\r\n",
        entry.size,
        entry.mtime_ns,
        entry.ctime_ns,
        entry.inode,
        entry.digest,
        entry.first_checked,
        entry.last_checked,
        rot_since.unwrap_or_default(),
    );
}
