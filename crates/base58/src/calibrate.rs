//! Which kernel is the fastest here, by trying.

use std::time::{Duration, Instant};

use hashlane_sha::{Addends, Backend, Query, Sha256dKernel, Shape};

/// A kernel, and how fast it is here.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// Which one.
    pub kernel: Sha256dKernel,
    /// Messages hashed twice, per second and thread.
    pub per_second: f64,
}

/// Messages in one run: some 50 µs of the fastest kernel.
const N_MESSAGES: usize = 2048;

/// How long each kernel is tried for.
const TRY: Duration = Duration::from_millis(3);

/// Measures the kernels of these backends that this CPU can run, or of all, the fastest one first: some
/// milliseconds for each.
pub fn measure(backend: Option<Backend>) -> Vec<Rate> {
    let is_wanted =
        |kernel: &Sha256dKernel| backend.is_none_or(|backend| kernel.backend() == backend);
    let mut rates: Vec<Rate> = Sha256dKernel::available()
        .filter(is_wanted)
        .map(rate_of)
        .collect();
    rates.sort_by(|a, b| b.per_second.total_cmp(&a.per_second));
    rates
}

fn rate_of(kernel: Sha256dKernel) -> Rate {
    // The shape of addresses. What is hashed does not matter to the time it takes.
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
    // The first run brings code and table near.
    run(&query);
    let started = Instant::now();
    let mut best = Duration::MAX;
    while started.elapsed() < TRY {
        query.block[0] = query.block[0].wrapping_add(1);
        let one = Instant::now();
        run(&query);
        best = best.min(one.elapsed());
    }
    Rate {
        kernel,
        per_second: N_MESSAGES as f64 / best.as_secs_f64().max(1e-9),
    }
}
