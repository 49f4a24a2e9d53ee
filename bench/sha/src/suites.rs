//! The suites: each compares contenders over the same messages.

use std::time::Duration;

use hashlane_sha::sha1_checked::Sha1Checked;
use hashlane_sha::{Backend, Engine, KernelName, MAX_LANES, Md5, Sha1, Sha256};
use serde::Serialize;

use crate::batch::{Batch, Content, Random};
use crate::clock::Clock;
use crate::contenders::{self, Subject};
use crate::measure::{Effort, Group, Suite, in_turns};

/// 1024 bytes.
const KIB: usize = 1024;

/// 1024 KiB.
const MIB: usize = 1024 * KIB;

/// Total length of the messages of a batch in bytes. It fits in the second-level cache of any CPU
/// that holds one message for each lane.
const BATCH_LEN: usize = 512 * KIB;

/// The amount of measurement.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    /// Measures only for seconds, to check that everything works.
    pub quick: bool,
}

impl Scale {
    fn effort(self, rounds: usize, milliseconds: u64) -> Effort {
        if self.quick {
            let slice = Duration::from_millis(2);
            Effort { rounds: 7, slice }
        } else {
            let slice = Duration::from_millis(milliseconds);
            Effort { rounds, slice }
        }
    }

    /// Returns the message lengths of the classic tables, those of the goals, and long ones.
    fn message_lens(self) -> &'static [usize] {
        if self.quick {
            &[64, 4 * KIB, 16 * KIB]
        } else {
            &[
                64,
                256,
                KIB,
                4 * KIB,
                8 * KIB,
                16 * KIB,
                256 * KIB,
                16 * MIB,
            ]
        }
    }
}

/// A suite of one length of updates.
#[derive(Debug, Serialize)]
pub struct UpdateSuite {
    /// The length of each update in bytes.
    pub update_len: usize,
    /// The rows.
    pub suite: Suite,
}

/// Returns messages of `len` bytes that keep every lane of every kernel busy.
pub fn full_lanes(content: &Content, len: usize) -> Batch<'_> {
    content.equal(len, (BATCH_LEN / len).clamp(MAX_LANES, 4096))
}

/// Returns the content for the longest batch of [`sizes`] and [`counts`].
pub fn content(scale: Scale) -> Content {
    let longest = scale.message_lens().last().copied().unwrap_or_default();
    Content::new((longest * MAX_LANES).max(1000 * 16 * KIB))
}

/// Compares every kernel, the engine and the other libraries, for each message length.
pub fn sizes(content: &Content, scale: Scale, clock: &mut Clock) -> Vec<Suite> {
    let lens = scale.message_lens();
    let batches: Vec<_> = lens.iter().map(|&len| full_lanes(content, len)).collect();
    // A turn with the longest messages takes some hundred milliseconds, so they get fewer turns.
    let (long, short): (Vec<_>, Vec<_>) =
        batches.iter().partition(|batch| batch.message_len() > MIB);
    let mut suites = in_turns(all_contenders(&short), scale.effort(25, 8), clock);
    suites.extend(in_turns(all_contenders(&long), scale.effort(7, 8), clock));
    suites
}

fn all_contenders<'a>(batches: &[&'a Batch<'a>]) -> Vec<Group<'a>> {
    let mut groups = Vec::new();
    for batch in batches {
        groups.push(contenders_of::<Sha1>(batch));
        groups.push(contenders_of::<Sha256>(batch));
    }
    groups
}

fn contenders_of<'a, S: Subject>(batch: &'a Batch<'a>) -> Group<'a> {
    let mut group = Group::new::<S>();
    let mut contenders = contenders::kernels::<S>();
    contenders.push(contenders::engine::<S>());
    contenders.extend(contenders::engine_avx2::<S>());
    contenders.extend(S::openssl());
    contenders.extend(S::others());
    group.add::<S>(contenders, batch);
    group
}

/// Compares SHA-1 with the detection of attacks with the same kernels without it, and with other
/// detectors, for each of [`GIT_LENS`].
pub fn checked(content: &Content, scale: Scale, clock: &mut Clock) -> Vec<Suite> {
    let batches = GIT_LENS.map(|len| full_lanes(content, len));
    let groups = batches.iter().map(|batch| {
        let mut group = Group::new::<Sha1Checked>();
        group.add::<Sha1Checked>(contenders::checked(), batch);
        group.add::<Sha1>(contenders::kernels::<Sha1>(), batch);
        group
    });
    in_turns(groups.collect(), scale.effort(25, 8), clock)
}

/// Compares the kernels of MD5 with the other libraries, for each of [`GIT_LENS`].
pub fn md5(content: &Content, scale: Scale, clock: &mut Clock) -> Vec<Suite> {
    let batches = GIT_LENS.map(|len| full_lanes(content, len));
    let groups = batches.iter().map(|batch| {
        let mut group = Group::new::<Md5>();
        group.add::<Md5>(contenders::md5(), batch);
        group
    });
    in_turns(groups.collect(), scale.effort(25, 8), clock)
}

/// The message lengths of [`checked`] and [`md5`]: a small object of Git, and a large one.
const GIT_LENS: [usize; 2] = [KIB, 16 * KIB];

/// Measures each kernel with one message, with one fewer than its lanes, with as many as its lanes,
/// with one more, and with 1000.
pub fn counts(content: &Content, scale: Scale, clock: &mut Clock) -> Vec<Suite> {
    let batches: Vec<_> = (1..=MAX_LANES + 1)
        .chain([1000])
        .map(|n| content.equal(COUNTS_LEN, n))
        .collect();
    let groups = vec![counts_of::<Sha1>(&batches), counts_of::<Sha256>(&batches)];
    in_turns(groups, scale.effort(15, 4), clock)
}

/// The message length of [`counts`].
pub const COUNTS_LEN: usize = 16 * KIB;

/// Returns the numbers of messages for a kernel with this many lanes. With one lane, there is no
/// smaller number.
pub fn counts_of_lanes(lanes: usize) -> [Option<usize>; 5] {
    let one_less = (lanes > 2).then(|| lanes - 1);
    let all = (lanes > 1).then_some(lanes);
    [Some(1), one_less, all, Some(lanes + 1), Some(1000)]
}

fn counts_of<'a, S: Subject>(batches: &'a [Batch<'a>]) -> Group<'a> {
    let mut group = Group::new::<S>();
    let engine_lanes = Engine::detect().lanes::<S>();
    for batch in batches {
        let n_messages = Some(batch.messages().len());
        let kernels = KernelName::available::<S>()
            .filter(|kernel| counts_of_lanes(kernel.lanes).contains(&n_messages))
            .map(contenders::kernel::<S>);
        group.add::<S>(kernels, batch);
        if counts_of_lanes(engine_lanes).contains(&n_messages) {
            group.add::<S>([contenders::engine::<S>()], batch);
        }
    }
    group
}

/// Compares the engine over few messages with one message after the other.
pub fn shortage(content: &Content, scale: Scale, clock: &mut Clock) -> Vec<Suite> {
    let batches = [64, KIB, 16 * KIB].map(|len| {
        let few = (1..=MAX_LANES).map(|n| content.equal(len, n));
        few.collect::<Vec<_>>()
    });
    let mut groups = Vec::new();
    for batches in &batches {
        groups.push(shortage_of::<Sha1>(batches));
        groups.push(shortage_of::<Sha256>(batches));
    }
    in_turns(groups, scale.effort(21, 3), clock)
}

fn shortage_of<'a, S: Subject>(batches: &'a [Batch<'a>]) -> Group<'a> {
    let mut group = Group::new::<S>();
    for batch in batches {
        let contenders = [contenders::engine::<S>(), contenders::engine_single::<S>()];
        group.add::<S>(contenders, batch);
    }
    group
}

/// Compares the engine's best function for messages of one block with the other libraries.
pub fn short(content: &Content, scale: Scale, clock: &mut Clock) -> Vec<Suite> {
    let batch = full_lanes(content, 64);
    let groups = vec![short_of::<Sha1>(&batch), short_of::<Sha256>(&batch)];
    in_turns(groups, scale.effort(31, 8), clock)
}

fn short_of<'a, S: Subject>(batch: &'a Batch<'a>) -> Group<'a> {
    let mut group = Group::new::<S>();
    let engine = [
        contenders::engine_short::<S>(),
        contenders::engine_single::<S>(),
    ];
    group.add::<S>(engine, batch);
    group.add::<S>(S::openssl(), batch);
    group.add::<S>(S::others(), batch);
    group
}

/// Compares the engine with `RustCrypto` over one message in updates of 1 byte to 4 KiB.
pub fn updates(content: &Content, scale: Scale, clock: &mut Clock) -> Vec<UpdateSuite> {
    let batch = content.equal(64 * KIB, 1);
    let lens = [1, 7, 55, 4 * KIB];
    let mut groups = Vec::new();
    for len in lens {
        groups.push(updates_of::<Sha1>(&batch, len));
        groups.push(updates_of::<Sha256>(&batch, len));
    }
    let suites = in_turns(groups, scale.effort(31, 8), clock);
    let lens = lens.into_iter().flat_map(|len| [len; 2]);
    lens.zip(suites)
        .map(|(update_len, suite)| UpdateSuite { update_len, suite })
        .collect()
}

fn updates_of<'a, S: Subject>(batch: &'a Batch<'a>, len: usize) -> Group<'a> {
    let mut group = Group::new::<S>();
    let contenders = [
        contenders::in_updates::<S>(len),
        S::rustcrypto_in_updates(len),
    ];
    group.add::<S>(contenders, batch);
    group
}

/// The row of messages of unequal lengths.
pub const UNEQUAL: &str = "log-uniform";

/// The row of the same messages, the longest first.
pub const LONGEST_FIRST: &str = "log-uniform, longest first";

/// The row of the same number of messages and bytes, in messages of one length.
pub const EQUAL: &str = "equal";

/// Compares messages of 1 byte to 1 MiB, with log-uniform lengths, with messages of one length.
/// Both have the same number and total length, so the cost of memory is the same.
pub fn unequal(scale: Scale, clock: &mut Clock) -> Vec<Suite> {
    let n_messages = if scale.quick { 500 } else { 10_000 };
    let mut random = Random::new(3);
    let mut lens: Vec<usize> = (0..n_messages)
        .map(|_| (random.fraction() * (MIB as f64).ln()).exp() as usize)
        .collect();
    let n_bytes: usize = lens.iter().sum();
    let content = Content::new(n_bytes);
    let unequal = content.unequal(&lens);
    lens.sort_unstable_by(|a, b| b.cmp(a));
    let longest_first = content.unequal(&lens);
    let equal = content.equal(n_bytes / n_messages, n_messages);

    let batches = [
        (UNEQUAL, unequal),
        (LONGEST_FIRST, longest_first),
        (EQUAL, equal),
    ];
    let groups = vec![unequal_of::<Sha1>(&batches), unequal_of::<Sha256>(&batches)];
    in_turns(groups, scale.effort(11, 8), clock)
}

fn unequal_of<'a, S: Subject>(batches: &'a [(&str, Batch<'a>)]) -> Group<'a> {
    let mut group = Group::new::<S>();
    for (name, batch) in batches {
        let mut contender = contenders::engine::<S>();
        contender.name = (*name).into();
        group.add::<S>([contender], batch);
    }
    group
}

/// Compares the single-message kernels of some backends with OpenSSL over one message.
pub fn one_message(backends: &[Backend]) -> Vec<Suite> {
    let content = Content::new(16 * KIB);
    let batch = content.equal(16 * KIB, 1);
    let groups = vec![
        one_message_of::<Sha1>(backends, &batch),
        one_message_of::<Sha256>(backends, &batch),
    ];
    let effort = Effort {
        rounds: 7,
        slice: Duration::from_millis(4),
    };
    in_turns(groups, effort, &mut Clock::default())
}

fn one_message_of<'a, S: Subject>(backends: &[Backend], batch: &'a Batch<'a>) -> Group<'a> {
    let mut group = Group::new::<S>();
    let kernels = KernelName::available::<S>()
        .filter(|kernel| kernel.lanes == 1 && backends.contains(&kernel.backend));
    group.add::<S>(kernels.map(contenders::kernel_stream::<S>), batch);
    group.add::<S>(S::openssl(), batch);
    group
}
