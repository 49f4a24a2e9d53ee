//! The names that Transmission writes on Unix.
//!
//! The rules follow the sources of Transmission 3.00 (`metainfo.c`, `utils.c`), 4.0.6 and 4.1.3 (`torrent-files.cc`).
//! Transmission 3 converts a whole path if one of its names is not UTF-8. This module converts only that name, so the
//! other names of the path must be ASCII to be found.

use std::borrow::Cow;

/// Names that Windows reserves, with or without an extension.
const RESERVED: [&str; 22] = [
    "CON", "PRN", "AUX", "NUL", "COM1", "COM2", "COM3", "COM4", "COM5", "COM6", "COM7", "COM8",
    "COM9", "LPT1", "LPT2", "LPT3", "LPT4", "LPT5", "LPT6", "LPT7", "LPT8", "LPT9",
];

/// Returns the name that Transmission 4.1 and later versions write: U+FFFD replaces bytes that are not UTF-8, and `_`
/// replaces control characters.
pub(super) fn version_4_1(name: &[u8]) -> Cow<'_, [u8]> {
    if name.iter().all(|byte| (b' '..=b'~').contains(byte)) {
        return name.into();
    }
    let mut written = replace_invalid(name);
    for byte in &mut written {
        if *byte < b' ' {
            *byte = b'_';
        }
    }
    changed(name, written)
}

/// Returns the name that Transmission 4.0 writes: it can also be used on Windows. Bytes that are not UTF-8 remain.
pub(super) fn version_4_0(name: &[u8]) -> Cow<'_, [u8]> {
    if is_portable(name) {
        return name.into();
    }
    // White space as in C, which includes the vertical tab.
    let is_space = |byte: &u8| byte.is_ascii_whitespace() || *byte == 0x0b;
    let start = name.iter().position(|byte| !is_space(byte));
    let end = name.iter().rposition(|byte| !is_space(byte));
    let Some((start, end)) = start.zip(end) else {
        return Cow::Owned(Vec::new());
    };
    let mut rest = &name[start..=end];
    while let [shorter @ .., b'.'] = rest {
        rest = shorter;
    }
    let mut written = Vec::with_capacity(rest.len() + 1);
    if reserved(rest).is_some() {
        written.push(b'_');
    }
    written.extend(rest.iter().map(|byte| usable(*byte)));
    changed(name, written)
}

/// Returns the name that Transmission 3 writes: it can also be used on Windows. A name that is not UTF-8 is read as
/// ISO 8859-15.
pub(super) fn version_3(name: &[u8]) -> Cow<'_, [u8]> {
    if is_portable(name) {
        return name.into();
    }
    let no_controls = |byte: &u8| if *byte < b' ' { b'_' } else { usable(*byte) };
    let mut written: Vec<u8> = name.iter().map(no_controls).collect();
    if let Some(len) = reserved(&written) {
        written.insert(len, b'_');
    }
    let start = written.iter().take_while(|byte| **byte == b' ').count();
    written.drain(..start);
    while let Some(b' ' | b'.') = written.last() {
        written.pop();
    }
    if std::str::from_utf8(&written).is_err() {
        let characters = written.iter().map(|byte| latin9(*byte));
        written = characters.collect::<String>().into_bytes();
    }
    changed(name, written)
}

/// Returns `true` for names that no version changes. This holds for nearly all names, and nothing is allocated.
fn is_portable(name: &[u8]) -> bool {
    let is_kept = |byte: &u8| matches!(byte, b' '..=b'~') && usable(*byte) == *byte;
    name.iter().all(is_kept)
        && !name.starts_with(b" ")
        && !matches!(name.last(), None | Some(b' ' | b'.'))
        && reserved(name).is_none()
}

fn changed(name: &[u8], written: Vec<u8>) -> Cow<'_, [u8]> {
    if written == name {
        name.into()
    } else {
        written.into()
    }
}

/// Returns the byte, or `_` for one that Windows does not allow in names.
fn usable(byte: u8) -> u8 {
    match byte {
        b'"' | b'*' | b'/' | b':' | b'<' | b'>' | b'?' | b'\\' | b'|' => b'_',
        byte => byte,
    }
}

/// Returns the length of a name without its extension, if that is a reserved name.
fn reserved(name: &[u8]) -> Option<usize> {
    let stem = name.split(|byte| *byte == b'.').next()?;
    let mut reserved = RESERVED.iter();
    let is_reserved = reserved.any(|reserved| stem.eq_ignore_ascii_case(reserved.as_bytes()));
    is_reserved.then_some(stem.len())
}

/// Returns the character of a byte in ISO 8859-15.
fn latin9(byte: u8) -> char {
    match byte {
        0xa4 => '€',
        0xa6 => 'Š',
        0xa8 => 'š',
        0xb4 => 'Ž',
        0xb8 => 'ž',
        0xbc => 'Œ',
        0xbd => 'œ',
        0xbe => 'Ÿ',
        byte => byte.into(),
    }
}

/// Replaces invalid sequences as utf8cpp does. A sequence that starts with a valid lead byte is replaced together with the
/// trail bytes after the lead byte; other bytes are replaced one by one.
fn replace_invalid(name: &[u8]) -> Vec<u8> {
    const REPLACEMENT: &[u8] = "\u{fffd}".as_bytes();
    let mut written = Vec::with_capacity(name.len());
    let mut rest = name;
    while let Some(&lead) = rest.first() {
        let len = match lead {
            0..0x80 => 1,
            0xc0..0xe0 => 2,
            0xe0..0xf0 => 3,
            0xf0..0xf8 => 4,
            _ => 0,
        };
        let sequence = rest.get(..len.max(1));
        if sequence.is_some_and(|sequence| std::str::from_utf8(sequence).is_ok()) {
            written.extend_from_slice(&rest[..len]);
            rest = &rest[len..];
            continue;
        }
        written.extend_from_slice(REPLACEMENT);
        rest = &rest[1..];
        let is_trail = |byte: &&u8| (0x80..0xc0).contains(*byte);
        if len > 0 {
            let n_trail = rest.iter().take_while(is_trail).count();
            rest = &rest[n_trail..];
        }
    }
    written
}
