//! The cost of calls from C: messages one by one through `hashlane_digest()` and through the Rust
//! API.

use std::hint::black_box;
use std::path::Path;

use anyhow::{Result, ensure};
use hashlane_sha::{Algorithm, Sha1, Sha256, digest};
use serde::Serialize;

use crate::clock::Stopwatch;
use crate::ffi::capi::Capi;

/// Number of messages in one measurement.
const N_MESSAGES: usize = 4096;

/// Number of measurements, taken in turns.
const ROUNDS: usize = 257;

/// Range and step of the addresses of the digests, which change from round to round.
const PAGE_LEN: usize = 4096;
const OFFSET_STEP: usize = 16;

/// The measured times of one algorithm and length, in nanoseconds per message.
#[derive(Clone, Debug, Serialize)]
pub struct Border {
    /// The name of the algorithm.
    pub name: &'static str,
    /// The length of the messages in bytes.
    pub len: usize,
    /// The times of the Rust API.
    pub first: Vec<f64>,
    /// The times of the C library, in the same rounds.
    pub second: Vec<f64>,
}

/// Measures a built libhashlane. Both sides write the digests to the same memory.
///
/// # Errors
/// If the library cannot be opened, or if the digests differ.
pub fn measure(library: &Path) -> Result<Vec<Border>> {
    let capi = Capi::open(library)?;
    let mut borders = Vec::new();
    for len in [64, 1024] {
        borders.push(measure_one::<Sha1>(&capi, 1, len)?);
        borders.push(measure_one::<Sha256>(&capi, 2, len)?);
    }
    Ok(borders)
}

fn measure_one<A: Algorithm>(capi: &Capi, number: u32, len: usize) -> Result<Border> {
    let messages: Vec<u8> = (0..N_MESSAGES * len)
        .map(|i| (i * 31 + i / 255) as u8)
        .collect();
    let len_of_digests = N_MESSAGES * A::DIGEST_LEN;
    let mut by_rust = vec![0; len_of_digests + PAGE_LEN];
    let mut by_c = by_rust.clone();
    let mut border = Border {
        name: A::NAME,
        len,
        first: Vec::new(),
        second: Vec::new(),
    };
    for round in 0..ROUNDS {
        // Both times depend on the distance of the digests from the stack, by up to a half.
        let offset = round * OFFSET_STEP % PAGE_LEN;
        let by_rust = &mut by_rust[offset..][..len_of_digests];
        let by_c = &mut by_c[offset..][..len_of_digests];
        let started = Stopwatch::start();
        let outputs = by_rust.chunks_exact_mut(A::DIGEST_LEN);
        for (message, output) in messages.chunks_exact(len).zip(outputs) {
            output.copy_from_slice(digest::<A>(message).as_ref());
        }
        border.first.push(per_message(started));
        black_box(&*by_rust);
        let started = Stopwatch::start();
        capi.digests(number, &messages, len, by_c)?;
        border.second.push(per_message(started));
        ensure!(by_rust == by_c, "the C library computes other digests");
    }
    Ok(border)
}

fn per_message(started: Stopwatch) -> f64 {
    started.elapsed().as_nanos() as f64 / N_MESSAGES as f64
}
