//! CPU time of this thread, and the clock rate of its core.

use std::hint::black_box;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::ffi;

/// Additions in one measurement, divided by 64: a tenth of a millisecond.
const N_TIMES_64: usize = 5_000;

/// Measures the CPU time of this thread. It excludes the time of other processes, so a busy machine
/// distorts the figures less.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Duration);

impl Stopwatch {
    /// Starts a stopwatch.
    pub fn start() -> Self {
        Self(thread_time())
    }

    /// Returns the time since the start.
    pub fn elapsed(self) -> Duration {
        thread_time().saturating_sub(self.0)
    }
}

fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(time).expect("a thread's time is not negative")
}

/// Samples of the core's clock rate in GHz, taken between the contenders' turns. The report
/// computes cycles per byte from them.
#[derive(Debug, Default)]
pub struct Clock {
    ghz: Vec<f64>,
}

impl Clock {
    /// Takes a sample: times a chain of additions of one cycle each.
    pub fn tick(&mut self) {
        let start = Stopwatch::start();
        black_box(ffi::add_chain(black_box(N_TIMES_64)));
        let nanoseconds = start.elapsed().as_nanos() as f64;
        self.ghz.push((N_TIMES_64 * 64) as f64 / nanoseconds);
    }

    /// Returns all samples.
    pub fn into_ghz(self) -> Vec<f64> {
        self.ghz
    }
}
