//! Strings that look like Base58Check and are something else.

use anyhow::bail;
use hashlane_base58::Alphabet;

use crate::{Env, Exit};

use super::json;

/// What a text is, if it is nothing to search for.
pub(super) enum Special {
    /// A witness address (BIP 173, BIP 350), which says the same in either case: in lower case, and
    /// whether its checksum fits.
    Bech32 { text: String, is_valid: bool },
    /// There is no checksum.
    Unchecked(&'static str),
    /// Too many letters for any search.
    Extended {
        kind: &'static str,
        n_letters: usize,
    },
}

/// What the readable parts of witness addresses are.
const HUMAN_READABLE: [&str; 6] = ["bc", "tb", "bcrt", "ltc", "tltc", "rltc"];

/// What extended keys (BIP 32, SLIP 132) start with, in lower case.
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

/// Characters of an extended key.
const EXTENDED_LEN: std::ops::RangeInclusive<usize> = 107..=115;

impl Special {
    pub(super) fn of(text: &str) -> Option<Self> {
        let lower = text.to_ascii_lowercase();
        let of_humans = lower.split_once('1').map(|(readable, _)| readable);
        if of_humans.is_some_and(|readable| HUMAN_READABLE.contains(&readable)) {
            let is_valid = bech32::segwit::decode(&lower).is_ok();
            return Some(Self::Bech32 {
                text: lower,
                is_valid,
            });
        }
        let extended = EXTENDED
            .into_iter()
            .find(|(start, _)| lower.starts_with(start));
        if let Some((_, kind)) = extended.filter(|_| EXTENDED_LEN.contains(&text.len())) {
            let alphabet = Alphabet::Bitcoin;
            let both = |c: char| {
                c.is_ascii_alphabetic()
                    && alphabet.digit(c.to_ascii_lowercase()).is_some()
                    && alphabet.digit(c.to_ascii_uppercase()).is_some()
            };
            // The first four are known.
            let n_letters = text.chars().skip(4).filter(|c| both(*c)).count();
            return Some(Self::Extended { kind, n_letters });
        }
        if lower.starts_with("qm") && text.len() == 46 {
            return Some(Self::Unchecked("an IPFS content identifier (CIDv0)"));
        }
        None
    }

    /// A text that no kind fits, if it is as long as a number without a checksum.
    pub(super) fn of_unknown(text: &str) -> Option<Self> {
        let is_plain = text.chars().all(|c| c.is_ascii_alphanumeric());
        // 32 bytes, the first of them zero or not.
        (is_plain && (43..=44).contains(&text.len())).then_some(Self::Unchecked(
            "a Solana address, or another number of 32 bytes",
        ))
    }

    pub(super) fn tell(self, env: &mut Env, is_json: bool) -> anyhow::Result<Exit> {
        match self {
            Self::Bech32 { text, is_valid } => {
                if is_json {
                    json::print_bech32(env, &text, is_valid)?;
                } else if is_valid {
                    writeln!(env.stdout, "{text}")?;
                    env.error("Bech32 says the same in either case: this is it in lower case, and its checksum fits");
                } else {
                    env.error(&format!("{text}: Bech32, which says the same in either case; its checksum does not fit, so that characters are wrong"));
                }
                Ok(if is_valid {
                    Exit::Good
                } else {
                    Exit::NotAllThere
                })
            }
            Self::Unchecked(what) => {
                bail!(
                    "this looks like {what}: not recoverable, there is no checksum to check against"
                )
            }
            Self::Extended { kind, n_letters } => bail!(
                "this is an {kind}: {n_letters} letters could be of either case, and 2^{n_letters} candidates nobody can search"
            ),
        }
    }
}
