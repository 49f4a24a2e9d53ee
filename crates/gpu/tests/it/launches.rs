//! Work is cut into launches and their results are checked, with a device that is simulated on the
//! CPU, and that fails in every way that a device can fail.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use hashlane_base58::{
    Addends, Damage, Event, Kind, Options, Search, SearchBackend, SeveralBackends, Sha256dKernel,
    Shape,
};
use hashlane_gpu::{Answer, Device, DeviceError, Found, GpuBackend, Launch, Limits, Loaded};

use crate::random::Random;
use crate::searches::{cpu, in_reverse, results, results_in, search};

/// How a device fails.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    /// It does not find the last match.
    Misses,
    /// It reports a match of a query that does not exist.
    Invents,
    /// It no longer answers.
    IsLost,
    /// It has no memory for another table.
    IsFull,
}

#[derive(Debug)]
struct Simulated {
    /// Number of matches for which it has room.
    room: usize,
    max_queries: usize,
    fault: Fault,
    /// The number of the first launch with the fault.
    faulty_from: Arc<AtomicU64>,
    n_launches: Arc<AtomicU64>,
    /// The number of the launch that sets `cancel`.
    cancelled_in: Arc<AtomicU64>,
    cancel: Arc<AtomicBool>,
}

impl Simulated {
    fn new() -> Self {
        Self {
            room: 1 << 14,
            max_queries: 1 << 12,
            fault: Fault::Misses,
            faulty_from: Arc::new(AtomicU64::new(u64::MAX)),
            n_launches: Arc::default(),
            cancelled_in: Arc::new(AtomicU64::new(u64::MAX)),
            cancel: Arc::default(),
        }
    }

    fn has(&self, fault: Fault, launch: u64) -> bool {
        self.fault == fault && launch >= self.faulty_from.load(Ordering::Relaxed)
    }

    fn backend(self) -> GpuBackend {
        self.limited(u64::MAX)
    }

    fn limited(self, max_hashes: u64) -> GpuBackend {
        let mut limits = Limits::default();
        limits.min_hashes = Some(1);
        limits.max_hashes = max_hashes;
        GpuBackend::new(Box::new(self), cpu(), limits).unwrap()
    }
}

struct Table<'d> {
    device: &'d Simulated,
    shape: Shape,
    columns: Vec<Vec<u32>>,
}

impl Device for Simulated {
    fn name(&self) -> String {
        "simulated".into()
    }

    fn max_queries(&self) -> usize {
        self.max_queries
    }

    fn load<'d>(&'d self, addends: &Addends<'_>) -> Result<Box<dyn Loaded + 'd>, DeviceError> {
        if self.has(Fault::IsFull, self.n_launches.load(Ordering::Relaxed)) {
            return Err(DeviceError("out of memory".into()));
        }
        let columns = std::iter::once(addends.low()).chain(addends.columns());
        let margin = [0; Addends::MARGIN];
        Ok(Box::new(Table {
            device: self,
            shape: addends.shape(),
            columns: columns.map(|column| [column, &margin].concat()).collect(),
        }))
    }
}

impl Loaded for Table<'_> {
    fn run(&mut self, launch: &Launch) -> Result<Answer, DeviceError> {
        let device = self.device;
        assert!(launch.words().len() <= device.max_queries);
        let number = device.n_launches.fetch_add(1, Ordering::Relaxed);
        if number == device.cancelled_in.load(Ordering::Relaxed) {
            device.cancel.store(true, Ordering::Relaxed);
        }
        if device.has(Fault::IsLost, number) {
            return Err(DeviceError("the device was lost".into()));
        }
        let kernel = Sha256dKernel::available().last().unwrap();
        let columns = self.columns[1..].iter().map(Vec::as_slice);
        let addends = Addends::new(self.shape, &self.columns[0], columns);
        let mut found = Vec::new();
        for ((query, range), index) in launch.queries().zip(0..) {
            kernel.find(&query, &addends, range.clone(), &mut |matched| {
                // Kernels also report matches after the range.
                if range.contains(&matched.index) {
                    found.push(Found {
                        query: index,
                        addend: matched.index as u32,
                        tail: matched.tail,
                    });
                }
            });
        }
        if device.has(Fault::Misses, number) {
            // A match of the search can follow that of the message with a known hash.
            found.clear();
        }
        if device.has(Fault::Invents, number) {
            found.push(Found {
                query: u32::MAX,
                addend: 0,
                tail: 0,
            });
        }
        let n_found = found.len();
        found.truncate(device.room);
        Ok(Answer { found, n_found })
    }
}

/// Returns a search with several work units, and its original.
fn long_search() -> (Search, String) {
    let kind = [Kind::named("p2pkh").unwrap()];
    let damaged = "1Lbcfr7s?HTD?Cgd[QqRrSsTt]o3HTMTkV?LK4ZnX71";
    let search = Search::new(damaged, Damage::default(), &kind).unwrap();
    assert!(search.n_units().unwrap() > 2);
    (search, "1Lbcfr7sAHTD9CgdQo3HTMTkV8LK4ZnX71".into())
}

#[test]
fn random_spaces_have_the_same_hits_and_counts() {
    let backend = Simulated::new().backend();
    let cpu = cpu();
    let mut random = Random::new(38);
    for _ in 0..300 {
        let (search, text) = search(&mut random);
        let expected = results(&search, &cpu);
        assert!(expected.hits.iter().any(|(hit, _)| *hit == text), "{text}");
        assert_eq!(results(&search, &backend), expected, "{text}");
    }
    assert_eq!(backend.failure(), None);
}

#[test]
fn launches_of_all_sizes_find_the_same() {
    let (search, text) = long_search();
    let expected = results(&search, &cpu());
    assert!(expected.hits.iter().any(|(hit, _)| *hit == text));
    for max_hashes in [1, 4096, 5000, 1 << 17, 1 << 22] {
        let device = Simulated::new();
        let n_launches = Arc::clone(&device.n_launches);
        let backend = device.limited(max_hashes);
        let measured = n_launches.load(Ordering::Relaxed);
        assert_eq!(results(&search, &backend), expected, "{max_hashes}");
        let reverse = results_in(&search, &backend, Some(in_reverse(&search)));
        assert_eq!(reverse, expected, "{max_hashes}");
        let n = n_launches.load(Ordering::Relaxed) - measured;
        // 16 prefixes at once have up to 4096 sums each.
        assert!(
            n >= 2 * expected.hashes / (max_hashes + 16 * 4096),
            "{n} launches"
        );
        assert_eq!(backend.failure(), None);
    }
}

#[test]
fn launches_with_few_queries_find_the_same() {
    let (search, _) = long_search();
    let device = Simulated {
        max_queries: 100,
        ..Simulated::new()
    };
    assert_eq!(
        results(&search, &device.backend()),
        results(&search, &cpu())
    );
}

#[test]
fn a_full_buffer_loses_nothing() {
    // The last five characters are unknown, so that one hash of seven matches.
    let kind = [Kind::named("p2pkh").unwrap()];
    let text = "1Lbcfr7s?HTD?Cgd[QqRr]o3HTMTkV8LK4?????";
    let search = Search::new(text, Damage::default(), &kind).unwrap();
    let cpu = cpu();
    let expected = results(&search, &cpu);
    assert!(expected.hits.len() > 1000, "{}", expected.hits.len());
    for room in [2, 3, 10, 1000] {
        let device = Simulated {
            room,
            ..Simulated::new()
        };
        let backend = device.backend();
        assert_eq!(results(&search, &backend), expected, "{room}");
        assert_eq!(backend.failure(), None);
    }
}

#[test]
fn the_cpu_continues_the_work_of_a_device_that_fails() {
    let (search, _) = long_search();
    let expected = results(&search, &cpu());
    let reasons = [
        (Fault::Misses, "a launch missed a message with a known hash"),
        (
            Fault::Invents,
            "a launch found a message that it does not have",
        ),
        (Fault::IsLost, "the device was lost"),
        (Fault::IsFull, "out of memory"),
    ];
    for (fault, reason) in reasons {
        for n_good in [0, 1, 3] {
            if fault == Fault::IsFull && n_good > 0 {
                // Tables are loaded before the first launch.
                continue;
            }
            let device = Simulated {
                fault,
                ..Simulated::new()
            };
            let n_launches = Arc::clone(&device.n_launches);
            let faulty_from = Arc::clone(&device.faulty_from);
            let backend = device.limited(1 << 17);
            let measured = n_launches.load(Ordering::Relaxed);
            faulty_from.store(measured + n_good, Ordering::Relaxed);
            assert_eq!(results(&search, &backend).hits, expected.hits, "{fault:?}");
            let failure = format!("simulated: {reason}; the CPU continues its work");
            assert_eq!(backend.failure(), Some(failure), "{fault:?} {n_good}");
            // No launch follows.
            let n = n_launches.load(Ordering::Relaxed);
            assert_eq!(results(&search, &backend), expected);
            assert_eq!(n_launches.load(Ordering::Relaxed), n);
        }
    }
}

#[test]
fn a_device_that_fails_at_once_is_not_used() {
    for (fault, reason) in [
        (Fault::Misses, "a launch missed a message with a known hash"),
        (Fault::IsLost, "the device was lost"),
    ] {
        let device = Simulated {
            fault,
            faulty_from: Arc::default(),
            ..Simulated::new()
        };
        let error = GpuBackend::new(Box::new(device), cpu(), Limits::default()).unwrap_err();
        assert_eq!(error.to_string(), reason);
    }
}

#[test]
fn a_cpu_and_two_devices_share_the_work() {
    let (search, _) = long_search();
    let expected = results(&search, &cpu());
    let bad = Simulated::new();
    let (n_launches, faulty_from) = (Arc::clone(&bad.n_launches), Arc::clone(&bad.faulty_from));
    let bad = bad.limited(1 << 16);
    faulty_from.store(n_launches.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    let all = SeveralBackends::new(vec![
        Box::new(cpu()),
        Box::new(Simulated::new().limited(1 << 16)),
        Box::new(bad),
    ]);
    assert_eq!(all.n_workers().get(), 5);
    assert_eq!(results(&search, &all).hits, expected.hits);
}

#[test]
fn small_work_is_left_to_the_cpu() {
    let device = Simulated::new();
    let n_launches = Arc::clone(&device.n_launches);
    let mut limits = Limits::default();
    limits.min_hashes = Some(u64::MAX);
    let backend = GpuBackend::new(Box::new(device), cpu(), limits).unwrap();
    let n = n_launches.load(Ordering::Relaxed);
    let (search, _) = long_search();
    assert_eq!(results(&search, &backend), results(&search, &cpu()));
    assert_eq!(n_launches.load(Ordering::Relaxed), n);
}

/// Ctrl-C and `--max-time` cancel a search, and `--resume` continues where it ended.
#[test]
fn a_cancelled_search_starts_no_launch_and_can_be_continued() {
    let (search, _) = long_search();
    let expected = results(&search, &cpu());
    for nth in [0, 3, 20] {
        let device = Simulated::new();
        let (n_launches, cancel) = (Arc::clone(&device.n_launches), Arc::clone(&device.cancel));
        let cancelled_in = Arc::clone(&device.cancelled_in);
        let backend = device.limited(1 << 12);
        let measured = n_launches.load(Ordering::Relaxed);
        cancelled_in.store(measured + nth, Ordering::Relaxed);
        let mut hits = BTreeSet::new();
        let outcome = search.run(&backend, &Options { units: None }, &cancel, |event| {
            if let Event::Hit(hit) = event {
                hits.insert((hit.text.to_string(), hit.unit));
            }
        });
        let outcome = outcome.unwrap();
        assert!(!outcome.is_complete);
        // The other worker can have decided before.
        let n = n_launches.load(Ordering::Relaxed) - measured;
        assert!(n <= nth + 2, "{n} launches, cancelled in launch {nth}");
        let progress = outcome.progress;
        let rest = progress.done_in_order..search.n_units().unwrap();
        let rest = results_in(&search, &backend, Some(vec![rest]));
        assert!(progress.hashes < expected.hashes);
        assert!(progress.hashes + rest.hashes >= expected.hashes);
        hits.extend(rest.hits);
        assert_eq!(hits, expected.hits);
    }
}
