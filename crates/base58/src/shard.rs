//! Parts of a search for several machines.

use std::ops::Range;

/// A part of a search. All parts together are the whole search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// The index of the part, counted from 0.
    index: u64,
    n: u64,
}

impl Shard {
    /// Returns part `number` of `n`, counted from 1; `None` if there is no such part.
    pub fn new(number: u64, n: u64) -> Option<Self> {
        let index = number.checked_sub(1)?;
        (number <= n).then_some(Self { index, n })
    }

    /// Returns `true` for the first part.
    pub fn is_first(self) -> bool {
        self.index == 0
    }

    /// Returns the work units of this part of a search with `n_units` work units. All parts together contain each unit once.
    pub fn of(self, n_units: u64) -> Range<u64> {
        let start = |index: u64| {
            let start = u128::from(n_units) * u128::from(index) / u128::from(self.n);
            // Never exceeds the number of units.
            start as u64
        };
        start(self.index)..start(self.index + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_all_of_it_once() {
        for n_units in [0, 1, 6, 7, 100, u64::MAX] {
            let mut end = 0;
            for number in 1..=7 {
                let units = Shard::new(number, 7).expect("it is one").of(n_units);
                assert_eq!(units.start, end, "{number}/7 of {n_units}");
                end = units.end;
            }
            assert_eq!(end, n_units);
        }
        assert_eq!(Shard::new(0, 4), None);
        assert_eq!(Shard::new(5, 4), None);
        assert_eq!(Shard::new(1, 0), None);
    }
}
