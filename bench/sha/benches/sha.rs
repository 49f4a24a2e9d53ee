//! Criterion benchmarks of every contender, with ids like `sha1_x8_avx2/16KiB`: many messages,
//! every lane busy. `sha1_x8_avx2/16KiB/n=7` is the same with seven messages.
//!
//! Criterion measures the contenders one after the other, for a long time. Use it to examine one
//! kernel before and after a change. To compare contenders, use `cargo xtask bench sha`, which measures in
//! turns.

use std::cell::OnceCell;
use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use hashlane_bench_sha::batch::{Batch, Content};
use hashlane_bench_sha::contenders::{self, Contender, Subject};
use hashlane_bench_sha::suites::{self, COUNTS_LEN};
use hashlane_sha::{KernelName, MAX_LANES, Sha1, Sha256};

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

const MESSAGE_LENS: [usize; 7] = [64, 256, KIB, 8 * KIB, 16 * KIB, 256 * KIB, 16 * MIB];

fn sha1(criterion: &mut Criterion) {
    benches::<Sha1>(criterion);
}

fn sha256(criterion: &mut Criterion) {
    benches::<Sha256>(criterion);
}

fn benches<S: Subject>(criterion: &mut Criterion) {
    let content = Content::new(MAX_LANES * 16 * MIB);
    for name in KernelName::available::<S>() {
        let mut group = group(criterion, &name.to_string());
        full_lanes::<S>(&mut group, &content, &mut contenders::kernel::<S>(name));
        let counts = suites::counts_of_lanes(name.lanes).into_iter().flatten();
        few::<S>(
            &mut group,
            &content,
            &mut contenders::kernel::<S>(name),
            counts,
        );
        group.finish();
    }

    // For few messages, compare with `sha1_single`, which hashes one message after the other.
    let mut engine = contenders::engine::<S>();
    let mut group_of_engine = group(criterion, &engine.id);
    full_lanes::<S>(&mut group_of_engine, &content, &mut engine);
    few::<S>(
        &mut group_of_engine,
        &content,
        &mut engine,
        (1..=MAX_LANES + 1).chain([1000]),
    );
    group_of_engine.finish();

    let mut others = vec![contenders::engine_single::<S>()];
    others.extend(contenders::engine_avx2::<S>());
    others.extend(S::openssl());
    others.extend(S::others());
    for mut contender in others {
        let mut group = group(criterion, &contender.id);
        full_lanes::<S>(&mut group, &content, &mut contender);
        group.finish();
    }
}

fn group<'c>(criterion: &'c mut Criterion, id: &str) -> BenchmarkGroup<'c, WallTime> {
    let mut group = criterion.benchmark_group(id);
    group
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .sample_size(20);
    group
}

/// Benchmarks each message length, with enough messages to keep every lane busy.
fn full_lanes<S: Subject>(
    group: &mut BenchmarkGroup<'_, WallTime>,
    content: &Content,
    contender: &mut Contender,
) {
    for len in MESSAGE_LENS {
        let batch = suites::full_lanes(content, len);
        one::<S>(group, &length(len), &batch, contender);
    }
}

/// Benchmarks several numbers of messages.
fn few<S: Subject>(
    group: &mut BenchmarkGroup<'_, WallTime>,
    content: &Content,
    contender: &mut Contender,
    counts: impl IntoIterator<Item = usize>,
) {
    for n_messages in counts {
        let batch = content.equal(COUNTS_LEN, n_messages);
        let id = format!("{}/n={n_messages}", length(COUNTS_LEN));
        one::<S>(group, &id, &batch, contender);
    }
}

fn one<S: Subject>(
    group: &mut BenchmarkGroup<'_, WallTime>,
    id: &str,
    batch: &Batch<'_>,
    contender: &mut Contender,
) {
    // Only when the benchmark runs: criterion filters by id.
    let checked = OnceCell::new();
    group.throughput(Throughput::Bytes(batch.bytes().len() as u64));
    group.bench_function(id, |bencher| {
        checked.get_or_init(|| contender.check(batch, &S::expected(batch)));
        bencher.iter(|| contender.run(batch));
    });
}

/// Returns a message length as in an id: `16KiB`.
fn length(len: usize) -> String {
    match len {
        0..KIB => format!("{len}"),
        KIB..MIB => format!("{}KiB", len / KIB),
        _ => format!("{}MiB", len / MIB),
    }
}

criterion_group!(sha1_benches, sha1);
criterion_group!(sha256_benches, sha256);
criterion_main!(sha1_benches, sha256_benches);
