//! Work units: the prefixes of all spaces, cut into parts with about the same number of hashes.
//!
//! The cut depends only on the search, not on the device. Shards of one search therefore fit
//! together on any machines, and a resume file is valid on another machine.

use std::ops::Range;

use crate::error::SearchError;
use crate::tables::Size;

/// Number of hashes in a work unit: about 16 ms of the fastest kernel, and 0.2 s of the slowest. A
/// search stops only between work units.
const UNIT_HASHES: f64 = 524_288.0;

/// All work units of a search.
#[derive(Debug)]
pub(crate) struct Units {
    spaces: Vec<SpaceUnits>,
}

/// The work units of one space.
#[derive(Debug)]
struct SpaceUnits {
    units: Range<u64>,
    prefixes: Range<u128>,
    prefixes_per_unit: u128,
    hashes_per_prefix: f64,
}

/// Consecutive work units of one space, for one call of a backend.
#[derive(Debug)]
pub(crate) struct Batch {
    /// The index of the space.
    pub(crate) space: usize,
    pub(crate) units: Range<u64>,
    pub(crate) prefixes: Range<u128>,
    prefixes_per_unit: u128,
}

impl Batch {
    /// Returns the work unit that contains a prefix.
    pub(crate) fn unit_of(&self, prefix: u128) -> u64 {
        let index = prefix.saturating_sub(self.prefixes.start) / self.prefixes_per_unit;
        // A batch has fewer than 2⁶⁴ work units.
        self.units.start + index as u64
    }
}

impl SpaceUnits {
    fn prefixes_of(&self, units: &Range<u64>) -> Range<u128> {
        let start = |unit: u64| {
            let before = u128::from(unit - self.units.start) * self.prefixes_per_unit;
            (self.prefixes.start + before).min(self.prefixes.end)
        };
        start(units.start)..start(units.end)
    }
}

impl Units {
    /// Cuts spaces of these sizes into work units.
    pub(crate) fn new(sizes: &[Size]) -> Result<Self, SearchError> {
        let mut total: u64 = 0;
        let mut spaces = Vec::with_capacity(sizes.len());
        for size in sizes {
            let prefixes_per_unit = (UNIT_HASHES / size.hashes.max(1.0)).max(1.0) as u128;
            let n_units = size.n_prefixes().div_ceil(prefixes_per_unit);
            let end = u64::try_from(n_units)
                .ok()
                .filter(|_| size.is_exact())
                .and_then(|n| total.checked_add(n))
                .ok_or(SearchError::TooLarge { bits: 64 })?;
            spaces.push(SpaceUnits {
                units: total..end,
                prefixes: size.prefixes.clone(),
                prefixes_per_unit,
                hashes_per_prefix: size.hashes,
            });
            total = end;
        }
        Ok(Self { spaces })
    }

    pub(crate) fn total(&self) -> u64 {
        self.spaces.last().map_or(0, |space| space.units.end)
    }

    /// Returns the first of these work units that belong to one space, at most `limit`.
    pub(crate) fn batch(&self, units: &Range<u64>, limit: u64) -> Batch {
        let index = self
            .spaces
            .partition_point(|space| space.units.end <= units.start);
        let space = &self.spaces[index];
        let end = units.start.saturating_add(limit);
        let units = units.start..end.min(units.end).min(space.units.end);
        Batch {
            space: index,
            prefixes: space.prefixes_of(&units),
            prefixes_per_unit: space.prefixes_per_unit,
            units,
        }
    }

    /// Returns the expected number of hashes in these work units.
    pub(crate) fn hashes_in(&self, units: &Range<u64>) -> f64 {
        let parts = self.parts_of(units);
        // `sum` of no numbers would be -0.0.
        parts.fold(0.0, |sum, (space, _, n_prefixes)| {
            sum + n_prefixes * self.spaces[space].hashes_per_prefix
        })
    }

    /// Returns the part of each space in these work units: the index of the space, the number of
    /// work units, and the number of prefixes.
    pub(crate) fn parts_of(&self, units: &Range<u64>) -> impl Iterator<Item = (usize, u64, f64)> {
        let first = self
            .spaces
            .partition_point(|space| space.units.end <= units.start);
        let units = units.clone();
        let spaces = self.spaces.iter().enumerate().skip(first);
        let spaces = spaces.take_while(move |(_, space)| space.units.start < units.end);
        let Range { start, end } = units;
        spaces.map(move |(index, space)| {
            let from = start.max(space.units.start);
            let to = end.min(space.units.end).max(from);
            let prefixes = space.prefixes_of(&(from..to));
            let n_prefixes = (prefixes.end - prefixes.start) as f64;
            (index, to - from, n_prefixes)
        })
    }
}
