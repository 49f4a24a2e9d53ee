//! Codes whose remainder is linear, over characters of 5 bits or words of 10: finds the texts with a correct checksum that differ
//! from a text in few characters, some of which may be known to be wrong.

use std::collections::HashMap;

use zeroize::Zeroizing;

/// A change of a character: its position and the difference of its value.
type Change = (u32, u16);

/// The effect of each bit of each character on the remainder, that of the last character last.
pub(crate) type Effects<const BITS: usize> = Vec<[u128; BITS]>;

/// Maximum number of independent bits by which unknown characters can differ in valid texts.
const MAX_FREE_BITS: usize = 12;

/// A code over values of this many bits: the remainder after a step is linear in the remainder and the value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Code<const BITS: usize> {
    /// The effect of each bit of the value that leaves the remainder.
    pub(crate) generator: [u128; BITS],
    /// Number of characters of the checksum.
    pub(crate) checksum_len: usize,
    /// The remainder before the first value.
    pub(crate) start: u128,
    /// The remainder of a valid text.
    pub(crate) valid: u128,
}

impl<const BITS: usize> Code<BITS> {
    /// Returns the remainder after one more value. Linear in both.
    pub(crate) fn step(&self, remainder: u128, value: u16) -> u128 {
        let shift = BITS * (self.checksum_len - 1);
        let top = remainder >> shift;
        let shifted = (remainder & ((1 << shift) - 1)) << BITS ^ u128::from(value);
        let terms = self.generator.iter().enumerate();
        let terms = terms.filter(|(bit, _)| top >> bit & 1 == 1);
        terms.fold(shifted, |remainder, (_, term)| remainder ^ term)
    }

    /// Returns the remainder of a text, which is zero for a valid one.
    pub(crate) fn remainder(&self, values: &[u16]) -> u128 {
        values
            .iter()
            .fold(self.start, |remainder, value| self.step(remainder, *value))
            ^ self.valid
    }

    /// Returns the effects of the characters of a text of this length. They do not depend on the start and on the valid remainder.
    pub(crate) fn effects(&self, len: usize) -> Effects<BITS> {
        let last: [u128; BITS] = std::array::from_fn(|bit| 1 << bit);
        let before = |effects: &[u128; BITS]| Some(effects.map(|effect| self.step(effect, 0)));
        let effects = std::iter::successors(Some(last), before);
        let mut effects: Vec<_> = effects.take(len).collect();
        effects.reverse();
        effects
    }

    /// Returns the valid texts in which at most `max_wrong` characters differ, up to 4. The values of unknown characters are
    /// ignored. `effects` are those of a text that is at least as long. Fails if too many characters are unknown.
    pub(crate) fn solve(
        &self,
        effects: &[[u128; BITS]],
        values: &[u16],
        unknown: &[usize],
        max_wrong: usize,
    ) -> Option<Vec<Zeroizing<Vec<u16>>>> {
        let effects = &effects[effects.len() - values.len()..];
        // Gauss's algorithm: a row has a leading bit that no later row has, and the bits of unknown characters that make it.
        let mut rows: Vec<(u128, u128)> = Vec::new();
        // Bits of unknown characters that can change together in a valid text.
        let mut free: Vec<u128> = Vec::new();
        let columns = unknown.iter().flat_map(|position| effects[*position]);
        for (number, column) in columns.enumerate() {
            if number == 128 {
                return None;
            }
            let (rest, made_of) = reduce(&rows, column);
            let made_of = made_of | 1 << number;
            if rest == 0 {
                free.push(made_of);
            } else {
                rows.push((rest, made_of));
            }
        }
        if free.len() > MAX_FREE_BITS {
            return None;
        }
        let mut text = Zeroizing::new(values.to_vec());
        for position in unknown {
            text[*position] = 0;
        }
        let rest = self.remainder(&text);
        let known = (0..values.len()).filter(|i| max_wrong > 0 && !unknown.contains(i));
        let singles = known.flat_map(|i| (1..1 << BITS).map(move |by| (i as u32, by)));
        let singles: Vec<(u128, Change)> = singles
            .map(|change| (reduce(&rows, effect(effects, change)).0, change))
            .collect();
        let wanted = reduce(&rows, rest).0;
        let mut found = Vec::new();
        for changes in sums(&singles, wanted, max_wrong) {
            let mut text = text.clone();
            for (position, by) in &changes {
                text[*position as usize] ^= by;
            }
            let (left, made_of) = reduce(&rows, self.remainder(&text));
            if left != 0 {
                continue;
            }
            for number in 0..1_usize << free.len() {
                let chosen = free
                    .iter()
                    .enumerate()
                    .filter(|(bit, _)| number >> bit & 1 == 1);
                let made_of = chosen.fold(made_of, |bits, (_, free)| bits ^ free);
                for (index, position) in unknown.iter().enumerate() {
                    text[*position] = (made_of >> (BITS * index) & ((1 << BITS) - 1)) as u16;
                }
                found.push(text.clone());
            }
        }
        found.dedup();
        Some(found)
    }
}

/// Returns the effect of a change on the remainder.
fn effect<const BITS: usize>(effects: &[[u128; BITS]], (position, by): Change) -> u128 {
    let bits = effects[position as usize].iter().enumerate();
    let set = bits.filter(|(bit, _)| by >> bit & 1 == 1);
    set.fold(0, |sum, (_, effect)| sum ^ effect)
}

/// Returns what is left of a remainder, and the bits of unknown characters that were subtracted.
fn reduce(rows: &[(u128, u128)], remainder: u128) -> (u128, u128) {
    let mut left = (remainder, 0);
    for (row, made_of) in rows {
        if left.0 >> row.ilog2() & 1 == 1 {
            left = (left.0 ^ row, left.1 ^ made_of);
        }
    }
    left
}

/// Returns the sets of at most `most` changes of different characters whose effects sum to `wanted`: up to 4.
fn sums(singles: &[(u128, Change)], wanted: u128, most: usize) -> Vec<Vec<Change>> {
    let mut found = Vec::new();
    if wanted == 0 {
        found.push(Vec::new());
    }
    if most == 0 {
        return found;
    }
    let by_effect: HashMap<u128, Change> = singles.iter().copied().collect();
    let mut add = |changes: &[Change]| {
        let mut changes = changes.to_vec();
        changes.sort_unstable();
        if changes.windows(2).all(|pair| pair[0].0 < pair[1].0) && !found.contains(&changes) {
            found.push(changes);
        }
    };
    if let Some(one) = by_effect.get(&wanted) {
        add(&[*one]);
    }
    // The first two of four changes, by their effect, of which one half is looked up in the other.
    let mut pairs: Vec<(u64, u32, u32)> = Vec::new();
    for (i, (first, one)) in singles.iter().enumerate() {
        if most >= 2
            && let Some(two) = by_effect.get(&(wanted ^ first))
        {
            add(&[*one, *two]);
        }
        if most < 3 {
            continue;
        }
        for (j, (second, two)) in singles.iter().enumerate().skip(i + 1) {
            if let Some(three) = by_effect.get(&(wanted ^ first ^ second)) {
                add(&[*one, *two, *three]);
            }
            if most >= 4 {
                pairs.push(((first ^ second) as u64, i as u32, j as u32));
            }
        }
    }
    pairs.sort_unstable_by_key(|(effect, ..)| *effect);
    for (effect, i, j) in &pairs {
        let other = effect ^ wanted as u64;
        // Each set once.
        if other < *effect {
            continue;
        }
        let from = pairs.partition_point(|(effect, ..)| *effect < other);
        for (_, k, l) in pairs[from..]
            .iter()
            .take_while(|(effect, ..)| *effect == other)
        {
            add(&[*i, *j, *k, *l].map(|single| singles[single as usize].1));
        }
    }
    found
}
