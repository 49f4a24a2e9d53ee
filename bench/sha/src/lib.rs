//! Measurements of the engine: its kernels beside each other and beside other libraries.
//!
//! The program of this package prints samples as JSON. `bench/engine.py`, `bench/pairs.py` and
//! `bench/recover.py` run it and write the reports. `cargo xtask bench sha-criterion` runs the criterion
//! benchmarks over the same contenders.

pub mod batch;
pub mod border;
pub mod clock;
pub mod contenders;
mod ffi;
pub mod measure;
pub mod recover;
pub mod suites;
