//! The engine's benchmark: its kernels beside each other and beside what else hashes.
//!
//! `make bench-sha` runs the program of this package, which measures in turns what is compared and
//! writes `bench/SHA.md`, `bench/sha.json` and the charts; `make bench-sha-criterion` runs the
//! criterion benchmarks over the same contenders.

pub mod batch;
pub mod chart;
pub mod clock;
pub mod contenders;
mod ffi;
pub mod goals;
pub mod levels;
pub mod machine;
pub mod measure;
pub mod recover;
pub mod report;
pub mod results;
pub mod suites;
