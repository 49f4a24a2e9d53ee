//! Random searches, and their results.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::atomic::AtomicBool;

use hashlane_base58::{
    Alphabet, CpuBackend, Damage, Event, Kind, Options, Search, SearchBackend, encode_check,
};

use crate::random::Random;

/// Returns a search for a damaged random string, whose original is among its hits.
pub(crate) fn search(random: &mut Random) -> (Search, String) {
    let alphabet = Alphabet::ALL[random.below(Alphabet::ALL.len())];
    let kind = match random.below(4) {
        // The shapes of addresses and of private keys. The latter are sorted by their last byte too.
        0 => Kind::named("p2pkh").unwrap(),
        1 => Kind::named(["wif", "wif-compressed"][random.below(2)]).unwrap(),
        // Any other shape, with zeros at the start, and with and without a known last byte.
        _ => {
            let n_zeros = random.below(3);
            let mut kind = Kind::custom(
                n_zeros + 1 + random.below(44 - n_zeros),
                &vec![0; n_zeros],
                alphabet,
            );
            if random.below(2) == 0 && kind.payload_len > n_zeros + 1 {
                kind.suffix = random.bytes(1).into();
            }
            kind
        }
    };
    let mut payload = random.bytes(kind.payload_len);
    let version = &kind.versions[0];
    payload[..version.len()].copy_from_slice(version);
    let start = payload.len() - kind.suffix.len();
    payload[start..].copy_from_slice(&kind.suffix);
    let text = encode_check(&payload, kind.alphabet);
    let mut places: Vec<String> = text.chars().map(String::from).collect();
    let n_unknown = 1 + random.below(2);
    for _ in 0..n_unknown {
        let place = random.below(places.len());
        places[place] = "?".into();
    }
    for _ in 0..random.below(4) {
        let place = random.below(places.len());
        if places[place].len() == 1 && places[place] != "?" {
            let other = kind.alphabet.character(random.below(58) as u8);
            places[place] = format!("[{}{other}]", places[place]);
        }
    }
    let search = Search::new(&places.concat(), Damage::default(), &[kind]).unwrap();
    (search, text)
}

/// The hits of a search with their work units, and the number of hashes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Results {
    pub(crate) hits: BTreeSet<(String, u64)>,
    pub(crate) hashes: u64,
}

pub(crate) fn results(search: &Search, backend: &dyn SearchBackend) -> Results {
    results_in(search, backend, None)
}

pub(crate) fn results_in(
    search: &Search,
    backend: &dyn SearchBackend,
    units: Option<Vec<Range<u64>>>,
) -> Results {
    let mut hits = BTreeSet::new();
    let never = AtomicBool::new(false);
    let outcome = search.run(backend, &Options { units }, &never, |event| {
        if let Event::Hit(hit) = event {
            hits.insert((hit.text.to_string(), hit.unit));
        }
    });
    let outcome = outcome.unwrap();
    assert!(outcome.is_complete);
    assert_eq!(outcome.progress.done, outcome.progress.total);
    Results {
        hits,
        hashes: outcome.progress.hashes,
    }
}

pub(crate) fn cpu() -> CpuBackend {
    CpuBackend::fastest(None, NonZeroUsize::new(1)).unwrap()
}

/// Returns the work units of a search, each one by itself, the last one first.
pub(crate) fn in_reverse(search: &Search) -> Vec<Range<u64>> {
    let n = search.n_units().unwrap();
    (0..n).rev().map(|unit| unit..unit + 1).collect()
}
