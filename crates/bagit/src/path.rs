//! Paths of files in a bag: UTF-8, relative, with slashes.

use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use crate::version::Version;

/// The start of the paths of the payload.
pub(crate) const PAYLOAD: &str = "data/";

/// Returns the path as a manifest writes it. Version 1.0 replaces a percent sign, a carriage return and a line feed, and
/// version 0.97 only the last two (RFC 8493, section 2.1.3).
pub(crate) fn encode(path: &str, version: Version) -> Cow<'_, str> {
    let needs_escape = |c: char| matches!(c, '\r' | '\n') || c == '%' && version >= Version::V1_0;
    if !path.contains(needs_escape) {
        return Cow::Borrowed(path);
    }
    let mut text = String::with_capacity(path.len() + 8);
    for c in path.chars() {
        match c {
            '\r' => text.push_str("%0D"),
            '\n' => text.push_str("%0A"),
            '%' if version >= Version::V1_0 => text.push_str("%25"),
            c => text.push(c),
        }
    }
    Cow::Owned(text)
}

/// Reverses [`encode`]. Other percent signs stay as they are.
pub(crate) fn decode(text: &str, version: Version) -> String {
    let mut path = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('%') {
        path.push_str(&rest[..start]);
        let (c, n_bytes) = match rest.as_bytes().get(start + 1..start + 3) {
            Some([b'0', b'd' | b'D']) => ('\r', 3),
            Some([b'0', b'a' | b'A']) => ('\n', 3),
            Some([b'2', b'5']) if version >= Version::V1_0 => ('%', 3),
            _ => ('%', 1),
        };
        path.push(c);
        rest = &rest[start + n_bytes..];
    }
    path.push_str(rest);
    path
}

/// Returns a path of a manifest without `.` and double slashes, or `None` if it could lead out of the bag.
pub(crate) fn checked(path: &str) -> Option<String> {
    let is_outside = path.starts_with(['/', '~'])
        || path.contains('\0')
        || cfg!(windows) && path.contains(['\\', ':']);
    if is_outside {
        return None;
    }
    let parts = path.split('/').filter(|part| !matches!(*part, "" | "."));
    let parts: Vec<&str> = parts.collect();
    let is_inside = !parts.is_empty() && !parts.contains(&"..") && !path.ends_with('/');
    is_inside.then(|| parts.join("/"))
}

/// Returns the text of a path relative to a bag, or `None` if it is not Unicode.
pub(crate) fn text_of(path: &Path) -> Option<String> {
    let parts: Option<Vec<&str>> = path.iter().map(|part| part.to_str()).collect();
    Some(parts?.join("/"))
}

/// Returns the path of a file of a bag.
pub(crate) fn place(bag: &Path, path: &str) -> PathBuf {
    bag.join(path.split('/').collect::<PathBuf>())
}

/// Opens a tag file. A link could lead out of the bag, and a pipe would wait for its writer.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    if !path.symlink_metadata()?.is_file() {
        return Err(io::Error::other(
            "is no regular file, which a bag cannot have",
        ));
    }
    File::open(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn three_characters_are_escaped() {
        let (old, new) = (Version::V0_97, Version::V1_0);
        assert_eq!(format!("{new:>5}"), "  1.0");
        assert_eq!(encode("data/a\r\n%", new), "data/a%0D%0A%25");
        assert_eq!(encode("data/a\r\n%", old), "data/a%0D%0A%");
        assert_eq!(decode("data/%0d%0a%25%20%", new), "data/\r\n%%20%");
        assert_eq!(decode("data/%0D%25", old), "data/\r%25");
        assert_eq!(decode("%2", new), "%2");
        assert_eq!(decode("%é%0A", new), "%é\n");
    }

    #[test]
    fn no_path_leaves_the_bag() {
        for path in [
            "",
            "/",
            "/etc/passwd",
            "../x",
            "data/../../x",
            "data/..",
            "~/x",
            "~root/x",
            "data/",
            ".",
            "a\0b",
        ] {
            assert_eq!(checked(path), None, "{path:?}");
        }
        assert_eq!(checked("./data//a/./b").as_deref(), Some("data/a/b"));
        assert_eq!(checked("data/..a/~b").as_deref(), Some("data/..a/~b"));
    }

    proptest! {
        #[test]
        fn a_written_path_is_read_again(path in "[a%0DA25\r\n/]{0,12}") {
            prop_assert_eq!(decode(&encode(&path, Version::V1_0), Version::V1_0), path.clone());
            let text = encode(&path, Version::V1_0);
            prop_assert!(!text.contains(['\r', '\n']));
        }
    }
}
