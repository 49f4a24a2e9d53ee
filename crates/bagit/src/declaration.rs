//! `bagit.txt`: the version of the format, and the encoding of the tag files.

use std::io::{self, BufReader, Read as _};
use std::path::Path;

use crate::error::Error;
use crate::lines::{Line, Lines};
use crate::path::open;
use crate::version::Version;

pub(crate) const DECLARATION: &str = "bagit.txt";

/// More bytes than any declaration has.
const MAX_LEN: u64 = 4 << 10;

/// Returns the text of a declaration.
pub(crate) fn text(version: Version) -> String {
    format!("BagIt-Version: {version}\nTag-File-Character-Encoding: UTF-8\n")
}

/// Reads the declaration of a bag (RFC 8493, section 2.1.1).
pub(crate) fn read(bag: &Path) -> Result<Version, Error> {
    let path = bag.join(DECLARATION);
    let file = match open(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(Error::NotABag(bag.to_owned()));
        }
        file => file.map_err(Error::io(&path))?,
    };
    let improper = |reason: &str| Error::improper(&path, reason);
    let mut lines = Lines::new(BufReader::new(file.take(MAX_LEN)));
    let mut has_blank = false;
    let mut next = |label: &str| -> Result<Option<String>, Error> {
        match lines.next_line().map_err(Error::io(&path))? {
            None => Ok(None),
            Some(Line::Text(text)) if text.starts_with('\u{feff}') => Err(improper(
                "begins with a byte order mark, which RFC 8493 forbids",
            )),
            Some(Line::Text(text)) => match text.split_once(':') {
                Some((found, value)) if found.trim_end() == label => {
                    has_blank |= found != label;
                    Ok(Some(value.trim().to_owned()))
                }
                _ if label.is_empty() && text.trim().is_empty() => Ok(None),
                _ => Ok(Some(String::new())),
            },
            Some(Line::NotUtf8 | Line::TooLong) => Err(improper("is not UTF-8")),
        }
    };
    let version = match next("BagIt-Version")?.as_deref() {
        Some("0.97") => Version::V0_97,
        Some("1.0") => Version::V1_0,
        None | Some("") => return Err(improper("the first line must be `BagIt-Version: 1.0`")),
        Some(other) => {
            let reason = format!("version {other} is not supported: only 0.97 and 1.0 are");
            return Err(improper(&reason));
        }
    };
    match next("Tag-File-Character-Encoding")?.as_deref() {
        Some(encoding) if encoding.eq_ignore_ascii_case("UTF-8") => {}
        None | Some("") => {
            let reason = "the second line must be `Tag-File-Character-Encoding: UTF-8`";
            return Err(improper(reason));
        }
        Some(other) => {
            let reason =
                format!("the encoding {other} is not supported: convert the tag files to UTF-8");
            return Err(improper(&reason));
        }
    }
    // Version 1.0 has exactly two lines. Blank ones at the end do no harm.
    while let Some(rest) = next("")? {
        if version >= Version::V1_0 && !rest.is_empty() || rest.is_empty() {
            return Err(improper("has more than two lines"));
        }
    }
    if version >= Version::V1_0 && has_blank {
        return Err(improper(
            "has a blank before a colon, which RFC 8493 forbids",
        ));
    }
    Ok(version)
}
