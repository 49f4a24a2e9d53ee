//! `make bench-recover`: measures the search for Base58Check strings, and writes RECOVER.md.

use std::fmt::Write as _;
use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use hashlane_base58::{CpuBackend, Damage, Event, Kind, Options, Search, encode_check};
use hashlane_bench_sha::machine::Machine;
use hashlane_bench_sha::measure::quartiles;
use hashlane_bench_sha::recover::{OPENSSL_NAMES, openssl_double_hashes};
use hashlane_sha::Backend;
use hashlane_sha::hazmat::{Addends, Query, Sha256dKernel, Shape};

/// Number of measurements, taken in turns.
const ROUNDS: usize = 7;

/// Number of messages in one measurement of a kernel.
const N_MESSAGES: usize = 1 << 19;

/// A search: text, kind, one expected hit, and the goal in seconds with one thread.
struct Case {
    text: String,
    kind: &'static str,
    hit: String,
    goal: f64,
}

struct Measured {
    name: String,
    values: Vec<f64>,
}

impl Measured {
    fn median(&self) -> f64 {
        quartiles(&self.values).median
    }
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("hashlane-bench-recover: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<()> {
    let out = std::env::args().nth(1).unwrap_or_else(|| "bench".into());
    let rates = rates();
    let ours = rates
        .iter()
        .filter(|rate| !rate.name.starts_with("OpenSSL"));
    let best = ours.max_by(|a, b| a.median().total_cmp(&b.median()));
    let best = best.context("no kernel")?;
    let kernel = Sha256dKernel::available().find(|kernel| kernel.to_string() == best.name);
    let cases = cases();
    let searches = measure(&cases, kernel.context("the best kernel is gone")?)?;

    let mut report = Report::default();
    report.rates(&rates)?;
    report.searches(&cases, &searches)?;
    let openssl = rates.iter().filter(|rate| rate.name.starts_with("OpenSSL"));
    let openssl = openssl.map(Measured::median).fold(0.0, f64::max);
    let what = "best kernel against OpenSSL's faster one-shot";
    verdict(&mut report.goals, what, best.median() / openssl, 4.0, true)?;

    let text = report.text();
    let path = std::path::Path::new(&out).join("RECOVER.md");
    std::fs::write(&path, &text).with_context(|| path.display().to_string())?;
    print!("{text}");
    Ok(())
}

/// Results of the searches.
struct Searches {
    /// Seconds with one thread and with two, for each case.
    times: Vec<[Measured; 2]>,
    /// Number of hashed messages, for each case.
    hashes: Vec<u64>,
    /// Million double hashes per second in the first case, by kernel.
    end_to_end: Vec<Measured>,
}

fn measure(cases: &[Case], best: Sha256dKernel) -> Result<Searches> {
    let named = |name: String| Measured {
        name,
        values: Vec::new(),
    };
    let by_name = [Backend::Avx512, Backend::Avx2, Backend::ShaNi];
    let kernels = Sha256dKernel::available().filter(|kernel| by_name.contains(&kernel.backend()));
    let kernels: Vec<Sha256dKernel> = kernels.collect();
    let time = |case: &Case| [1, 2].map(|threads| named(format!("{}, {threads}", case.text)));
    let mut searches = Searches {
        times: cases.iter().map(time).collect(),
        hashes: Vec::new(),
        end_to_end: kernels
            .iter()
            .map(|kernel| named(kernel.to_string()))
            .collect(),
    };
    for _ in 0..ROUNDS {
        searches.hashes.clear();
        for (case, times) in cases.iter().zip(&mut searches.times) {
            let (seconds, hashes) = search(case, best, 1)?;
            times[0].values.push(seconds);
            searches.hashes.push(hashes);
            let (seconds, _) = search(case, best, 2)?;
            times[1].values.push(seconds);
        }
        for (kernel, measured) in kernels.iter().zip(&mut searches.end_to_end) {
            let (seconds, hashes) = search(&cases[0], *kernel, 1)?;
            measured.values.push(hashes as f64 / seconds / 1e6);
        }
    }
    Ok(searches)
}

/// The tables and the goals of the report.
#[derive(Default)]
struct Report {
    tables: String,
    goals: String,
}

impl Report {
    fn rates(&mut self, rates: &[Measured]) -> Result<()> {
        let head = "| kernel, messages of 21 bytes | million double hashes a second |\n|---|---|";
        writeln!(self.tables, "{head}")?;
        for rate in rates {
            writeln!(self.tables, "| {} | {:.2} |", rate.name, rate.median())?;
        }
        Ok(())
    }

    fn searches(&mut self, cases: &[Case], searches: &Searches) -> Result<()> {
        let Self { tables, goals } = self;
        let head =
            "| search | hashes | 1 thread, s | 2 threads, s | ratio |\n|---|---|---|---|---|";
        writeln!(tables, "\n{head}")?;
        let measured = searches.times.iter().zip(&searches.hashes);
        for (case, (times, hashes)) in cases.iter().zip(measured) {
            let [one, two] = times.each_ref().map(Measured::median);
            let (name, kind, ratio) = (shortened(&case.text), case.kind, one / two);
            let row =
                format!("| `{name}` ({kind}) | {hashes} | {one:.3} | {two:.3} | {ratio:.2} |");
            writeln!(tables, "{row}")?;
            verdict(
                goals,
                &format!("{name}, 1 thread, s"),
                one,
                case.goal,
                false,
            )?;
            verdict(
                goals,
                &format!("{name}, 2 threads against 1"),
                ratio,
                1.9,
                true,
            )?;
        }
        let name = shortened(&cases[0].text);
        let head = format!("| end to end, `{name}` | million double hashes a second |");
        writeln!(tables, "\n{head}\n|---|---|")?;
        for measured in &searches.end_to_end {
            let (name, rate) = (&measured.name, measured.median());
            writeln!(tables, "| {name} | {rate:.2} |")?;
            let goal = match name.as_str() {
                "sha256d_x16_avx512" => 35.0,
                "sha256d_x8_avx2" => 13.0,
                _ => 15.5,
            };
            verdict(goals, &format!("{name} end to end, M/s"), rate, goal, true)?;
        }
        Ok(())
    }

    fn text(&self) -> String {
        let Self { tables, goals } = self;
        let Machine {
            cpu,
            n_cores,
            rustc,
            date,
            commit,
            ..
        } = Machine::this();
        format!(
            "# The search for Base58Check strings\n\n\
             `make bench-recover` wrote this, out of {ROUNDS} rounds in turns; medians. {cpu}, \
             {n_cores} cores, {rustc}, {date}, commit {commit}.\n\n\
             {tables}\n## Goals\n\n| what | measured | goal | |\n|---|---|---|---|\n{goals}"
        )
    }
}

fn verdict(out: &mut String, what: &str, measured: f64, goal: f64, at_least: bool) -> Result<()> {
    let is_met = if at_least {
        measured >= goal
    } else {
        measured <= goal
    };
    let sign = if at_least { "≥" } else { "≤" };
    let word = if is_met { "met" } else { "NOT met" };
    writeln!(out, "| {what} | {measured:.3} | {sign} {goal} | {word} |")?;
    Ok(())
}

/// Returns the beginning and the end of a text.
fn shortened(text: &str) -> String {
    format!("{}...{}", &text[..6], &text[text.len() - 4..])
}

/// Runs the whole search, and returns the seconds and the number of messages.
fn search(case: &Case, kernel: Sha256dKernel, threads: usize) -> Result<(f64, u64)> {
    let damage = Damage {
        case: true,
        ..Damage::default()
    };
    let kind = Kind::named(case.kind).context("no such kind")?;
    let backend = CpuBackend::measured(kernel, NonZeroUsize::new(threads));
    let options = Options::default();
    let started = Instant::now();
    let search = Search::new(&case.text, damage, &[kind])?;
    let mut is_found = false;
    let outcome = search.run(&backend, &options, &AtomicBool::new(false), |event| {
        if let Event::Hit(hit) = event {
            is_found |= *hit.text == case.hit;
        }
    })?;
    let seconds = started.elapsed().as_secs_f64();
    ensure!(
        is_found && outcome.is_complete,
        "{} was not found",
        case.hit
    );
    Ok((seconds, outcome.progress.hashes))
}

fn cases() -> Vec<Case> {
    let case = |hit: &str, kind, goal| Case {
        text: hit.to_ascii_lowercase(),
        kind,
        hit: hit.into(),
        goal,
    };
    vec![
        case("18ryVioVmwFYzhRZKTjKqGYCjkUjoxH3k6", "p2pkh", 0.52),
        case("1AAAaAAaaAAaAaaaaAAAaAAAaAaaaAAAaa", "p2pkh", 4.2),
        case(&median_key(), "wif-compressed", 8.2),
    ]
}

/// Returns a private key whose search takes about the median number of hashes, 2^28.1. Among keys
/// of one repeated byte, this key is the nearest.
fn median_key() -> String {
    let distance = |text: &str| {
        let damage = Damage {
            case: true,
            ..Damage::default()
        };
        let kinds = Kind::named("wif-compressed");
        let search = Search::new(&text.to_ascii_lowercase(), damage, kinds.as_slice());
        search.map_or(f64::INFINITY, |search| {
            (search.estimate().hashes.log2() - 28.1).abs()
        })
    };
    let keys = (1..=254_u8).map(|byte| {
        let payload = [&[0x80][..], &[byte; 32], &[1]].concat();
        encode_check(&payload, hashlane_base58::Alphabet::Bitcoin)
    });
    let nearest = keys
        .map(|key| (distance(&key), key))
        .min_by(|a, b| a.0.total_cmp(&b.0));
    nearest.map(|(_, key)| key).unwrap_or_default()
}

/// Measures each kernel and OpenSSL, in turns.
fn rates() -> Vec<Measured> {
    let shape = Shape::new(6, 3);
    let n = 4096;
    let column: Vec<u32> = (0..n + Addends::MARGIN as u32)
        .map(|i| i.wrapping_mul(0x9e37_79b1))
        .collect();
    let addends = Addends::new(shape, &column, shape.words().map(|_| column.as_slice()));
    // The steps for five lower-case letters at the end.
    let tail: Vec<u32> = (0..5).rev().map(|k| 32 * 58_u32.pow(k)).collect();
    let kernels: Vec<Sha256dKernel> = Sha256dKernel::available().collect();
    let names = kernels
        .iter()
        .map(ToString::to_string)
        .chain(OPENSSL_NAMES.map(String::from));
    let mut measured: Vec<Measured> = names
        .map(|name| Measured {
            name,
            values: Vec::new(),
        })
        .collect();
    for _ in 0..ROUNDS {
        for (i, measured) in measured.iter_mut().enumerate() {
            let started = Instant::now();
            let n_messages = if let Some(kernel) = kernels.get(i) {
                let rounds = N_MESSAGES / n as usize;
                for round in 0..rounds {
                    let query = Query {
                        block: [round as u32; 16],
                        low: 0,
                        tail: &tail,
                    };
                    kernel.find(&query, &addends, 0..n as usize, &mut |found| {
                        std::hint::black_box(found);
                    });
                }
                rounds * n as usize
            } else {
                std::hint::black_box(openssl_double_hashes(i - kernels.len(), N_MESSAGES));
                N_MESSAGES
            };
            measured
                .values
                .push(n_messages as f64 / started.elapsed().as_secs_f64() / 1e6);
        }
    }
    measured
}
