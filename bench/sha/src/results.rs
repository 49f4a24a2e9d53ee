//! What was measured, as it goes into `sha.json`.

use std::io;

use serde::{Deserialize, Serialize, Serializer};

use crate::contenders::Kind;
use crate::machine::Machine;
use crate::measure::quartiles;

/// Everything.
#[derive(Debug, Serialize)]
pub struct Results {
    /// Where and when.
    pub machine: Machine,
    /// Whether it was measured for too short a time for figures that are kept.
    pub quick: bool,
    /// How long it took.
    pub seconds: f64,
    /// The clock rate of the core, by samples taken between the turns: its quartiles.
    pub clock_ghz: [f64; 3],
    /// Everybody, for each message length.
    pub sizes: Vec<Suite>,
    /// Each kernel, for several numbers of messages.
    pub counts: Vec<Suite>,
    /// Few messages: the engine's choice beside one message after the other.
    pub shortage: Vec<Suite>,
    /// Messages of 64 bytes: the engine beside all ways to call OpenSSL.
    pub short: Vec<Suite>,
    /// Messages of unequal lengths beside messages of one length.
    pub unequal: Vec<Suite>,
    /// One message, by what OpenSSL is allowed to use.
    pub levels: Vec<LevelSuite>,
}

/// Rows that were measured in turns: these, and only these, are to be compared.
#[derive(Debug, Serialize, Deserialize)]
pub struct Suite {
    /// `SHA-1`, `SHA-256`.
    pub algorithm: String,
    /// One for each contender and batch.
    pub rows: Vec<Row>,
}

impl Suite {
    /// The row of this contender; the first, if there are several.
    pub fn row(&self, name: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.name == name)
    }

    /// The row of this contender and number of messages.
    pub fn row_of(&self, name: &str, n_messages: usize) -> Option<&Row> {
        self.rows
            .iter()
            .find(|row| row.name == name && row.n_messages == n_messages)
    }

    /// The fastest of some rows.
    pub fn fastest(&self, wanted: impl Fn(&Row) -> bool) -> Option<&Row> {
        self.rows
            .iter()
            .filter(|row| wanted(row))
            .max_by(|a, b| a.median().total_cmp(&b.median()))
    }

    /// The length of the messages of the first row.
    pub fn message_len(&self) -> usize {
        self.rows[0].message_len.unwrap_or_default()
    }
}

/// A suite of one feature level.
#[derive(Debug, Serialize)]
pub struct LevelSuite {
    /// The name of the level.
    pub level: String,
    /// What was measured.
    pub suite: Suite,
}

/// One contender over one batch of messages.
#[derive(Debug, Serialize, Deserialize)]
pub struct Row {
    /// The contender.
    pub name: String,
    /// What sort it is.
    pub kind: Kind,
    /// The length of the messages in bytes; `None` if they differ.
    pub message_len: Option<usize>,
    /// How many messages.
    pub n_messages: usize,
    /// A sample for each round: 10^9 bytes a second.
    #[serde(serialize_with = "rounded")]
    pub gb_per_s: Vec<f64>,
}

impl Row {
    /// The median rate in GB/s.
    pub fn median(&self) -> f64 {
        quartiles(&self.gb_per_s).median
    }

    /// Whether it is OpenSSL, called in whatever way.
    pub fn is_openssl(&self) -> bool {
        self.name.starts_with("OpenSSL ")
    }

    /// Whether it is one of OpenSSL's one-shot functions.
    pub fn is_openssl_one_shot(&self) -> bool {
        self.is_openssl() && (self.name.ends_with("()") || self.name.ends_with("EVP_Digest"))
    }

    /// Whether it is ipsec-mb, with or without SHA extensions.
    pub fn is_ipsec_mb(&self) -> bool {
        self.name.starts_with("ipsec-mb")
    }
}

#[expect(clippy::ptr_arg, reason = "serde wants a &Vec")]
fn rounded<S: Serializer>(samples: &Vec<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(samples.iter().map(|x| (x * 1e4).round() / 1e4))
}

/// Writes JSON with a line for each object, so that a row is a line.
pub fn to_json(results: &Results) -> serde_json::Result<Vec<u8>> {
    struct ObjectsOnLines;
    impl serde_json::ser::Formatter for ObjectsOnLines {
        fn begin_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
            writer.write_all(b"\n{")
        }
    }
    let mut json = Vec::new();
    results.serialize(&mut serde_json::Serializer::with_formatter(
        &mut json,
        ObjectsOnLines,
    ))?;
    json.push(b'\n');
    json.remove(0);
    Ok(json)
}
