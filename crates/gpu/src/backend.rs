//! A device as a search backend: cuts work into launches, checks the results, and continues on the
//! CPU if the device fails.

use std::num::{NonZeroU64, NonZeroUsize};
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use hashlane_base58::{
    Addends, Candidate, CpuBackend, Query, SearchBackend, Searched, Shape, TableSearch, Tables,
};

use crate::device::{Device, DeviceError, Loaded};
use crate::launch::{Found, Launch};

/// Number of threads that drive a device: one prepares a launch while the other waits for its own.
const N_WORKERS: usize = 2;

/// The time that a launch should take. Drivers end a launch after seconds, and a desktop does not
/// draw during a launch, so it must stay below 50 ms. The measured time includes the wait for a launch
/// of the other worker.
const LAUNCH_TIME: Duration = Duration::from_millis(40);

/// The time that the work units of one worker should take: long enough for several launches, and
/// short enough to stop soon.
const BATCH_SECONDS: f64 = 0.1;

/// Number of hashes of the first launch: 40 ms of the slowest device that was measured, a driver
/// that computes on two cores.
const FIRST_LAUNCH: u64 = 1 << 18;

/// Hashes in a work unit; see [`SearchBackend::units_per_call`].
const UNIT_HASHES: f64 = 524_288.0;

/// Number of prefixes that are added to a launch at once.
const PREFIXES_AT_ONCE: u128 = 16;

/// The maximum number of queries for one prefix: three carries, each with and without a carry out of
/// the words of the table.
const MAX_QUERIES_OF_PREFIX: usize = 6;

/// Number of addends in the table of a measurement, as in the tables of addresses.
const N_MEASURED_ADDENDS: usize = 4096;

/// The limits of launches.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// Number of hashes below which the CPU is used instead, or `None` to measure it.
    pub min_hashes: Option<u64>,
    /// The maximum number of hashes in a launch. One prefix may exceed it.
    pub max_hashes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            min_hashes: None,
            max_hashes: u64::MAX,
        }
    }
}

/// A device as a search backend.
///
/// Each launch contains a planted message that the device must find. If it does not, or if the
/// device fails, the work of the launch is done again by the CPU, and so is all further work.
#[derive(Debug)]
pub struct GpuBackend {
    device: Box<dyn Device>,
    cpu: CpuBackend,
    hashes_per_second: f64,
    min_hashes: u64,
    max_hashes: u64,
    /// The number of hashes of the next launch.
    launch_hashes: AtomicU64,
    n_launches: AtomicU64,
    failure: OnceLock<String>,
}

impl GpuBackend {
    /// Measures a device for about a fifth of a second.
    ///
    /// The CPU continues if the device fails, and hashes what is too small for a launch.
    ///
    /// # Errors
    /// [`DeviceError`] if the device fails or misses a planted message.
    pub fn new(
        device: Box<dyn Device>,
        cpu: CpuBackend,
        limits: Limits,
    ) -> Result<Self, DeviceError> {
        let mut backend = Self {
            device,
            cpu,
            hashes_per_second: 0.0,
            min_hashes: limits.min_hashes.unwrap_or(1),
            max_hashes: limits.max_hashes.max(1),
            launch_hashes: AtomicU64::new(FIRST_LAUNCH.min(limits.max_hashes.max(1))),
            n_launches: AtomicU64::new(0),
            failure: OnceLock::new(),
        };
        let measured = backend.measure()?;
        backend.hashes_per_second = measured.hashes_per_second;
        if limits.min_hashes.is_none() {
            let cpu = backend.cpu.hashes_per_second(0);
            backend.min_hashes = (measured.least_seconds * cpu) as u64;
        }
        Ok(backend)
    }

    /// Runs launches of growing size.
    fn measure(&self) -> Result<Measured, DeviceError> {
        // The shape of addresses. The time does not depend on the contents of messages.
        let shape = Shape::new(6, 3);
        let column: Vec<u32> = (0..N_MEASURED_ADDENDS + Addends::MARGIN)
            .map(|i| (i as u32).wrapping_mul(0x9e37_79b1))
            .collect();
        // The last byte of 21, which the padding follows.
        let last: Vec<u32> = column.iter().map(|word| word & 0xff00_0000).collect();
        let addends = Addends::new(shape, &column, [&*column, &*column, &*last].into_iter());
        let mut query = Query {
            block: [0; 16],
            low: 0,
            tail: &[],
        };
        query.block[5] = 0x0080_0000;
        query.block[15] = 8 * 21;
        let mut loaded = self.device.load(&addends)?;
        let mut run = |n: usize, len: usize| {
            let mut launch = Launch::default();
            for i in 0..n {
                query.block[0] = i as u32;
                launch.push(i as u128, &query, 0..len);
            }
            let started = Instant::now();
            self.run(&mut *loaded, &addends, &mut launch)?
                .ok_or_else(|| DeviceError("a launch found more than it has room for".into()))?;
            Ok(started.elapsed())
        };
        // The first launch prepares the device, and the second one has the time of an empty launch.
        run(1, 1)?;
        let least_seconds = run(1, 1)?.min(run(1, 1)?).as_secs_f64();
        let mut n = 1;
        loop {
            // Other work can only slow a launch down.
            let elapsed = run(n, N_MEASURED_ADDENDS)?;
            let elapsed = elapsed.min(run(n, N_MEASURED_ADDENDS)?);
            let is_last = elapsed >= LAUNCH_TIME / 2 || 2 * n >= self.device.max_queries();
            if is_last {
                let hashes = (n * N_MEASURED_ADDENDS) as f64;
                let hashes_per_second = hashes / elapsed.as_secs_f64().max(1e-9);
                return Ok(Measured {
                    hashes_per_second,
                    least_seconds,
                });
            }
            n *= 2;
        }
    }

    /// Runs a launch with a planted message. Returns what else was found, or `None` if the device
    /// had no room for all of it.
    fn run(
        &self,
        loaded: &mut dyn Loaded,
        addends: &Addends<'_>,
        launch: &mut Launch,
    ) -> Result<Option<Vec<Found>>, DeviceError> {
        let number = self.n_launches.fetch_add(1, Ordering::Relaxed);
        // Fibonacci hashing spreads the planted messages over queries, addends and positions.
        let seed = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let planted = launch.plant(addends, seed);
        let answer = loaded.run(launch)?;
        let mut found = answer.found;
        if answer.n_found as u64 > launch.hashes() + 1 {
            return Err(DeviceError(
                "a launch found more messages than it has".into(),
            ));
        }
        if answer.n_found > found.len() {
            return Ok(None);
        }
        if let Some(planted) = planted {
            let n = found.len();
            found.retain(|found| *found != planted);
            if found.len() + 1 != n {
                return Err(DeviceError(
                    "a launch missed a message with a known hash".into(),
                ));
            }
        }
        Ok(Some(found))
    }

    /// Adapts the size of launches to the time of one.
    fn adapt(&self, hashes: u64, elapsed: Duration) {
        let size = self.launch_hashes.load(Ordering::Relaxed);
        let next = next_size(size, hashes, elapsed).clamp(1, self.max_hashes);
        self.launch_hashes.store(next, Ordering::Relaxed);
    }

    fn disable(&self, error: DeviceError) {
        // Another worker can have failed first.
        let _ = self.failure.set(error.0);
    }
}

/// Returns the number of hashes of the next launch, after a launch with `hashes` that could have had
/// `size`.
fn next_size(size: u64, hashes: u64, elapsed: Duration) -> u64 {
    let share = LAUNCH_TIME.as_secs_f64() / elapsed.as_secs_f64().max(1e-9);
    if hashes < size {
        // The last launch of a batch is small. Its time is mostly latency, and only shows whether it was slow.
        (size as f64 * share.clamp(0.1, 1.0)) as u64
    } else {
        (hashes as f64 * share.clamp(0.1, 2.0)) as u64
    }
}

/// The measured speed of a device.
struct Measured {
    hashes_per_second: f64,
    /// The time of a launch with one message.
    least_seconds: f64,
}

impl SearchBackend for GpuBackend {
    fn name(&self) -> String {
        self.device.name()
    }

    fn n_workers(&self) -> NonZeroUsize {
        NonZeroUsize::new(N_WORKERS).expect("more than none")
    }

    fn hashes_per_second(&self, _: usize) -> f64 {
        self.hashes_per_second / N_WORKERS as f64
    }

    fn units_per_call(&self, _: usize) -> NonZeroU64 {
        let units = self.hashes_per_second * BATCH_SECONDS / UNIT_HASHES;
        NonZeroU64::new(units as u64).unwrap_or(NonZeroU64::MIN)
    }

    fn prepare<'t>(&'t self, worker: usize, tables: &'t Tables<'_>) -> Box<dyn TableSearch + 't> {
        Box::new(GpuSearch {
            backend: self,
            addends: tables.addends(),
            tables,
            cpu: self.cpu.prepare(worker, tables),
            loaded: None,
        })
    }

    /// Measures the preparation of queries. Spaces that are too small for a launch take longer, because
    /// the CPU hashes them.
    fn seconds_besides_hashing(&self, tables: &Tables<'_>, prefixes: Range<u128>) -> f64 {
        let before = Instant::now();
        let mut launch = Launch::default();
        tables.for_each_query(prefixes, |prefix, query, addends| {
            launch.push(prefix, query, addends);
        });
        before.elapsed().as_secs_f64()
    }

    fn failure(&self) -> Option<String> {
        let reason = self.failure.get()?;
        Some(format!(
            "{}: {reason}; the CPU continues its work",
            self.device.name()
        ))
    }
}

/// Tables with the device that searches them.
struct GpuSearch<'t, 's> {
    backend: &'t GpuBackend,
    tables: &'t Tables<'s>,
    addends: Addends<'t>,
    /// Searches what the device cannot.
    cpu: Box<dyn TableSearch + 't>,
    /// The table on the device, from the first launch on.
    loaded: Option<Box<dyn Loaded + 't>>,
}

impl TableSearch for GpuSearch<'_, '_> {
    fn search(
        &mut self,
        prefixes: Range<u128>,
        on_candidate: &mut dyn FnMut(Candidate),
    ) -> Searched {
        if self.backend.failure.get().is_none() {
            match self.launch(&prefixes, on_candidate) {
                Ok(Some(searched)) => return searched,
                Ok(None) => {}
                Err(error) => self.backend.disable(error),
            }
        }
        // About a work unit, so that the search can stop soon.
        let n = (UNIT_HASHES as usize / self.addends.len().max(1)).max(1);
        let end = prefixes.start.saturating_add(n as u128).min(prefixes.end);
        self.cpu.search(prefixes.start..end, on_candidate)
    }
}

impl GpuSearch<'_, '_> {
    /// Searches the first of these prefixes by one launch. Returns `None` if they are too few for a
    /// launch, or if even one prefix has more matches than the device has room for.
    fn launch(
        &mut self,
        prefixes: &Range<u128>,
        on_candidate: &mut dyn FnMut(Candidate),
    ) -> Result<Option<Searched>, DeviceError> {
        let backend = self.backend;
        let mut most = prefixes.end - prefixes.start;
        loop {
            let (mut launch, end) = self.cut(prefixes.start..prefixes.start + most);
            if launch.hashes() < backend.min_hashes || launch.hashes() == 0 {
                return Ok(None);
            }
            let loaded = match &mut self.loaded {
                Some(loaded) => loaded,
                None => self.loaded.insert(backend.device.load(&self.addends)?),
            };
            let started = Instant::now();
            let found = backend.run(&mut **loaded, &self.addends, &mut launch)?;
            let Some(found) = found else {
                // Half as many prefixes have half as many matches, and so do those that follow.
                backend
                    .launch_hashes
                    .store((launch.hashes() / 2).max(1), Ordering::Relaxed);
                most = (end - prefixes.start) / 2;
                if most == 0 {
                    return Ok(None);
                }
                continue;
            };
            backend.adapt(launch.hashes(), started.elapsed());
            for found in found {
                let prefix = launch.prefix(found.query).ok_or_else(|| {
                    DeviceError("a launch found a message that it does not have".into())
                })?;
                on_candidate(Candidate {
                    prefix,
                    sum: found.addend as usize,
                    tail: found.tail,
                });
            }
            return Ok(Some(Searched {
                end,
                hashes: launch.hashes(),
            }));
        }
    }

    /// Returns a launch with the first of these prefixes, and the first prefix that is left.
    fn cut(&self, prefixes: Range<u128>) -> (Launch, u128) {
        // A launch with fewer would be left to the CPU.
        let most = self.backend.launch_hashes.load(Ordering::Relaxed);
        let most = most.max(self.backend.min_hashes);
        let room = MAX_QUERIES_OF_PREFIX * PREFIXES_AT_ONCE as usize + 1;
        let max_queries = self.backend.device.max_queries();
        let mut launch = Launch::default();
        let mut next = prefixes.start;
        while next < prefixes.end
            && launch.hashes() < most
            && launch.words().len() + room <= max_queries.max(room)
        {
            let end = next.saturating_add(PREFIXES_AT_ONCE).min(prefixes.end);
            self.tables
                .for_each_query(next..end, |prefix, query, addends| {
                    launch.push(prefix, query, addends);
                });
            next = end;
        }
        (launch, next)
    }
}

#[cfg(test)]
mod tests {
    use super::{Duration, LAUNCH_TIME, next_size};

    #[test]
    fn launches_grow_and_shrink_with_their_time() {
        let size = 1_000_000;
        assert_eq!(next_size(size, size, LAUNCH_TIME), size);
        assert_eq!(next_size(size, size, LAUNCH_TIME * 2), size / 2);
        // At most by these factors at once.
        assert_eq!(next_size(size, size, Duration::ZERO), 2 * size);
        assert_eq!(next_size(size, size, LAUNCH_TIME * 1000), size / 10);
        // A small launch at the end of a batch changes nothing, unless it is slow.
        assert_eq!(next_size(size, 10, Duration::from_millis(1)), size);
        assert_eq!(next_size(size, size / 2, LAUNCH_TIME * 2), size / 2);
    }
}
