//! Lines of hashdeep: `size,digest,digest,name`. A header names the columns.

use super::entry::Entry;
use crate::algorithm::{Digest, DigestAlgorithm};

/// A reader of hashdeep lines.
#[derive(Clone, Debug, Default)]
pub(super) struct HashdeepLines {
    columns: Vec<Column>,
}

#[derive(Clone, Copy, Debug)]
enum Column {
    Size,
    Digest(DigestAlgorithm),
    /// A digest of an unsupported algorithm.
    Other,
}

impl HashdeepLines {
    /// Reads a header without its `%%%%`. The version header has no columns.
    pub(super) fn read_header(&mut self, header: &[u8]) {
        let columns = header.trim_ascii().strip_suffix(b",filename");
        if let Some(columns) = columns {
            let names = columns.split(|c| *c == b',');
            self.columns = names
                .map(|name| match name {
                    b"size" => Column::Size,
                    name => algorithm_named(name).map_or(Column::Other, Column::Digest),
                })
                .collect();
        }
    }

    /// Parses a line with at least one digest.
    pub(super) fn read(&self, text: &[u8]) -> Option<Entry> {
        let mut fields = text.splitn(self.columns.len() + 1, |c| *c == b',');
        let (mut digests, mut len_bytes) = (Vec::new(), None);
        for column in &self.columns {
            let field = fields.next()?;
            match column {
                Column::Size => len_bytes = Some(str::from_utf8(field).ok()?.parse().ok()?),
                Column::Digest(algorithm) => {
                    let digest = Digest::from_hex(field)?;
                    if digest.as_bytes().len() != algorithm.digest_len() {
                        return None;
                    }
                    digests.push((*algorithm, digest));
                }
                Column::Other => {}
            }
        }
        let name = fields.next()?.to_vec();
        let is_complete = !digests.is_empty() && !name.is_empty();
        is_complete.then_some(Entry {
            name,
            digests,
            len_bytes,
            alternative: None,
        })
    }
}

/// Returns the name of the column of an algorithm, if hashdeep has one.
pub(super) fn column(algorithm: DigestAlgorithm) -> Option<&'static str> {
    let name = algorithm.name();
    matches!(name, "md5" | "sha1" | "sha256").then_some(name)
}

fn algorithm_named(name: &[u8]) -> Option<DigestAlgorithm> {
    str::from_utf8(name).ok()?.parse().ok()
}
