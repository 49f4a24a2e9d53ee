//! Kinds of Base58Check strings, defined by payload length, version and suffix.

use std::borrow::Cow;
use std::fmt;

use crate::check::Alphabet;

/// Length of the hash in an address, in bytes.
pub const ADDRESS_HASH_LEN: usize = 20;

/// The longest supported payload, in bytes.
pub const MAX_PAYLOAD_LEN: usize = 44;

/// The longest supported suffix of a payload, in bytes. No known kind has a longer one. With more
/// known bytes, the iteration over prefixes would take longer than the hashes, which
/// [`Estimate`](crate::Estimate) counts.
pub const MAX_SUFFIX_LEN: usize = 1;

/// A kind of Base58Check string. Programs make kinds of their own, so a new property is a breaking
/// change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kind {
    /// The name on the command line.
    pub name: Cow<'static, str>,
    /// A description for users.
    pub description: Cow<'static, str>,
    /// The alphabet of the strings.
    pub alphabet: Alphabet,
    /// Length of the payload in bytes, without the checksum.
    pub payload_len: usize,
    /// The possible first bytes of the payload.
    pub versions: Cow<'static, [Cow<'static, [u8]>]>,
    /// The last bytes of the payload.
    pub suffix: Cow<'static, [u8]>,
    /// Whether the strings are private keys or seeds.
    pub is_secret: bool,
}

impl Kind {
    /// Returns all kinds with a name.
    pub fn all() -> Vec<Self> {
        TABLE.iter().map(Self::of_row).collect()
    }

    /// Returns the kind with this name.
    pub fn named(name: &str) -> Option<Self> {
        row(name).map(Self::of_row)
    }

    /// Returns a kind for any payload of `payload_len` bytes that starts with `version`.
    pub fn custom(payload_len: usize, version: &[u8], alphabet: Alphabet) -> Self {
        Self {
            name: "custom".into(),
            description: format!("payload of {payload_len} bytes").into(),
            alphabet,
            payload_len,
            versions: vec![version.to_vec().into()].into(),
            suffix: Cow::Borrowed(&[]),
            is_secret: false,
        }
    }

    /// Returns `true` if a payload is of this kind.
    pub fn matches(&self, payload: &[u8]) -> bool {
        let mut versions = self.versions.iter();
        payload.len() == self.payload_len
            && payload.ends_with(&self.suffix)
            && versions.any(|version| payload.starts_with(version))
            && row(&self.name).is_none_or(|row| (row.is_possible)(payload))
    }

    /// Returns `true` if a string is nothing but a version and the hash in an address.
    pub(crate) fn is_address(&self) -> bool {
        let mut versions = self.versions.iter();
        let is_rest = |version: &[u8]| version.len() + ADDRESS_HASH_LEN == self.payload_len;
        !self.is_secret && self.suffix.is_empty() && versions.all(|version| is_rest(version))
    }

    /// Returns an error if this kind cannot be searched for.
    pub(crate) fn check(&self) -> Result<(), &'static str> {
        let version_len = self.versions.iter().map(|version| version.len()).max();
        if self.payload_len > MAX_PAYLOAD_LEN {
            Err("payloads of more than 44 bytes cannot be searched for")
        } else if self.suffix.len() > MAX_SUFFIX_LEN {
            Err("suffixes of more than 1 byte cannot be searched for")
        } else if self.payload_len <= version_len.unwrap_or(0) + self.suffix.len() {
            Err("version and suffix leave no unknown byte in the payload")
        } else {
            Ok(())
        }
    }

    fn of_row(row: &Row) -> Self {
        Self {
            name: row.name.into(),
            description: row.description.into(),
            alphabet: row.alphabet,
            payload_len: row.payload_len,
            versions: row
                .versions
                .iter()
                .map(|version| Cow::Borrowed(*version))
                .collect(),
            suffix: row.suffix.into(),
            is_secret: row.is_secret,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.name)
    }
}

struct Row {
    name: &'static str,
    description: &'static str,
    alphabet: Alphabet,
    payload_len: usize,
    versions: &'static [&'static [u8]],
    suffix: &'static [u8],
    is_secret: bool,
    /// Returns `false` for a payload that has the right bytes at both ends, and is of no string all the same.
    is_possible: fn(&[u8]) -> bool,
}

fn row(name: &str) -> Option<&'static Row> {
    TABLE.iter().find(|row| row.name.eq_ignore_ascii_case(name))
}

const fn any(_: &[u8]) -> bool {
    true
}

/// Returns the row of an X-address: a version, a hash, and a destination tag of nine bytes, which ends in four zeros (XRPL standard
/// XLS-5d).
const fn x_address(
    name: &'static str,
    description: &'static str,
    versions: &'static [&'static [u8]],
) -> Row {
    Row {
        alphabet: Alphabet::Ripple,
        payload_len: versions[0].len() + ADDRESS_HASH_LEN + 9,
        suffix: &[0],
        is_possible: |payload| match payload.last_chunk::<9>() {
            Some([flag, tag @ .., 0, 0, 0, 0]) => *flag == 1 || (*flag, *tag) == (0, [0; 4]),
            _ => false,
        },
        ..address(name, description, versions)
    }
}

/// Returns the row of an address: a version and a hash of 20 bytes.
const fn address(
    name: &'static str,
    description: &'static str,
    versions: &'static [&'static [u8]],
) -> Row {
    Row {
        name,
        description,
        alphabet: Alphabet::Bitcoin,
        payload_len: versions[0].len() + 20,
        versions,
        suffix: &[],
        is_secret: false,
        is_possible: any,
    }
}

/// Returns the row of a key: a version and a private key of 32 bytes. A suffix of 1 marks a
/// compressed public key.
const fn key(
    name: &'static str,
    description: &'static str,
    versions: &'static [&'static [u8]],
    suffix: &'static [u8],
) -> Row {
    Row {
        name,
        description,
        alphabet: Alphabet::Bitcoin,
        payload_len: 33 + suffix.len(),
        versions,
        suffix,
        is_secret: true,
        is_possible: any,
    }
}

/// Version bytes are from each project's `chainparams.cpp` (Bitcoin Core, Litecoin Core, Dogecoin
/// Core, Dash Core, zcashd), from BIP 38, and from the documentation of Tron, Tezos and the XRP Ledger.
const TABLE: &[Row] = &[
    address("p2pkh", "Bitcoin address, 1...", &[&[0x00]]),
    address("p2sh", "Bitcoin script address, 3...", &[&[0x05]]),
    address(
        "testnet-p2pkh",
        "Bitcoin testnet address, m... or n...",
        &[&[0x6f]],
    ),
    address(
        "testnet-p2sh",
        "Bitcoin testnet script address, 2...",
        &[&[0xc4]],
    ),
    key("wif", "Bitcoin private key, 5...", &[&[0x80]], &[]),
    key(
        "wif-compressed",
        "Bitcoin private key, K... or L...",
        &[&[0x80]],
        &[1],
    ),
    key(
        "testnet-wif",
        "Bitcoin testnet private key, 9...",
        &[&[0xef]],
        &[],
    ),
    key(
        "testnet-wif-compressed",
        "Bitcoin testnet private key, c...",
        &[&[0xef]],
        &[1],
    ),
    Row {
        name: "bip38",
        description: "encrypted private key, 6P... (BIP 38)",
        alphabet: Alphabet::Bitcoin,
        payload_len: 39,
        // The third byte holds flags: compressed public key; for keys that another party generated
        // (EC multiplied), also lot and sequence.
        versions: &[
            &[0x01, 0x42, 0xc0],
            &[0x01, 0x42, 0xe0],
            &[0x01, 0x43, 0x00],
            &[0x01, 0x43, 0x04],
            &[0x01, 0x43, 0x20],
            &[0x01, 0x43, 0x24],
        ],
        suffix: &[],
        is_secret: true,
        is_possible: any,
    },
    address("litecoin", "Litecoin address, L...", &[&[0x30]]),
    address("litecoin-p2sh", "Litecoin script address, M...", &[&[0x32]]),
    key(
        "litecoin-wif",
        "Litecoin private key, 6...",
        &[&[0xb0]],
        &[],
    ),
    key(
        "litecoin-wif-compressed",
        "Litecoin private key, T...",
        &[&[0xb0]],
        &[1],
    ),
    address("dogecoin", "Dogecoin address, D...", &[&[0x1e]]),
    address(
        "dogecoin-p2sh",
        "Dogecoin script address, 9... or A...",
        &[&[0x16]],
    ),
    key(
        "dogecoin-wif",
        "Dogecoin private key, 6...",
        &[&[0x9e]],
        &[],
    ),
    key(
        "dogecoin-wif-compressed",
        "Dogecoin private key, Q...",
        &[&[0x9e]],
        &[1],
    ),
    address("dash", "Dash address, X...", &[&[0x4c]]),
    address("dash-p2sh", "Dash script address, 7...", &[&[0x10]]),
    key("dash-wif", "Dash private key, 7...", &[&[0xcc]], &[]),
    key(
        "dash-wif-compressed",
        "Dash private key, X...",
        &[&[0xcc]],
        &[1],
    ),
    address(
        "zcash",
        "Zcash transparent address, t1...",
        &[&[0x1c, 0xb8]],
    ),
    address(
        "zcash-p2sh",
        "Zcash transparent script address, t3...",
        &[&[0x1c, 0xbd]],
    ),
    address("tron", "Tron address, T...", &[&[0x41]]),
    address(
        "tezos",
        "Tezos address, tz1... to tz4...",
        &[
            &[0x06, 0xa1, 0x9f],
            &[0x06, 0xa1, 0xa1],
            &[0x06, 0xa1, 0xa4],
            &[0x06, 0xa1, 0xa6],
        ],
    ),
    address(
        "tezos-contract",
        "Tezos contract, KT1...",
        &[&[0x02, 0x5a, 0x79]],
    ),
    address(
        "tezos-rollup",
        "Tezos smart rollup, sr1...",
        &[&[0x06, 0x7c, 0x75]],
    ),
    Row {
        payload_len: 36,
        ..address(
            "tezos-edpk",
            "Tezos public key, edpk...",
            &[&[0x0d, 0x0f, 0x25, 0xd9]],
        )
    },
    Row {
        payload_len: 37,
        // The first byte of a compressed point is its sign.
        ..address(
            "tezos-sppk",
            "Tezos public key, sppk... or p2pk...",
            &[
                &[0x03, 0xfe, 0xe2, 0x56, 2],
                &[0x03, 0xfe, 0xe2, 0x56, 3],
                &[0x03, 0xb2, 0x8b, 0x7f, 2],
                &[0x03, 0xb2, 0x8b, 0x7f, 3],
            ],
        )
    },
    Row {
        payload_len: 36,
        ..key(
            "tezos-edsk",
            "Tezos private key of 54 characters, edsk..., spsk... or p2sk...",
            &[
                &[0x0d, 0x0f, 0x3a, 0x07],
                &[0x11, 0xa2, 0xe0, 0xc9],
                &[0x10, 0x51, 0xee, 0xbd],
            ],
            &[],
        )
    },
    Row {
        alphabet: Alphabet::Ripple,
        ..address("ripple", "XRP Ledger address, r...", &[&[0x00]])
    },
    x_address("ripple-x", "XRP Ledger X-address, X...", &[&[0x05, 0x44]]),
    x_address(
        "testnet-ripple-x",
        "XRP Ledger testnet X-address, T...",
        &[&[0x04, 0x93]],
    ),
    Row {
        name: "ripple-seed",
        description: "XRP Ledger seed, s...",
        alphabet: Alphabet::Ripple,
        payload_len: 17,
        versions: &[&[0x21]],
        suffix: &[],
        is_secret: true,
        is_possible: any,
    },
];
