//! Devices of Vulkan find the same as the CPU. Debian's `mesa-vulkan-drivers` has a device that
//! computes on the CPU, so these tests need no GPU. `HASHLANE_TEST_REQUIRE_GPU` requires a device.

use hashlane_base58::{Damage, Kind, Search, SearchBackend};
use hashlane_gpu::{Adapter, GpuBackend, Limits, adapters};

use crate::not_run::not_run_unless_required;
use crate::random::Random;
use crate::searches::{cpu, in_reverse, results, results_in, search};

/// Returns the last device, which is one of software if there is one. Reports it if there is none.
fn adapter() -> Option<Adapter> {
    let adapter = adapters().unwrap().pop();
    if adapter.is_none() {
        not_run_unless_required(
            "GPU",
            "tests of devices of Vulkan",
            "there is none",
            "apt-get install mesa-vulkan-drivers",
        );
    }
    adapter
}

fn backend(adapter: &Adapter, max_hashes: u64) -> GpuBackend {
    let mut limits = Limits::default();
    limits.min_hashes = Some(1);
    limits.max_hashes = max_hashes;
    GpuBackend::new(adapter.open().unwrap(), cpu(), limits).unwrap()
}

/// Number of random spaces.
const N_SPACES: usize = 10_000;

#[test]
fn random_spaces_have_the_same_hits_and_counts() {
    let Some(adapter) = adapter() else { return };
    let backend = backend(&adapter, u64::MAX);
    let cpu = cpu();
    let mut random = Random::new(3838);
    for _ in 0..N_SPACES {
        let (search, text) = search(&mut random);
        let expected = results(&search, &cpu);
        assert!(expected.hits.iter().any(|(hit, _)| *hit == text), "{text}");
        assert_eq!(results(&search, &backend), expected, "{text}");
    }
    assert_eq!(backend.failure(), None);
}

#[test]
fn launches_of_all_sizes_find_the_same() {
    let Some(adapter) = adapter() else { return };
    let kind = [Kind::named("p2pkh").unwrap()];
    let damaged = "1Lbcfr7s?HTD?Cgd[QqRrSsTt]o3HTMTkV?LK4ZnX71";
    let search = Search::new(damaged, Damage::default(), &kind).unwrap();
    let expected = results(&search, &cpu());
    assert_eq!(expected.hits.len(), 1);
    for (max_hashes, units) in [(1, None), (u64::MAX, Some(in_reverse(&search)))] {
        let backend = backend(&adapter, max_hashes);
        assert_eq!(
            results_in(&search, &backend, units),
            expected,
            "{max_hashes}"
        );
        assert_eq!(backend.failure(), None);
    }
}

#[test]
fn a_full_buffer_loses_nothing() {
    let Some(adapter) = adapter() else { return };
    // The last five characters are unknown, so that one hash of seven matches: about 30,000.
    let kind = [Kind::named("p2pkh").unwrap()];
    let text = "1Lbcfr7s?HTD?Cgd?o3HTMTkV8LK4?????";
    let search = Search::new(text, Damage::default(), &kind).unwrap();
    let expected = results(&search, &cpu());
    assert!(expected.hits.len() > 1 << 14, "{}", expected.hits.len());
    let backend = backend(&adapter, u64::MAX);
    assert_eq!(results(&search, &backend), expected);
    assert_eq!(backend.failure(), None);
}
