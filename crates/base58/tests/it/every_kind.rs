//! Random strings of every kind are recovered. `cargo xtask test-recover` tests 10,000 strings of each
//! kind.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use hashlane_base58::{CpuBackend, Damage, Event, Kind, Options, Search, encode_check};

use crate::strings::{bytes, with_lost_case};

/// Number of strings of each kind, unless `HASHLANE_TEST_RECOVER` is set.
const N_STRINGS: u64 = 3;

/// Maximum number of hashes in a search. A larger search is reduced by keeping the case of the
/// first letters. An address without any letter case takes 2^21 hashes on average and rarely 2^26;
/// a private key takes 2^28 or more.
const MAX_HASHES: f64 = 1_048_576.0;

#[test]
fn random_strings_are_recovered() {
    let n_strings = std::env::var("HASHLANE_TEST_RECOVER").ok();
    let n_strings = n_strings.map_or(N_STRINGS, |n| n.parse().unwrap());
    let backend = CpuBackend::fastest(None, None).unwrap();
    let options = Options::default();
    for kind in Kind::all() {
        let started = Instant::now();
        let mut n_whole = 0;
        let mut n_others = 0;
        for seed in 0..n_strings {
            let version = &kind.versions[seed as usize % kind.versions.len()];
            let mut payload = version.to_vec();
            // Some payloads start with zero bytes, which are separate characters after a zero
            // version.
            let n = kind.payload_len - payload.len() - kind.suffix.len();
            let n_zeros = if seed % 5 == 4 {
                seed as usize / 5 % 4
            } else {
                0
            };
            payload.extend(vec![0; n_zeros]);
            payload.extend(bytes(seed + 1, n - n_zeros));
            payload.extend_from_slice(&kind.suffix);
            // The destination tag of an X-address, or none.
            if kind.name.ends_with("ripple-x") {
                payload[22] = seed as u8 % 2;
                payload[27 - 4 * usize::from(seed % 2 == 0)..].fill(0);
            }
            let text = encode_check(&payload, kind.alphabet);
            let search = |known| {
                let damage = Damage::default();
                Search::new(
                    &with_lost_case(&text, known),
                    damage,
                    std::slice::from_ref(&kind),
                )
                .unwrap()
            };
            let known =
                (0..text.len()).find(|known| search(*known).estimate().hashes <= MAX_HASHES);
            let known = known.unwrap_or(text.len());
            n_whole += u64::from(known == 0);
            let mut is_found = false;
            let outcome = search(known).run(&backend, &options, &AtomicBool::new(false), |event| {
                if let Event::Hit(hit) = event {
                    is_found |= *hit.text == text;
                    n_others += u64::from(*hit.text != text);
                }
            });
            assert!(outcome.unwrap().is_complete);
            assert!(is_found, "{kind}: {text} from {known} on");
        }
        println!(
            "{kind}: {n_strings} came back, {n_whole} of them with all case lost, and {n_others} others fit; {:.1} s",
            started.elapsed().as_secs_f64()
        );
    }
}
