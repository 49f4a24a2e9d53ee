//! `--json`: one object per line.

use std::fmt::Display;
use std::io;

use data_encoding::HEXLOWER;
use hashlane_metainfo::{PathComponent, Torrent, TorrentPath};
use serde::{Serialize, Serializer};

use crate::Env;

/// A path as text, and also as bytes if it is not valid Unicode.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct PathText {
    /// The path, with `/`.
    path: String,
    /// The bytes of `path` in hexadecimal; present only if they are not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    path_hex: Option<String>,
}

impl PathText {
    pub(crate) fn of(path: TorrentPath<'_>) -> Self {
        let components: Vec<&[u8]> = path.components().map(PathComponent::as_bytes).collect();
        Self::of_bytes(&components.join(&b'/'))
    }

    /// Returns the path as text.
    pub(crate) fn text(&self) -> &str {
        &self.path
    }

    pub(crate) fn of_bytes(path: &[u8]) -> Self {
        let is_utf8 = str::from_utf8(path).is_ok();
        Self {
            path: String::from_utf8_lossy(path).into_owned(),
            path_hex: (!is_utf8).then(|| HEXLOWER.encode(path)),
        }
    }
}

/// The name of a torrent and its info-hashes.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct NameAndHashes {
    /// The torrent's name.
    name: String,
    /// 40 hexadecimal digits; null without version 1.
    info_hash_v1: Option<String>,
    /// 64 hexadecimal digits; null without version 2.
    info_hash_v2: Option<String>,
}

impl NameAndHashes {
    pub(crate) fn of(torrent: &Torrent) -> Self {
        let hashes = torrent.info_hashes();
        Self {
            name: String::from_utf8_lossy(torrent.name().as_bytes()).into_owned(),
            info_hash_v1: hashes.v1().map(|hash| hash.to_string()),
            info_hash_v2: hashes.v2().map(|hash| hash.to_string()),
        }
    }
}

/// Items that are serialized as a list one by one, without collecting them first.
pub(crate) struct Each<I>(pub(crate) I);

impl<I: Iterator<Item: Serialize> + Clone> Serialize for Each<I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.clone())
    }
}

/// A value that is serialized as its text, without a copy of the text.
pub(crate) struct AsText<T>(pub(crate) T);

impl<T: Display> Serialize for AsText<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

/// Returns the schema of the lines of a command.
#[cfg(feature = "schema")]
pub(crate) fn schema_of<L: schemars::JsonSchema>() -> schemars::Schema {
    let settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
    settings.into_generator().into_root_schema_for::<L>()
}

/// Prints a line. A line can be as long as a .torrent file, so it is written to the stream in parts.
///
/// # Errors
/// The line cannot be written.
pub fn print(env: &mut Env, line: &impl Serialize) -> anyhow::Result<()> {
    // `is_broken_pipe` recognises only an `io::Error`.
    serde_json::to_writer(&mut env.stdout, line).map_err(io::Error::from)?;
    Ok(env.stdout.write_all(b"\n")?)
}
