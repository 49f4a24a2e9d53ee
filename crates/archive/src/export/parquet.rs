//! The catalogue as a file of Apache Parquet.

use std::io;
use std::sync::Arc;

use data_encoding::HEXLOWER;
use parquet::data_type::{ByteArray, ByteArrayType, DataType, FixedLenByteArrayType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;

use crate::entry::Entry;

/// Maximum number of rows that are kept until they are written as a row group.
const MAX_ROWS: usize = 1 << 16;

/// Maximum number of bytes of the paths of these rows, if the last row is not counted.
const MAX_PATH_BYTES: usize = 8 << 20;

/// The columns of the CSV list, with the same units.
const SCHEMA: &str = "message files {
    REQUIRED BYTE_ARRAY path (STRING);
    OPTIONAL BYTE_ARRAY path_hex (STRING);
    REQUIRED INT64 size;
    REQUIRED INT64 mtime_ns;
    REQUIRED INT64 ctime_ns;
    REQUIRED INT64 inode (INTEGER(64, false));
    REQUIRED FIXED_LEN_BYTE_ARRAY (32) sha256;
    REQUIRED INT64 first_checked;
    REQUIRED INT64 last_checked;
    OPTIONAL INT64 rot_since;
}";

/// A file that is being written. Row groups are written to a buffer, from which they are taken.
pub(super) struct ParquetFile {
    writer: SerializedFileWriter<Vec<u8>>,
    rows: Rows,
}

impl std::fmt::Debug for ParquetFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ParquetFile").finish_non_exhaustive()
    }
}

impl ParquetFile {
    pub(super) fn new() -> io::Result<Self> {
        let schema = parse_message_type(SCHEMA).map_err(io::Error::other)?;
        // Paths and digests differ from row to row: a dictionary would only take time.
        let properties = WriterProperties::builder()
            .set_created_by("hashlane archive".into())
            .set_column_dictionary_enabled(ColumnPath::from("path"), false)
            .set_column_dictionary_enabled(ColumnPath::from("sha256"), false)
            .build();
        let writer = SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties));
        Ok(Self {
            writer: writer.map_err(io::Error::other)?,
            rows: Rows::default(),
        })
    }

    /// Adds a row, and appends what is ready to be written to `out`.
    pub(super) fn add(&mut self, entry: &Entry<'_>, out: &mut Vec<u8>) -> io::Result<()> {
        self.rows.add(entry);
        if self.rows.count < MAX_ROWS && self.rows.path_bytes < MAX_PATH_BYTES {
            return Ok(());
        }
        self.rows
            .write(&mut self.writer)
            .map_err(io::Error::other)?;
        self.writer.flush()?;
        out.append(self.writer.inner_mut());
        Ok(())
    }

    /// Appends the rest of the file to `out`.
    pub(super) fn finish(mut self, out: &mut Vec<u8>) -> io::Result<()> {
        if self.rows.count > 0 {
            self.rows
                .write(&mut self.writer)
                .map_err(io::Error::other)?;
        }
        out.append(&mut self.writer.into_inner().map_err(io::Error::other)?);
        Ok(())
    }
}

/// Rows by column.
#[derive(Default)]
struct Rows {
    count: usize,
    path_bytes: usize,
    path: Column<ByteArrayType>,
    path_hex: Column<ByteArrayType>,
    size: Column<Int64Type>,
    mtime_ns: Column<Int64Type>,
    ctime_ns: Column<Int64Type>,
    inode: Column<Int64Type>,
    sha256: Column<FixedLenByteArrayType>,
    first_checked: Column<Int64Type>,
    last_checked: Column<Int64Type>,
    rot_since: Column<Int64Type>,
}

impl Rows {
    fn add(&mut self, entry: &Entry<'_>) {
        let text = String::from_utf8_lossy(entry.path);
        let hex = str::from_utf8(entry.path).is_err();
        let hex = hex.then(|| ByteArray::from(HEXLOWER.encode(entry.path).into_bytes()));
        self.count += 1;
        self.path_bytes += text.len() + hex.as_ref().map_or(0, ByteArray::len);
        self.path.push(text.into_owned().into_bytes().into());
        self.path_hex.push_optional(hex);
        self.size.push(entry.size.cast_signed());
        self.mtime_ns.push(entry.mtime_ns);
        self.ctime_ns.push(entry.ctime_ns);
        // The schema says that the number has no sign.
        self.inode.push(entry.inode.cast_signed());
        self.sha256.push(entry.digest.as_ref().to_vec().into());
        self.first_checked.push(entry.first_checked);
        self.last_checked.push(entry.last_checked);
        self.rot_since.push_optional(entry.rot_since);
    }

    /// Writes a row group, and removes its rows.
    fn write(&mut self, writer: &mut SerializedFileWriter<Vec<u8>>) -> Result<(), ParquetError> {
        let mut group = writer.next_row_group()?;
        // In the order of the schema.
        self.path.write(&mut group)?;
        self.path_hex.write(&mut group)?;
        self.size.write(&mut group)?;
        self.mtime_ns.write(&mut group)?;
        self.ctime_ns.write(&mut group)?;
        self.inode.write(&mut group)?;
        self.sha256.write(&mut group)?;
        self.first_checked.write(&mut group)?;
        self.last_checked.write(&mut group)?;
        self.rot_since.write(&mut group)?;
        group.close()?;
        (self.count, self.path_bytes) = (0, 0);
        Ok(())
    }
}

struct Column<D: DataType> {
    values: Vec<D::T>,
    /// For each row whether it has a value, as 1 or 0 (definition levels). Empty for a column that is not optional.
    levels: Vec<i16>,
}

impl<D: DataType> Default for Column<D> {
    fn default() -> Self {
        Self {
            values: Vec::new(),
            levels: Vec::new(),
        }
    }
}

impl<D: DataType> Column<D> {
    fn push(&mut self, value: D::T) {
        self.values.push(value);
    }

    fn push_optional(&mut self, value: Option<D::T>) {
        self.levels.push(value.is_some().into());
        self.values.extend(value);
    }

    fn write(
        &mut self,
        group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    ) -> Result<(), ParquetError> {
        let column = group.next_column()?;
        let mut column = column.ok_or(ParquetError::EOF("more columns than the schema".into()))?;
        let levels = (!self.levels.is_empty()).then_some(&self.levels[..]);
        column
            .typed::<D>()
            .write_batch(&self.values, levels, None)?;
        column.close()?;
        self.values.clear();
        self.levels.clear();
        Ok(())
    }
}
