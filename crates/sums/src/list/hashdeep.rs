//! Lines of hashdeep: `size,digest,digest,name`. A header names the columns.

use hashlane_hashes::{Algorithm, Digest};

use super::entry::{Entry, Line};

/// A reader of hashdeep lines.
#[derive(Clone, Debug, Default)]
pub(super) struct HashdeepLines {
    columns: Vec<Column>,
}

#[derive(Clone, Copy, Debug)]
enum Column {
    Size,
    Digest(Algorithm),
    /// A digest of an unsupported algorithm.
    Other,
}

impl HashdeepLines {
    /// Reads a header without its `%%%%`. The version header has no columns.
    pub(super) fn read_header(&mut self, header: &[u8]) -> Line {
        let columns = header.trim_ascii().strip_suffix(b",filename");
        let Some(columns) = columns else {
            return Line::Ignored;
        };
        let mut unknown = Vec::new();
        let names = columns.split(|c| *c == b',');
        self.columns = names
            .map(|name| match name {
                b"size" => Column::Size,
                name => algorithm_named(name).map_or_else(
                    || {
                        unknown.push(String::from_utf8_lossy(name));
                        Column::Other
                    },
                    Column::Digest,
                ),
            })
            .collect();
        match &unknown[..] {
            [] => Line::Ignored,
            names => Line::Unchecked(format!("digests of {} are not checked", names.join(", "))),
        }
    }

    /// Reads a line with at least one digest.
    pub(super) fn read(&self, text: &[u8]) -> Line {
        match self.entry(text) {
            Some(entry) if is_piece(&entry) => {
                let name = String::from_utf8_lossy(&entry.name);
                Line::Unchecked(format!(
                    "{name}: digests of pieces of files are not checked"
                ))
            }
            entry => entry.map_or(Line::Improper, Line::Entry),
        }
    }

    fn entry(&self, text: &[u8]) -> Option<Entry> {
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
            alternatives: Vec::new(),
        })
    }
}

/// Returns the name of the column of an algorithm, if hashdeep has one.
pub(super) fn column(algorithm: Algorithm) -> Option<&'static str> {
    let name = algorithm.name();
    matches!(name, "md5" | "sha1" | "sha256").then_some(name)
}

/// Returns `true` for a piece of a file as `hashdeep -p` writes it: its name ends with ` offset 0-4095`.
fn is_piece(entry: &Entry) -> bool {
    let range = || {
        let (_, range) = str::from_utf8(&entry.name).ok()?.rsplit_once(" offset ")?;
        let (first, last) = range.split_once('-')?;
        let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
        last.checked_sub(first)?.checked_add(1)
    };
    let len_bytes = range();
    len_bytes.is_some() && len_bytes == entry.len_bytes
}

fn algorithm_named(name: &[u8]) -> Option<Algorithm> {
    str::from_utf8(name).ok()?.parse().ok()
}
