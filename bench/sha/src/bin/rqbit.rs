//! Measures the adapter of `docs/guides/adopting.md` beside aws-lc-rs, which rqbit can be compiled with, and
//! `RustCrypto`.
//!
//! `cargo run --release --manifest-path bench/sha/Cargo.toml --bin rqbit`
//!
//! All contenders hash the same pieces in turn, as rqbit does: each piece in updates of one block. The engine also hashes
//! all pieces at once. Prints the median and the middle half of the rates in GB/s, of the CPU time
//! of one thread.

use std::hint::black_box;

use aws_lc_rs::digest::{Context, SHA1_FOR_LEGACY_USE_ONLY, SHA256};
use hashlane_bench_sha::clock::Stopwatch;
use hashlane_sha::{Algorithm, Sha1, Sha256, digest_many};

#[path = "../../../../crates/sha/tests/it/rqbit/adapter.rs"]
#[expect(unreachable_pub, reason = "the page prints the file as it is")]
mod adapter;

use adapter::{Sha1Hashlane, Sha256Hashlane};

/// The SHA-1 hasher of rqbit, as in `crates/sha/tests/it/rqbit.rs`.
trait ISha1 {
    fn new() -> Self;
    fn update(&mut self, buf: &[u8]);
    fn finish(self) -> [u8; 20];
}

/// The SHA-256 hasher of rqbit.
trait ISha256 {
    fn new() -> Self;
    fn update(&mut self, buf: &[u8]);
    fn finish(self) -> [u8; 32];
}

const N_PIECES: usize = 16;
const PIECE_LEN: usize = 256 << 10;
const BLOCK_LEN: usize = 16 << 10;
const TURNS: usize = 101;

/// The name of a contender, and a function that returns the digest of each piece.
type Contender<'c> = (&'static str, Box<dyn Fn() -> Vec<Vec<u8>> + 'c>);

fn main() {
    let content = (0..N_PIECES * PIECE_LEN).map(|at| (at / 5 + at / 977) as u8);
    let content: Vec<u8> = content.collect();
    let pieces: Vec<&[u8]> = content.chunks(PIECE_LEN).collect();
    println!("{}", cpu());
    println!("{N_PIECES} pieces of {PIECE_LEN} bytes, {TURNS} turns");
    let sha1 = |piece: &[u8]| {
        let mut hasher = Sha1Hashlane::new();
        blocks(piece).for_each(|block| hasher.update(block));
        hasher.finish().to_vec()
    };
    let sha256 = |piece: &[u8]| {
        let mut hasher = Sha256Hashlane::new();
        blocks(piece).for_each(|block| hasher.update(block));
        hasher.finish().to_vec()
    };
    let sha1 = contenders::<Sha1, sha1::Sha1>(&pieces, &SHA1_FOR_LEGACY_USE_ONLY, sha1);
    measure("SHA-1", &sha1);
    let sha256 = contenders::<Sha256, sha2::Sha256>(&pieces, &SHA256, sha256);
    measure("SHA-256", &sha256);
}

/// Returns the contenders: the adapter, the same algorithm of other libraries, and the engine with all pieces at once.
fn contenders<'p, A: Algorithm, R: sha1::Digest>(
    pieces: &'p [&[u8]],
    aws_lc: &'static aws_lc_rs::digest::Algorithm,
    adapter: impl Fn(&[u8]) -> Vec<u8> + 'p,
) -> Vec<Contender<'p>> {
    let aws_lc = move |piece: &[u8]| {
        let mut context = Context::new(aws_lc);
        blocks(piece).for_each(|block| context.update(block));
        context.finish().as_ref().to_vec()
    };
    let rust_crypto = |piece: &[u8]| {
        let mut hasher = R::new();
        blocks(piece).for_each(|block| hasher.update(block));
        hasher.finalize().to_vec()
    };
    vec![
        ("adapter", each(pieces, adapter)),
        ("aws-lc-rs", each(pieces, aws_lc)),
        ("RustCrypto", each(pieces, rust_crypto)),
        ("digest_many", Box::new(|| at_once::<A>(pieces))),
    ]
}

fn blocks(piece: &[u8]) -> impl Iterator<Item = &[u8]> {
    piece.chunks(BLOCK_LEN)
}

fn each<'p>(
    pieces: &'p [&[u8]],
    digest: impl Fn(&[u8]) -> Vec<u8> + 'p,
) -> Box<dyn Fn() -> Vec<Vec<u8>> + 'p> {
    Box::new(move || pieces.iter().map(|piece| digest(piece)).collect())
}

fn at_once<A: Algorithm>(pieces: &[&[u8]]) -> Vec<Vec<u8>> {
    let mut digests = vec![A::Digest::default(); pieces.len()];
    digest_many::<A>(pieces, &mut digests);
    digests
        .iter()
        .map(|digest| digest.as_ref().to_vec())
        .collect()
}

/// Measures the contenders in turn, so that all meet the same state of the machine.
fn measure(algorithm: &str, contenders: &[Contender<'_>]) {
    let expected = contenders[0].1();
    let mut rates = vec![Vec::new(); contenders.len()];
    for turn in 0..TURNS {
        for i in 0..contenders.len() {
            // Another contender starts each turn.
            let i = (i + turn) % contenders.len();
            let start = Stopwatch::start();
            let digests = black_box(contenders[i].1());
            let seconds = start.elapsed().as_secs_f64();
            assert_eq!(digests, expected, "{}", contenders[i].0);
            rates[i].push((N_PIECES * PIECE_LEN) as f64 / seconds / 1e9);
        }
    }
    for ((name, _), mut rates) in contenders.iter().zip(rates) {
        rates.sort_by(f64::total_cmp);
        let at = |part| rates[rates.len() * part / 4];
        println!(
            "{algorithm:8}{name:12}{:6.2}  ({:.2} to {:.2})",
            at(2),
            at(1),
            at(3)
        );
    }
}

/// Returns the name of the CPU, if the system reports it.
fn cpu() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text
        .lines()
        .find_map(|line| line.strip_prefix("model name"));
    name.map_or_else(
        || "unknown CPU".into(),
        |name| name.trim_start_matches(['\t', ' ', ':']).into(),
    )
}
