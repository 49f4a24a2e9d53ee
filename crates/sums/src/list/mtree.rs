//! Lines of mtree (mtree(5) of NetBSD and FreeBSD): `name keyword=value ...`. The names of nested folders make the path.

use std::io::Write as _;

use hashlane_hashes::{Algorithm, Digest};

use super::entry::{Entry, Line};

/// Maximum number of nested folders, and of the bytes of a line that is continued.
const MAX_DEPTH: usize = 1 << 12;
const MAX_LINE_LEN: usize = 1 << 20;

/// A reader of a specification.
#[derive(Clone, Debug, Default)]
pub(super) struct MtreeLines {
    /// The folder that entries without a slash are in, as the names of its parts.
    folder: Vec<Vec<u8>>,
    /// The `type` of `/set`, for entries that have none.
    default_type: Option<Vec<u8>>,
    /// The start of a line that continues on the next one.
    unfinished: Vec<u8>,
}

impl MtreeLines {
    /// Returns `true` if only a specification has such a line.
    pub(super) fn is_first(text: &[u8]) -> bool {
        let text = text.trim_ascii_start();
        let of_path = text == b"." || text.starts_with(b"./") || text.starts_with(b". ");
        text.starts_with(b"/set ")
            || text.starts_with(b"#mtree")
            || of_path && words(text).any(|word| word.starts_with(b"type="))
    }

    /// Reads a line without its end.
    pub(super) fn read(&mut self, text: &[u8]) -> Line {
        if self.unfinished.len() + text.len() > MAX_LINE_LEN {
            self.unfinished.clear();
            return Line::Improper;
        }
        self.unfinished.extend(text);
        if self.unfinished.last() == Some(&b'\\') {
            self.unfinished.pop();
            self.unfinished.push(b' ');
            return Line::Ignored;
        }
        let text = std::mem::take(&mut self.unfinished);
        let mut words = words(&text);
        let Some(first) = words.next() else {
            return Line::Ignored;
        };
        match first {
            _ if first.starts_with(b"#") => Line::Ignored,
            b"/set" => {
                let of_type = words.find_map(|word| word.strip_prefix(b"type="));
                self.default_type = of_type.map(<[u8]>::to_vec).or(self.default_type.take());
                Line::Ignored
            }
            b"/unset" => {
                if words.any(|word| word == b"type" || word == b"all") {
                    self.default_type = None;
                }
                Line::Ignored
            }
            b".." => {
                if self.folder.pop().is_some() {
                    Line::Ignored
                } else {
                    Line::Improper
                }
            }
            name => self.entry(name, words),
        }
    }

    fn entry<'w>(&mut self, name: &[u8], words: impl Iterator<Item = &'w [u8]>) -> Line {
        let Some(name) = unvis(name).filter(|name| !name.contains(&0)) else {
            return Line::Improper;
        };
        let (mut of_type, mut len_bytes, mut digests) =
            (self.default_type.clone(), None, Vec::new());
        for word in words {
            let Some(end) = word.iter().position(|byte| *byte == b'=') else {
                continue;
            };
            let (key, value) = (&word[..end], &word[end + 1..]);
            match key {
                b"type" => of_type = Some(value.to_vec()),
                b"size" => {
                    let size = str::from_utf8(value).ok();
                    let Some(size) = size.and_then(|text| text.parse().ok()) else {
                        return Line::Improper;
                    };
                    len_bytes = Some(size);
                }
                key => {
                    let Some(algorithm) = algorithm_of(key) else {
                        continue;
                    };
                    match Digest::from_hex(value) {
                        Some(digest) if digest.as_bytes().len() == algorithm.digest_len() => {
                            digests.push((algorithm, digest));
                        }
                        _ => return Line::Improper,
                    }
                }
            }
        }
        let is_folder = of_type.as_deref() == Some(b"dir");
        if name.contains(&b'/') {
            if is_folder {
                return Line::Ignored;
            }
        } else if is_folder {
            if self.folder.len() == MAX_DEPTH {
                return Line::Improper;
            }
            self.folder.push(name);
            return Line::Ignored;
        }
        let mut parts: Vec<&[u8]> = Vec::new();
        if !name.contains(&b'/') {
            parts.extend(self.folder.iter().map(Vec::as_slice));
        }
        parts.push(&name);
        let path = parts.join(&b'/');
        let path = path.strip_prefix(b"./").unwrap_or(&path);
        if digests.is_empty() {
            return match of_type.as_deref() {
                // A file whose digest was not recorded.
                None | Some(b"file") => Line::Improper,
                Some(of_type) => {
                    let [path, of_type] = [path, of_type].map(String::from_utf8_lossy);
                    Line::Unchecked(format!(
                        "{path}: has the type {of_type}, which is not checked"
                    ))
                }
            };
        }
        Line::Entry(Entry {
            name: path.to_vec(),
            digests,
            len_bytes,
            alternatives: Vec::new(),
        })
    }
}

fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let words = text.split(|byte| matches!(byte, b' ' | b'\t'));
    words.filter(|word| !word.is_empty())
}

/// Returns the algorithm of a keyword such as `sha256` or `sha256digest`.
fn algorithm_of(key: &[u8]) -> Option<Algorithm> {
    let name = key.strip_suffix(b"digest").unwrap_or(key);
    let algorithm = str::from_utf8(name).ok()?.parse().ok()?;
    keyword(algorithm).map(|_| algorithm)
}

/// Returns the keyword of an algorithm, if mtree has one.
pub(super) fn keyword(algorithm: Algorithm) -> Option<&'static str> {
    let name = algorithm.name();
    matches!(name, "md5" | "sha1" | "sha256" | "sha384" | "sha512").then_some(name)
}

/// Reverses the escapes of vis(3): octal digits, the letters of C, and `^` and `M-` for control characters and bytes above 127.
fn unvis(text: &[u8]) -> Option<Vec<u8>> {
    let mut name = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        if *byte != b'\\' {
            name.push(*byte);
            continue;
        }
        let (escaped, n_bytes) = match rest {
            [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', ..] => {
                (((a - b'0') << 6) | ((b - b'0') << 3) | (c - b'0'), 3)
            }
            [b'M', b'-', c, ..] => (c | 0x80, 3),
            [b'M', b'^', c, ..] => (control(*c) | 0x80, 3),
            [b'^', c, ..] => (control(*c), 2),
            [b'\\', ..] => (b'\\', 1),
            [b's', ..] => (b' ', 1),
            [b'n', ..] => (b'\n', 1),
            [b'r', ..] => (b'\r', 1),
            [b't', ..] => (b'\t', 1),
            [b'a', ..] => (7, 1),
            [b'b', ..] => (8, 1),
            [b'v', ..] => (11, 1),
            [b'f', ..] => (12, 1),
            [b'#', ..] => (b'#', 1),
            _ => return None,
        };
        name.push(escaped);
        rest = &rest[n_bytes..];
    }
    Some(name)
}

/// Returns the byte that a terminal sends for a character and the key Ctrl.
fn control(c: u8) -> u8 {
    if c == b'?' { 127 } else { c & 31 }
}

/// Appends a name with octal digits for all that a specification cannot have.
pub(super) fn vis(name: &[u8], out: &mut Vec<u8>) {
    for byte in name {
        match byte {
            b'\\' | b'#' | b'*' | b'?' | b'[' | b'=' | 0..=32 | 127..=255 => {
                // Writing to a vector cannot fail.
                let _ = write!(out, "\\{byte:03o}");
            }
            byte => out.push(*byte),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<Result<(String, Option<u64>), ()>> {
        let mut lines = MtreeLines::default();
        let found = text
            .lines()
            .filter_map(|line| match lines.read(line.as_bytes()) {
                Line::Entry(entry) => Some(Ok((
                    String::from_utf8_lossy(&entry.name).into(),
                    entry.len_bytes,
                ))),
                Line::Ignored => None,
                Line::Unchecked(text) => Some(Ok((text, None))),
                Line::Improper => Some(Err(())),
            });
        found.collect()
    }

    #[test]
    fn nested_and_full_names_make_paths() {
        let md5 = "0cc175b9c0f1b6a831c399e269772661";
        let text = format!(
            "#mtree v2.0\n/set type=file uid=0\n. type=dir\n    a\\040b size=1 md5={md5}\n\
             d type=dir nlink=2\n  b size=2 \\\n    md5digest={md5}\n  link type=link link=a\n\
             ..\n./x/y size=3 type=file md5={md5}\n..\n..\n"
        );
        let file = |name: &str, len| Ok((name.to_owned(), Some(len)));
        assert_eq!(
            read(&text),
            [
                file("a b", 1),
                file("d/b", 2),
                Ok((
                    "d/link: has the type link, which is not checked".into(),
                    None
                )),
                file("x/y", 3),
                Err(())
            ]
        );
        assert_eq!(read("a md5=00"), [Err(())]);
        assert_eq!(read("a\\9 md5=00"), [Err(())]);
        assert_eq!(read(&format!("a size=abc md5={md5}")), [Err(())]);
        assert_eq!(read(&format!("a size=-1 md5={md5}")), [Err(())]);
        // A file without a digest.
        for text in [
            "/set type=file\n/unset all\na type=dir\nb size=1",
            "a type=file",
        ] {
            assert_eq!(read(text), [Err(())], "{text}");
        }
    }

    #[test]
    fn escapes_of_mtree_are_read() {
        for (text, name) in [
            (
                &br"odd\s\#*\\=\n\t\M-C\M-)[?"[..],
                &b"odd #*\\=\n\t\xc3\xa9[?"[..],
            ),
            (br"\^A\^?\M^A\M^?\303\251", b"\x01\x7f\x81\xff\xc3\xa9"),
        ] {
            assert_eq!(unvis(text).as_deref(), Some(name));
        }
        for text in [&br"\"[..], br"\M", br"\M-", br"\q", br"\400"] {
            assert_eq!(unvis(text), None, "{text:?}");
        }
    }

    #[test]
    fn names_are_read_as_they_were_written() {
        let name: Vec<u8> = (1..=255).collect();
        let mut text = Vec::new();
        vis(&name, &mut text);
        assert!(text.iter().all(|byte| matches!(byte, 33..=126)));
        assert_eq!(unvis(&text), Some(name));
    }
}
