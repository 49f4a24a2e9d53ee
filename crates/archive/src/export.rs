//! The catalogue in formats of other programs.

mod parquet;

use std::io::{self, Write as _};

use data_encoding::HEXLOWER;
use hashlane_bagit::{Version, write_payload_manifest};
use hashlane_sums::{LineStyle, write_line};

use crate::entry::Entry;
use parquet::ParquetFile;

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
    /// The file `manifest-sha256.txt` of a bag (RFC 8493) whose payload is the folder of the archive.
    Bagit,
    /// A file of Apache Parquet with the columns of [`Self::Csv`].
    Parquet,
}

/// A list that is being written. Each function appends to a buffer what is ready to be written.
#[derive(Debug)]
pub struct List(Form);

#[derive(Debug)]
enum Form {
    Csv,
    Hashdeep,
    Sha256sum,
    Bagit,
    Parquet(Box<ParquetFile>),
}

impl List {
    /// Begins a list.
    ///
    /// # Errors
    /// The writer of Parquet does not accept the schema, which does not depend on the catalogue.
    pub fn new(format: Format, out: &mut Vec<u8>) -> io::Result<Self> {
        Ok(Self(match format {
            Format::Csv => {
                // RFC 4180, section 2.
                out.extend(b"path,path_hex,size,mtime_ns,ctime_ns,inode,sha256,first_checked,last_checked,rot_since\r\n");
                Form::Csv
            }
            Format::Hashdeep => {
                out.extend(b"%%%% HASHDEEP-1.0\n%%%% size,sha256,filename\n");
                out.extend(b"## Exported by hashlane archive\n##\n");
                Form::Hashdeep
            }
            Format::Sha256sum => Form::Sha256sum,
            Format::Bagit => Form::Bagit,
            Format::Parquet => Form::Parquet(Box::new(ParquetFile::new()?)),
        }))
    }

    /// Adds a file. Returns `false` if the format cannot have its path: the file is then left out.
    ///
    /// # Errors
    /// The writer of Parquet reports an error.
    pub fn add(&mut self, entry: &Entry<'_>, out: &mut Vec<u8>) -> io::Result<bool> {
        match &mut self.0 {
            Form::Csv => write_csv(entry, out),
            Form::Hashdeep => {
                // hashdeep has no escapes.
                if entry.path.contains(&b'\n') {
                    return Ok(false);
                }
                write!(out, "{},{},./", entry.size, entry.digest)?;
                out.extend(entry.path);
                out.push(b'\n');
            }
            Form::Sha256sum => {
                write_line(out, LineStyle::default(), "", entry.digest, entry.path);
            }
            Form::Bagit => {
                let row = [(entry.path, entry.digest)];
                match write_payload_manifest(out, Version::V1_0, row) {
                    Err(error) if error.kind() == io::ErrorKind::InvalidInput => return Ok(false),
                    written => written?,
                };
            }
            Form::Parquet(file) => file.add(entry, out)?,
        }
        Ok(true)
    }

    /// Ends the list.
    ///
    /// # Errors
    /// The writer of Parquet reports an error.
    pub fn finish(self, out: &mut Vec<u8>) -> io::Result<()> {
        match self.0 {
            Form::Parquet(file) => file.finish(out),
            Form::Csv | Form::Hashdeep | Form::Sha256sum | Form::Bagit => Ok(()),
        }
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
