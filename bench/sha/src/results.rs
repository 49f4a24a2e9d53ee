//! The results in the form of `sha.json`.

use std::io;

use serde::{Deserialize, Serialize, Serializer};

use crate::contenders::Kind;
use crate::machine::Machine;
use crate::measure::quartiles;

/// All results.
#[derive(Debug, Serialize)]
pub struct Results {
    /// The machine and the date.
    pub machine: Machine,
    /// Whether the measurement was too short for recorded results.
    pub quick: bool,
    /// Duration of the measurement.
    pub seconds: f64,
    /// Quartiles of the core's clock rate, sampled between the turns.
    pub clock_ghz: [f64; 3],
    /// All contenders, for each message length.
    pub sizes: Vec<Suite>,
    /// Each kernel, for several numbers of messages.
    pub counts: Vec<Suite>,
    /// Few messages: the engine, compared with one message after the other.
    pub shortage: Vec<Suite>,
    /// Messages of 64 bytes: the engine, compared with all ways to call OpenSSL.
    pub short: Vec<Suite>,
    /// One message in small updates: the engine, compared with `RustCrypto`.
    pub updates: Vec<UpdateSuite>,
    /// Messages of unequal lengths, compared with messages of one length.
    pub unequal: Vec<Suite>,
    /// One message, by the features that OpenSSL may use.
    pub levels: Vec<LevelSuite>,
}

/// Rows that were measured in turns. Only rows of one suite may be compared.
#[derive(Debug, Serialize, Deserialize)]
pub struct Suite {
    /// `SHA-1`, `SHA-256`.
    pub algorithm: String,
    /// One row for each contender and batch.
    pub rows: Vec<Row>,
}

impl Suite {
    /// Returns the first row of this contender.
    pub fn row(&self, name: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.name == name)
    }

    /// Returns the row of this contender and number of messages.
    pub fn row_of(&self, name: &str, n_messages: usize) -> Option<&Row> {
        self.rows
            .iter()
            .find(|row| row.name == name && row.n_messages == n_messages)
    }

    /// Returns the fastest of the selected rows.
    pub fn fastest(&self, wanted: impl Fn(&Row) -> bool) -> Option<&Row> {
        self.rows
            .iter()
            .filter(|row| wanted(row))
            .max_by(|a, b| a.median().total_cmp(&b.median()))
    }

    /// Returns the message length of the first row.
    pub fn message_len(&self) -> usize {
        self.rows[0].message_len.unwrap_or_default()
    }
}

/// A suite of one feature level.
#[derive(Debug, Serialize)]
pub struct LevelSuite {
    /// The name of the level.
    pub level: String,
    /// The rows.
    pub suite: Suite,
}

/// A suite of one length of updates.
#[derive(Debug, Serialize)]
pub struct UpdateSuite {
    /// The length of each update in bytes.
    pub update_len: usize,
    /// The rows.
    pub suite: Suite,
}

/// One contender and one batch of messages.
#[derive(Debug, Serialize, Deserialize)]
pub struct Row {
    /// The contender's name.
    pub name: String,
    /// The kind of contender.
    pub kind: Kind,
    /// The length of the messages in bytes, or `None` if the lengths differ.
    pub message_len: Option<usize>,
    /// Number of messages.
    pub n_messages: usize,
    /// One sample per round, in 10^9 bytes per second.
    #[serde(serialize_with = "rounded")]
    pub gb_per_s: Vec<f64>,
}

impl Row {
    /// Returns the median rate in GB/s.
    pub fn median(&self) -> f64 {
        quartiles(&self.gb_per_s).median
    }

    /// Returns `true` for OpenSSL, called in any way.
    pub fn is_openssl(&self) -> bool {
        self.name.starts_with("OpenSSL ")
    }

    /// Returns `true` for OpenSSL's one-shot functions.
    pub fn is_openssl_one_shot(&self) -> bool {
        self.is_openssl() && (self.name.ends_with("()") || self.name.ends_with("EVP_Digest"))
    }

    /// Returns `true` for `RustCrypto`.
    pub fn is_rustcrypto(&self) -> bool {
        self.name.starts_with("RustCrypto ")
    }

    /// Returns `true` for ipsec-mb, with or without SHA extensions.
    pub fn is_ipsec_mb(&self) -> bool {
        self.name.starts_with("ipsec-mb")
    }
}

#[expect(clippy::ptr_arg, reason = "serde wants a &Vec")]
fn rounded<S: Serializer>(samples: &Vec<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(samples.iter().map(|x| (x * 1e4).round() / 1e4))
}

/// Writes JSON with one object per line, so that each row is a line.
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
