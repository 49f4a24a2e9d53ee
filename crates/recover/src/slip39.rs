//! Shares of SLIP-39: words of 10 bits. Their checksum is a Reed-Solomon code (RS1024), which determines three words at known
//! positions, or locates a wrong one.

mod words;

use std::rc::Rc;

use zeroize::Zeroizing;

use crate::kind::{Count, Kind, Likeness, Refusal, Repaired};
use crate::linear::{Code, Effects};
use words::{Word, moved, word, words};

/// RS1024. The remainder starts with that of a text which names the purpose.
const CODE: Code<10> = Code {
    generator: [
        0x00e0_e040,
        0x01c1_c080,
        0x0383_8100,
        0x0707_0200,
        0x0e0e_0009,
        0x1c0c_2412,
        0x3808_6c24,
        0x3090_fc48,
        0x21b1_f890,
        0x03f3_f120,
    ],
    checksum_len: 3,
    start: 1,
    valid: 1,
};

/// The purposes of a share, without and with the flag of extendable backups.
const PURPOSES: [&str; 2] = ["shamir", "shamir_extendable"];

/// Number of words beside the value of a share: identifier, group and checksum.
const OTHER_LEN: usize = 7;

/// Maximum number of ways to read a text, in which a misspelled word is one of the closest ones.
const MAX_READINGS: usize = 1 << 12;

/// Maximum number of systems of equations: a few seconds of one core.
const MAX_SYSTEMS: f64 = 5e5;

/// Shares of secrets.
pub(crate) struct Slip39;

/// A way to read all words of a text.
struct Reading<'t> {
    words: Rc<[Word<'t>]>,
    values: Zeroizing<Vec<u16>>,
    /// The positions of words that only the checksum can determine.
    unknown: Vec<usize>,
    /// Number of missing, extra and exchanged words.
    n_moved: u32,
    inserted: Option<usize>,
    /// Number of other words that can be wrong, too.
    n_wrong: usize,
}

/// Returns `true` if a text is a list of words, whose spaces must be kept.
pub fn is_words(text: &str) -> bool {
    words(&Zeroizing::new(text.to_lowercase())).is_some()
}

/// Returns the number of zero bits before the value in a share of this many words.
fn padding(n_words: usize) -> Option<usize> {
    let bits = 10 * n_words.checked_sub(OTHER_LEN)?;
    (bits >= 128 && bits % 16 <= 8).then_some(bits % 16)
}

/// Returns all ways to read a text with at most this many wrong, missing, extra or exchanged words, those that are not listed aside.
fn readings<'t>(text: &[Word<'t>], errors: u8) -> Result<Vec<Reading<'t>>, Refusal> {
    let mut all = Vec::new();
    let mut n_before = 0;
    let texts = moved(text, errors).filter(|(words, ..)| padding(words.len()).is_some());
    for (words, n_moved, inserted) in texts {
        let words: Rc<[Word<'_>]> = words.into();
        let open = (0..words.len()).filter(|i| words[*i].value.is_none());
        let (misspelled, unknown): (Vec<usize>, Vec<usize>) =
            open.partition(|i| !words[*i].near.is_empty());
        let mut add = |values: Zeroizing<Vec<u16>>, unknown: &[usize]| {
            let Some(left) = CODE.checksum_len.checked_sub(unknown.len()) else {
                return;
            };
            all.push(Reading {
                words: Rc::clone(&words),
                values,
                unknown: unknown.to_vec(),
                n_moved,
                inserted,
                n_wrong: left.min(usize::from(errors) - n_moved as usize),
            });
        };
        let values: Vec<u16> = words.iter().map(|word| word.value.unwrap_or(0)).collect();
        let values = Zeroizing::new(values);
        let n_near = misspelled.iter().map(|i| words[*i].near.len());
        let n_near = n_near.fold(1_usize, usize::saturating_mul);
        if n_near > MAX_READINGS.saturating_sub(n_before) {
            return Err(Refusal("too many of its words are not listed".into()));
        }
        n_before += n_near;
        for number in 0..n_near {
            let mut values = values.clone();
            let mut rest = number;
            for i in &misspelled {
                let near = &words[*i].near;
                values[*i] = near[rest % near.len()];
                rest /= near.len();
            }
            add(values, &unknown);
        }
        if !misspelled.is_empty() {
            add(values, &[misspelled, unknown].concat());
        }
    }
    let n = text.iter().filter(|word| word.value.is_none()).count();
    if all.is_empty() && n > CODE.checksum_len {
        return Err(Refusal(format!(
            "{n} of its words are not listed; the checksum determines at most 3"
        )));
    }
    Ok(all)
}

/// Returns the number of ways to choose `k` of `n` things.
fn n_choices(n: usize, k: usize) -> f64 {
    (0..k).fold(1.0, |product, i| product * (n - i) as f64 / (i + 1) as f64)
}

/// Counts the texts of readings.
fn count(readings: &[Reading<'_>]) -> Result<Count, Refusal> {
    let mut count = Count::default();
    let mut n_systems = 0.0;
    for reading in readings {
        let padding = padding(reading.words.len()).unwrap_or(0);
        for n_wrong in 0..=reading.n_wrong {
            let choices = n_choices(reading.known().len(), n_wrong);
            let candidates = choices * 1024_f64.powi((reading.unknown.len() + n_wrong) as i32);
            n_systems += choices;
            count.candidates += candidates;
            // 136 of 256 pairs of a threshold and a number of groups are possible.
            count.accidental_hits += candidates / 2_f64.powi(30 + padding as i32) * 136.0 / 256.0;
        }
    }
    if n_systems > MAX_SYSTEMS {
        return Err(Refusal(format!(
            "too much is unknown: {n_systems:.0} systems of equations exceed the maximum of {MAX_SYSTEMS:.0}"
        )));
    }
    Ok(count)
}

/// Calls a function with all ways to choose `k` positions.
fn for_each_choice(
    positions: &[usize],
    k: usize,
    chosen: &mut Vec<usize>,
    with: &mut impl FnMut(&[usize]),
) {
    if k == 0 {
        return with(chosen);
    }
    for (i, position) in positions.iter().enumerate() {
        chosen.push(*position);
        for_each_choice(&positions[i + 1..], k - 1, chosen, with);
        chosen.pop();
    }
}

impl Reading<'_> {
    /// Returns the positions of words that the checksum need not determine.
    fn known(&self) -> Vec<usize> {
        let all = 0..self.words.len();
        all.filter(|i| !self.unknown.contains(i)).collect()
    }

    /// Calls a function with the values of each valid text.
    fn solve(&self, code: Code<10>, effects: &Effects<10>, mut with: impl FnMut(&[u16])) {
        let known = self.known();
        for n_wrong in 0..=self.n_wrong {
            for_each_choice(&known, n_wrong, &mut self.unknown.clone(), &mut |unknown| {
                let wrong = &unknown[self.unknown.len()..];
                let solved = code.solve(effects, &self.values, unknown, 0);
                for values in solved.unwrap_or_default() {
                    if wrong.iter().all(|i| values[*i] != self.values[*i]) {
                        with(&values);
                    }
                }
            });
        }
    }

    /// Returns the hit for a valid text, and its distance from what was written.
    fn repaired(&self, values: &[u16], what: String) -> (usize, Repaired) {
        let distances = self
            .words
            .iter()
            .zip(values)
            .map(|(word, value)| word.distance(*value));
        let distances: Vec<usize> = distances.collect();
        let is_changed =
            |i: &usize| self.words[*i].value != Some(values[*i]) || self.inserted == Some(*i);
        let all: Vec<&str> = values.iter().map(|value| word(*value)).collect();
        let mut text = Zeroizing::new(String::with_capacity(9 * all.len()));
        for (number, word) in all.into_iter().enumerate() {
            text.push_str(if number == 0 { "" } else { " " });
            text.push_str(word);
        }
        let repaired = Repaired {
            text,
            what,
            is_secret: true,
            edits: self.n_moved + distances.iter().filter(|distance| **distance > 0).count() as u32,
            changed: (0..values.len()).filter(is_changed).collect(),
        };
        (distances.iter().sum(), repaired)
    }
}

/// Returns the name of a share with this flag of extendable backups, if its words obey the rules of the standard.
fn name(values: &[u16], is_extendable: bool) -> Option<String> {
    let padding = padding(values.len())?;
    let params = u32::from(values[2]) << 10 | u32::from(values[3]);
    let [group, group_threshold, n_groups, member, threshold] =
        [16, 12, 8, 4, 0].map(|shift| params >> shift & 15);
    let is_valid = values[1] >> 4 & 1 == u16::from(is_extendable)
        && usize::from(values[4]) >> (10 - padding) == 0
        && group_threshold <= n_groups;
    is_valid.then(|| {
        format!(
            "SLIP-39 share, group {} of {}, member {}, threshold {}",
            group + 1,
            n_groups + 1,
            member + 1,
            threshold + 1
        )
    })
}

impl Kind for Slip39 {
    fn recognize(&self, text: &str, _: bool) -> Option<Likeness> {
        is_words(text).then(|| Likeness::Certain("SLIP-39 share".into()))
    }

    fn count(&self, text: &str, errors: u8) -> Result<Count, Refusal> {
        let lower = Zeroizing::new(text.to_lowercase());
        count(&readings(&words(&lower).unwrap_or_default(), errors)?)
    }

    fn originals(&self, text: &str, errors: u8) -> Result<(Vec<Repaired>, Count), Refusal> {
        let lower = Zeroizing::new(text.to_lowercase());
        let readings = readings(&words(&lower).unwrap_or_default(), errors)?;
        let count = count(&readings)?;
        let longest = readings.iter().map(|reading| reading.words.len()).max();
        let effects = CODE.effects(longest.unwrap_or(0));
        let mut found: Vec<(usize, Repaired)> = Vec::new();
        for (purpose, is_extendable) in PURPOSES.into_iter().zip([false, true]) {
            let start = purpose
                .bytes()
                .fold(1, |remainder, byte| CODE.step(remainder, byte.into()));
            let code = Code { start, ..CODE };
            for reading in &readings {
                reading.solve(code, &effects, |values| {
                    let repaired =
                        name(values, is_extendable).map(|what| reading.repaired(values, what));
                    found.extend(repaired);
                });
            }
        }
        found.sort_by(|(_, one), (_, other)| one.text.as_str().cmp(other.text.as_str()));
        found.sort_by_key(|(distance, repaired)| (repaired.edits, *distance));
        found.dedup_by(|(_, one), (_, other)| one.text == other.text);
        Ok((
            found.into_iter().map(|(_, repaired)| repaired).collect(),
            count,
        ))
    }

    fn max_errors(&self) -> u8 {
        3
    }
}
