//! The search for Base58Check strings.

use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use hashlane_base58::{
    Addends, CpuBackend, Damage, Event, Kind, Options, Query, Search, Sha256dKernel, Shape,
    encode_check,
};
use hashlane_sha::Backend;
use serde::Serialize;

use crate::ffi::openssl;

/// Number of measurements, taken in turns.
const ROUNDS: usize = 7;

/// Number of messages in one measurement of a kernel.
const N_MESSAGES: usize = 1 << 19;

/// All samples of the search.
#[derive(Debug, Serialize)]
pub struct Recovery {
    /// Million double hashes per second of each kernel and of OpenSSL, for messages of 21 bytes.
    rates: Vec<Samples>,
    /// Whole searches with the fastest kernel.
    searches: Vec<Case>,
    /// Million double hashes per second in the first search, by kernel.
    end_to_end: Vec<Samples>,
}

#[derive(Debug, Serialize)]
struct Samples {
    name: String,
    values: Vec<f64>,
}

impl Samples {
    fn of(name: String) -> Self {
        let values = Vec::new();
        Self { name, values }
    }
}

/// A search, with its seconds by number of threads.
#[derive(Debug, Serialize)]
struct Case {
    text: String,
    kind: &'static str,
    hit: String,
    hashes: u64,
    one_thread: Vec<f64>,
    two_threads: Vec<f64>,
}

/// Measures the kernels, and whole searches with the fastest.
///
/// # Errors
/// If a search does not find its string.
pub fn measure() -> Result<Recovery> {
    let rates = rates();
    let kernels: Vec<Sha256dKernel> = Sha256dKernel::available().collect();
    // The kernels are first in `rates`, in the same order.
    let median = |i: &usize| {
        let mut values = rates[*i].values.clone();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    let best = (0..kernels.len()).max_by(|a, b| median(a).total_cmp(&median(b)));
    let best = kernels[best.context("no kernel")?];
    let by_name = [Backend::Avx512, Backend::Avx2, Backend::ShaNi];
    let kernels: Vec<Sha256dKernel> = kernels
        .into_iter()
        .filter(|kernel| by_name.contains(&kernel.backend()))
        .collect();
    let names = kernels.iter().map(ToString::to_string);
    let mut end_to_end: Vec<Samples> = names.map(Samples::of).collect();
    let mut searches = cases();
    for _ in 0..ROUNDS {
        for case in &mut searches {
            let (seconds, hashes) = search(case, best, 1)?;
            case.one_thread.push(seconds);
            case.hashes = hashes;
            let (seconds, _) = search(case, best, 2)?;
            case.two_threads.push(seconds);
        }
        for (kernel, samples) in kernels.iter().zip(&mut end_to_end) {
            let (seconds, hashes) = search(&searches[0], *kernel, 1)?;
            samples.values.push(hashes as f64 / seconds / 1e6);
        }
    }
    Ok(Recovery {
        rates,
        searches,
        end_to_end,
    })
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

/// The searches: a text, its kind, and one expected hit.
fn cases() -> Vec<Case> {
    let case = |hit: &str, kind| Case {
        text: hit.to_ascii_lowercase(),
        kind,
        hit: hit.into(),
        hashes: 0,
        one_thread: Vec::new(),
        two_threads: Vec::new(),
    };
    vec![
        case("18ryVioVmwFYzhRZKTjKqGYCjkUjoxH3k6", "p2pkh"),
        case("1AAAaAAaaAAaAaaaaAAAaAAAaAaaaAAAaa", "p2pkh"),
        case(&median_key(), "wif-compressed"),
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
fn rates() -> Vec<Samples> {
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
    let mut measured: Vec<Samples> = names.map(Samples::of).collect();
    for _ in 0..ROUNDS {
        for (i, measured) in measured.iter_mut().enumerate() {
            let started = Instant::now();
            let n_messages = if let Some(kernel) = kernels.get(i) {
                let rounds = N_MESSAGES / n as usize;
                for round in 0..rounds {
                    let mut block = [0; 16];
                    block[..6].fill(round as u32);
                    block[15] = 21 * 8;
                    let query = Query {
                        block,
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

/// OpenSSL's ways to hash one message at once, for a double hash.
const OPENSSL_NAMES: [&str; 2] = ["OpenSSL SHA256()", "OpenSSL EVP_Digest()"];

/// Hashes `n` messages of 21 bytes twice each, one after the other, with one of [`OPENSSL_NAMES`].
/// The result depends on all messages.
fn openssl_double_hashes(which: usize, n: usize) -> u8 {
    let interface = [openssl::SHA256_ONE_SHOT, openssl::SHA256_EVP_DIGEST][which];
    let mut message = [0_u8; 21];
    let (mut first, mut second) = ([0; 32], [0; 32]);
    let mut all = 0;
    for i in 0..n {
        message[..8].copy_from_slice(&(i as u64).to_le_bytes());
        interface.hash(&message, message.len(), &mut first);
        interface.hash(&first, first.len(), &mut second);
        all ^= second[0];
    }
    all
}
