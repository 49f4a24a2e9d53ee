//! Measures the search for two wrong digits of an address of Ethereum against one message at a time with the crate `sha3`, in
//! processor time: `cargo run --release -p hashlane-recover --example eip55_rate`.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a small count"
)]

use std::hint::black_box;

use hashlane_recover::recover;
use sha3::{Digest as _, Keccak256};

/// Number of rounds in turns. The medians are printed.
const ROUNDS: usize = 11;

fn main() {
    let damaged = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAbb";
    let count = |errors| {
        let answer = recover(damaged, Some(errors), &|_| true, false);
        answer.and_then(Result::ok).expect("an address")
    };
    let candidates = count(2).count.candidates;
    let mut seconds = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        seconds[0].push(time(|| drop(black_box(count(2)))));
        seconds[1].push(time(|| {
            let mut digits = *b"5aaeb6053f3e94c9b9a09f33669435e7ef1beabb";
            for i in 0..candidates as u64 {
                digits[..8].copy_from_slice(&i.to_le_bytes());
                black_box(Keccak256::digest(black_box(digits)));
            }
        }));
    }
    let [search, library] = seconds.map(|mut seconds| {
        seconds.sort_by(f64::total_cmp);
        seconds[ROUNDS / 2]
    });
    println!(
        "{candidates} candidates: search {search:.3} s, sha3 {library:.3} s, ratio {:.2}",
        library / search
    );
}

/// Returns the processor time of a function.
fn time(run: impl FnOnce()) -> f64 {
    let nanoseconds = || {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
        let first = text.split(' ').next().expect("a number");
        first.parse::<f64>().expect("a number")
    };
    let before = nanoseconds();
    run();
    (nanoseconds() - before) / 1e9
}
