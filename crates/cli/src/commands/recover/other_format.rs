//! Formats that are not searched for, and the reason.

use anyhow::{Error, anyhow};
use hashlane_base58::{Alphabet, Hit, decode_check};
use hashlane_recover::starts_like_witness_address;
use hashlane_sha::{Sha256, digest};
use zeroize::Zeroizing;

/// A format that cannot be searched for.
pub(super) enum OtherFormat {
    /// A text that starts like a witness address (BIP 173, BIP 350).
    Witness,
    /// A format without a checksum.
    Unchecked(&'static str),
    /// A mini private key of Casascius, whose check has 8 bits.
    MiniKey,
    /// `0x` and this many hexadecimal digits.
    Hexadecimal(usize),
    /// An extended key, which has too many letters for any search.
    ExtendedKey {
        kind: &'static str,
        n_letters: usize,
    },
}

/// The first characters of extended keys (BIP 32, SLIP 132), in lower case.
const EXTENDED: [(&str, &str); 10] = [
    ("xpub", "extended public key"),
    ("xprv", "extended private key"),
    ("ypub", "extended public key"),
    ("yprv", "extended private key"),
    ("zpub", "extended public key"),
    ("zprv", "extended private key"),
    ("tpub", "extended public key of a testnet"),
    ("tprv", "extended private key of a testnet"),
    ("upub", "extended public key of a testnet"),
    ("vpub", "extended public key of a testnet"),
];

/// The number of characters of an extended key.
const EXTENDED_LEN: std::ops::RangeInclusive<usize> = 107..=115;

/// Returns the kind of extended key that a text resembles by its start and its length.
fn extended_key(text: &str) -> Option<&'static str> {
    let lower = Zeroizing::new(text.to_ascii_lowercase());
    let mut known = EXTENDED.into_iter();
    let (_, kind) = known.find(|(start, _)| lower.starts_with(start))?;
    EXTENDED_LEN.contains(&text.len()).then_some(kind)
}

/// Returns `true` for a text with the start and the length of a mini private key.
fn is_like_mini_key(text: &str) -> bool {
    let is_of_key = |c: char| c.is_ascii_alphanumeric() || c == '?';
    text.starts_with(['S', 's']) && [22, 30].contains(&text.len()) && text.chars().all(is_of_key)
}

/// Returns the hit for an intact mini private key: the digest of the text and `?` starts with a zero byte.
fn intact_mini_key(text: &str) -> Option<Hit> {
    let checked = Zeroizing::new(format!("{text}?"));
    let check: [u8; 32] = digest::<Sha256>(checked.as_bytes()).into();
    let key: [u8; 32] = digest::<Sha256>(text.as_bytes()).into();
    let is_intact = check[0] == 0;
    (is_intact && text.starts_with('S') && is_like_mini_key(text)).then(|| Hit {
        text: Zeroizing::new(text.to_owned()),
        kind: "mini private key, whose check has only 8 bits".into(),
        is_secret: true,
        edits: 0,
        payload: Zeroizing::new(key.to_vec()),
        unit: 0,
    })
}

/// Returns the hit for an intact string of a kind that cannot be searched for.
pub(super) fn intact(text: &str) -> Option<Hit> {
    if let Some(hit) = intact_mini_key(text) {
        return Some(hit);
    }
    let decode = |alphabet| decode_check(text, alphabet).ok();
    let payload = Alphabet::ALL.into_iter().find_map(decode)?;
    let kind = extended_key(text).unwrap_or("Base58Check string of an unknown kind");
    Some(Hit {
        text: Zeroizing::new(text.to_owned()),
        kind: kind.into(),
        is_secret: !kind.contains("public"),
        edits: 0,
        payload,
        unit: 0,
    })
}

impl OtherFormat {
    /// Recognizes a format by its first characters.
    pub(super) fn of(text: &str) -> Option<Self> {
        let lower = text.to_ascii_lowercase();
        if let Some(kind) = extended_key(text) {
            let alphabet = Alphabet::Bitcoin;
            let both = |c: char| {
                c.is_ascii_alphabetic()
                    && alphabet.digit(c.to_ascii_lowercase()).is_some()
                    && alphabet.digit(c.to_ascii_uppercase()).is_some()
            };
            // The letter case of the first four characters is known.
            let n_letters = text.chars().skip(4).filter(|c| both(*c)).count();
            return Some(Self::ExtendedKey { kind, n_letters });
        }
        if lower.starts_with("qm") && text.len() == 46 {
            return Some(Self::Unchecked("an IPFS content identifier (CIDv0)"));
        }
        let hex = lower.strip_prefix("0x")?;
        let is_hex = |c: char| c.is_ascii_hexdigit() || c == '?';
        hex.chars()
            .all(is_hex)
            .then_some(Self::Hexadecimal(hex.len()))
    }

    /// Recognizes the format of a text that fits none of the wanted kinds. `is_any` states that all kinds are wanted.
    pub(super) fn of_misfit(text: &str, is_any: bool) -> Option<Self> {
        if starts_like_witness_address(text) {
            return Some(Self::Witness);
        }
        if !is_any {
            return None;
        }
        if is_like_mini_key(text) {
            return Some(Self::MiniKey);
        }
        let is_plain = text.chars().all(|c| c.is_ascii_alphanumeric());
        // Base58 text of 32 bytes.
        (is_plain && (43..=44).contains(&text.len())).then_some(Self::Unchecked(
            "a Solana address or another number of 32 bytes",
        ))
    }

    /// Returns `true` if nothing but the length suggests the format.
    pub(super) fn is_guess(&self) -> bool {
        matches!(self, Self::Unchecked(_))
    }

    /// Returns the reason why a text cannot be recovered.
    pub(super) fn refusal(&self) -> Error {
        match self {
            Self::Witness => anyhow!("no witness address starts like this string"),
            Self::Unchecked(what) => anyhow!(
                "this looks like {what}, which cannot be recovered: there is no checksum to check against"
            ),
            Self::MiniKey => anyhow!(
                "this looks like a mini private key (S..., 22 or 30 characters), a kind that is not searched for: its check has 8 bits, so one candidate of 256 fits by accident"
            ),
            Self::Hexadecimal(64) => anyhow!(
                "this is a number of 32 bytes in hexadecimal, such as a key or a transaction: no checksum covers it, so wrong or missing digits cannot be recovered"
            ),
            Self::Hexadecimal(n) => anyhow!(
                "this is a number of {n} digits in hexadecimal: an address of Ethereum has 40, of which two may be missing or extra; write `?` for each further missing digit"
            ),
            Self::ExtendedKey { kind, n_letters } => anyhow!(
                "this is an {kind}: {n_letters} letters could be of either case, and 2^{n_letters} candidates are too many to search"
            ),
        }
    }
}
