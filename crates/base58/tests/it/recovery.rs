//! Damaged strings are recovered, and no other strings are reported.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::num::{NonZeroU64, NonZeroUsize};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use hashlane_base58::{
    Alphabet, BASE, Candidate, CpuBackend, Damage, Event, Filter, Gap, Hit, Kind, Least, MAX_GAP,
    Options, Search, SearchBackend, SearchError, Searched, SeveralBackends, Sha256dKernel, Step,
    Subject, TableSearch, Tables, Widening, decode_check, encode_check,
};
use proptest::prelude::*;

use crate::strings::{bytes, with_lost_case};

const CASE: Damage = Damage {
    case: true,
    glyphs: false,
    errors: 0,
    gap: Gap::None,
};

/// Returns every kernel of this CPU, with one thread.
fn backends() -> impl Iterator<Item = CpuBackend> {
    Sha256dKernel::available().map(|kernel| CpuBackend::measured(kernel, NonZeroUsize::new(1)))
}

fn fastest() -> CpuBackend {
    CpuBackend::fastest(None, NonZeroUsize::new(1)).unwrap()
}

fn hits(search: &Search, backend: &dyn SearchBackend) -> Vec<Hit> {
    hits_in(search, backend, None)
}

fn hits_in(
    search: &Search,
    backend: &dyn SearchBackend,
    units: Option<Vec<Range<u64>>>,
) -> Vec<Hit> {
    let mut hits = Vec::new();
    let never = AtomicBool::new(false);
    let outcome = search.run(backend, &Options { units }, &never, |event| {
        if let Event::Hit(hit) = event {
            hits.push(hit);
        }
    });
    assert!(outcome.unwrap().is_complete);
    hits
}

fn texts(hits: &[Hit]) -> BTreeSet<String> {
    hits.iter().map(|hit| hit.text.to_string()).collect()
}

/// Returns all strings that a text can have been by trying each of them: the expected result of a
/// search.
fn exhaustively(choices: &[Vec<char>], kind: &Kind) -> BTreeSet<String> {
    let mut texts = vec![String::new()];
    for choices in choices {
        let longer = |text: &String| {
            choices
                .iter()
                .map(|c| format!("{text}{c}"))
                .collect::<Vec<_>>()
        };
        texts = texts.iter().flat_map(longer).collect();
    }
    texts.retain(|text| {
        decode_check(text, kind.alphabet).is_ok_and(|payload| kind.matches(&payload))
    });
    texts.into_iter().collect()
}

fn both_cases(text: &str, alphabet: Alphabet) -> Vec<Vec<char>> {
    let cases = |c: char| [c.to_ascii_lowercase(), c.to_ascii_uppercase()].into_iter();
    let of = |c: char| {
        cases(c)
            .filter(|c| alphabet.digit(*c).is_some())
            .collect::<BTreeSet<_>>()
    };
    text.chars().map(|c| of(c).into_iter().collect()).collect()
}

#[test]
fn known_cases() {
    let backend = fastest();
    let p2pkh = [Kind::named("p2pkh").unwrap()];
    let search = Search::new("1lbcfr7sahtd9cgdqo3htmtkv8lk4znx71", CASE, &p2pkh).unwrap();
    let found = hits(&search, &backend);
    assert!(
        texts(&found).contains("1Lbcfr7sAHTD9CgdQo3HTMTkV8LK4ZnX71"),
        "{found:?}"
    );
}

/// The longest payloads are the largest numbers.
#[test]
fn the_longest_payloads() {
    let backend = fastest();
    for version in [&[][..], &[0xff], &[0xff; 40], &[0, 0]] {
        let kind = Kind::custom(44, version, Alphabet::Bitcoin);
        let mut payload = version.to_vec();
        payload.extend(bytes(7, 44 - version.len()));
        let text = encode_check(&payload, Alphabet::Bitcoin);
        for lost in [0, 1, 20, text.len() - 1] {
            let damaged = format!("{}?{}", &text[..lost], &text[lost + 1..]);
            let search = Search::new(&damaged, Damage::default(), std::slice::from_ref(&kind));
            let found = hits(&search.unwrap(), &backend);
            assert!(texts(&found).contains(&text), "{damaged}");
        }
    }
}

/// Returns the first string of a kind that satisfies `is_so`, from random payloads with `n_zeros`
/// zeros after the version.
fn first_that(kind: &Kind, n_zeros: usize, is_so: impl Fn(&str) -> bool) -> String {
    let version = &kind.versions[0];
    let n = kind.payload_len - version.len() - n_zeros;
    let payloads = (1..).map(|seed| [&version[..], &vec![0; n_zeros], &bytes(seed, n)].concat());
    let mut texts = payloads.map(|payload| encode_check(&payload, kind.alphabet));
    texts.find(|text| is_so(text)).unwrap()
}

/// Returns the search for a text without letter case, except for a prefix that keeps the search
/// small.
fn lost_case(text: &str, kind: &Kind) -> Search {
    let mut searches = (0..text.len()).map(|known| {
        let damaged = with_lost_case(text, known);
        Search::new(&damaged, Damage::default(), std::slice::from_ref(kind)).unwrap()
    });
    searches
        .find(|search| search.estimate().hashes < 1e5)
        .unwrap()
}

fn comes_back(text: &str, search: &Search) {
    for backend in backends() {
        let found = texts(&hits(search, &backend));
        assert!(
            found.contains(text),
            "{}: {text} in {found:?}",
            backend.name()
        );
    }
}

/// All lengths of addresses of 25 bytes, with the matching number of leading ones.
#[test]
fn lengths_and_leading_ones() {
    for (name, lens) in [("p2pkh", 26..=34), ("ripple", 26..=34), ("zcash", 35..=35)] {
        let kind = Kind::named(name).unwrap();
        for len in lens {
            // A byte is 1.37 digits. A leading zero byte is one character, which is 0.37 fewer.
            let n_zeros = match kind.versions[0][..] {
                [0] => ((34 - len) * 30 / 11).min(19),
                _ => 0,
            };
            let text = first_that(&kind, n_zeros, |text| text.len() == len);
            comes_back(&text, &lost_case(&text, &kind));
        }
    }
}

/// The last characters determine the steps that reduce a tail to zero.
#[test]
fn tails_of_every_kind() {
    let kind = Kind::named("p2pkh").unwrap();
    let is_upper = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit();
    let is_lower = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let (is_digit, is_one) = (|c: char| c.is_ascii_digit(), |c: char| "1z".contains(c));
    let tails: [(usize, &dyn Fn(char) -> bool); 7] = [
        (1, &is_upper),
        (5, &is_upper),
        (8, &is_upper),
        (6, &is_lower),
        (1, &is_digit),
        (4, &is_digit),
        // The first and the last characters of the alphabet.
        (2, &is_one),
    ];
    for (n, is_of) in tails {
        let text = first_that(&kind, 0, |text| text.chars().rev().take(n).all(is_of));
        comes_back(&text, &lost_case(&text, &kind));
    }
}

/// A search with fewer candidates than lanes.
#[test]
fn tables_with_few_sums() {
    let kind = Kind::named("p2pkh").unwrap();
    let text = first_that(&kind, 0, |text| {
        text.chars().all(|c| c != '1' || text.starts_with(c))
    });
    for n in 0..=5 {
        for from in [1, 10, text.len() - n] {
            let mut damaged: Vec<String> = text.chars().map(|c| format!("[{c}]")).collect();
            for place in &mut damaged[from..from + n] {
                *place = place.replace(']', "1]");
            }
            let search = Search::new(
                &damaged.concat(),
                Damage::default(),
                std::slice::from_ref(&kind),
            );
            let search = search.unwrap();
            assert!(search.estimate().candidates <= 1 << n);
            comes_back(&text, &search);
        }
    }
}

/// `l`, `I` and `O` are not in the alphabet, so only the other case of these letters is possible.
#[test]
fn letters_of_one_case() {
    let kind = Kind::named("p2pkh").unwrap();
    let text = first_that(&kind, 0, |text| {
        text[1..12].contains('L') && text[1..12].contains('i') && text[1..12].contains('o')
    });
    for damaged in [
        text.replace('L', "l"),
        text.replace('i', "I"),
        text.replace('o', "O"),
        text.replace('L', "l").replace('i', "I").replace('o', "O"),
    ] {
        // The letters after this position are known, which keeps the search small.
        let kept = with_lost_case(&text[12..], text.len());
        let search = Search::new(
            &(damaged[..12].to_owned() + &kept),
            CASE,
            std::slice::from_ref(&kind),
        );
        comes_back(&text, &search.unwrap());
        // Without `case`, the text is an error; the case is not guessed.
        let error = Search::new(&damaged, Damage::default(), std::slice::from_ref(&kind));
        assert!(error.is_err());
    }
}

/// A device that takes several work units at once and returns candidates that do not match.
#[derive(Debug)]
struct OtherDevice(CpuBackend);

struct OtherSearch<'t>(Box<dyn TableSearch + 't>);

impl SearchBackend for OtherDevice {
    fn name(&self) -> String {
        "other".into()
    }

    fn hashes_per_second(&self, _: usize) -> f64 {
        1.0
    }

    fn n_workers(&self) -> NonZeroUsize {
        NonZeroUsize::new(2).unwrap()
    }

    fn units_per_call(&self, _: usize) -> NonZeroU64 {
        NonZeroU64::new(3).unwrap()
    }

    fn prepare<'t>(&'t self, worker: usize, tables: &'t Tables<'_>) -> Box<dyn TableSearch + 't> {
        Box::new(OtherSearch(self.0.prepare(worker, tables)))
    }
}

impl TableSearch for OtherSearch<'_> {
    fn search(
        &mut self,
        prefixes: Range<u128>,
        on_candidate: &mut dyn FnMut(Candidate),
    ) -> Searched {
        for (sum, tail) in [(0, 0), (usize::MAX, 1), (0, u32::MAX)] {
            on_candidate(Candidate {
                prefix: prefixes.start,
                sum,
                tail,
            });
        }
        // In several steps.
        let end = (prefixes.start + 100).min(prefixes.end);
        self.0.search(prefixes.start..end, on_candidate)
    }
}

#[test]
fn another_device_finds_the_same() {
    let p2pkh = [Kind::named("p2pkh").unwrap()];
    let text = "18ryVioVmwFYzhRZKTjKqGYCjkUjoxH3k6";
    let cpu = fastest();
    let one_error = Damage {
        errors: 1,
        ..Damage::default()
    };
    // One space with many work units, and many spaces with one work unit.
    for (damaged, damage) in [(text.to_ascii_lowercase(), CASE), (text.into(), one_error)] {
        let search = Search::new(&damaged, damage, &p2pkh).unwrap();
        assert!(search.n_units().unwrap() > 5);
        let found = hits(&search, &cpu);
        assert!(texts(&found).contains(text));
        let both = SeveralBackends::new(vec![Box::new(cpu), Box::new(OtherDevice(cpu))]);
        assert_eq!(both.n_workers().get(), 3);
        assert_eq!(texts(&hits(&search, &both)), texts(&found));
        let other = hits(&search, &OtherDevice(cpu));
        assert_eq!(texts(&other), texts(&found));
        // A hit is found again in its work unit, although the call had several work units.
        for hit in other.iter().filter(|hit| *hit.text == text) {
            let unit = std::iter::once(hit.unit..hit.unit + 1).collect();
            let again = hits_in(&search, &cpu, Some(unit));
            assert!(again.contains(hit), "{hit:?}");
        }
    }
}

#[test]
fn parts_are_the_whole() {
    let p2pkh = [Kind::named("p2pkh").unwrap()];
    let damage = Damage { errors: 1, ..CASE };
    let search = Search::new("1Lbcfr7sAHTD9CgdQo3HTMTkV8LK4ZnX71", damage, &p2pkh).unwrap();
    let n_units = search.n_units().unwrap();
    let whole = search.estimate().hashes;
    let is_near = |a: f64, b: f64| (a - b).abs() < 1e-6 * whole;
    let hashes_in = |units: Range<u64>| search.hashes_in(&[units]).unwrap();
    assert!(is_near(hashes_in(0..n_units), whole));
    assert!(is_near(hashes_in(0..u64::MAX), whole));
    let parts = (0..n_units).map(|unit| hashes_in(unit..unit + 1));
    assert!(is_near(parts.sum(), whole));
    let cut = n_units / 3;
    assert!(is_near(hashes_in(0..cut) + hashes_in(cut..n_units), whole));
    assert_eq!(hashes_in(n_units..n_units + 5).to_bits(), 0.0_f64.to_bits());
}

#[test]
fn the_fewest_errors_are_tried_first() {
    let kinds = ["p2pkh", "tron"].map(|name| Kind::named(name).unwrap());
    let text = encode_check(&[&[0x41][..], &bytes(1, 20)].concat(), Alphabet::Bitcoin);
    let without_errors = Search::new(&text, Damage::default(), &kinds).unwrap();
    let search = Search::new(&text, TWO_ERRORS, &kinds).unwrap();
    assert!(search.n_units().unwrap() > 100);
    let first = 0..without_errors.n_units().unwrap();
    let found = hits_in(&search, &fastest(), Some(vec![first]));
    assert!(texts(&found).contains(&text), "{found:?}");
}

/// A device whose hashes take no time.
#[derive(Debug)]
struct IdleDevice;

struct IdleSearch;

/// Returns the result of a search of all these prefixes that hashed nothing.
fn all_of(prefixes: &Range<u128>) -> Searched {
    Searched {
        end: prefixes.end,
        hashes: 0,
    }
}

impl SearchBackend for IdleDevice {
    fn name(&self) -> String {
        "idle".into()
    }

    fn hashes_per_second(&self, _: usize) -> f64 {
        1e30
    }

    fn n_workers(&self) -> NonZeroUsize {
        NonZeroUsize::MIN
    }

    fn prepare<'t>(&'t self, _: usize, _: &'t Tables<'_>) -> Box<dyn TableSearch + 't> {
        Box::new(IdleSearch)
    }
}

impl TableSearch for IdleSearch {
    fn search(&mut self, prefixes: Range<u128>, _: &mut dyn FnMut(Candidate)) -> Searched {
        all_of(&prefixes)
    }
}

#[test]
fn the_expected_time_includes_the_tables() {
    let kind = Kind::named("wif-compressed").unwrap();
    let text = "L3p8oA?QTtuokSCRHQ7i4MhjWc9zorn?pJLfmg62sYpLRJF9woSv";
    let search = Search::new(text, TWO_ERRORS, &[kind]).unwrap();
    let units = 0..search.n_units().unwrap();
    let all = search.seconds_in(None, &IdleDevice).unwrap();
    // Thousands of tables have thousands of sums each; a CPU takes at least a nanosecond per sum.
    assert!(all > 1e-3, "{all}");
    let first = 0..units.end / 100;
    let part = search
        .seconds_in(Some(std::slice::from_ref(&first)), &IdleDevice)
        .unwrap();
    assert!(part > 0.0 && part < all / 2.0, "{part} of {all}");
    let none = search.seconds_in(Some(&[]), &IdleDevice).unwrap();
    assert_eq!(none.to_bits(), 0.0_f64.to_bits());
}

/// The number of calls of all [`SlowSearch`].
static SLOW_CALLS: AtomicU64 = AtomicU64::new(0);

/// A device that takes a millisecond for each call.
#[derive(Debug)]
struct SlowDevice;

struct SlowSearch;

impl SearchBackend for SlowDevice {
    fn name(&self) -> String {
        "slow".into()
    }

    fn hashes_per_second(&self, _: usize) -> f64 {
        1e9
    }

    fn n_workers(&self) -> NonZeroUsize {
        NonZeroUsize::MIN
    }

    fn prepare<'t>(&'t self, _: usize, _: &'t Tables<'_>) -> Box<dyn TableSearch + 't> {
        Box::new(SlowSearch)
    }
}

impl TableSearch for SlowSearch {
    fn search(&mut self, prefixes: Range<u128>, _: &mut dyn FnMut(Candidate)) -> Searched {
        std::thread::sleep(Duration::from_millis(1));
        SLOW_CALLS.fetch_add(1, Ordering::Relaxed);
        all_of(&prefixes)
    }
}

/// A device that takes many work units at once, and searches one prefix in each call.
#[derive(Debug)]
struct PatientDevice;

struct PatientSearch;

impl SearchBackend for PatientDevice {
    fn name(&self) -> String {
        "patient".into()
    }

    fn n_workers(&self) -> NonZeroUsize {
        NonZeroUsize::MIN
    }

    fn hashes_per_second(&self, _: usize) -> f64 {
        1e9
    }

    fn units_per_call(&self, _: usize) -> NonZeroU64 {
        NonZeroU64::new(1000).unwrap()
    }

    fn prepare<'t>(&'t self, _: usize, _: &'t Tables<'_>) -> Box<dyn TableSearch + 't> {
        Box::new(PatientSearch)
    }
}

impl TableSearch for PatientSearch {
    fn search(&mut self, prefixes: Range<u128>, _: &mut dyn FnMut(Candidate)) -> Searched {
        std::thread::sleep(Duration::from_millis(1));
        Searched {
            end: prefixes.start + 1,
            hashes: 1,
        }
    }
}

#[test]
fn a_search_stops_between_the_calls_for_a_batch() {
    let p2pkh = [Kind::named("p2pkh").unwrap()];
    let text = "1Lbcfr7sAHT??????o3HTMTkV8LK4ZnX71";
    let search = Search::new(text, Damage::default(), &p2pkh).unwrap();
    let cancel = AtomicBool::new(false);
    let units = Some(std::iter::once(0..3000).collect());
    let outcome = search.run(&PatientDevice, &Options { units }, &cancel, |_| {
        cancel.store(true, Ordering::Relaxed);
    });
    let outcome = outcome.unwrap();
    let progress = outcome.progress;
    assert!(!outcome.is_complete);
    // The batch has a hundred thousand prefixes. None of its work units counts as done.
    assert!(
        progress.hashes > 0 && progress.hashes < 50_000,
        "{progress:?}"
    );
    assert_eq!((progress.done, progress.done_in_order), (0, 0));
}

#[test]
fn a_panic_of_the_caller_ends_the_search() {
    let p2pkh = [Kind::named("p2pkh").unwrap()];
    let text = "1Lbcfr7sAHT??????o3HTMTkV8LK4ZnX71";
    let search = Search::new(text, Damage::default(), &p2pkh).unwrap();
    let never = AtomicBool::new(false);
    let units = Some(std::iter::once(0..3000).collect());
    assert!(search.n_units().unwrap() > 3000);
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        search.run(&SlowDevice, &Options { units }, &never, |_| {
            panic!("as a test")
        })
    }));
    assert!(outcome.is_err());
    let n_calls = SLOW_CALLS.load(Ordering::Relaxed);
    assert!(n_calls < 3000, "the panic did not end the search");
}

/// Generates payloads of a few bytes, so that all strings can be tried, with any letters, leading
/// zeros and tails.
fn small() -> impl Strategy<Value = (Kind, String)> {
    let version = proptest::collection::vec(prop_oneof![Just(0), any::<u8>()], 0..3);
    let suffix = proptest::collection::vec(any::<u8>(), 0..2);
    let alphabet = proptest::sample::select(&Alphabet::ALL[..]);
    (
        version,
        1..5_usize,
        suffix,
        alphabet,
        any::<u64>(),
        any::<bool>(),
    )
        .prop_map(|(version, n, suffix, alphabet, seed, zeros)| {
            let mut kind = Kind::custom(version.len() + n + suffix.len(), &version, alphabet);
            kind.suffix = suffix.clone().into();
            let mut payload = version;
            payload.extend(if zeros { vec![0; n] } else { bytes(seed, n) });
            payload.extend(suffix);
            (kind, encode_check(&payload, alphabet))
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn lost_case_matches_an_exhaustive_search((kind, text) in small()) {
        let expected = exhaustively(&both_cases(&text, kind.alphabet), &kind);
        prop_assert!(expected.contains(&text));
        let search = Search::new(&text.to_ascii_uppercase(), CASE, std::slice::from_ref(&kind));
        // Some letters exist in one case only.
        let search = search.or_else(|_| Search::new(&text, CASE, &[kind])).unwrap();
        for backend in backends() {
            let found = hits(&search, &backend);
            prop_assert_eq!(&texts(&found), &expected, "{} {}", backend.name(), &text);
            prop_assert!(found.iter().all(|hit| hit.edits == 0));
        }
    }

    #[test]
    fn unknown_characters((kind, text) in small(), places in proptest::collection::vec(any::<prop::sample::Index>(), 1..3)) {
        let mut choices: Vec<Vec<char>> = text.chars().map(|c| vec![c]).collect();
        let mut damaged: Vec<String> = text.chars().map(|c| c.to_string()).collect();
        for (i, place) in places.iter().enumerate() {
            let place = place.index(choices.len());
            if i == 0 {
                choices[place] = (0..BASE).map(|digit| kind.alphabet.character(digit)).collect();
                damaged[place] = "?".into();
            } else if damaged[place].len() == 1 && damaged[place] != "?" {
                let own = choices[place][0];
                choices[place] = "az5".chars().chain([own]).collect();
                damaged[place] = format!("[az5{own}]");
            }
        }
        let expected = exhaustively(&choices, &kind);
        let search = Search::new(&damaged.concat(), Damage::default(), &[kind]).unwrap();
        let candidates: usize = choices.iter().map(|c| c.iter().collect::<BTreeSet<_>>().len()).product();
        prop_assert!(search.estimate().candidates <= candidates as u128);
        for backend in backends() {
            let found = hits(&search, &backend);
            prop_assert_eq!(&texts(&found), &expected, "{} {}", backend.name(), damaged.concat());
        }
    }

    #[test]
    fn one_error_at_an_unknown_place((kind, text) in small(), place in any::<prop::sample::Index>(), how in 0..4_u8, other in 0..BASE) {
        let mut characters: Vec<char> = text.chars().collect();
        let i = place.index(characters.len());
        match how {
            0 => characters[i] = kind.alphabet.character(other),
            1 => drop(characters.remove(i)),
            2 => characters.insert(i, kind.alphabet.character(other)),
            _ => characters.swap(i, (i + 1) % text.len()),
        }
        prop_assume!(how != 3 || i + 1 < text.len());
        prop_assume!(!characters.is_empty());
        let damaged: String = characters.iter().collect();
        let search = Search::new(&damaged, Damage { errors: 1, ..Damage::default() }, &[kind]).unwrap();
        let backend = fastest();
        let found = hits(&search, &backend);
        let this = found.iter().find(|hit| *hit.text == text);
        prop_assert!(this.is_some(), "{} in {:?}", text, found);
        prop_assert_eq!(this.unwrap().edits, u32::from(damaged != text));
    }
}

const TWO_ERRORS: Damage = Damage {
    case: false,
    glyphs: false,
    errors: 2,
    gap: Gap::None,
};

/// The preparation calls `is_over` once for each pattern and kind, so the number of calls measures
/// the work.
#[test]
fn patterns_of_impossible_lengths_are_not_made() {
    let asked = Cell::new(0);
    let count = || {
        asked.set(asked.get() + 1);
        false
    };
    let search = Search::new_until(&"x".repeat(80), TWO_ERRORS, &Kind::all(), &count).unwrap();
    assert_eq!(search.estimate().candidates, 0);
    assert!(asked.get() < 100, "{} questions", asked.get());
}

#[test]
fn the_preparation_of_a_search_can_be_ended() {
    let text = "L3p8oAcQTtuokSCRHQ7i4MhjWc9zornvpJLfmg62sYpLRJF9woSu";
    for limit in [0, 10, 1000] {
        let asked = Cell::new(0);
        let is_over = || {
            asked.set(asked.get() + 1);
            asked.get() > limit
        };
        let search = Search::new_until(text, TWO_ERRORS, &Kind::all(), &is_over);
        assert!(matches!(search, Err(SearchError::Ended)), "{limit}");
        assert_eq!(asked.get(), limit + 1);
    }
}

#[test]
fn a_part_of_a_search_has_lower_bounds() {
    let text = "L3p8oAcQTtuokSCRHQ7i4MhjWc9zornvpJLfmg62sYpLRJF9woSu";
    let part_within =
        |damage, time| Search::part_within(text, damage, &Kind::all(), time, &|| false).unwrap();
    let one_error = Damage {
        errors: 1,
        ..TWO_ERRORS
    };
    let whole = part_within(one_error, Duration::MAX);
    assert!(!whole.is_part());
    assert_eq!(
        whole.estimate(),
        Search::new(text, one_error, &Kind::all())
            .unwrap()
            .estimate()
    );
    // The strings without errors are always counted.
    let part = part_within(TWO_ERRORS, Duration::ZERO);
    assert!(part.is_part());
    let no_errors = Damage {
        errors: 0,
        ..TWO_ERRORS
    };
    let least = Search::new(text, no_errors, &Kind::all()).unwrap();
    assert_eq!(part.estimate().candidates, least.estimate().candidates);
    let ended = Search::part_within(text, TWO_ERRORS, &Kind::all(), Duration::MAX, &|| true);
    assert!(matches!(ended, Err(SearchError::Ended)));
}

/// No address has as many characters, so only patterns with two errors have strings.
#[test]
fn a_part_of_a_search_does_not_look_impossible() {
    let text = "1Lbcfr7sAHTD9CgdQo3HTMTkV8LK4ZnX7111";
    let kinds = [Kind::named("p2pkh").unwrap()];
    let search = Search::part_within(text, TWO_ERRORS, &kinds, Duration::ZERO, &|| false);
    assert!(search.unwrap().estimate().candidates > 0);
}

fn address_kinds() -> [Kind; 1] {
    [Kind::named("p2pkh").unwrap()]
}

/// Returns an address with a wrong character.
fn damaged_address<'s>(kinds: &'s [Kind], backend: &'s dyn SearchBackend) -> Subject<'s> {
    static NO_FACTS: LazyLock<Arc<Filter>> = LazyLock::new(Arc::default);
    Subject {
        text: "1Lbcfr7sAHTD9CgdQo3HTMTkV8LK4ZnX7x",
        kinds,
        filter: &NO_FACTS,
        backend,
    }
}

#[test]
fn widening_starts_with_the_least_damage_and_repeats_none() {
    let (kinds, backend) = (address_kinds(), fastest());
    let subject = damaged_address(&kinds, &backend);
    let mut widening = Widening::new(subject.text, Instant::now() + Duration::from_secs(600));
    let mut tried = Vec::new();
    while let Some((damage, _)) = widening.next(&subject, &|| false) {
        let mut earlier = tried.iter();
        assert!(!earlier.any(|earlier: &Damage| earlier.includes(damage)));
        tried.push(damage);
    }
    assert_eq!(tried[0], Damage::default());
    assert!(tried.iter().any(|damage| damage.errors == 1));
    // Nothing is left, and a search that is over has no next one.
    assert!(widening.next(&subject, &|| false).is_none());
    let mut over = Widening::new(subject.text, Instant::now() + Duration::from_secs(600));
    assert!(over.next(&subject, &|| true).is_none());
    let mut late = Widening::new(subject.text, Instant::now());
    assert!(late.next(&subject, &|| false).is_none());
    assert!(!format!("{subject:?}").contains("1Lbc"));
}

/// Without a search, a widening has one of three reasons.
#[test]
fn the_search_for_the_least_damage_is_the_reason() {
    let (kinds, backend) = (address_kinds(), fastest());
    let fit = damaged_address(&kinds, &backend);
    let mut late = Widening::new(fit.text, Instant::now());
    assert!(late.next(&fit, &|| false).is_none());
    let Ok(Least::Fit(step)) = fit.least(&|| false) else {
        panic!("a character is wrong");
    };
    assert_eq!(step.damage, Damage::default());
    assert!(step.estimate.candidates > 0 && step.seconds > 0.0);
    let text = "1Lbcfr7sAHTD9CgdQo3HTMTkV8LK4ZnX7111";
    let Ok(Least::Misfit(search)) = (Subject { text, ..fit }).least(&|| false) else {
        panic!("no address has as many characters");
    };
    assert_eq!(search.estimate().candidates, 0);
    let no_pattern = Subject { text: "[", ..fit };
    let error = no_pattern.least(&|| false).unwrap_err();
    assert!(matches!(error, SearchError::Pattern(_)), "{error}");
}

#[test]
fn a_list_of_a_widening_keeps_to_its_order_and_its_limit() {
    let (kinds, backend) = (address_kinds(), fastest());
    let subject = damaged_address(&kinds, &backend);
    let list = |limit| Widening::list(&subject, limit, Duration::from_millis(60), &|| false);
    let total = |steps: &[Step]| steps.iter().map(|step| step.seconds).sum::<f64>();
    let all = list(Duration::from_secs(600));
    assert_eq!(all[0].damage, Damage::default());
    for (i, step) in all.iter().enumerate() {
        let mut earlier = all[..i].iter();
        assert!(!earlier.any(|earlier| earlier.damage.includes(step.damage)));
        assert!(step.estimate.candidates > 0 && step.estimate.accidental_hits <= 0.5);
    }
    // Too little for all of them.
    let limit = 0.9 * total(&all);
    let some = list(Duration::from_secs_f64(limit));
    assert!(!some.is_empty() && total(&some) <= limit);
    assert!(list(Duration::ZERO).is_empty());
    let ended = Widening::list(&subject, Duration::MAX, Duration::MAX, &|| true);
    assert!(ended.is_empty());
}

/// Characters that no string has, some of them outside ASCII.
const IMPOSSIBLE: [char; 7] = ['0', 'O', 'I', 'l', '#', 'о', '…'];

fn with_errors(errors: u8) -> Damage {
    Damage {
        errors,
        ..Damage::default()
    }
}

/// Such a character is wrong or extra, and its position is known.
#[test]
fn impossible_characters_are_errors_at_known_positions() {
    let backend = fastest();
    for kind in ["p2pkh", "wif-compressed", "ripple"] {
        let kind = Kind::named(kind).unwrap();
        let n = kind.payload_len - kind.versions[0].len() - kind.suffix.len();
        let payload = [&kind.versions[0][..], &vec![7; n], &kind.suffix].concat();
        let text = encode_check(&payload, kind.alphabet);
        let kinds = [kind];
        for (i, impossible) in IMPOSSIBLE.into_iter().cycle().enumerate().take(text.len()) {
            let wrong = format!("{}{impossible}{}", &text[..i], &text[i + 1..]);
            let extra = format!("{}{impossible}{}", &text[..i], &text[i..]);
            for damaged in [&wrong, &extra] {
                assert!(Search::new(damaged, Damage::default(), &kinds).is_err());
                let search = Search::new(damaged, with_errors(1), &kinds).unwrap();
                // Every other position is known.
                assert!(search.estimate().candidates <= 58 + 1, "{damaged}");
                let found = hits(&search, &backend);
                let this = found.iter().find(|hit| *hit.text == text);
                assert_eq!(this.map(|hit| hit.edits), Some(1), "{damaged}");
            }
        }
        // One more error, whose position is unknown.
        let damaged = format!("{}l{}#{}", &text[..3], &text[4..20], &text[21..]);
        let shorter = format!("{}{}", &damaged[..10], &damaged[11..]);
        for (damaged, errors) in [(&damaged, 2), (&shorter, 3)] {
            let refused = Search::new(damaged, with_errors(errors - 1), &kinds);
            assert_eq!(refused.is_err(), errors == 2, "{damaged}");
            let search = Search::new(damaged, with_errors(errors), &kinds).unwrap();
            let found = hits(&search, &backend);
            let this = found.iter().find(|hit| *hit.text == text);
            assert_eq!(this.map(|hit| hit.edits), Some(errors.into()), "{damaged}");
        }
    }
    let error = Search::new("1O0", with_errors(1), &address_kinds()).unwrap_err();
    let reason = "character 2 is 'O', the first of 2 that no such string has; with glyphs it is read as 'o' or 'Q' or 'D'; with 2 errors as any character";
    assert_eq!(error.to_string(), reason);
    let error = Search::new("1O0", with_errors(5), &address_kinds()).unwrap_err();
    let reason = "3 errors at unknown positions exceed the maximum of 2";
    assert_eq!(error.to_string(), reason);
}

#[test]
fn the_least_damage_of_a_text_has_an_error_for_each_impossible_character() {
    assert_eq!(Damage::least("1Lb0fr7sO"), with_errors(2));
    // If the letter case is lost, `O` is `o`.
    let least = Damage::least("1LB0FR7SO");
    assert_eq!(least, Damage { errors: 1, ..CASE });
    let glyphs = Damage {
        glyphs: true,
        ..Damage::default()
    };
    let wider = Damage::default().wider("1Lb0fr7s#", 0..=0);
    assert!(
        wider.contains(&Damage {
            errors: 1,
            ..glyphs
        }),
        "{wider:?}"
    );
    assert!(wider.contains(&with_errors(2)), "{wider:?}");
}

/// On paper, these letters differ only in their size.
#[test]
fn letters_that_look_alike_in_both_cases_are_glyphs() {
    let glyphs = Damage {
        glyphs: true,
        ..Damage::default()
    };
    let kind = Kind::custom(4, &[], Alphabet::Bitcoin);
    for pair in ["cC", "kK", "oO", "pP", "sS", "uU", "vV", "wW", "xX", "zZ"] {
        let (lower, upper) = pair.split_at(1);
        let text = encode_check(&[9; 4], Alphabet::Bitcoin);
        for (written, meant) in [(lower, upper), (upper, lower)] {
            if Alphabet::Bitcoin
                .digit(meant.chars().next().unwrap())
                .is_none()
            {
                continue;
            }
            let candidates = |letter: &str| {
                let damaged = format!("{letter}{}", &text[1..]);
                let search = Search::new(&damaged, glyphs, std::slice::from_ref(&kind)).unwrap();
                search.estimate().candidates
            };
            let both = format!("[{written}{meant}]");
            assert!(candidates(written) >= candidates(&both), "{written}");
        }
    }
}

/// A hit that may be accidental does not end the search for strings with fewer edits.
#[test]
fn strings_with_fewer_edits_than_an_accidental_hit_are_searched_for() {
    // The choice depends on the speed of the device, and not on that of this machine.
    let (kinds, backend) = (address_kinds(), IdleDevice);
    let search = |text, edits| {
        let subject = Subject {
            text,
            kinds: &kinds,
            filter: &Arc::default(),
            backend: &backend,
        };
        let mut widening = Widening::new(text, Instant::now() + Duration::from_secs(600));
        let first = widening.next(&subject, &|| false).unwrap();
        assert!(
            widening
                .nearer(&subject, Duration::MAX, &|| false)
                .is_empty()
        );
        widening.found(edits);
        let mut damages = Vec::new();
        while let Some((damage, _)) = widening.next(&subject, &|| false) {
            damages.push(damage);
        }
        let nearer = widening.nearer(&subject, Duration::from_millis(60), &|| false);
        let nearer: Vec<Damage> = nearer.into_iter().map(|step| step.damage).collect();
        (first.1.estimate().accidental_hits, damages, nearer)
    };
    // One unknown character: no accidental hit is to be expected.
    let none = (Vec::new(), Vec::new());
    let (accidental, damages, nearer) = search("1Lbcfr7sAHTD9CgdQo3HTMTkV8LK4Z?X71", 14);
    assert!(accidental < 0.01);
    assert_eq!((damages, nearer), none);
    // Five of them. A search for one error has too many accidental hits, and is left to the user.
    let (accidental, damages, nearer) = search("1Lbcfr7sAHTD9CgdQo3HTM?????K4ZnX71", 14);
    assert!(accidental > 0.01);
    assert_eq!(damages, []);
    assert!(nearer.contains(&with_errors(1)), "{nearer:?}");
    assert!(nearer.iter().all(|damage| !damage.glyphs));
    // No string has fewer edits than none.
    let (_, damages, nearer) = search("1Lbcfr7sAHTD9CgdQo3HTM?????K4ZnX71", 0);
    assert_eq!((damages, nearer), none);
}

/// Returns a text without `n` characters from `start` on.
fn without(text: &str, start: usize, n: usize) -> String {
    format!("{}{}", &text[..start], &text[start + n..])
}

#[test]
fn characters_that_are_missing_in_one_piece_are_found() {
    let backend = fastest();
    for name in ["p2pkh", "wif-compressed", "ripple-seed"] {
        let kind = Kind::named(name).unwrap();
        let n = kind.payload_len - kind.versions[0].len() - kind.suffix.len();
        let payload = [&kind.versions[0][..], &vec![7; n], &kind.suffix].concat();
        let text = encode_check(&payload, kind.alphabet);
        let len = text.len();
        for (gap, start, n) in [
            (Gap::End, len - 4, 4),
            (Gap::Start, 0, 2),
            (Gap::Inside, 1, 2),
            (Gap::Inside, 14, 2),
            (Gap::Inside, len - 3, 2),
        ] {
            let damaged = without(&text, start, n);
            let damage = Damage {
                gap,
                ..Damage::default()
            };
            let search = Search::new(&damaged, damage, std::slice::from_ref(&kind)).unwrap();
            let found = hits(&search, &backend);
            let this = found.iter().find(|hit| *hit.text == text);
            assert_eq!(
                this.map(|hit| hit.edits),
                Some(n as u32),
                "{gap:?} {damaged}"
            );
            // The whole text has no gap.
            let whole = Search::new(&text, damage, std::slice::from_ref(&kind)).unwrap();
            assert!(!texts(&hits(&whole, &backend)).contains(&text));
        }
    }
    // More characters than a gap has.
    let kinds = address_kinds();
    let damage = Damage {
        gap: Gap::End,
        ..Damage::default()
    };
    for (n, has_candidates) in [(MAX_GAP, true), (MAX_GAP + 1, false)] {
        let text = &"1Lbcfr7sAHTD9CgdQo3HTMTkV8LK4ZnX71"[..33 - n];
        let search = Search::new(text, damage, &kinds).unwrap();
        assert_eq!(search.estimate().candidates > 0, has_candidates, "{text}");
    }
}

/// Returns a private key whose payload has these bytes, and its first address.
fn key_of(byte: u8) -> (String, String) {
    let payload = [&[0x80][..], &[byte; 32], &[1]].concat();
    let text = encode_check(&payload, Alphabet::Bitcoin);
    let hit = Hit::intact(&text, &Kind::all()).unwrap();
    let address = hit.addresses().remove(0).text;
    (text, address)
}

fn knowing(addresses: &[&str]) -> Arc<Filter> {
    let mut filter = Filter::default();
    let known = filter.known.get_or_insert_default();
    assert!(addresses.iter().all(|address| known.insert(address)));
    Arc::new(filter)
}

/// With nine unknown characters, 6,700 strings fit by accident.
#[test]
fn hits_that_are_ruled_out_are_counted_and_not_reported() {
    let (key, address) = key_of(7);
    let damaged = format!("{}?????????", &key[..key.len() - 9]);
    let kinds = [Kind::named("wif-compressed").unwrap()];
    let search = Search::new(&damaged, Damage::default(), &kinds).unwrap();
    let expected = search.estimate().accidental_hits;
    let backend = fastest();
    let without_facts = search.seconds_in(None, &backend).unwrap();
    let search = search.filtered(knowing(&[&address]));
    let accidental = search.estimate().accidental_hits;
    assert!(accidental == 0.0, "{accidental}");
    // The address of each accidental hit is computed.
    let seconds = search.seconds_in(None, &backend).unwrap();
    assert!(seconds > without_facts, "{seconds} {without_facts}");
    let mut found = Vec::new();
    let never = AtomicBool::new(false);
    let outcome = search.run(&backend, &Options::default(), &never, |event| {
        if let Event::Hit(hit) = event {
            found.push(hit);
        }
    });
    let outcome = outcome.unwrap();
    assert_eq!(texts(&found), [key].into());
    assert!(outcome.is_complete && !outcome.has_too_many_hits);
    let n = f64::from(u32::try_from(outcome.n_rejected).unwrap());
    assert!(
        (n - expected).abs() < 6.0 * expected.sqrt(),
        "{n} {expected}"
    );
}

/// The hash in an address determines the address, so that nothing is hashed, however much is unknown.
#[test]
fn known_addresses_are_looked_up() {
    let (_, address) = key_of(7);
    let (_, other) = key_of(8);
    let backend = fastest();
    let unknown = format!("1{}", "?".repeat(address.len() - 1));
    let swapped = format!("{}{}{}", &address[..5], "?", &address[7..]);
    let impossible = format!("{}l{}", &address[..20], &address[21..]);
    for (damaged, errors) in [
        (unknown, 0),
        (address.to_ascii_lowercase(), 0),
        (swapped, 1),
        (impossible, 2),
    ] {
        let damage = Damage { errors, ..CASE };
        let search = Search::new(&damaged, damage, &address_kinds()).unwrap();
        let search = search.filtered(knowing(&[&other, &address]));
        let estimate = search.estimate();
        assert!(estimate.candidates > 0 && estimate.hashes == 0.0);
        assert_eq!(search.seconds_in(None, &backend), Ok(0.0));
        let mut found = Vec::new();
        let never = AtomicBool::new(false);
        let outcome = search.run(&backend, &Options::default(), &never, |event| {
            if let Event::Hit(hit) = event {
                found.push(hit);
            }
        });
        let outcome = outcome.unwrap();
        assert!(outcome.is_complete && outcome.progress.hashes == 0);
        assert!(texts(&found).contains(&address), "{damaged}");
    }
    // An address that is not known.
    let search = Search::new(&other, Damage::default(), &address_kinds()).unwrap();
    let found = hits(&search.filtered(knowing(&[&address])), &backend);
    assert!(found.is_empty());
}

#[test]
fn the_digest_of_facts_depends_on_all_of_them() {
    let (_, address) = key_of(7);
    let (_, other) = key_of(8);
    let prefix = Filter {
        prefix: "1".into(),
        ..Filter::default()
    };
    let filters = [
        Filter::default(),
        prefix,
        (*knowing(&[&address])).clone(),
        (*knowing(&[&address, &other])).clone(),
        (*knowing(&[])).clone(),
    ];
    let digests = filters.iter().map(|filter| filter.digest().to_string());
    assert_eq!(digests.collect::<BTreeSet<_>>().len(), filters.len());
    let order = [[&*address, &*other], [&*other, &*address]].map(|all| knowing(&all).digest());
    assert_eq!(order[0], order[1]);
}
