//! File names as bytes: lists of checksums need not be valid UTF-8.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// Returns the bytes of a path.
pub fn bytes_of(path: &Path) -> Cow<'_, [u8]> {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt as _;
        Cow::Borrowed(path.as_os_str().as_bytes())
    }
    #[cfg(not(unix))]
    Cow::Owned(path.to_string_lossy().into_owned().into_bytes())
}

/// Returns the path with these bytes. On systems with Unicode paths, invalid bytes are replaced.
pub fn path_of(name: &[u8]) -> PathBuf {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt as _;
        std::ffi::OsStr::from_bytes(name).into()
    }
    #[cfg(not(unix))]
    String::from_utf8_lossy(name).into_owned().into()
}

/// Returns `true` if a line of a list cannot contain this name unescaped.
pub fn needs_escape(name: &[u8]) -> bool {
    name.iter()
        .any(|byte| matches!(byte, b'\\' | b'\n' | b'\r'))
}

/// Appends a name in which `\\`, `\n` and `\r` replace a backslash, a line feed and a carriage
/// return.
pub fn escape(name: &[u8], out: &mut Vec<u8>) {
    for byte in name {
        match byte {
            b'\\' => out.extend(br"\\"),
            b'\n' => out.extend(br"\n"),
            b'\r' => out.extend(br"\r"),
            byte => out.push(*byte),
        }
    }
}

/// Returns the name with slashes in place of backslashes, as lists made on Windows mean it, or `None` without backslashes.
pub fn with_slashes(name: &[u8]) -> Option<Vec<u8>> {
    let slashed = |byte: &u8| if *byte == b'\\' { b'/' } else { *byte };
    name.contains(&b'\\')
        .then(|| name.iter().map(slashed).collect())
}

/// Reverses [`escape`]. Returns `None` for other escapes, a backslash at the end, and a zero byte.
pub(crate) fn unescape(text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = text.iter();
    let mut name = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        name.push(match byte {
            b'\\' => match bytes.next()? {
                b'\\' => b'\\',
                b'n' => b'\n',
                b'r' => b'\r',
                _ => return None,
            },
            0 => return None,
            byte => *byte,
        });
    }
    Some(name)
}
