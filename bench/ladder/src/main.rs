//! Hashes the pieces of a file, compares the digests, and prints the seconds of CPU time that this
//! took. `bench/ladder.py` runs it, and a C program with the same arguments.
//!
//! ```text
//! hashlane-bench-ladder METHOD FILE DIGESTS
//! ```
//!
//! DIGESTS has a digest for each piece. Exit status: 0 all pieces are right, 1 a piece is wrong, or
//! an error.

use std::fs::{self, File};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use hashlane_sha::{Engine, Md5, Sha1Digest, digest_many, sha1_checked};
use md5::Digest as _;
use memmap2::Mmap;
use rustix::time::{ClockId, clock_gettime};

const PIECE_LEN: usize = 262_144;

/// Returns the digests of pieces, end to end.
type Method = fn(&[&[u8]]) -> Vec<u8>;

/// The methods by name.
const METHODS: [(&str, Method); 7] = [
    ("sha1-many", sha1_many),
    ("checked-sha1dc", checked_sha1dc),
    ("checked-single", checked_single),
    ("checked-many", checked_many),
    ("md5-rustcrypto", md5_rustcrypto),
    ("md5-single", md5_single),
    ("md5-many", md5_many),
];

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, method, content, digests] = &arguments[..] else {
        bail!("usage: hashlane-bench-ladder METHOD FILE DIGESTS");
    };
    let found = METHODS.iter().find(|(name, _)| name == method);
    let (_, digest) = found.with_context(|| format!("{method}: unknown method"))?;

    let file = File::open(content).with_context(|| content.clone())?;
    // SAFETY: `ladder.py` wrote the file before, and changes it no more.
    let bytes = unsafe { Mmap::map(&file) }.with_context(|| content.clone())?;
    let pieces: Vec<&[u8]> = bytes.chunks(PIECE_LEN).collect();
    let expected = fs::read(digests).with_context(|| digests.clone())?;
    ensure!(digest(&pieces) == expected, "a piece is wrong");
    // The time of the process from its start, as in the C program.
    let time = Duration::try_from(clock_gettime(ClockId::ProcessCPUTime))?;
    println!("{:.6}", time.as_secs_f64());
    Ok(())
}

fn sha1_many(pieces: &[&[u8]]) -> Vec<u8> {
    let mut digests = vec![Sha1Digest::default(); pieces.len()];
    digest_many::<hashlane_sha::Sha1>(pieces, &mut digests);
    joined(digests)
}

fn checked_sha1dc(pieces: &[&[u8]]) -> Vec<u8> {
    joined(pieces.iter().map(|piece| {
        let digest = sha1dc::digest(piece).expect("random pieces are no attacks");
        <[u8; 20]>::from(digest)
    }))
}

fn checked_single(pieces: &[&[u8]]) -> Vec<u8> {
    let digest = |piece| sha1_checked::digest(piece).expect("random pieces are no attacks");
    joined(pieces.iter().copied().map(digest))
}

fn checked_many(pieces: &[&[u8]]) -> Vec<u8> {
    let mut digests = vec![Sha1Digest::default(); pieces.len()];
    sha1_checked::digest_many(pieces, &mut digests, |piece| {
        panic!("piece {piece} is an attack");
    });
    joined(digests)
}

fn md5_rustcrypto(pieces: &[&[u8]]) -> Vec<u8> {
    joined(pieces.iter().map(md5::Md5::digest))
}

fn md5_single(pieces: &[&[u8]]) -> Vec<u8> {
    joined(pieces.iter().map(|piece| {
        let mut hasher = Md5::default();
        hasher.update(piece);
        hasher.finalize()
    }))
}

fn md5_many(pieces: &[&[u8]]) -> Vec<u8> {
    let mut hashers = vec![Md5::default(); pieces.len()];
    Md5::update_many(Engine::detect().md5_kernel(), &mut hashers, pieces);
    joined(hashers.into_iter().map(Md5::finalize))
}

fn joined(digests: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Vec<u8> {
    let mut all = Vec::new();
    digests
        .into_iter()
        .for_each(|digest| all.extend_from_slice(digest.as_ref()));
    all
}
