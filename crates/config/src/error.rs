//! Errors. Each names the file or variable, the place in the file, and the reason: of an unknown name also the nearest
//! known one.

use std::io;
use std::path::PathBuf;

use crate::Origin;

/// An error of the configuration.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file cannot be opened or read.
    #[error("{}: {error}", path.display())]
    Unreadable {
        /// The path of the file.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// A file as a whole is invalid.
    #[error("{}: {reason}", path.display())]
    File {
        /// The path of the file.
        path: PathBuf,
        /// The problem, and the remedy if there is one.
        reason: String,
    },
    /// A key or value is invalid.
    #[error("{origin}: {reason}")]
    Value {
        /// The place of the key.
        origin: Origin,
        /// The problem, and the remedy if there is one.
        reason: String,
    },
    /// A table lacks a key, and no file has the table.
    #[error("[{table}]: {reason}")]
    Table {
        /// The name of the table.
        table: String,
        /// The problem.
        reason: String,
    },
}

/// Similarity from which a name is suggested. clap suggests options from the same value.
const MIN_SIMILARITY: f64 = 0.7;

/// Returns the known name that an unknown name was probably meant to be, if one is similar.
pub fn nearest<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let rated = known
        .into_iter()
        .map(|known| (strsim::jaro(name, known), known));
    let similar = rated.filter(|(similarity, _)| *similarity > MIN_SIMILARITY);
    let best = similar.max_by(|(a, _), (b, _)| a.total_cmp(b));
    best.map(|(_, known)| known)
}

/// Returns the message about an unknown name: with the nearest known one, or with all if none is near.
pub(crate) fn unknown(what: &str, name: &str, known: &[&str]) -> String {
    match nearest(name, known.iter().copied()) {
        Some(known) => format!("unknown {what} `{name}`; did you mean `{known}`?"),
        None => format!(
            "unknown {what} `{name}`; expected one of {}",
            known.join(", ")
        ),
    }
}
