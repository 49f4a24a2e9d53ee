//! The names that other programs give to files on disk.
//!
//! The rules of libtorrent were measured with its Python binding, version 2.1.1.

use std::borrow::Cow;

use super::transmission;

/// A program that changes names before it writes files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Naming {
    /// libtorrent, and programs that use it such as qBittorrent and Deluge.
    Libtorrent,
    /// Transmission 4.1 and later versions, which write U+FFFD for bytes that are not UTF-8.
    Transmission,
    /// Transmission 4.0, which writes names that Windows allows.
    Transmission40,
    /// Transmission 3, which also converts names that are not UTF-8.
    Transmission3,
}

impl Naming {
    /// Returns the name of the program.
    pub fn program(self) -> &'static str {
        match self {
            Self::Libtorrent => "libtorrent",
            Self::Transmission => "Transmission",
            Self::Transmission40 => "Transmission 4.0",
            Self::Transmission3 => "Transmission 3",
        }
    }

    /// Returns the name that the program writes instead of this one.
    pub(crate) fn of(self, name: &[u8]) -> Cow<'_, [u8]> {
        match self {
            Self::Libtorrent => libtorrent(name),
            Self::Transmission => transmission::version_4_1(name),
            Self::Transmission40 => transmission::version_4_0(name),
            Self::Transmission3 => transmission::version_3(name),
        }
    }
}

/// Length in bytes from which libtorrent shortens names. Names can be longer: control characters
/// and bytes that are not UTF-8 do not end a name, and an extension follows.
const LIBTORRENT_NAME_LEN: usize = 240;

/// Maximum length in bytes of an extension that libtorrent keeps, with its dot.
const LIBTORRENT_EXTENSION_LEN: usize = 9;

/// Returns `true` for names that libtorrent never changes: short names of printable ASCII characters.
fn is_plain(name: &[u8]) -> bool {
    let is_kept = |byte: &u8| matches!(byte, b' '..=b'~') && !matches!(byte, b'/' | b'\\');
    name.len() < LIBTORRENT_NAME_LEN
        && name.iter().all(is_kept)
        && name.iter().any(u8::is_ascii_alphanumeric)
}

fn libtorrent(name: &[u8]) -> Cow<'_, [u8]> {
    if is_plain(name) {
        return name.into();
    }
    let mut written = Vec::with_capacity(name.len().min(2 * LIBTORRENT_NAME_LEN));
    let mut rest = name;
    let mut is_shortened = false;
    while let Some(&lead) = rest.first() {
        let (sequence, after) = rest.split_at(sequence_len(lead).min(rest.len()));
        rest = after;
        let c = std::str::from_utf8(sequence).ok();
        match c.and_then(|text| text.chars().next()) {
            Some(c) if is_removed(c) => {}
            Some(c) if !c.is_control() => {
                written.extend_from_slice(sequence);
                if written.len() >= LIBTORRENT_NAME_LEN && !is_shortened {
                    is_shortened = true;
                    rest = extension(rest);
                }
            }
            _ => written.push(b'_'),
        }
    }
    if matches!(&written[..], b"" | b"." | b"..") {
        written = b"_".to_vec();
    }
    if written == name {
        return name.into();
    }
    written.into()
}

/// Returns the length of a UTF-8 sequence according to its first byte. libtorrent also reads sequences of five bytes,
/// which are never valid.
fn sequence_len(lead: u8) -> usize {
    match lead.leading_ones() {
        n @ 2..=5 => n as usize,
        _ => 1,
    }
}

/// Characters that separate folders, have no width, or change the direction of text.
fn is_removed(c: char) -> bool {
    matches!(
        c,
        '\0' | '/' | '\\' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{2064}' | '\u{2066}'..='\u{2069}' | '\u{feff}'
    )
}

/// Returns the part of a name that follows the maximum length: a short extension, or nothing.
fn extension(rest: &[u8]) -> &[u8] {
    let dot = rest.iter().rposition(|byte| *byte == b'.');
    let extension = dot.map_or(&[][..], |dot| &rest[dot..]);
    if extension.len() <= LIBTORRENT_EXTENSION_LEN {
        extension
    } else {
        &[]
    }
}
