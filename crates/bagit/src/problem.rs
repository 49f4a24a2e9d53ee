//! What is wrong with a bag.

use std::fmt;
use std::io;

/// A problem of a file of a bag.
#[derive(Debug)]
#[non_exhaustive]
pub struct Problem {
    /// The file, relative to the bag. It may have control characters.
    pub path: String,
    /// The problem.
    pub kind: ProblemKind,
}

/// The kind of a problem.
#[derive(Debug)]
#[non_exhaustive]
pub enum ProblemKind {
    /// This manifest lists the file, which does not exist.
    Missing(String),
    /// The file does not exist yet, and `fetch.txt` lists it.
    NotFetched,
    /// The digest in this manifest differs.
    Changed(String),
    /// This manifest does not list the file.
    Unlisted(String),
    /// A line of the file cannot be used: its number, and the reason.
    Line(u64, LineProblem),
    /// The payload has other numbers of bytes and files than `Payload-Oxum` in this file.
    Oxum {
        /// Bytes and files that the tag has.
        expected: (u64, u64),
        /// Bytes and files that were found.
        found: (u64, u64),
    },
    /// The value of `Payload-Oxum` in this file, which has not the form `BYTES.FILES`.
    OxumForm(String),
    /// The bag has no payload manifest, or no payload folder: this name is missing.
    Required,
    /// The file is a symbolic link, a device, or has a name that is not Unicode.
    NotAFile(&'static str),
    /// The manifest has an algorithm that cannot be computed, so its digests were not compared.
    UnknownAlgorithm,
    /// The file could not be read.
    Unreadable(io::Error),
}

/// The reason why a line cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LineProblem {
    /// The line has not the form that its file requires.
    Form,
    /// The line is not UTF-8, or too long.
    Unreadable,
    /// The path leads out of the bag, or out of the folder that the list is about.
    Outside(String),
    /// The path was listed before.
    Repeated(String),
}

impl ProblemKind {
    /// Returns `true` if the problem means that something was not checked.
    pub(crate) fn is_unchecked(&self) -> bool {
        matches!(self, Self::Unreadable(_) | Self::UnknownAlgorithm)
    }
}

/// Writes the problem without the path.
impl fmt::Display for ProblemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(manifest) => write!(f, "missing: {manifest} lists it"),
            Self::NotFetched => f.write_str("not fetched: fetch.txt has its address"),
            Self::Changed(manifest) => write!(f, "changed: its digest differs from {manifest}"),
            Self::Unlisted(manifest) => write!(f, "not listed in {manifest}"),
            Self::Line(line, problem) => write!(f, "line {line}: {problem}"),
            Self::Oxum { expected, found } => {
                let ((bytes, files), (found_bytes, found_files)) = (expected, found);
                write!(
                    f,
                    "Payload-Oxum is {bytes}.{files}, and the payload has {found_bytes}.{found_files} (bytes.files)"
                )
            }
            Self::OxumForm(value) => {
                write!(
                    f,
                    "Payload-Oxum is {value:?}, which has not the form BYTES.FILES"
                )
            }
            Self::Required => f.write_str("missing: a bag must have it"),
            Self::NotAFile(reason) => f.write_str(reason),
            Self::UnknownAlgorithm => {
                f.write_str("the algorithm is unknown: its digests were not compared")
            }
            Self::Unreadable(error) => error.fmt(f),
        }
    }
}

impl fmt::Display for LineProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Form => f.write_str("has not the form of this list"),
            Self::Unreadable => f.write_str("is not UTF-8, or longer than 64 KiB"),
            Self::Outside(path) => write!(f, "{path}: leads out of the folder that is listed"),
            Self::Repeated(path) => write!(f, "{path}: is listed twice"),
        }
    }
}
