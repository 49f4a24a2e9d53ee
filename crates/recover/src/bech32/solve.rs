//! Finds the strings of a pattern with a correct checksum.

use std::collections::HashMap;

use super::code;
use super::pattern::{Pattern, Place};

/// The code detects four wrong characters. It corrects two at unknown positions, or four at known positions.
const MAX_ERASURES: usize = 4;

/// Returns the number of wrong characters that the code corrects in addition to this many unknown ones.
pub(crate) fn max_errors(n_unknown: usize) -> usize {
    MAX_ERASURES.saturating_sub(n_unknown) / 2
}

/// A wrong character: its position, and the difference of its value.
type Change = (usize, u8);

/// The effect of each value of a character on the remainder.
pub(crate) type Effects = [u32; 32];

/// Returns the effects of the last `len` characters of a string.
pub(crate) fn effects_of(len: usize) -> Vec<Effects> {
    let last: Effects = std::array::from_fn(|value| value as u32);
    let before = |effects: &Effects| Some(effects.map(|effect| code::step(effect, 0)));
    let effects = std::iter::successors(Some(last), before);
    let mut effects: Vec<Effects> = effects.take(len).collect();
    effects.reverse();
    effects
}

/// A search for the strings of one pattern.
struct Solver<'e> {
    unknown: Vec<(usize, u32)>,
    /// For each character, the effect of each value on the remainder.
    effects: &'e [Effects],
    /// The change of a known character for each effect. All effects differ, because the code detects any two wrong
    /// characters.
    by_effect: HashMap<u32, Change>,
    values: Vec<u8>,
    max_errors: usize,
    found: Vec<Vec<u8>>,
}

/// Returns the values of all strings of a pattern with up to `max_errors` wrong characters that have this remainder.
/// `effects` has entries for at least as many characters.
pub(crate) fn solve(
    pattern: &Pattern,
    constant: u32,
    max_errors: usize,
    effects: &[Effects],
) -> Vec<Vec<u8>> {
    let effects = &effects[effects.len() - pattern.places.len()..];
    let values = pattern.places.iter().map(|place| match place {
        Place::Written(value) => *value,
        Place::Unknown { .. } => 0,
    });
    let values: Vec<u8> = values.collect();
    let start = code::remainder_of(&pattern.human_readable);
    let rest = values.iter().copied().fold(start, code::step) ^ constant;
    let by_effect = if max_errors > 0 {
        changes(pattern, effects).collect()
    } else {
        HashMap::new()
    };
    let mut solver = Solver {
        unknown: pattern.unknown(),
        effects,
        by_effect,
        values,
        max_errors,
        found: Vec::new(),
    };
    solver.fill(0, rest);
    solver.found
}

/// Returns all changes of one written character by their effects.
fn changes(pattern: &Pattern, effects: &[Effects]) -> impl Iterator<Item = (u32, Change)> {
    let places = pattern.places.iter().zip(effects).enumerate();
    let written = places.filter(|(_, (place, _))| matches!(place, Place::Written(_)));
    written.flat_map(|(position, (_, effects))| {
        (1..32).map(move |by| (effects[usize::from(by)], (position, by)))
    })
}

impl Solver<'_> {
    /// Tries all values of the unknown characters from number `index` on. `rest` is the effect on the remainder that
    /// the other characters must still have.
    fn fill(&mut self, index: usize, rest: u32) {
        let Some(&(position, values)) = self.unknown.get(index) else {
            self.correct(rest);
            return;
        };
        for value in (0..32).filter(|value| values >> value & 1 == 1) {
            self.values[position] = value;
            self.fill(index + 1, rest ^ self.effects[position][usize::from(value)]);
        }
        self.values[position] = 0;
    }

    /// Adds the strings in which wrong characters explain the rest.
    fn correct(&mut self, rest: u32) {
        if rest == 0 {
            self.found.push(self.values.clone());
        }
        if self.max_errors == 0 {
            return;
        }
        if let Some(change) = self.by_effect.get(&rest) {
            self.found.push(changed(&self.values, &[*change]));
        }
        if self.max_errors == 1 {
            return;
        }
        for (effect, first) in &self.by_effect {
            let second = self.by_effect.get(&(rest ^ effect));
            // Counts each pair once.
            if let Some(second) = second.filter(|second| first.0 < second.0) {
                self.found.push(changed(&self.values, &[*first, *second]));
            }
        }
    }
}

fn changed(values: &[u8], changes: &[Change]) -> Vec<u8> {
    let mut values = values.to_vec();
    for (position, by) in changes {
        values[*position] ^= by;
    }
    values
}
