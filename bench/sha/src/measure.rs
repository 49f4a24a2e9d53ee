//! Measuring in turns, and statistics of the samples.

use std::time::Duration;

use crate::batch::{Batch, Random};
use crate::clock::{Clock, Stopwatch};
use crate::contenders::{Contender, Subject};
use crate::results::{Row, Suite};

/// The amount of measurement.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Number of turns of each contender.
    pub rounds: usize,
    /// Minimum length of a turn.
    pub slice: Duration,
}

/// Contenders that are compared with each other.
#[derive(Debug)]
pub struct Group<'a> {
    algorithm: &'static str,
    cells: Vec<Cell<'a>>,
}

impl<'a> Group<'a> {
    /// Creates an empty group.
    pub fn new<S: Subject>() -> Self {
        Self {
            algorithm: S::TITLE,
            cells: Vec::new(),
        }
    }

    /// Adds contenders over one batch, after checking their digests.
    pub fn add<S: Subject>(
        &mut self,
        contenders: impl IntoIterator<Item = Contender>,
        batch: &'a Batch<'a>,
    ) {
        let expected = S::expected(batch);
        for mut contender in contenders {
            contender.check(batch, &expected);
            self.cells.push(Cell {
                contender,
                batch,
                calls: 1,
                warm_up: false,
                gb_per_s: Vec::new(),
            });
        }
    }
}

/// A contender and its batch.
#[derive(Debug)]
struct Cell<'a> {
    contender: Contender,
    batch: &'a Batch<'a>,
    calls: u32,
    warm_up: bool,
    gb_per_s: Vec<f64>,
}

impl Cell<'_> {
    fn run(&mut self, calls: u32) -> Duration {
        let start = Stopwatch::start();
        for _ in 0..calls {
            self.contender.run(self.batch);
        }
        start.elapsed()
    }

    fn calibrate(&mut self, slice: Duration) {
        let one = self.run(1).min(self.run(1)).max(Duration::from_nanos(1));
        self.calls = slice.div_duration_f64(one).ceil().max(1.0) as u32;
        self.warm_up = self.calls > 1;
    }

    fn turn(&mut self) {
        if self.warm_up {
            // The previous contender has filled the caches with its own data.
            self.run(1);
        }
        let elapsed = self.run(self.calls).as_nanos() as f64;
        let n_bytes = self.batch.bytes().len() as f64 * f64::from(self.calls);
        self.gb_per_s.push(n_bytes / elapsed);
    }

    fn into_row(self) -> Row {
        Row {
            name: self.contender.name,
            kind: self.contender.kind,
            message_len: self.batch.equal_len(),
            n_messages: self.batch.messages().len(),
            gb_per_s: self.gb_per_s,
        }
    }
}

/// Gives every contender a turn in each round, in random order, so that disturbances of the machine
/// affect all contenders alike. Contenders of a group take their turns in succession, and the
/// rounds of a group are spread over the whole run. Sample `i` of a row belongs to round `i`.
pub fn in_turns(mut groups: Vec<Group<'_>>, effort: Effort, clock: &mut Clock) -> Vec<Suite> {
    for cell in groups.iter_mut().flat_map(|group| &mut group.cells) {
        cell.calibrate(effort.slice);
    }
    let mut random = Random::new(2);
    for _ in 0..effort.rounds {
        for group in random.order(groups.len()) {
            let cells = &mut groups[group].cells;
            for cell in random.order(cells.len()) {
                clock.tick();
                cells[cell].turn();
            }
        }
    }
    let suites = groups.into_iter().map(|group| Suite {
        algorithm: group.algorithm.into(),
        rows: group.cells.into_iter().map(Cell::into_row).collect(),
    });
    suites.collect()
}

/// The median and the quartiles of some samples.
#[derive(Clone, Copy, Debug)]
pub struct Quartiles {
    /// A quarter of the samples is smaller.
    pub low: f64,
    /// Half of the samples is smaller.
    pub median: f64,
    /// A quarter of the samples is larger.
    pub high: f64,
}

/// Returns the quartiles, interpolated.
///
/// # Panics
/// If there are no samples.
pub fn quartiles(samples: &[f64]) -> Quartiles {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |share: f64| {
        let place = (sorted.len() - 1) as f64 * share;
        let (low, high) = (
            sorted[place.floor() as usize],
            sorted[place.ceil() as usize],
        );
        low + (high - low) * place.fract()
    };
    Quartiles {
        low: at(0.25),
        median: at(0.5),
        high: at(0.75),
    }
}

/// Returns quartiles of the speed of `a` relative to `b`, round by round. A disturbance of a whole
/// round cancels out.
pub fn ratio(a: &Row, b: &Row) -> Quartiles {
    let ratios = a.gb_per_s.iter().zip(&b.gb_per_s).map(|(a, b)| a / b);
    quartiles(&ratios.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::Content;
    use crate::contenders;
    use crate::results::Row;
    use hashlane_sha::{Sha1, Sha256};

    fn group<'a, S: Subject>(batch: &'a Batch<'a>) -> Group<'a> {
        let mut group = Group::new::<S>();
        // `add` checks the digests of each contender.
        group.add::<S>(contenders::kernels::<S>(), batch);
        group.add::<S>([contenders::engine::<S>()], batch);
        group.add::<S>([contenders::engine_single::<S>()], batch);
        group.add::<S>([contenders::engine_short::<S>()], batch);
        group.add::<S>(contenders::engine_avx2::<S>(), batch);
        for update_len in [1, 7, 64] {
            group.add::<S>([contenders::in_updates::<S>(update_len)], batch);
            group.add::<S>([S::rustcrypto_in_updates(update_len)], batch);
        }
        group.add::<S>(S::openssl(), batch);
        group.add::<S>(S::others(), batch);
        group
    }

    #[test]
    fn all_contenders_hash_correctly_and_take_equal_turns() {
        let content = Content::new(20_000);
        for (len, n_messages) in [(1, 1), (55, 17), (56, 3), (64, 100), (1000, 20)] {
            let batch = content.equal(len, n_messages);
            let groups = vec![group::<Sha1>(&batch), group::<Sha256>(&batch)];
            let effort = Effort {
                rounds: 3,
                slice: Duration::from_micros(1),
            };
            for suite in in_turns(groups, effort, &mut Clock::default()) {
                assert!(suite.rows.iter().all(|row| row.gb_per_s.len() == 3));
                assert!(suite.rows.iter().all(|row| row.n_messages == n_messages));
            }
        }
    }

    #[test]
    #[should_panic(expected = "wrong digests")]
    fn a_wrong_digest_is_detected() {
        let content = Content::new(2000);
        let (batch, other) = (content.equal(100, 20), content.equal(100, 19));
        contenders::engine::<Sha1>().check(&batch, &Sha1::expected(&other));
    }

    #[test]
    fn quartiles_are_interpolated() {
        let Quartiles { low, median, high } = quartiles(&[4.0, 1.0, 2.0, 3.0]);
        assert_eq!(format!("{low} {median} {high}"), "1.75 2.5 3.25");
        assert!((quartiles(&[7.0]).high - 7.0).abs() < f64::EPSILON);
    }

    #[test]
    fn a_ratio_is_taken_round_by_round() {
        let row = |gb_per_s: &[f64]| Row {
            name: String::new(),
            kind: contenders::Kind::Kernel,
            message_len: None,
            n_messages: 1,
            gb_per_s: gb_per_s.to_vec(),
        };
        // The machine slows down; the ratio does not change.
        let ratio = ratio(&row(&[8.0, 4.0, 2.0]), &row(&[4.0, 2.0, 1.0]));
        assert!((ratio.low - 2.0).abs() < f64::EPSILON);
        assert!((ratio.high - 2.0).abs() < f64::EPSILON);
    }
}
