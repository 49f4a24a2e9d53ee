//! Known human-readable parts, and the rules that a text with one of them obeys.

use ::bech32::segwit;

use super::code::{CHECKSUM_LEN, Code};

/// The length of the data of a kind of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// A version and a witness program (BIP 173, BIP 350).
    Witness,
    /// This many bytes.
    Bytes(&'static [usize]),
    /// A version of one character and this many bytes.
    Versioned(usize),
    /// A time, tagged fields and a signature (BOLT 11).
    Invoice,
    Any,
}

/// A known human-readable part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Prefix {
    start: &'static str,
    /// The kind of text in words.
    pub(crate) what: &'static str,
    code: Option<Code>,
    rule: Rule,
    pub(crate) is_secret: bool,
}

const fn prefix(start: &'static str, what: &'static str, rule: Rule) -> Prefix {
    Prefix {
        start,
        what,
        code: Some(Code::Bech32),
        rule,
        is_secret: false,
    }
}

const fn secret(start: &'static str, what: &'static str, rule: Rule) -> Prefix {
    Prefix {
        is_secret: true,
        ..prefix(start, what, rule)
    }
}

const fn bech32m(start: &'static str, what: &'static str, rule: Rule) -> Prefix {
    Prefix {
        code: Some(Code::Bech32m),
        ..prefix(start, what, rule)
    }
}

const fn witness(start: &'static str) -> Prefix {
    Prefix {
        code: None,
        ..prefix(start, "witness address", Rule::Witness)
    }
}

const KEY: Rule = Rule::Bytes(&[32]);
const HASH: Rule = Rule::Bytes(&[20, 32]);

/// From BIP 173, BIP 352, BOLT 11, NIP-19, CIP-5, CIP-19, ZIP 173, ZIP 316, SLIP 173, SIP-15, and the descriptions of age, `LNURL`
/// (LUD-01) and `MultiversX`.
const KNOWN: &[Prefix] = &[
    witness("bc"),
    witness("tb"),
    witness("bcrt"),
    witness("ltc"),
    witness("tltc"),
    witness("rltc"),
    bech32m("sp", "silent payment address", Rule::Versioned(66)),
    bech32m(
        "tsp",
        "silent payment address of a testnet",
        Rule::Versioned(66),
    ),
    prefix("npub", "nostr public key", KEY),
    secret("nsec", "nostr private key", KEY),
    prefix("note", "nostr note", KEY),
    prefix("nprofile", "nostr profile", Rule::Any),
    prefix("nevent", "nostr event", Rule::Any),
    prefix("naddr", "nostr address of an event", Rule::Any),
    prefix("nrelay", "nostr relay", Rule::Any),
    secret(
        "ncryptsec",
        "encrypted nostr private key",
        Rule::Bytes(&[91]),
    ),
    prefix("age", "age recipient", KEY),
    secret("age-secret-key-", "age secret key", KEY),
    prefix("addr", "Cardano address", Rule::Bytes(&[29, 57])),
    prefix(
        "addr_test",
        "Cardano testnet address",
        Rule::Bytes(&[29, 57]),
    ),
    prefix("stake", "Cardano stake address", Rule::Bytes(&[29])),
    prefix(
        "stake_test",
        "Cardano testnet stake address",
        Rule::Bytes(&[29]),
    ),
    prefix("pool", "Cardano pool", Rule::Bytes(&[28])),
    prefix("cosmos", "Cosmos address", HASH),
    prefix("cosmosvaloper", "Cosmos validator address", HASH),
    prefix("osmo", "Osmosis address", HASH),
    prefix("juno", "Juno address", HASH),
    prefix("celestia", "Celestia address", HASH),
    prefix("terra", "Terra address", HASH),
    prefix("secret", "Secret Network address", HASH),
    prefix("kava", "Kava address", HASH),
    prefix("akash", "Akash address", HASH),
    prefix("inj", "Injective address", HASH),
    prefix("dydx", "dYdX address", HASH),
    prefix("thor", "THORChain address", HASH),
    prefix("bnb", "BNB Beacon Chain address", HASH),
    prefix("erd", "MultiversX address", KEY),
    prefix("zs", "Zcash Sapling address", Rule::Bytes(&[43])),
    bech32m("u", "Zcash unified address", Rule::Any),
    secret("suiprivkey", "Sui private key", Rule::Bytes(&[33])),
    prefix("lnurl", "LNURL", Rule::Any),
];

/// The start of Lightning invoices. The amount follows.
const INVOICE: Prefix = prefix("ln", "Lightning invoice", Rule::Invoice);

/// The networks of Lightning invoices (BOLT 11), the longest first.
const INVOICE_NETWORKS: [&str; 5] = ["bcrt", "tbs", "bc", "tb", "sb"];

impl Prefix {
    /// Returns the known prefix with a human-readable part in lower case, and the exact part. `-` and `_` may have been lost.
    pub(crate) fn of(human_readable: &str) -> Option<(Self, &str)> {
        let is_same = |prefix: &&Self| {
            let letters = prefix.start.split(['-', '_']);
            prefix.start == human_readable || letters.collect::<String>() == human_readable
        };
        if let Some(known) = KNOWN.iter().find(is_same) {
            return Some((*known, known.start));
        }
        is_of_invoice(human_readable).then_some((INVOICE, human_readable))
    }

    /// Returns the prefixes that are compared with a damaged start: each has a length of its own.
    pub(crate) fn of_fixed_len() -> impl Iterator<Item = Self> {
        KNOWN
            .iter()
            .copied()
            .filter(|prefix| !prefix.lens().is_empty())
    }

    pub(crate) fn human_readable(&self) -> &'static str {
        self.start
    }

    pub(crate) fn is_witness(&self) -> bool {
        self.rule == Rule::Witness
    }

    pub(crate) fn codes(&self) -> impl Iterator<Item = Code> {
        let code = self.code;
        Code::ALL
            .into_iter()
            .filter(move |other| code.is_none_or(|code| code == *other))
    }

    /// Returns the usual numbers of characters after the separator, or none if there are many.
    pub(crate) fn lens(&self) -> Vec<usize> {
        let len_of = |n_bytes: usize| (n_bytes * 8).div_ceil(5) + CHECKSUM_LEN;
        match self.rule {
            // Programs of 20 and of 32 bytes.
            Rule::Witness => vec![39, 59],
            Rule::Bytes(lens) => lens.iter().map(|len| len_of(*len)).collect(),
            Rule::Versioned(len) => vec![len_of(len) + 1],
            Rule::Invoice | Rule::Any => Vec::new(),
        }
    }

    /// Returns the kind in words if the values, without the checksum, obey the rule.
    pub(crate) fn accepted(&self, text: &str, values: &[u16]) -> Option<String> {
        let is_valid = match self.rule {
            Rule::Witness => {
                let (_, version, _) = segwit::decode(text).ok()?;
                return Some(format!("witness version {}", version.to_u8()));
            }
            Rule::Bytes(lens) => n_bytes(values).is_some_and(|len| lens.contains(&len)),
            Rule::Versioned(len) => {
                values.split_first().and_then(|(_, rest)| n_bytes(rest)) == Some(len)
            }
            Rule::Invoice => is_invoice(values),
            Rule::Any => true,
        };
        let code = self.code.unwrap_or(Code::Bech32);
        is_valid.then(|| format!("{} ({}, {code:?})", self.what, self.start))
    }
}

/// Returns `true` for `ln`, a network, and an amount or nothing.
fn is_of_invoice(human_readable: &str) -> bool {
    let Some(rest) = human_readable.strip_prefix(INVOICE.start) else {
        return false;
    };
    INVOICE_NETWORKS
        .iter()
        .filter_map(|network| rest.strip_prefix(network))
        .any(|amount| {
            let digits = amount.strip_suffix(['m', 'u', 'n', 'p']).unwrap_or(amount);
            let is_number =
                digits.bytes().all(|digit| digit.is_ascii_digit()) && !digits.starts_with('0');
            is_number && (amount.is_empty() || !digits.is_empty())
        })
}

/// Returns the number of bytes that values of 5 bits encode. The bits that are left are zero, and fewer than 5.
fn n_bytes(values: &[u16]) -> Option<usize> {
    let n_left = values.len() * 5 % 8;
    let last = values.last().copied().unwrap_or(0);
    (n_left < 5 && last & ((1 << n_left) - 1) == 0).then_some(values.len() * 5 / 8)
}

/// Returns `true` if tagged fields fill the space between a time and a signature.
fn is_invoice(values: &[u16]) -> bool {
    const TIME_LEN: usize = 7;
    const SIGNATURE_LEN: usize = 104;
    let Some(mut fields) = values.get(TIME_LEN..).and_then(|rest| {
        rest.len()
            .checked_sub(SIGNATURE_LEN)
            .map(|len| &rest[..len])
    }) else {
        return false;
    };
    while let [_, high, low, rest @ ..] = fields {
        let len = usize::from(*high) * 32 + usize::from(*low);
        match rest.get(len..) {
            Some(after) => fields = after,
            None => return false,
        }
    }
    fields.is_empty()
}
