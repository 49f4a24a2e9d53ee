//! Shares of SLIP-39.

use hashlane_recover::{Answer, Refusal, Repaired, is_words, recover};
use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::reference::every_text_is_found;

/// Valid shares of the vectors of SLIP-39 of 20 and 33 words: without and with the flag of extendable backups.
const SHARES: [(&str, &str); 5] = [
    (
        "duckling enlarge academic academic agency result length solution fridge kidney coal piece deal husband erode duke ajar critical decision keyboard",
        "SLIP-39 share, group 1 of 1, member 1, threshold 1",
    ),
    (
        "shadow pistol academic always adequate wildlife fancy gross oasis cylinder mustang wrist rescue view short owner flip making coding armed",
        "SLIP-39 share, group 1 of 1, member 3, threshold 2",
    ),
    (
        "eraser senior ceramic snake clay various huge numb argue hesitate auction category timber browser greatest hanger petition script leaf pickup",
        "SLIP-39 share, group 3 of 4, member 5, threshold 3",
    ),
    (
        "theory painting academic academic armed sweater year military elder discuss acne wildlife boring employer fused large satoshi bundle carbon diagnose anatomy hamster leaves tracks paces beyond phantom capital marvel lips brave detect luck",
        "SLIP-39 share, group 1 of 1, member 1, threshold 1",
    ),
    (
        "western apart academic always artist resident briefing sugar woman oven coding club ajar merit pecan answer prisoner artist fraction amount desktop mild false necklace muscle photo wealthy alpha category unwrap spew losing making",
        "SLIP-39 share, group 1 of 1, member 3, threshold 2",
    ),
];

/// The vectors 2 and 3 of SLIP-39: an invalid checksum, and an invalid padding.
const INVALID: [&str; 2] = [
    "duckling enlarge academic academic agency result length solution fridge kidney coal piece deal husband erode duke ajar critical decision kidney",
    "duckling enlarge academic academic email result length solution fridge kidney coal piece deal husband erode duke ajar music cargo fitness",
];

fn words() -> Vec<&'static str> {
    include_str!("../../src/slip39/words.txt").lines().collect()
}

fn answer(text: &str, errors: Option<u8>) -> Result<Answer, Refusal> {
    recover(text, errors, &|_| true, false).expect("a known kind")
}

fn hit<'a>(answer: &'a Answer, text: &str) -> Option<&'a Repaired> {
    answer.hits.iter().find(|hit| hit.text.as_str() == text)
}

fn replaced(share: &str, changes: &[(usize, &str)]) -> String {
    let mut words: Vec<&str> = share.split(' ').collect();
    for (position, word) in changes {
        words[*position] = word;
    }
    words.join(" ")
}

#[test]
fn intact_shares() {
    for (share, what) in SHARES {
        for text in [
            share.to_owned(),
            share.to_uppercase(),
            share.replace(' ', "  \n 7. "),
        ] {
            let answer = answer(&text, None).unwrap();
            assert!(answer.is_intact, "{text}: {answer:?}");
            assert_eq!(
                (answer.hits[0].text.as_str(), answer.hits[0].what.as_str()),
                (share, what)
            );
            assert!(answer.hits[0].is_secret);
        }
        let starts: Vec<&str> = share.split(' ').map(|word| &word[..4]).collect();
        assert!(answer(&starts.join(" "), None).unwrap().is_intact);
    }
    for text in INVALID {
        assert!(!answer(text, None).unwrap().is_intact, "{text}");
    }
}

/// One wrong word is located, and its original is the only share within one error.
#[test]
fn one_wrong_word() {
    for (share, _) in SHARES {
        let n = share.split(' ').count();
        for position in 0..n {
            let before = share.split(' ').nth(position).unwrap();
            let wrong = if before == "zero" { "yoga" } else { "zero" };
            let answer = answer(&replaced(share, &[(position, wrong)]), None).unwrap();
            let hit = &answer.hits[0];
            assert_eq!(
                (answer.hits.len(), hit.text.as_str(), hit.edits),
                (1, share, 1)
            );
            assert_eq!(
                (hit.changed.as_slice(), hit.unit(), answer.errors),
                ([position].as_slice(), "word", Some(1))
            );
        }
    }
}

/// All texts with one wrong word, compared with those that the reference accepts: brute force over 20 × 1,024.
#[test]
fn one_wrong_word_by_brute_force() {
    let list = words();
    for damaged in [
        replaced(SHARES[0].0, &[(5, "zero"), (9, "yoga")]),
        INVALID[0].to_owned(),
        INVALID[1].to_owned(),
    ] {
        let mut expected = Vec::new();
        for position in 0..20 {
            for word in &list {
                let text = replaced(&damaged, &[(position, word)]);
                if text != damaged && is_valid(&text, &list) {
                    expected.push(text);
                }
            }
        }
        let answer = answer(&damaged, Some(1)).unwrap();
        let of_words = answer.hits.iter().filter(|hit| {
            let pairs = hit.text.split(' ').zip(damaged.split(' '));
            pairs.filter(|(a, b)| a != b).count() == 1
        });
        let mut found: Vec<String> = of_words.map(|hit| hit.text.to_string()).collect();
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{damaged}");
    }
}

/// The rules of a share of 20 words, as in the specification.
fn is_valid(text: &str, list: &[&str]) -> bool {
    let values = text
        .split(' ')
        .map(|word| list.iter().position(|other| *other == word).unwrap());
    let values: Vec<usize> = values.collect();
    let generator = [
        0x00e0_e040,
        0x01c1_c080,
        0x0383_8100,
        0x0707_0200,
        0x0e0e_0009,
        0x1c0c_2412,
        0x3808_6c24,
        0x3090_fc48,
        0x21b1_f890,
        0x03f3_f120,
    ];
    let is_extendable = values[1] >> 4 & 1 == 1;
    let purpose = if is_extendable {
        "shamir_extendable"
    } else {
        "shamir"
    };
    let mut sum = 1;
    for value in purpose
        .bytes()
        .map(usize::from)
        .chain(values.iter().copied())
    {
        let top = sum >> 20;
        sum = (sum & 0xf_ffff) << 10 ^ value;
        for (bit, term) in generator.iter().enumerate() {
            sum ^= if top >> bit & 1 == 1 { *term } else { 0 };
        }
    }
    let params = values[2] << 10 | values[3];
    sum == 1 && values[4] >> 8 == 0 && params >> 12 & 15 <= params >> 8 & 15
}

#[test]
fn unreadable_words() {
    for (share, _) in SHARES {
        let n = share.split(' ').count();
        for positions in [[0, 2, 3], [3, 9, n - 1], [n - 3, n - 2, n - 1]] {
            let changes = positions.map(|position| (position, "????"));
            let answer = answer(&replaced(share, &changes), None).unwrap();
            assert_eq!(answer.hits.len(), 1, "{answer:?}");
            let hit = &answer.hits[0];
            assert_eq!(
                (hit.text.as_str(), hit.edits, hit.changed.as_slice()),
                (share, 0, positions.as_slice())
            );
        }
    }
    // The second word has a flag that selects one of two checksums, so there can be two solutions.
    let first = replaced(SHARES[0].0, &[(0, "?"), (1, "?"), (2, "?")]);
    assert!(hit(&answer(&first, None).unwrap(), SHARES[0].0).is_some());
    let four = replaced(SHARES[0].0, &[(0, "?"), (1, "?"), (2, "?"), (3, "?")]);
    let refusal = answer(&four, None).unwrap_err().to_string();
    assert!(refusal.contains("at most 3"), "{refusal}");
}

/// Five misspelled words are read as the closest ones, and a wrong word is located in addition.
#[test]
fn misspelled_words() {
    let share = SHARES[0].0;
    let misspelled = [
        (0, "ducling"),
        (1, "enlarje"),
        (5, "resullt"),
        (6, "lenght"),
        (7, "solutiom"),
    ];
    let text = replaced(share, &misspelled);
    let found = answer(&text, None).unwrap();
    assert_eq!(found.hits[0].text.as_str(), share, "{found:?}");
    assert_eq!((found.hits[0].edits, found.errors), (5, Some(0)));
    let found = answer(&replaced(&text, &[(10, "zero")]), None).unwrap();
    assert_eq!(
        (
            found.hits.len(),
            found.hits[0].text.as_str(),
            found.hits[0].edits
        ),
        (1, share, 6)
    );
}

/// Two and three wrong words: all hits, among them the original, and before those that are as far the closest.
#[test]
fn several_wrong_words() {
    let share = SHARES[1].0;
    let two = answer(&replaced(share, &[(2, "yoga"), (15, "zero")]), None).unwrap();
    assert_eq!(two.errors, Some(2));
    assert_eq!(hit(&two, share).unwrap().edits, 2);
    let three = answer(
        &replaced(share, &[(2, "academia"), (15, "zero"), (18, "coring")]),
        Some(3),
    )
    .unwrap();
    let (at, hit) = three
        .hits
        .iter()
        .enumerate()
        .find(|(_, hit)| hit.text.as_str() == share)
        .unwrap();
    assert!(at == 0 && hit.edits == 3, "{at}: {three:?}");
    assert!(three.count.accidental_hits > 1.0, "{three:?}");
}

#[test]
fn moved_words() {
    for (share, _) in SHARES {
        let words: Vec<&str> = share.split(' ').collect();
        for position in 0..words.len() - 1 {
            let mut exchanged = words.clone();
            exchanged.swap(position, position + 1);
            let mut missing = words.clone();
            missing.remove(position);
            let mut extra = words.clone();
            extra.insert(position, "zero");
            for damaged in [exchanged, missing, extra] {
                let damaged = damaged.join(" ");
                if damaged != share {
                    let found = answer(&damaged, None).unwrap();
                    assert_eq!(
                        (
                            found.hits.len(),
                            found.hits[0].text.as_str(),
                            found.hits[0].edits
                        ),
                        (1, share, 1),
                        "{damaged}"
                    );
                }
            }
        }
    }
}

/// Other texts of words: BIP 39, and prose.
#[test]
fn other_texts() {
    for text in [
        "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon art",
        "the bytes that you have are the bytes that you should have and this sentence has more than twenty words in it",
        "academic acid",
        "",
    ] {
        assert!(!is_words(text));
        assert_eq!(recover(text, None, &|_| true, true), None, "{text}");
    }
}

/// Shares that the reference implementation makes: one or two wrong words, three unknown ones, a misspelled and a wrong one, and a
/// missing one.
#[test]
fn random_shares_of_the_reference() {
    const SCRIPT: &str = r"
import shamir_mnemonic
from shamir_mnemonic.share import Share
from shamir_mnemonic.wordlist import WORDLIST

def make(chosen, number):
    secret = chosen.randbytes(chosen.choice([16, 16, 16, 20, 24, 28, 32, 32]))
    groups = shamir_mnemonic.generate_mnemonics(1, [(2, 3)], secret, extendable=chosen.random() < 0.5)
    share = groups[0][0]
    words = share.split()
    places = chosen.sample(range(len(words)), 3)
    how = number % 5
    if how == 4:
        del words[places[0]]
    elif how == 1:
        for place in places:
            words[place] = '?'
    else:
        others = [word for word in WORDLIST if word not in words]
        words[places[0]] = chosen.choice(others)
        if how == 2:
            words[places[1]] = chosen.choice(others)
        elif how == 3:
            word = words[places[1]]
            words[places[1]] = word[:-1] + chosen.choice('aeiou') + word[-1]
    return share, ' '.join(words)

def check(share):
    try:
        return Share.from_mnemonic(share).mnemonic() == share
    except shamir_mnemonic.MnemonicError:
        return False
";
    every_text_is_found(
        "SHAMIR_MNEMONIC",
        "shamir_mnemonic",
        "shamir-mnemonic",
        SCRIPT,
        40,
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Up to three unreadable words, or one of them and a wrong one, have one solution for each checksum.
    #[test]
    fn damage_within_the_distance(
        (share, _) in select(&SHARES[..]),
        n_unknown in 0..=3_usize,
        places in proptest::collection::vec(any::<Index>(), 3),
        wrong: Index,
    ) {
        let n = share.split(' ').count();
        let mut damaged = share.to_owned();
        for place in &places[..n_unknown] {
            damaged = replaced(&damaged, &[(place.index(n), "?")]);
        }
        if n_unknown <= 1 {
            damaged = replaced(&damaged, &[(wrong.index(n), "zero")]);
        }
        let answer = answer(&damaged, None).unwrap();
        prop_assert!(hit(&answer, share).is_some(), "{}: {:?}", damaged, answer);
        // The second word selects one of two checksums.
        let is_only = answer.hits.len() == 1 || damaged.split(' ').nth(1) == Some("?");
        prop_assert!(is_only, "{}: {:?}", damaged, answer);
    }

    #[test]
    fn any_words(text in "((acid|zero|acxd|a?ne|\\?|[a-zé]{1,9}|[^ ]{0,20}) ){15,70}") {
        let _ = recover(&text, Some(1), &|_| true, true);
        let _ = recover(&format!("{}{text}", "acid academic acne aide ".repeat(4)), Some(1), &|_| true, true);
    }
}
