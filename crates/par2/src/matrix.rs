//! Solves the equations of missing slices.

use std::num::NonZeroUsize;

use hashlane_files::CancelToken;

use crate::gf;
use crate::kernels::Kernel;
use crate::sums::{Planes, Sums};

/// Missing slices as sums of products of recovery slices.
pub(crate) struct Solution {
    /// The positions of the recovery slices in use, one for each missing slice.
    pub(crate) used: Vec<usize>,
    /// The factors: a row for each missing slice.
    factors: Vec<u16>,
}

impl Solution {
    /// Returns the factor of a recovery slice in use for a missing slice.
    pub(crate) fn factor(&self, missing: usize, used: usize) -> u16 {
        self.factors[missing * self.used.len() + used]
    }

    /// Returns the number of bytes of memory that [`Self::find`] takes at most.
    pub(crate) fn memory(n_missing: usize) -> u64 {
        Sums::memory(n_missing, 2 * n_missing) + 2 * (n_missing as u64).pow(2)
    }

    /// Solves the equations by Gauss-Jordan elimination in place. `missing` are the logarithms of the constants of the missing
    /// slices, and `exponents` those of all recovery slices.
    ///
    /// Some combinations of recovery slices of PAR2 have no solution. Others replace them. Returns `None` if no
    /// combination has one, or after a cancellation.
    pub(crate) fn find(
        kernel: Kernel,
        n_threads: NonZeroUsize,
        missing: &[u16],
        exponents: &[u16],
        cancel: &CancelToken,
    ) -> Option<Self> {
        let n = missing.len();
        if exponents.len() < n {
            return None;
        }
        let row_of = |exponent: u16| -> Vec<u8> {
            let factors = missing.iter().map(|log| gf::factor(*log, exponent));
            factors.flat_map(u16::to_le_bytes).collect()
        };
        let mut rows = Sums::zero(kernel, n_threads, n, 2 * n);
        for (row, exponent) in exponents[..n].iter().enumerate() {
            rows.set(row, &row_of(*exponent));
        }
        let mut used: Vec<usize> = (0..n).collect();
        let mut spares = n..exponents.len();
        let mut pivot_row = vec![0; 2 * n];
        for column in 0..n {
            if cancel.is_cancelled() {
                return None;
            }
            // Row `i < column` is missing slice `i` as a sum of the first recovery slices in use and of the other missing
            // slices. A row below is a recovery slice, as a sum of the same.
            let pivot = loop {
                let pivot = (column..n).find(|row| rows.word(*row, column) != 0);
                if let Some(pivot) = pivot {
                    break pivot;
                }
                // All rows below are sums of the rows above: another recovery slice replaces the last one.
                let spare = spares.next()?;
                let row = reduced(kernel, &rows, column, row_of(exponents[spare]));
                rows.set(n - 1, &row);
                used[n - 1] = spare;
            };
            rows.swap(pivot, column);
            used.swap(pivot, column);
            let inverse = gf::inverse(rows.word(column, column));
            rows.read(column, &mut pivot_row);
            // Solve row `column` for the missing slice: its place is that of the recovery slice now.
            pivot_row[2 * column..2 * column + 2].copy_from_slice(&1_u16.to_le_bytes());
            let pivot_row = scaled(kernel, &pivot_row, inverse);
            let factors: Vec<u16> = (0..n)
                .map(|row| {
                    if row == column {
                        0
                    } else {
                        rows.word(row, column)
                    }
                })
                .collect();
            for row in 0..n {
                rows.set_word(row, column, 0);
            }
            rows.set(column, &pivot_row);
            let mut planes = Planes::default();
            planes.resize(1, 2 * n);
            planes.set(0, &pivot_row);
            rows.add(0, &planes, |row, _| factors[row], || ());
        }
        let mut factors = Vec::with_capacity(n * n);
        for row in 0..n {
            rows.read(row, &mut pivot_row);
            factors.extend(
                pivot_row
                    .as_chunks::<2>()
                    .0
                    .iter()
                    .map(|word| u16::from_le_bytes(*word)),
            );
        }
        Some(Self { used, factors })
    }
}

/// Returns a row times a factor.
fn scaled(kernel: Kernel, row: &[u8], factor: u16) -> Vec<u8> {
    let mut sum = Sums::zero(kernel, NonZeroUsize::MIN, 1, row.len());
    let mut planes = Planes::default();
    planes.resize(1, row.len());
    planes.set(0, row);
    sum.add(0, &planes, |_, _| factor, || ());
    let mut bytes = vec![0; row.len()];
    sum.read(0, &mut bytes);
    bytes
}

/// Replaces the first `column` missing slices in a row by the sums that `rows` has for them.
fn reduced(kernel: Kernel, rows: &Sums, column: usize, mut row: Vec<u8>) -> Vec<u8> {
    let (words, _) = row.as_chunks_mut::<2>();
    let factors: Vec<u16> = words[..column]
        .iter_mut()
        .map(|word| u16::from_le_bytes(std::mem::take(word)))
        .collect();
    let len = row.len();
    let mut sum = Sums::zero(kernel, NonZeroUsize::MIN, 1, len);
    sum.set(0, &row);
    let mut planes = Planes::default();
    planes.resize(1, len);
    let mut bytes = vec![0; len];
    for (above, factor) in factors.into_iter().enumerate() {
        rows.read(above, &mut bytes);
        planes.set(0, &bytes);
        sum.add(0, &planes, |_, _| factor, || ());
    }
    sum.read(0, &mut bytes);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solutions_give_the_missing_slices() {
        let logs = gf::slice_logs(32768);
        let one = NonZeroUsize::MIN;
        for (n, step) in [(0, 1), (1, 1), (2, 3), (40, 11), (150, 7)] {
            let missing: Vec<u16> = logs.iter().step_by(step).take(n).copied().collect();
            let exponents: Vec<u16> = (0..n as u16 + 3).map(|i| i * 5 % 997).collect();
            let cancel = CancelToken::default();
            let kernel = Kernel::detect();
            let solution = Solution::find(kernel, one, &missing, &exponents, &cancel).unwrap();
            for row in 0..n {
                for column in 0..n {
                    let products = (0..n).map(|used| {
                        let exponent = exponents[solution.used[used]];
                        gf::product(
                            solution.factor(row, used),
                            gf::factor(missing[column], exponent),
                        )
                    });
                    let sum = products.fold(0, |sum, product| sum ^ product);
                    assert_eq!(sum, u16::from(row == column), "{n}: {row} {column}");
                }
            }
        }
    }

    /// With these exponents, two slices have constants of equal powers, so that their equations are dependent.
    #[test]
    fn spare_recovery_slices_replace_dependent_ones() {
        let logs = gf::slice_logs(32768);
        let find = |a: u16, b: u16, exponents: &[u16]| {
            let cancel = CancelToken::default();
            let missing = [logs[0], a, b];
            Solution::find(
                Kernel::detect(),
                NonZeroUsize::MIN,
                &missing,
                exponents,
                &cancel,
            )
        };
        // 2^(n·257) is the same for n and n + 255.
        let (a, b) = (4, 259);
        assert!(logs.contains(&a) && logs.contains(&b));
        assert!(find(a, b, &[257, 514, 771]).is_none());
        assert!(find(a, b, &[257, 514, 771, 1028]).is_none());
        let solution = find(a, b, &[257, 514, 771, 1028, 3]).unwrap();
        assert!(solution.used.contains(&4));
        let missing = [logs[0], a, b];
        for row in 0..3 {
            for column in 0..3 {
                let sum = (0..3).fold(0, |sum, used| {
                    let exponent = [257, 514, 771, 1028, 3][solution.used[used]];
                    sum ^ gf::product(
                        solution.factor(row, used),
                        gf::factor(missing[column], exponent),
                    )
                });
                assert_eq!(sum, u16::from(row == column));
            }
        }
    }
}
