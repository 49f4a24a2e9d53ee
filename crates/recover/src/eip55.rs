//! Addresses of Ethereum and similar chains. Their checksum is the case of the letters: a letter is in upper case if the
//! Keccak-256 of the digits has a bit at its place (EIP-55). EIP-1191 hashes the number of the chain, too.

use std::collections::HashSet;

use crate::keccak::{Block, Kernel, Words};
use crate::kind::{Count, Kind, Likeness, Refusal, Repaired};
use crate::places::{Place, edited, for_each, read};

const DIGITS: &str = "0123456789abcdef";

/// Number of digits of an address.
const LEN: usize = 40;

/// Maximum number of candidates of a search: a few seconds of one core.
const MAX_CANDIDATES: f64 = 5e7;

/// Minimum number of letters in upper case that must fit if others have lost their case. One text of 256 fits by accident.
const MIN_UPPER: usize = 8;

/// Number of messages that are hashed at once.
const BATCH: usize = 64;

/// The text before the digits in the message, and the name of the kind. Only Rootstock uses EIP-1191.
const SCHEMES: [(&str, &str); 3] = [
    ("", "Ethereum address (EIP-55)"),
    ("300x", "Rootstock address (EIP-1191, chain 30)"),
    ("310x", "Rootstock testnet address (EIP-1191, chain 31)"),
];

/// Addresses with a checksum in the case of their letters.
pub(crate) struct Eip55;

/// Returns the places of a text that looks like an address: after `0x`, or 40 digits.
fn places(text: &str) -> Option<Vec<Place>> {
    let start = text
        .get(..2)
        .filter(|start| ["0x", "ox"].contains(&&*start.to_ascii_lowercase()));
    let places = read(&text[start.map_or(0, str::len)..], DIGITS).ok()?;
    let n_wrong = places.iter().filter(|place| place.is_wrong).count();
    let max = if start.is_some() { 2 } else { 0 };
    (places.len().abs_diff(LEN) <= max && n_wrong <= max).then_some(places)
}

/// Returns the places of a text if the case of its letters can be checked.
fn checked(text: &str) -> Result<Vec<Place>, Refusal> {
    let refusal = |reason: &str| Refusal(reason.into());
    let places = places(text).ok_or_else(|| refusal("not an address of Ethereum"))?;
    let has = |is_upper| places.iter().any(|place| place.is_upper == Some(is_upper));
    let is_intact = |places: &[Place]| !search(&[(places.to_vec(), 0)]).is_empty();
    match (has(false), has(true)) {
        (true, true) => Ok(places),
        (false, false) => Err(refusal("it has no letters, so it carries no checksum")),
        // The checksum of few addresses is in one case.
        _ if !places.iter().any(Place::is_open) && is_intact(&places) => Ok(places),
        _ => Err(refusal(
            "all letters are in one case, so the text carries no checksum: that of EIP-55 is the case of the letters. \
             No wrong, missing or unknown digit can be found without it",
        )),
    }
}

impl Kind for Eip55 {
    fn recognize(&self, text: &str, _: bool) -> Option<Likeness> {
        let is_marked = text
            .get(1..2)
            .is_some_and(|mark| mark.eq_ignore_ascii_case("x"));
        // Digits in both cases are nothing else. Those in one case can be any number.
        let is_hexadecimal = text.chars().all(|c| c.is_ascii_hexdigit() || c == '?');
        places(text).map(|_| {
            if is_marked || is_hexadecimal && checked(text).is_ok() {
                Likeness::Certain("Ethereum address".into())
            } else {
                Likeness::Possible
            }
        })
    }

    fn count(&self, text: &str, errors: u8) -> Result<Count, Refusal> {
        count(&edited(checked(text)?, errors, LEN, DIGITS.len()))
    }

    fn originals(&self, text: &str, errors: u8) -> Result<(Vec<Repaired>, Count), Refusal> {
        let places = checked(text)?;
        let patterns = edited(places.clone(), errors, LEN, DIGITS.len());
        let count = count(&patterns)?;
        let mut found = search(&patterns);
        if errors > 0 && may_have_lost_case(&places) {
            let is_new = |lost: &Repaired| found.iter().all(|other| other.text != lost.text);
            let lost: Vec<Repaired> = with_lost_case(&places).into_iter().filter(is_new).collect();
            found.extend(lost);
        }
        Ok((found, count))
    }

    fn max_errors(&self) -> u8 {
        2
    }
}

/// Counts the addresses of these patterns.
fn count(patterns: &[(Vec<Place>, u32)]) -> Result<Count, Refusal> {
    let mut count = Count::default();
    for (places, _) in patterns {
        let values = places
            .iter()
            .map(|place| f64::from(place.values.count_ones()));
        let candidates = values.product::<f64>() * SCHEMES.len() as f64;
        let letters = places.iter().filter(|place| place.is_upper.is_some());
        count.candidates += candidates;
        count.accidental_hits += candidates / 2_f64.powi(letters.count() as i32);
    }
    count.within(MAX_CANDIDATES)
}

/// Returns the number of letters in upper case.
fn n_upper(places: &[Place]) -> usize {
    let upper = places.iter().filter(|place| place.is_upper == Some(true));
    upper.count()
}

/// Returns `true` if the letters in upper case say enough about a text whose other letters lost their case.
fn may_have_lost_case(places: &[Place]) -> bool {
    n_upper(places) >= MIN_UPPER && !places.iter().any(Place::is_open)
}

/// Returns the addresses with these digits whose letters in upper case are those of the text.
fn with_lost_case(places: &[Place]) -> Vec<Repaired> {
    let mut lost = places.to_vec();
    for place in lost
        .iter_mut()
        .filter(|place| place.is_upper == Some(false))
    {
        place.is_upper = None;
    }
    let mut found = search(&[(lost, 0)]);
    for repaired in &mut found {
        let digits = repaired.text.bytes().skip(2).zip(places).enumerate();
        let is_lost = |(digit, place): (u8, &Place)| {
            digit.is_ascii_uppercase() && place.is_upper == Some(false)
        };
        let lost = digits
            .filter(|(_, at)| is_lost(*at))
            .map(|(position, _)| position + 2);
        repaired.changed.extend(lost);
        repaired.edits = repaired.changed.len() as u32;
    }
    found
}

/// Returns the word and the bit of a digest for a digit.
fn bit(position: usize) -> (usize, u64) {
    (
        position / 16,
        1 << (position / 2 % 8 * 8 + [7, 3][position % 2]),
    )
}

/// Returns the addresses that have the case of their checksum.
fn search(patterns: &[(Vec<Place>, u32)]) -> Vec<Repaired> {
    let kernel = Kernel::fastest();
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    let mut blocks = Vec::new();
    for (places, edits) in patterns.iter().filter(|(places, _)| places.len() == LEN) {
        let (mut letters, mut upper) = ([0; 3], [0; 3]);
        for (position, place) in places.iter().enumerate() {
            let (word, bit) = bit(position);
            letters[word] |= place.is_upper.map_or(0, |_| bit);
            upper[word] |= place
                .is_upper
                .map_or(0, |is_upper| u64::from(is_upper) * bit);
        }
        let fits = |digest: &Words| (0..3).all(|i| (digest[i] ^ upper[i]) & letters[i] == 0);
        for (start, what) in SCHEMES {
            let mut check = |blocks: &mut Vec<Block>| {
                let mut digests = [[0; 4]; BATCH];
                kernel.digest(blocks, &mut digests);
                let digests = blocks.drain(..).zip(&digests);
                for (block, digest) in digests.filter(|(_, digest)| fits(digest)) {
                    let text =
                        checksummed(&block.message(start.len() + LEN)[start.len()..], digest);
                    if seen.insert((text.clone(), what)) {
                        let open = places
                            .iter()
                            .enumerate()
                            .filter(|(_, place)| place.is_open());
                        found.push(Repaired {
                            text: text.into(),
                            what: what.into(),
                            is_secret: false,
                            edits: *edits,
                            changed: open.map(|(position, _)| position + 2).collect(),
                        });
                    }
                }
            };
            let mut message = [0; LEN + 4];
            message[..start.len()].copy_from_slice(start.as_bytes());
            for_each(places, |values| {
                for (byte, value) in message[start.len()..].iter_mut().zip(values) {
                    *byte = DIGITS.as_bytes()[usize::from(*value)];
                }
                blocks.push(Block::new(&message[..start.len() + LEN]));
                if blocks.len() == BATCH {
                    check(&mut blocks);
                }
            });
            check(&mut blocks);
        }
    }
    found
}

/// Returns an address with the case of a digest.
fn checksummed(digits: &[u8], digest: &Words) -> String {
    let mut text = String::from("0x");
    for (position, digit) in digits.iter().enumerate() {
        let (word, bit) = bit(position);
        let is_upper = digest[word] & bit != 0;
        text.push(
            if is_upper {
                digit.to_ascii_uppercase()
            } else {
                *digit
            }
            .into(),
        );
    }
    text
}
