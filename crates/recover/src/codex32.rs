//! codex32 (BIP 93): seeds of 16 to 64 bytes and shares of them, with a BCH code that corrects four wrong or eight unknown
//! characters, and an unknown run as long as the checksum.

use zeroize::Zeroizing;

use crate::bech32::CHARSET;
use crate::kind::{Count, Kind, Likeness, Refusal, Repaired};
use crate::linear::Code;
use crate::places::{Place, read};

const START: &str = "ms1";

/// Number of unknown characters that both codes correct, and twice the number of wrong ones.
const CORRECTABLE: usize = 8;

/// Threshold, identifier and index of a share.
const HEADER_LEN: usize = 6;

/// The code of texts of up to 93 characters.
const SHORT: Code<5> = Code {
    generator: [
        0x0001_9dc5_00ce_73fd_e210,
        0x0001_bfae_00de_f77f_e529,
        0x0001_fbd9_20ff_fe7b_ee52,
        0x0001_7396_40bd_eee3_fdad,
        0x0000_7729_a039_cfc7_5f5a,
    ],
    checksum_len: 13,
    start: 0x0231_81b3,
    valid: 0x0001_0ce0_795c_2fd1_e62a,
};

/// The code of texts of 125 to 127 characters.
const LONG: Code<5> = Code {
    generator: [
        0x03d5_9d27_3535_ea62_d897,
        0x07a9_becb_6361_c6c5_1507,
        0x0543_f9b7_e6c3_8d8a_2a0e,
        0x00c5_77ea_eccf_1990_d13c,
        0x0188_7f74_f8dc_71b1_0651,
    ],
    checksum_len: 15,
    valid: 0x0433_81e5_70bf_4798_ab26,
    ..SHORT
};

/// Shares of seeds, and seeds.
pub(crate) struct Codex32;

/// Returns the code of a text with this many characters after the start.
fn code(len: usize) -> Option<Code<5>> {
    match len + START.len() {
        48..=93 => Some(SHORT),
        125..=127 => Some(LONG),
        _ => None,
    }
}

/// Returns the places after the start, and the number of wrong characters in the start.
fn places(text: &str) -> Option<(Vec<Place>, u32)> {
    let (start, rest) = text.split_at_checked(START.len())?;
    let n_wrong = start
        .to_ascii_lowercase()
        .chars()
        .zip(START.chars())
        .filter(|(a, b)| a != b)
        .count();
    let places = read(rest, CHARSET).ok()?;
    let is_near = (44..=125).contains(&places.len());
    (start.is_ascii() && n_wrong <= 1 && is_near).then_some((places, n_wrong as u32))
}

impl Codex32 {
    /// Adds the originals of these places.
    ///
    /// # Errors
    /// If too many of the characters are unknown.
    fn add(
        found: &mut Vec<Repaired>,
        places: &[Place],
        edits: u32,
        max_wrong: usize,
        inserted: Option<usize>,
    ) -> Result<(), Refusal> {
        let Some(code) = code(places.len()) else {
            return Ok(());
        };
        let values = places
            .iter()
            .map(|place| place.values.trailing_zeros() as u16);
        let values: Zeroizing<Vec<u16>> = Zeroizing::new(values.collect());
        let unknown: Vec<usize> = (0..places.len()).filter(|i| places[*i].is_open()).collect();
        let max_wrong = max_wrong.min(CORRECTABLE.saturating_sub(unknown.len()) / 2);
        let effects = code.effects(places.len());
        let originals = code
            .solve(&effects, &values, &unknown, max_wrong)
            .ok_or_else(|| {
                let n = unknown.len();
                Refusal(format!(
                    "{n} characters are unknown; the checksum does not determine them"
                ))
            })?;
        for original in originals {
            let allowed = places.iter().zip(&*original).enumerate();
            let wrong = allowed
                .clone()
                .filter(|(_, (place, value))| place.values >> **value & 1 == 0);
            let wrong: Vec<usize> = wrong.map(|(position, _)| position).collect();
            // A set excludes the values that it does not have.
            if wrong.iter().any(|position| places[*position].is_open()) {
                continue;
            }
            let foreign = places.iter().filter(|place| place.is_wrong).count();
            let mut changed: Vec<usize> = [
                wrong.clone(),
                unknown.clone(),
                inserted.into_iter().collect(),
            ]
            .concat();
            changed.sort_unstable();
            changed.dedup();
            let mut text = Zeroizing::new(String::with_capacity(START.len() + original.len()));
            text.push_str(START);
            text.extend(
                original
                    .iter()
                    .map(|value| char::from(CHARSET.as_bytes()[usize::from(*value)])),
            );
            let Some(what) = name(&text, code) else {
                continue;
            };
            if found.iter().all(|other| other.text != text) {
                found.push(Repaired {
                    text,
                    what,
                    is_secret: true,
                    edits: edits + (wrong.len() + foreign) as u32,
                    changed: changed
                        .into_iter()
                        .map(|position| position + START.len())
                        .collect(),
                });
            }
        }
        Ok(())
    }
}

/// Returns the name of a text if it obeys the rules of BIP 93.
fn name(text: &str, code: Code<5>) -> Option<String> {
    let (header, rest) = text[START.len()..].split_at_checked(HEADER_LEN)?;
    let (threshold, index) = (&header[..1], &header[5..]);
    let n_left = (rest.len() - code.checksum_len) * 5 % 8;
    let is_valid =
        n_left < 5 && "023456789".contains(threshold) && (threshold != "0" || index == "s");
    let what = if index == "s" {
        "secret".to_owned()
    } else {
        format!("share {index}")
    };
    is_valid.then(|| format!("codex32 {what} of {}, threshold {threshold}", &header[1..5]))
}

impl Kind for Codex32 {
    fn recognize(&self, text: &str, _: bool) -> Option<Likeness> {
        let (places, n_wrong) = places(text)?;
        let n_foreign = places.iter().filter(|place| place.is_wrong).count();
        let is_certain = n_wrong == 0 && n_foreign <= CORRECTABLE;
        Some(if is_certain {
            Likeness::Certain("codex32 text".into())
        } else {
            Likeness::Possible
        })
    }

    fn count(&self, text: &str, _: u8) -> Result<Count, Refusal> {
        let (places, n_wrong) =
            places(text).ok_or_else(|| Refusal("not a text of codex32".into()))?;
        let n_unknown = places.iter().filter(|place| place.is_open()).count();
        let most = CORRECTABLE.saturating_sub(n_unknown + 2 * n_wrong as usize) / 2;
        let candidates = (0..most).fold(1.0, |sum, i| {
            sum * places.len() as f64 * 31.0 / (i + 1) as f64
        });
        let candidates = candidates * 32_f64.powi(n_unknown as i32);
        Ok(Count {
            candidates,
            accidental_hits: candidates / 32_f64.powi(SHORT.checksum_len as i32),
        })
    }

    fn originals(&self, text: &str, _: u8) -> Result<(Vec<Repaired>, Count), Refusal> {
        let (places, n_wrong) =
            places(text).ok_or_else(|| Refusal("not a text of codex32".into()))?;
        let n_unknown = places.iter().filter(|place| place.is_open()).count();
        if n_unknown > LONG.checksum_len {
            return Err(Refusal(format!(
                "{n_unknown} characters are unknown; the checksum determines at most 15"
            )));
        }
        let mut found = Vec::new();
        Self::add(&mut found, &places, n_wrong, 0, None)?;
        if found.is_empty() {
            Self::add(&mut found, &places, n_wrong, CORRECTABLE / 2, None)?;
        }
        if found.is_empty() && n_unknown <= 1 {
            for position in 0..=places.len() {
                let mut longer = places.clone();
                longer.insert(position, Place::any(CHARSET.len()));
                Self::add(&mut found, &longer, n_wrong + 1, 1, Some(position))?;
                let mut shorter = places.clone();
                if position < places.len() {
                    shorter.remove(position);
                    Self::add(&mut found, &shorter, n_wrong + 1, 1, None)?;
                }
            }
        }
        Ok((found, self.count(text, 0)?))
    }

    fn is_solved(&self) -> bool {
        true
    }

    fn max_errors(&self) -> u8 {
        0
    }
}
