//! The goals of the engine, and the floors between its kernels.

use crate::contenders::{ENGINE, ENGINE_AVX2, ENGINE_SINGLE, Kind};
use crate::measure::{Quartiles, ratio};
use crate::results::{Results, Row, Suite, UpdateSuite};
use crate::suites::{EQUAL, UNEQUAL};

/// A ratio with a lower limit.
#[derive(Debug)]
pub struct Verdict {
    /// The compared rows.
    pub text: String,
    /// The lowest acceptable ratio.
    pub limit: f64,
    /// The measured ratio, or `None` if one of the two rows is absent.
    pub measured: Option<Quartiles>,
}

impl Verdict {
    fn new(text: String, limit: f64, a: Option<&Row>, b: Option<&Row>) -> Self {
        let measured = a.zip(b).map(|(a, b)| ratio(a, b));
        Self {
            text,
            limit,
            measured,
        }
    }

    /// Returns whether the median reaches the limit, or `None` if the ratio was not measured.
    pub fn is_reached(&self) -> Option<bool> {
        self.measured.map(|ratio| ratio.median >= self.limit)
    }
}

/// Limit for a single stream and for few messages, which allows three percent of noise.
const NO_SLOWER: f64 = 0.97;

/// Returns every goal.
pub fn goals(results: &Results) -> Vec<Verdict> {
    let mut goals = Vec::new();
    for (algorithm, limit) in [("SHA-1", 3.6), ("SHA-256", 2.4)] {
        for suite in large_messages(&results.sizes, algorithm) {
            let kib = suite.message_len() / 1024;
            let engine = suite.row(ENGINE);
            let openssl = suite.fastest(Row::is_openssl);
            let ipsec_mb = suite.fastest(Row::is_ipsec_mb);
            goals.push(Verdict::new(
                format!("{algorithm}, many messages of {kib} KiB / OpenSSL"),
                limit,
                engine,
                openssl,
            ));
            goals.push(Verdict::new(
                format!("{algorithm}, many messages of {kib} KiB / ipsec-mb"),
                1.0,
                engine,
                ipsec_mb,
            ));
        }
    }
    for suite in large_messages(&results.sizes, "SHA-1") {
        let kib = suite.message_len() / 1024;
        goals.push(Verdict::new(
            format!("SHA-1, many messages of {kib} KiB, AVX2 only / OpenSSL"),
            1.7,
            suite.row(ENGINE_AVX2),
            suite.fastest(Row::is_openssl),
        ));
    }
    for level in &results.levels {
        let suite = &level.suite;
        goals.push(Verdict::new(
            format!(
                "{}, one message, {} / OpenSSL",
                suite.algorithm, level.level
            ),
            NO_SLOWER,
            suite.fastest(|row| row.kind == Kind::Kernel),
            suite.fastest(Row::is_openssl),
        ));
    }
    short_messages(results, &mut goals);
    for suite in &results.unequal {
        goals.push(Verdict::new(
            format!("{}, 1 byte to 1 MiB / equal lengths", suite.algorithm),
            0.85,
            suite.row(UNEQUAL),
            suite.row(EQUAL),
        ));
    }
    goals.extend(results.shortage.iter().map(shortage));
    goals
}

/// Appends the goals for short messages and small updates.
fn short_messages(results: &Results, goals: &mut Vec<Verdict>) {
    for suite in &results.short {
        goals.push(Verdict::new(
            format!(
                "{}, messages of 64 bytes / OpenSSL's faster one-shot",
                suite.algorithm
            ),
            3.0,
            suite.row(ENGINE),
            suite.fastest(Row::is_openssl_one_shot),
        ));
    }
    for suite in &results.short {
        goals.push(Verdict::new(
            format!("{}, one message of 64 bytes / RustCrypto", suite.algorithm),
            NO_SLOWER,
            suite.row(ENGINE_SINGLE),
            suite.fastest(Row::is_rustcrypto),
        ));
    }
    for updates in &results.updates {
        let UpdateSuite { update_len, suite } = updates;
        goals.push(Verdict::new(
            format!(
                "{}, updates of {update_len} bytes / RustCrypto",
                suite.algorithm
            ),
            NO_SLOWER,
            suite.row(ENGINE),
            suite.fastest(Row::is_rustcrypto),
        ));
    }
}

/// Returns the suites of an algorithm that the goals for large messages use.
fn large_messages<'r>(
    sizes: &'r [Suite],
    algorithm: &'r str,
) -> impl Iterator<Item = &'r Suite> + 'r {
    sizes.iter().filter(move |suite| {
        suite.algorithm == algorithm && [4096, 16384].contains(&suite.message_len())
    })
}

/// Returns the number of messages with the lowest ratio.
fn shortage(suite: &Suite) -> Verdict {
    let worst = suite
        .rows
        .iter()
        .filter(|row| row.name == ENGINE)
        .filter_map(|row| Some((row, suite.row_of(ENGINE_SINGLE, row.n_messages)?)))
        .min_by(|a, b| {
            let [a, b] = [a, b].map(|(many, single)| ratio(many, single).median);
            a.total_cmp(&b)
        });
    let (many, single) = worst.unzip();
    Verdict::new(
        format!(
            "{}, 1 to 16 messages of {} bytes / one by one, at worst ({})",
            suite.algorithm,
            suite.message_len(),
            many.map_or(0, |row| row.n_messages),
        ),
        NO_SLOWER,
        many,
        single,
    )
}

/// Two kernels, and the lowest ratio of the first to the second for each algorithm.
type Floor = (&'static str, &'static str, f64, f64);

/// Lost inlining slows a kernel up to 60 times, and no test detects it. Each floor is at least a
/// fifth below the ratio on a Xeon of the Sapphire Rapids generation, so that other CPUs and busy
/// machines pass. A CPU whose vector units are half as wide as its registers may not pass.
const FLOORS: [Floor; 14] = [
    ("x4_sse2", "x1_portable", 1.5, 1.5),
    ("x4_ssse3", "x1_portable", 1.5, 1.5),
    ("x4_avx", "x1_portable", 1.5, 1.5),
    ("x8_avx2", "x4_ssse3", 1.5, 1.5),
    ("x8_avx512vl", "x8_avx2", 1.3, 1.4),
    ("x16_avx512", "x8_avx2", 1.6, 1.8),
    ("x1_sha_ni", "x1_portable", 1.8, 2.5),
    ("x2_sha_ni", "x1_sha_ni", 0.95, 0.95),
    ("x4_sha_ni", "x2_sha_ni", 0.65, 0.75),
    ("x1_sse2", "x1_portable", 0.9, 0.9),
    ("x1_ssse3", "x1_portable", 0.9, 0.9),
    ("x1_avx", "x1_portable", 0.9, 0.9),
    ("x1_avx2", "x1_portable", 0.9, 0.9),
    // RustCrypto may run on the SHA extensions, but no other floor covers the portable kernel.
    ("x1_portable", "RustCrypto", 0.2, 0.1),
];

/// The message length for the floors.
pub const FLOORS_LEN: usize = 16 * 1024;

/// Returns every floor whose kernels this CPU runs, and the engine compared with its best kernel.
pub fn floors(results: &Results) -> Vec<Verdict> {
    let mut floors = Vec::new();
    for suite in &results.sizes {
        if suite.message_len() != FLOORS_LEN {
            continue;
        }
        let kernel = |wanted: &str| {
            suite.rows.iter().find(|row| match row.kind {
                Kind::Kernel => row.name.split_once('_').is_some_and(|(_, it)| it == wanted),
                _ => row.name.starts_with(wanted),
            })
        };
        for (above, below, sha1, sha256) in FLOORS {
            let limit = if suite.algorithm == "SHA-1" {
                sha1
            } else {
                sha256
            };
            let text = format!("{} {above} / {below}", suite.algorithm);
            let floor = Verdict::new(text, limit, kernel(above), kernel(below));
            floors.extend(floor.measured.is_some().then_some(floor));
        }
        floors.push(Verdict::new(
            format!("{} engine / its fastest kernel", suite.algorithm),
            0.9,
            suite.row(ENGINE),
            suite.fastest(|row| row.kind == Kind::Kernel),
        ));
    }
    floors
}
