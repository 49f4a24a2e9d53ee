//! Manifests and `fetch.txt`: lists of files.

use std::fmt;
use std::io::{self, BufReader, Write};
use std::path::Path;

use hashlane_sums::{Algorithm, Digest};

use crate::error::Error;
use crate::lines::{Line, Lines};
use crate::path::{PAYLOAD, checked, decode, encode, open};
use crate::problem::LineProblem;
use crate::version::Version;

pub(crate) const FETCH: &str = "fetch.txt";

/// Maximum length of `fetch.txt` in bytes, whose paths are kept in memory.
const MAX_FETCH_LEN: u64 = 256 << 20;

/// Whether a manifest lists the payload or the tag files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Payload,
    Tags,
}

/// A manifest of a bag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Manifest {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    /// `None` if the algorithm is unknown.
    pub(crate) algorithm: Option<Algorithm>,
}

impl Manifest {
    /// Returns the manifest with this name, if it is the name of one.
    pub(crate) fn of_name(name: &str) -> Option<Self> {
        let (kind, algorithm) = match name.strip_prefix("tagmanifest-") {
            Some(rest) => (Kind::Tags, rest),
            None => (Kind::Payload, name.strip_prefix("manifest-")?),
        };
        let algorithm = algorithm.strip_suffix(".txt")?;
        Some(Self {
            name: name.to_owned(),
            kind,
            algorithm: algorithm.parse().ok(),
        })
    }
}

/// Returns the name of the manifest of the payload for an algorithm, for example `manifest-sha512.txt`.
pub fn manifest_name(algorithm: Algorithm) -> String {
    name_of(Kind::Payload, algorithm)
}

pub(crate) fn name_of(kind: Kind, algorithm: Algorithm) -> String {
    let prefix = match kind {
        Kind::Payload => "manifest",
        Kind::Tags => "tagmanifest",
    };
    format!("{prefix}-{}.txt", algorithm.name())
}

/// A line of a manifest, or the reason why it cannot be used.
pub(crate) type EntryOr = Result<(String, Digest), LineProblem>;

/// Reads a manifest. `receive` gets the number of each line that is not blank, from 1, and what it lists.
pub(crate) fn read(
    bag: &Path,
    manifest: &Manifest,
    version: Version,
    mut receive: impl FnMut(u64, EntryOr),
) -> Result<(), Error> {
    each_line(&bag.join(&manifest.name), |number, line| {
        let found = line.and_then(|line| entry(line, manifest, version));
        receive(number, found);
    })
}

fn entry(line: &str, manifest: &Manifest, version: Version) -> EntryOr {
    let (digits, rest) = line.split_once([' ', '\t']).ok_or(LineProblem::Form)?;
    let digest = Digest::from_hex(digits.as_bytes()).ok_or(LineProblem::Form)?;
    let has_length = |algorithm: Algorithm| digest.as_bytes().len() == algorithm.digest_len();
    if digits.is_empty() || !manifest.algorithm.is_none_or(has_length) {
        return Err(LineProblem::Form);
    }
    let text = rest.trim_start_matches([' ', '\t']);
    // `md5sum -b` marks files by an asterisk.
    let path = listed(text.strip_prefix('*').unwrap_or(text), version)?;
    let is_payload = path.starts_with(PAYLOAD);
    if is_payload != (manifest.kind == Kind::Payload) {
        return Err(LineProblem::Outside(path));
    }
    Ok((path, digest))
}

/// Reads `fetch.txt`. `receive` gets the number of each line that is not blank, and the path that it lists. Addresses are not
/// used: nothing is downloaded.
pub(crate) fn read_fetch(
    bag: &Path,
    version: Version,
    mut receive: impl FnMut(u64, Result<String, LineProblem>),
) -> Result<(), Error> {
    let fetched = |line: &str| {
        let mut fields = line.splitn(2, [' ', '\t']);
        let url = fields.next().unwrap_or_default();
        let rest = fields
            .next()
            .unwrap_or_default()
            .trim_start_matches([' ', '\t']);
        let (length, text) = rest.split_once([' ', '\t']).ok_or(LineProblem::Form)?;
        // RFC 3986: a scheme begins the address.
        let has_scheme = url.split_once(':').is_some_and(|(scheme, _)| {
            let is_of_scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
            scheme.starts_with(|c: char| c.is_ascii_alphabetic())
                && scheme.chars().all(is_of_scheme)
        });
        let is_length = length == "-" || length.parse::<u64>().is_ok();
        if !(has_scheme && is_length) {
            return Err(LineProblem::Form);
        }
        let path = listed(text.trim_start_matches([' ', '\t']), version)?;
        if !path.starts_with(PAYLOAD) {
            return Err(LineProblem::Outside(path));
        }
        Ok(path)
    };
    let path = bag.join(FETCH);
    match path.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Ok(metadata) if metadata.len() > MAX_FETCH_LEN => {
            return Err(Error::improper(&path, "is longer than 256 MiB"));
        }
        _ => {}
    }
    each_line(&path, |number, line| {
        receive(number, line.and_then(fetched));
    })
}

fn listed(text: &str, version: Version) -> Result<String, LineProblem> {
    if text.is_empty() {
        return Err(LineProblem::Form);
    }
    let path = decode(text, version);
    checked(&path).ok_or(LineProblem::Outside(path))
}

fn each_line(
    path: &Path,
    mut receive: impl FnMut(u64, Result<&str, LineProblem>),
) -> Result<(), Error> {
    let file = open(path).map_err(Error::io(path))?;
    let mut lines = Lines::new(BufReader::new(file));
    let mut number = 0;
    while let Some(line) = lines.next_line().map_err(Error::io(path))? {
        number += 1;
        match line {
            Line::Text(text) if text.trim().is_empty() => {}
            Line::Text(text) => receive(number, Ok(text)),
            Line::NotUtf8 | Line::TooLong => receive(number, Err(LineProblem::Unreadable)),
        }
    }
    Ok(())
}

/// Writes a manifest of a payload: one line for each row, with the digest and the path. A path is relative to the payload,
/// with slashes, and `data/` is put before it. Returns the number of lines.
///
/// This is the form in which other lists of digests become part of a bag. The lines have the order of the rows.
///
/// # Errors
/// The error of the stream; [`io::ErrorKind::InvalidInput`] for a path that is not UTF-8, or would lead out of the payload.
/// Lines before it were written.
///
/// ```
/// use hashlane_bagit::{Version, write_payload_manifest};
///
/// let mut manifest = Vec::new();
/// let rows = [(&b"photos/100%.jpg"[..], "0cc175b9c0f1b6a831c399e269772661")];
/// write_payload_manifest(&mut manifest, Version::V1_0, rows)?;
/// assert_eq!(manifest, b"0cc175b9c0f1b6a831c399e269772661  data/photos/100%25.jpg\n");
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn write_payload_manifest<P: AsRef<[u8]>, D: fmt::Display>(
    out: &mut (impl Write + ?Sized),
    version: Version,
    rows: impl IntoIterator<Item = (P, D)>,
) -> io::Result<u64> {
    let mut n_lines = 0;
    for (path, digest) in rows {
        // A path such as `~a` leads out of a bag only without the folder before it.
        let text = str::from_utf8(path.as_ref()).map(|path| format!("{PAYLOAD}{path}"));
        let Some(text) = text
            .ok()
            .filter(|text| checked(text).as_deref() == Some(text))
        else {
            let name = String::from_utf8_lossy(path.as_ref());
            let reason = format!("{name}: a manifest cannot list this path");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
        };
        write_line(out, version, &text, digest)?;
        n_lines += 1;
    }
    Ok(n_lines)
}

/// Writes a line of a manifest for a path that is relative to the bag.
pub(crate) fn write_line(
    out: &mut (impl Write + ?Sized),
    version: Version,
    path: &str,
    digest: impl fmt::Display,
) -> io::Result<()> {
    writeln!(out, "{digest}  {}", encode(path, version))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_manifests_name_their_algorithm() {
        let of = |name| Manifest::of_name(name).map(|found| (found.kind, found.algorithm));
        let sha512 = "sha512".parse().ok();
        assert_eq!(of("manifest-sha512.txt"), Some((Kind::Payload, sha512)));
        assert_eq!(of("tagmanifest-sha512.txt"), Some((Kind::Tags, sha512)));
        assert_eq!(of("manifest-tiger.txt"), Some((Kind::Payload, None)));
        for name in ["manifest.txt", "manifest-md5", "a-manifest-md5.txt"] {
            assert_eq!(of(name), None, "{name}");
        }
        assert_eq!(manifest_name("md5".parse().unwrap()), "manifest-md5.txt");
    }

    #[test]
    fn lines_of_manifests_are_checked() {
        let md5 = "0cc175b9c0f1b6a831c399e269772661";
        let manifest = |name| Manifest::of_name(name).unwrap();
        let payload = manifest("manifest-md5.txt");
        let path = |line: &str, version| entry(line, &payload, version).map(|(path, _)| path);
        let (old, new) = (Version::V0_97, Version::V1_0);
        for (line, version, expected) in [
            (format!("{md5} data/a"), new, "data/a"),
            (format!("{md5}\t data/a b "), new, "data/a b "),
            (format!("{} ./data//a", md5.to_uppercase()), new, "data/a"),
            (format!("{md5} *data/a"), new, "data/a"),
            (format!("{md5}  data/%25"), new, "data/%"),
            (format!("{md5}  data/%25"), old, "data/%25"),
        ] {
            assert_eq!(path(&line, version).as_deref(), Ok(expected), "{line}");
        }
        for line in [
            md5.to_owned(),
            format!("{md5} "),
            "00  data/a".into(),
            format!("{md5}00 data/a"),
            " data/a".into(),
        ] {
            assert_eq!(path(&line, new), Err(LineProblem::Form), "{line}");
        }
        for name in [
            "../a",
            "/data/a",
            "data/../../a",
            "bagit.txt",
            "data",
            "~/data/a",
        ] {
            let found = path(&format!("{md5}  {name}"), new);
            assert!(
                matches!(found, Err(LineProblem::Outside(_))),
                "{name}: {found:?}"
            );
        }
        let tags = manifest("tagmanifest-md5.txt");
        assert!(entry(&format!("{md5} bagit.txt"), &tags, new).is_ok());
        assert!(
            entry(&format!("{md5} *bagit.txt"), &tags, old)
                .is_ok_and(|(path, _)| path == "bagit.txt")
        );
        assert!(
            entry(&format!("{md5} *bagit.txt"), &tags, new)
                .is_ok_and(|(path, _)| path == "bagit.txt")
        );
        assert!(entry(&format!("{md5} data/a"), &tags, new).is_err());
    }

    #[test]
    fn rows_that_no_manifest_can_have_are_refused() {
        let mut manifest = Vec::new();
        let rows = [("~a", "00"), ("..b", "01")];
        write_payload_manifest(&mut manifest, Version::V1_0, rows).unwrap();
        assert_eq!(manifest, b"00  data/~a\n01  data/..b\n");
        for path in [&b"../a"[..], b"/a", b"a\xff", b"", b"./a", b"a//b", b".."] {
            let error = write_payload_manifest(&mut Vec::new(), Version::V1_0, [(path, "00")]);
            assert_eq!(
                error.unwrap_err().kind(),
                io::ErrorKind::InvalidInput,
                "{path:?}"
            );
        }
    }
}
