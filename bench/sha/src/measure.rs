//! Measuring in turns.

use std::time::Duration;

use serde::{Serialize, Serializer};

use crate::batch::{Batch, Random};
use crate::clock::{Clock, Stopwatch};
use crate::contenders::{Contender, Function, Kind};

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
    pub fn new<F: Function>() -> Self {
        Self {
            algorithm: F::TITLE,
            cells: Vec::new(),
        }
    }

    /// Adds contenders over one batch, after checking their digests.
    pub fn add<F: Function>(
        &mut self,
        contenders: impl IntoIterator<Item = Contender>,
        batch: &'a Batch<'a>,
    ) {
        let expected = F::expected(batch);
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
        algorithm: group.algorithm,
        rows: group.cells.into_iter().map(Cell::into_row).collect(),
    });
    suites.collect()
}

/// Rows that were measured in turns. Only rows of one suite may be compared.
#[derive(Debug, Serialize)]
pub struct Suite {
    /// `SHA-1`, `SHA-256`.
    pub algorithm: &'static str,
    /// One row for each contender and batch.
    pub rows: Vec<Row>,
}

/// One contender and one batch of messages.
#[derive(Debug, Serialize)]
pub struct Row {
    /// The contender's name.
    pub name: String,
    /// The kind of contender.
    pub kind: Kind,
    /// The length of the messages in bytes, or `None` if the lengths differ.
    pub message_len: Option<usize>,
    /// Messages that are hashed side by side.
    pub n_messages: usize,
    /// One sample per round, in 10^9 bytes per second.
    #[serde(serialize_with = "rounded")]
    pub gb_per_s: Vec<f64>,
}

#[expect(clippy::ptr_arg, reason = "serde wants a &Vec")]
fn rounded<S: Serializer>(samples: &Vec<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(samples.iter().map(|x| (x * 1e4).round() / 1e4))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::Content;
    use crate::contenders::{self, Subject};
    use hashlane_sha::sha1_checked::Sha1Checked;
    use hashlane_sha::{Md5, Sha1, Sha256};

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
            let mut checked = Group::new::<Sha1Checked>();
            checked.add::<Sha1Checked>(contenders::checked(), &batch);
            let mut md5 = Group::new::<Md5>();
            md5.add::<Md5>(contenders::md5(), &batch);
            let groups = vec![group::<Sha1>(&batch), group::<Sha256>(&batch), checked, md5];
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
}
