//! What was lost comes back.
#![allow(clippy::unwrap_used, missing_docs)]

mod random;

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;

use hashlane_base58::{
    Alphabet, BASE, Damage, Event, Hit, Kind, Options, Rate, Search, decode_check, encode_check,
    measure,
};
use proptest::prelude::*;

use random::bytes;

const CASE: Damage = Damage {
    case: true,
    glyphs: false,
    errors: 0,
};

fn options(rate: &Rate) -> Options {
    Options {
        kernel: rate.kernel,
        threads: NonZeroUsize::new(1),
        units: None,
    }
}

fn hits(search: &Search, options: &Options) -> Vec<Hit> {
    let mut hits = Vec::new();
    let outcome = search.run(options, &AtomicBool::new(false), |event| {
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

/// Every string that a text can have been, by trying all of them: what the search is to find.
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
    texts.retain(|text| decode_check(text, kind.alphabet).is_ok_and(|payload| kind.has(&payload)));
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
fn addresses_of_every_kind_come_back() {
    let rate = measure(None)[0];
    for kind in Kind::all()
        .into_iter()
        .filter(|kind| kind.payload_len <= 22)
    {
        for seed in 0..3 {
            let mut payload = kind.versions[0].to_vec();
            payload.extend(bytes(seed, kind.payload_len - payload.len()));
            let text = encode_check(&payload, kind.alphabet);
            let search = Search::new(
                &text.to_ascii_lowercase(),
                CASE,
                std::slice::from_ref(&kind),
            );
            let search = search.unwrap_or_else(|error| panic!("{text}: {error}"));
            if search.estimate().hashes > 3e7 {
                continue;
            }
            let found = hits(&search, &options(&rate));
            let found = texts(&found);
            assert!(found.contains(&text), "{kind}: {text} in {found:?}");
        }
    }
}

#[test]
fn known_cases() {
    let rate = measure(None)[0];
    let p2pkh = [Kind::named("p2pkh").unwrap()];
    let search = Search::new("1lbcfr7sahtd9cgdqo3htmtkv8lk4znx71", CASE, &p2pkh).unwrap();
    let found = hits(&search, &options(&rate));
    assert!(
        texts(&found).contains("1Lbcfr7sAHTD9CgdQo3HTMTkV8LK4ZnX71"),
        "{found:?}"
    );
}

/// The longest payloads, in numbers that are as large as any.
#[test]
fn the_longest_payloads() {
    let rate = measure(None)[0];
    for version in [&[][..], &[0xff], &[0xff; 40], &[0, 0]] {
        let kind = Kind::custom(44, version, Alphabet::Bitcoin);
        let mut payload = version.to_vec();
        payload.extend(bytes(7, 44 - version.len()));
        let text = encode_check(&payload, Alphabet::Bitcoin);
        for lost in [0, 1, 20, text.len() - 1] {
            let damaged = format!("{}?{}", &text[..lost], &text[lost + 1..]);
            let search = Search::new(&damaged, Damage::default(), std::slice::from_ref(&kind));
            let found = hits(&search.unwrap(), &options(&rate));
            assert!(texts(&found).contains(&text), "{damaged}");
        }
    }
}

/// Payloads of a few bytes, so that everything can be tried: any letters, zeros in front, tails of any
/// kind, every kernel.
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
    fn lost_case_finds_what_trying_everything_finds((kind, text) in small()) {
        let expected = exhaustively(&both_cases(&text, kind.alphabet), &kind);
        prop_assert!(expected.contains(&text));
        let search = Search::new(&text.to_ascii_uppercase(), CASE, std::slice::from_ref(&kind));
        // Some letters are there in one case only.
        let search = search.or_else(|_| Search::new(&text, CASE, &[kind])).unwrap();
        for rate in measure(None) {
            let found = hits(&search, &options(&rate));
            prop_assert_eq!(&texts(&found), &expected, "{} {}", rate.kernel, &text);
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
        for rate in measure(None) {
            let found = hits(&search, &options(&rate));
            prop_assert_eq!(&texts(&found), &expected, "{} {}", rate.kernel, damaged.concat());
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
        let rate = measure(None)[0];
        let found = hits(&search, &options(&rate));
        let this = found.iter().find(|hit| *hit.text == text);
        prop_assert!(this.is_some(), "{} in {:?}", text, found);
        prop_assert_eq!(this.unwrap().edits, u32::from(damaged != text));
    }
}
