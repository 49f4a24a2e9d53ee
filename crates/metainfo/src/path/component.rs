//! One component of a path, and the rules that make it safe.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt;
use std::str::Utf8Error;

use super::escape::Escaped;

/// The name of a file or folder. Joined to a folder, it names an entry of that folder.
///
/// - On every system, a name is not empty, not `.` and not `..`, and contains no `/` and no NUL.
/// - On Windows, it also contains no `\` and no `:`, is not the name of a device, and does not end
///   in a dot or a space. Other systems accept such names: `aux.c` is a file in the sources of
///   Linux.
///
/// The bytes may not be valid UTF-8. The displayed text ([`Display`](fmt::Display)) is safe to print on a terminal:
/// bytes that are not UTF-8 are shown like `\xff`, characters that [need escaping](super::needs_escape) like `\u{1b}`,
/// and `\` as `\\`. Different names give different text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PathComponent<'a>(&'a [u8]);

impl<'a> PathComponent<'a> {
    /// Wraps bytes that have already been checked.
    pub(crate) fn from_checked(bytes: &'a [u8]) -> Self {
        debug_assert_eq!(check(bytes, cfg!(windows)), Ok(()));
        Self(bytes)
    }

    /// Returns the bytes of the name.
    pub fn as_bytes(self) -> &'a [u8] {
        self.0
    }

    /// Returns the name in the form that the operating system expects.
    ///
    /// # Errors
    ///
    /// Returns an error if the name is not UTF-8, except on Unix, where names are bytes.
    pub fn to_os_str(self) -> Result<&'a OsStr, Utf8Error> {
        #[cfg(unix)]
        return Ok(std::os::unix::ffi::OsStrExt::from_bytes(self.0));
        #[cfg(not(unix))]
        return std::str::from_utf8(self.0).map(OsStr::new);
    }
}

impl<'a> TryFrom<&'a [u8]> for PathComponent<'a> {
    type Error = ComponentError;

    /// Checks a name by the rules of the target system.
    fn try_from(bytes: &'a [u8]) -> Result<Self, ComponentError> {
        check(bytes, cfg!(windows)).map(|()| Self(bytes))
    }
}

impl fmt::Display for PathComponent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Escaped(self.0).fmt(f)
    }
}

impl fmt::Debug for PathComponent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PathComponent({self})")
    }
}

/// The reason why a name is not a safe component of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("path component {}", self.predicate())]
#[non_exhaustive]
pub enum ComponentError {
    /// The name is empty.
    Empty,
    /// The name is `.`, which stands for the folder itself.
    CurrentDirectory,
    /// The name is `..`, which leaves the folder.
    ParentDirectory,
    /// The name contains `/`, the separator of components on every system.
    Separator,
    /// The name contains a NUL byte, where operating systems would end it.
    Nul,
    /// On Windows: the name contains `\`, which separates components.
    Backslash,
    /// On Windows: the name contains `:`, which denotes a drive or an alternate data stream.
    Colon,
    /// On Windows: the name denotes a device, such as `NUL` or `com1.txt`.
    DeviceName,
    /// On Windows: the name ends in a dot or space. The system removes it, so the name would denote
    /// another file.
    TrailingDotOrSpace,
}

impl ComponentError {
    /// Returns the reason as the end of a sentence that starts with the component.
    pub(crate) fn predicate(self) -> &'static str {
        match self {
            Self::Empty => "is empty",
            Self::CurrentDirectory => "is \".\", which is not a name",
            Self::ParentDirectory => "is \"..\", which leaves the content folder",
            Self::Separator => "contains '/'",
            Self::Nul => "contains a NUL byte",
            Self::Backslash => "contains '\\', which separates folders on Windows",
            Self::Colon => "contains ':', which names a drive or stream on Windows",
            Self::DeviceName => "is the name of a device on Windows",
            Self::TrailingDotOrSpace => "ends in a dot or space, which Windows drops",
        }
    }
}

/// Returns `true` if a name is safe on the target system.
pub(crate) fn is_safe(name: &[u8]) -> bool {
    check(name, cfg!(windows)).is_ok()
}

/// Returns the name if it is safe, and otherwise the name that libtorrent uses instead. There is no
/// standard, and libtorrent's name is the one under which most users have the file.
pub(crate) fn sanitize(name: &[u8]) -> Cow<'_, [u8]> {
    sanitize_for(name, cfg!(windows))
}

/// Implements [`sanitize`], with or without the rules of Windows.
fn sanitize_for(name: &[u8], windows: bool) -> Cow<'_, [u8]> {
    if check(name, windows).is_ok() {
        return name.into();
    }
    let mut repaired: Vec<u8> = name
        .iter()
        .filter(|byte| !(matches!(byte, 0 | b'/') || windows && **byte == b'\\'))
        .map(|byte| match byte {
            b':' if windows => b'_',
            byte => *byte,
        })
        .collect();
    if windows {
        while repaired
            .pop_if(|byte| matches!(byte, b'.' | b' '))
            .is_some()
        {}
        if is_device(&repaired) {
            repaired.insert(0, b'_');
        }
    }
    if matches!(&repaired[..], b"" | b"." | b"..") {
        repaired = b"_".to_vec();
    }
    repaired.into()
}

/// Checks a name, with or without the rules of Windows, so that tests on any system reach both.
fn check(name: &[u8], windows: bool) -> Result<(), ComponentError> {
    match name {
        b"" => return Err(ComponentError::Empty),
        b"." => return Err(ComponentError::CurrentDirectory),
        b".." => return Err(ComponentError::ParentDirectory),
        _ if name.contains(&b'/') => return Err(ComponentError::Separator),
        _ if name.contains(&0) => return Err(ComponentError::Nul),
        _ => {}
    }
    if windows { check_windows(name) } else { Ok(()) }
}

/// Checks the additional rules of Windows.
///
/// Source: Microsoft, "Naming Files, Paths, and Namespaces".
fn check_windows(name: &[u8]) -> Result<(), ComponentError> {
    if name.contains(&b'\\') {
        return Err(ComponentError::Backslash);
    }
    if name.contains(&b':') {
        return Err(ComponentError::Colon);
    }
    if is_device(name) {
        return Err(ComponentError::DeviceName);
    }
    if name.ends_with(b".") || name.ends_with(b" ") {
        return Err(ComponentError::TrailingDotOrSpace);
    }
    Ok(())
}

/// Returns `true` if Windows opens a device under this name, with or without an extension.
fn is_device(name: &[u8]) -> bool {
    let stem = name
        .split(|&byte| byte == b'.')
        .next()
        .unwrap_or(name)
        .trim_ascii_end();
    let is = |device: &str| stem.eq_ignore_ascii_case(device.as_bytes());
    if ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"]
        .into_iter()
        .any(is)
    {
        return true;
    }
    let Some((port, number)) = stem.split_at_checked(3) else {
        return false;
    };
    let is_port = port.eq_ignore_ascii_case(b"COM") || port.eq_ignore_ascii_case(b"LPT");
    // Windows treats these superscript digits as digits.
    let is_number = matches!(number, [b'0'..=b'9'])
        || ["\u{b9}", "\u{b2}", "\u{b3}"]
            .into_iter()
            .any(|digit| digit.as_bytes() == number);
    is_port && is_number
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_on_every_system() {
        for windows in [false, true] {
            for (name, reason) in [
                (&b""[..], ComponentError::Empty),
                (b".", ComponentError::CurrentDirectory),
                (b"..", ComponentError::ParentDirectory),
                (b"/", ComponentError::Separator),
                (b"a/b", ComponentError::Separator),
                (b"../a", ComponentError::Separator),
                (b"a\0", ComponentError::Nul),
            ] {
                assert_eq!(check(name, windows), Err(reason), "{}", name.escape_ascii());
            }
        }
    }

    #[test]
    fn accepted_on_every_system() {
        let names = [
            "a", "...a", ".a", "..a", "a b", "console", "COM", "COM10", "nul2", "\u{fc}",
        ];
        for name in names {
            assert_eq!(check(name.as_bytes(), false), Ok(()), "{name}");
            assert_eq!(check(name.as_bytes(), true), Ok(()), "{name}");
        }
        assert_eq!(check(&[b'a'; 300], true), Ok(()));
        assert_eq!(check(b"\xff", true), Ok(()));
    }

    #[test]
    fn refused_on_windows_only() {
        for (name, reason) in [
            ("a\\b", ComponentError::Backslash),
            ("..\\b", ComponentError::Backslash),
            ("C:", ComponentError::Colon),
            ("a:stream", ComponentError::Colon),
            ("aux.c", ComponentError::DeviceName),
            ("NUL", ComponentError::DeviceName),
            ("con.tar.gz", ComponentError::DeviceName),
            ("prn .txt", ComponentError::DeviceName),
            ("CoNiN$", ComponentError::DeviceName),
            ("conout$", ComponentError::DeviceName),
            ("com1", ComponentError::DeviceName),
            ("LPT9.log", ComponentError::DeviceName),
            ("COM\u{b2}", ComponentError::DeviceName),
            ("a.", ComponentError::TrailingDotOrSpace),
            ("...", ComponentError::TrailingDotOrSpace),
            ("a ", ComponentError::TrailingDotOrSpace),
        ] {
            assert_eq!(check(name.as_bytes(), true), Err(reason), "{name}");
            assert_eq!(check(name.as_bytes(), false), Ok(()), "{name}");
        }
    }

    #[test]
    fn what_is_no_name_becomes_one() {
        for (name, repaired) in [
            ("a", "a"),
            ("", "_"),
            (".", "_"),
            ("..", "_"),
            ("/", "_"),
            ("./.", "_"),
            ("/etc/passwd", "etcpasswd"),
            ("foo/../../../bar", "foo......bar"),
            ("a\0b", "ab"),
            ("\0\0", "_"),
            (".\0.", "_"),
        ] {
            for windows in [false, true] {
                let actual = sanitize_for(name.as_bytes(), windows);
                assert_eq!(actual, repaired.as_bytes(), "{name:?}");
                assert_eq!(check(&actual, windows), Ok(()), "{name:?}");
            }
        }
        for (name, repaired) in [
            ("a\\b", "ab"),
            ("C:", "C_"),
            ("nul", "_nul"),
            ("a. .", "a"),
            ("...", "_"),
            ("com1 .", "_com1"),
        ] {
            assert_eq!(sanitize_for(name.as_bytes(), false), name.as_bytes());
            let actual = sanitize_for(name.as_bytes(), true);
            assert_eq!(actual, repaired.as_bytes(), "{name:?}");
            assert_eq!(check(&actual, true), Ok(()), "{name:?}");
        }
    }

    #[test]
    fn every_reason_has_its_text() {
        for (reason, text) in [
            (ComponentError::Empty, "is empty"),
            (
                ComponentError::CurrentDirectory,
                "is \".\", which is not a name",
            ),
            (
                ComponentError::ParentDirectory,
                "is \"..\", which leaves the content folder",
            ),
            (ComponentError::Separator, "contains '/'"),
            (ComponentError::Nul, "contains a NUL byte"),
            (
                ComponentError::Backslash,
                "contains '\\', which separates folders on Windows",
            ),
            (
                ComponentError::Colon,
                "contains ':', which names a drive or stream on Windows",
            ),
            (
                ComponentError::DeviceName,
                "is the name of a device on Windows",
            ),
            (
                ComponentError::TrailingDotOrSpace,
                "ends in a dot or space, which Windows drops",
            ),
        ] {
            assert_eq!(reason.to_string(), format!("path component {text}"));
        }
    }

    #[cfg(unix)]
    #[test]
    fn bytes_reach_the_system_unchanged() {
        use std::os::unix::ffi::OsStrExt;

        let component = PathComponent::try_from(&b"\xff\x1b"[..]).unwrap();
        assert_eq!(component.to_os_str().unwrap().as_bytes(), b"\xff\x1b");
    }
}
