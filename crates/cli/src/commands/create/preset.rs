//! Presets: options of `hashlane create` in a TOML file.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use hashlane_config::{Data, read_file};
use serde::Deserialize;
use serde::de::Deserializer;

use super::choices::Format;
use crate::Env;
use crate::values::{self, PieceLength, Tier};

/// Options of `hashlane create`, by the long names of the options.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Preset {
    #[serde(deserialize_with = "tiers")]
    pub(super) announce: Vec<Tier>,
    #[serde(deserialize_with = "urls")]
    pub(super) web_seed: Vec<String>,
    #[serde(deserialize_with = "nodes")]
    pub(super) node: Vec<(String, u16)>,
    pub(super) private: Option<bool>,
    pub(super) source: Option<String>,
    pub(super) entropy: Option<bool>,
    pub(super) comment: Option<String>,
    pub(super) format: Option<Format>,
    #[serde(deserialize_with = "piece_length")]
    pub(super) piece_length: Option<PieceLength>,
    pub(super) piece_lengths: Vec<PieceLengthRule>,
    #[serde(deserialize_with = "piece_length")]
    pub(super) max_piece_length: Option<PieceLength>,
    pub(super) target_pieces: Option<NonZeroU32>,
    pub(super) exclude: Vec<String>,
    pub(super) include: Vec<String>,
}

/// A piece length for content up to a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct PieceLengthRule {
    /// Maximum size of the content in bytes; `None` for every size.
    #[serde(default, deserialize_with = "size")]
    pub(super) up_to: Option<u64>,
    #[serde(deserialize_with = "required_piece_length")]
    pub(super) piece_length: PieceLength,
}

/// Returns the user's file of presets.
fn default_path() -> Option<PathBuf> {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    let folder = match variable("XDG_CONFIG_HOME") {
        Some(folder) => PathBuf::from(folder),
        None if cfg!(windows) => variable("APPDATA")?.into(),
        None => Path::new(&variable("HOME")?).join(".config"),
    };
    Some(folder.join("hashlane/presets.toml"))
}

/// Returns the names of the presets in the user's file; none if it cannot be read, which [`load`] reports.
pub(crate) fn names(env: &Env) -> Vec<String> {
    let read = default_path().and_then(|path| read_file(&env.resolve(&path), None).ok()?);
    let presets = read.map(|(_, presets)| presets.into_keys().collect());
    presets.unwrap_or_default()
}

/// Returns the options of `create` that a preset sets, so that the configuration does not set them. Returns none if the
/// preset cannot be read, which [`load`] reports.
pub(crate) fn keys(env: &Env, path: Option<&Path>, name: &str) -> Vec<String> {
    let path = path.map(Path::to_owned).or_else(default_path);
    let read = path.and_then(|path| read_file(&env.resolve(&path), None).ok()?);
    let preset = read.and_then(|(_, mut presets)| presets.remove(name));
    let Some(Data::Table(preset)) = preset.map(|preset| preset.data) else {
        return Vec::new();
    };
    let keys = preset.into_keys();
    // Rules by size are a choice of the piece length.
    keys.map(|key| key.replace("piece-lengths", "piece-length"))
        .collect()
}

/// Reads a preset. Without a path, reads it from the user's file.
pub(super) fn load(env: &mut Env, path: Option<&Path>, name: &str) -> anyhow::Result<Preset> {
    let path = match path {
        Some(path) => path.to_owned(),
        None => default_path().context("--preset: no configuration folder: use --presets")?,
    };
    let text = env.read_text_file(&path)?;
    let presets: Result<BTreeMap<String, Preset>, _> = toml::from_str(&text);
    let mut presets = presets.map_err(|error| {
        let start = error.span().map_or(0, |span| span.start);
        let before = text.as_bytes().get(..start).unwrap_or_default();
        let line = before.split(|byte| *byte == b'\n').count();
        let message = error.message().lines().collect::<Vec<_>>().join(", ");
        anyhow!("{}: line {line}: {message}", path.display())
    })?;
    presets.remove(name).ok_or_else(|| {
        let names: Vec<&str> = presets.keys().map(String::as_str).collect();
        let names = match names[..] {
            [] => "the file has no preset".to_owned(),
            _ => format!("the file has {}", names.join(", ")),
        };
        anyhow!("{}: no preset {name:?}: {names}", path.display())
    })
}

/// Parses a text as the option of the same name does.
fn parsed<T, E: serde::de::Error>(
    text: &str,
    parse: fn(&str) -> Result<T, String>,
) -> Result<T, E> {
    parse(text).map_err(|error| E::custom(format!("{text:?}: {error}")))
}

fn each<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    parse: fn(&str) -> Result<T, String>,
) -> Result<Vec<T>, D::Error> {
    let texts = Vec::<String>::deserialize(deserializer)?;
    texts.iter().map(|text| parsed(text, parse)).collect()
}

fn tiers<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Tier>, D::Error> {
    each(deserializer, values::tier)
}

fn urls<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    each(deserializer, values::url)
}

fn nodes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<(String, u16)>, D::Error> {
    each(deserializer, values::node)
}

fn size<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    parsed(&String::deserialize(deserializer)?, values::size).map(Some)
}

fn required_piece_length<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<PieceLength, D::Error> {
    parsed(&String::deserialize(deserializer)?, values::piece_length)
}

fn piece_length<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<PieceLength>, D::Error> {
    required_piece_length(deserializer).map(Some)
}
