//! The CPU as a search backend, with the kernels of the engine and their measured rates.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::time::{Duration, Instant};

use hashlane_sha::Backend;

use crate::backend::{SearchBackend, Searched, TableSearch};
use crate::sha256d::{Addends, Query, Sha256dKernel, Shape};
use crate::tables::{Candidate, Tables};

/// Number of messages in one measured run, which takes the fastest kernel about 50 µs.
const N_MESSAGES: usize = 2048;

/// Time for the measurement of each kernel.
const MEASURE_FOR: Duration = Duration::from_millis(3);

/// A kernel of the CPU, with its measured rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CpuBackend {
    kernel: Sha256dKernel,
    hashes_per_second: f64,
    n_threads: NonZeroUsize,
}

impl CpuBackend {
    /// Measures the kernels that this CPU can run, a few milliseconds each, and returns the
    /// fastest.
    ///
    /// `backend` restricts the choice to the kernels of one hash backend. `n_threads` defaults to
    /// the number of cores. Returns `None` if the hash backend has no search kernel.
    pub fn fastest(backend: Option<Backend>, n_threads: Option<NonZeroUsize>) -> Option<Self> {
        let is_allowed =
            |kernel: &Sha256dKernel| backend.is_none_or(|backend| kernel.backend() == backend);
        Sha256dKernel::available()
            .filter(is_allowed)
            .map(|kernel| Self::measured(kernel, n_threads))
            .max_by(|a, b| a.hashes_per_second.total_cmp(&b.hashes_per_second))
    }

    /// Measures one kernel for a few milliseconds. `n_threads` defaults to the number of cores.
    pub fn measured(kernel: Sha256dKernel, n_threads: Option<NonZeroUsize>) -> Self {
        let n_threads = n_threads.or_else(|| std::thread::available_parallelism().ok());
        Self {
            kernel,
            hashes_per_second: rate_of(kernel),
            n_threads: n_threads.unwrap_or(NonZeroUsize::MIN),
        }
    }

    /// Returns the kernel.
    pub fn kernel(&self) -> Sha256dKernel {
        self.kernel
    }
}

impl SearchBackend for CpuBackend {
    fn name(&self) -> String {
        self.kernel.to_string()
    }

    fn n_workers(&self) -> NonZeroUsize {
        self.n_threads
    }

    fn hashes_per_second(&self, _: usize) -> f64 {
        self.hashes_per_second
    }

    fn prepare<'t>(&'t self, _: usize, tables: &'t Tables<'_>) -> Box<dyn TableSearch + 't> {
        Box::new(CpuSearch {
            kernel: self.kernel,
            tables,
        })
    }
}

/// Tables with the kernel that searches them.
struct CpuSearch<'t, 's> {
    kernel: Sha256dKernel,
    tables: &'t Tables<'s>,
}

impl TableSearch for CpuSearch<'_, '_> {
    fn search(
        &mut self,
        prefixes: Range<u128>,
        on_candidate: &mut dyn FnMut(Candidate),
    ) -> Searched {
        let addends = self.tables.addends();
        let (end, mut hashes) = (prefixes.end, 0);
        self.tables.for_each_query(prefixes, |prefix, query, sums| {
            hashes += sums.len() as u64;
            self.kernel.find(query, &addends, sums, &mut |found| {
                on_candidate(Candidate {
                    prefix,
                    sum: found.index,
                    tail: found.tail,
                });
            });
        });
        Searched { end, hashes }
    }
}

/// Returns the number of messages per second that a kernel hashes twice.
fn rate_of(kernel: Sha256dKernel) -> f64 {
    // The shape of addresses. The time does not depend on the contents of messages.
    let shape = Shape::new(6, 3);
    let column: Vec<u32> = (0..N_MESSAGES + Addends::MARGIN)
        .map(|i| (i as u32).wrapping_mul(0x9e37_79b1))
        .collect();
    let addends = Addends::new(shape, &column, shape.words().map(|_| column.as_slice()));
    let mut query = Query {
        block: [0; 16],
        low: 0,
        tail: &[],
    };
    let run = |query: &Query<'_>| {
        kernel.find(query, &addends, 0..N_MESSAGES, &mut |_| ());
    };
    // The first run fills the caches.
    run(&query);
    let started = Instant::now();
    let mut best = Duration::MAX;
    while started.elapsed() < MEASURE_FOR {
        query.block[0] = query.block[0].wrapping_add(1);
        let one = Instant::now();
        run(&query);
        best = best.min(one.elapsed());
    }
    N_MESSAGES as f64 / best.as_secs_f64().max(1e-9)
}
