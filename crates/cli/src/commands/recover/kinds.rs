//! The kinds of strings to search for, as options.

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use hashlane_base58::Kind;

use crate::values;

/// The options that name kinds or describe one.
#[derive(Debug, Args)]
#[command(next_help_heading = "Kinds")]
pub(super) struct KindOptions {
    /// Kinds to search for, from the list below, separated by commas; repeatable [default: all]
    #[arg(short, long = "kind", value_name = "KIND", value_delimiter = ',')]
    kinds: Vec<String>,

    /// Length of a custom payload in bytes, without the checksum
    #[arg(long, value_name = "BYTES", conflicts_with = "kinds", value_parser = clap::value_parser!(u8).range(1..=44))]
    payload_len: Option<u8>,

    /// First bytes of the custom payload in hexadecimal, for example 6f
    #[arg(long, value_name = "HEX", requires = "payload_len", value_parser = values::hex_bytes)]
    version_bytes: Option<values::Bytes>,

    /// Alphabet of the custom payload
    #[arg(
        long,
        value_name = "ALPHABET",
        requires = "payload_len",
        default_value = "bitcoin"
    )]
    alphabet: AlphabetName,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum AlphabetName {
    /// Bitcoin's alphabet, which nearly all formats use
    Bitcoin,
    /// Alphabet of the XRP Ledger
    Ripple,
}

impl From<AlphabetName> for hashlane_base58::Alphabet {
    fn from(name: AlphabetName) -> Self {
        match name {
            AlphabetName::Bitcoin => Self::Bitcoin,
            AlphabetName::Ripple => Self::Ripple,
        }
    }
}

impl KindOptions {
    /// Returns `true` if all kinds are to be searched for.
    pub(super) fn are_absent(&self) -> bool {
        self.kinds.is_empty() && self.payload_len.is_none()
    }

    /// Returns the kinds to search for.
    pub(super) fn kinds(&self) -> anyhow::Result<Vec<Kind>> {
        if let Some(len) = self.payload_len {
            let version = self.version_bytes.as_deref().unwrap_or_default();
            let kind = Kind::custom(len.into(), version, self.alphabet.into());
            return Ok(vec![kind]);
        }
        if self.kinds.is_empty() {
            return Ok(Kind::all());
        }
        let named = |name: &String| {
            Kind::named(name).with_context(|| {
                format!("--kind {name}: unknown kind; `hashlane recover --help` lists all kinds")
            })
        };
        self.kinds.iter().map(named).collect()
    }
}
