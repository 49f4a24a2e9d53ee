//! Reads a file as a layer.

use std::fs::{File, Metadata};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::origin::Permissions;
use crate::{ConfigFile, Data, Error, Origin, Table, Value};

/// Maximum length of a file in bytes. People write these files by hand.
pub const MAX_LEN: u64 = 1 << 20;

/// Reads a TOML file. `home` is the folder that `~` stands for. Returns `None` if the file does not exist.
///
/// # Errors
/// The file cannot be read, is longer than [`MAX_LEN`], is not UTF-8, or is not TOML.
pub fn read_file(
    path: &Path,
    home: Option<PathBuf>,
) -> Result<Option<(Arc<ConfigFile>, Table)>, Error> {
    let unreadable = |error| Error::Unreadable {
        path: path.to_owned(),
        error,
    };
    let invalid = |reason: String| Error::File {
        path: path.to_owned(),
        reason,
    };
    let opened = match open(path) {
        Err(error) if is_absent(path, &error) => return Ok(None),
        opened => opened.map_err(unreadable)?,
    };
    let metadata = opened.metadata().map_err(unreadable)?;
    if metadata.is_dir() {
        return Err(invalid("is a directory, not a file".to_owned()));
    }
    if !is_readable_again(&metadata) {
        return Err(invalid("is not a regular file".to_owned()));
    }
    let mut bytes = Vec::new();
    let rest = opened.take(MAX_LEN + 1).read_to_end(&mut bytes);
    rest.map_err(unreadable)?;
    if bytes.len() as u64 > MAX_LEN {
        let limit = MAX_LEN >> 20;
        return Err(invalid(format!("is longer than {limit} MiB")));
    }
    let file = Arc::new(ConfigFile {
        path: path.to_owned(),
        home,
        permissions: Permissions::of(&metadata),
    });
    let table = parse(&file, bytes)?;
    Ok(Some((file, table)))
}

/// Parses the bytes of a file.
///
/// # Errors
/// The bytes are not UTF-8 or not TOML.
pub(crate) fn parse(file: &Arc<ConfigFile>, bytes: Vec<u8>) -> Result<Table, Error> {
    let invalid = |reason: String| Error::File {
        path: file.path.clone(),
        reason,
    };
    let text = String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = valid.split(|byte| *byte == b'\n').count();
        invalid(format!("line {line}: is not UTF-8 text"))
    })?;
    let reader = Reader {
        lines: line_starts(&text),
        file: Arc::clone(file),
    };
    let parsed = DeTable::parse(&text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        let (line, column) = reader.position(&text, at);
        let message = error.message().lines().collect::<Vec<_>>().join(", ");
        invalid(format!("line {line}, column {column}: {message}"))
    })?;
    reader.table(parsed.into_inner())
}

/// Opens a file without waiting for the writer of a named pipe.
fn open(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    }
    options.open(path)
}

/// Returns `true` if a file has the same content when it is read again, by the program `hashlane-net` or after a signal:
/// it is a regular file, or a device such as `/dev/null`.
fn is_readable_again(metadata: &Metadata) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        metadata.is_file() || metadata.file_type().is_char_device()
    }
    #[cfg(not(unix))]
    metadata.is_file()
}

/// Returns `true` if the file, or a folder on the way to it, does not exist, or if this user may not search such a folder.
/// The home folder in the environment belongs to another user after some changes of the user, for example by `setpriv`.
fn is_absent(path: &Path, error: &io::Error) -> bool {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => true,
        io::ErrorKind::PermissionDenied => path
            .symlink_metadata()
            .is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied),
        _ => false,
    }
}

/// Returns the positions of the first bytes of all lines.
fn line_starts(text: &str) -> Vec<usize> {
    let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
    std::iter::once(0)
        .chain(ends.map(|(at, _)| at + 1))
        .collect()
}

/// Adds origins to the values of a file.
struct Reader {
    file: Arc<ConfigFile>,
    lines: Vec<usize>,
}

impl Reader {
    /// Returns the line and the column of a byte, both from 1. Columns are characters.
    fn position(&self, text: &str, at: usize) -> (usize, usize) {
        let line = self.lines.partition_point(|start| *start <= at);
        let start = self.lines[line - 1];
        let before = text.get(start..at).unwrap_or_default();
        (line, before.chars().count() + 1)
    }

    fn origin(&self, at: usize) -> Origin {
        Origin::File {
            file: Arc::clone(&self.file),
            line: self.lines.partition_point(|start| *start <= at),
        }
    }

    fn table(&self, table: DeTable<'_>) -> Result<Table, Error> {
        let mut values = Table::new();
        for (key, value) in table {
            let origin = self.origin(key.span().start);
            values.insert(key.into_inner().into_owned(), self.value(value, origin)?);
        }
        Ok(values)
    }

    fn value(&self, value: Spanned<DeValue<'_>>, origin: Origin) -> Result<Value, Error> {
        let invalid = |reason: String| Error::Value {
            origin: origin.clone(),
            reason,
        };
        let data = match value.into_inner() {
            DeValue::String(text) => Data::String(text.into_owned()),
            DeValue::Integer(number) => {
                let parsed = i64::from_str_radix(number.as_str(), number.radix());
                let too_long =
                    |_| invalid(format!("the number {number} does not fit into 64 bits"));
                Data::Integer(parsed.map_err(too_long)?)
            }
            // `nan` would differ from itself after each reload.
            DeValue::Float(number) => match number.as_str().parse::<f64>() {
                Ok(value) if !value.is_nan() => Data::Float(value),
                _ => return Err(invalid(format!("{number} is not a number"))),
            },
            DeValue::Boolean(value) => Data::Bool(value),
            DeValue::Datetime(time) => Data::Datetime(time.to_string()),
            DeValue::Array(items) => {
                let items = items.into_iter().map(|item| {
                    let origin = self.origin(item.span().start);
                    self.value(item, origin)
                });
                Data::Array(items.collect::<Result<_, _>>()?)
            }
            DeValue::Table(table) => Data::Table(self.table(table)?),
        };
        Ok(Value { data, origin })
    }
}
