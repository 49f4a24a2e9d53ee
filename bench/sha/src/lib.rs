//! The engine's benchmark: compares its kernels with each other and with other libraries.
//!
//! `make bench-sha` runs the program of this package. It measures the contenders in turns and
//! writes `bench/SHA.md`, `bench/sha.json` and the charts. `make bench-sha-criterion` runs the
//! criterion benchmarks over the same contenders.

pub mod batch;
pub mod border;
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
