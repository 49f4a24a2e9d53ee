//! codex32.

use hashlane_recover::{Answer, Refusal, recover};
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// The texts of BIP 93, in lower case, and the names of their kinds.
const TEXTS: [(&str, &str); 6] = [
    (
        "ms10testsxxxxxxxxxxxxxxxxxxxxxxxxxx4nzvca9cmczlw",
        "codex32 secret of test, threshold 0",
    ),
    (
        "ms12namea320zyxwvutsrqpnmlkjhgfedcaxrpp870hkkqrm",
        "codex32 share a of name, threshold 2",
    ),
    (
        "ms12namecacdefghjklmnpqrstuvwxyz023ftr2gdzmpy6pn",
        "codex32 share c of name, threshold 2",
    ),
    (
        "ms12names6xqguzttxkeqnjsjzv4jv3nz5k3kwgsphuh6evw",
        "codex32 secret of name, threshold 2",
    ),
    (
        "ms10leetsllhdmn9m42vcsamx24zrxgs3qrl7ahwvhw4fnzrhve25gvezzyqqtum9pgv99ycma",
        "codex32 secret of leet, threshold 0",
    ),
    (
        "ms100c8vsm32zxfguhpchtlupzry9x8gf2tvdw0s3jn54khce6mua7lqpzygsfjd6an074rxvcemlh8wu3tk925acdefghjklmnpqrstuvwxy06fhpv80undvarhrak",
        "codex32 secret of 0c8v, threshold 0",
    ),
];

const CHARSET: &[u8] = b"qpzry9x8gf2tvdw0s3jn54khce6mua7l";

fn answer(text: &str) -> Result<Answer, Refusal> {
    recover(text, None, &|_| true, false).expect("a known kind")
}

fn only(text: &str) -> String {
    let answer = answer(text).unwrap();
    assert_eq!(answer.hits.len(), 1, "{text}: {answer:?}");
    assert!(answer.hits[0].is_secret);
    answer.hits[0].text.to_string()
}

#[test]
fn intact_texts() {
    for (text, what) in TEXTS {
        for text in [text.to_owned(), text.to_uppercase()] {
            let answer = answer(&text).unwrap();
            assert!(answer.is_intact, "{text}: {answer:?}");
            assert_eq!(answer.hits[0].what, what);
        }
    }
}

/// A threshold of 0 with another index than s, a threshold that is no digit, and a wrong checksum.
#[test]
fn invalid_texts_are_not_intact() {
    for text in [
        "ms10fauxxxxxxxxxxxxxxxxxxxxxxxxxxxxve740yyge2ghp",
        "ms1fauxxxxxxxxxxxxxxxxxxxxxxxxxxxxxda3kr3s0s2swg",
        "ms10testsxxxxxxxxxxxxxxxxxxxxxxxxxx4nzvca9cmczlx",
    ] {
        let found = answer(text).map(|answer| answer.is_intact);
        assert_ne!(found, Ok(true), "{text}");
    }
}

#[test]
fn bursts_of_unknown_characters() {
    for (text, _) in TEXTS {
        let run = if text.len() > 93 { 15 } else { 13 };
        for start in [3, 9, text.len() - run] {
            let damaged = format!(
                "{}{}{}",
                &text[..start],
                "?".repeat(run),
                &text[start + run..]
            );
            assert_eq!(only(&damaged), text, "{damaged}");
        }
    }
    let answer = answer(&TEXTS[0].0.replace("xxxxxxxxxxxxxxxx", "????????????????"));
    assert!(answer.unwrap_err().to_string().contains("are unknown"));
}

#[test]
fn missing_and_extra_characters() {
    let text = TEXTS[2].0;
    for position in (3..text.len()).step_by(4) {
        let mut missing = text.to_owned();
        missing.remove(position);
        let mut extra = text.to_owned();
        extra.insert(position, 'q');
        for damaged in [missing, extra] {
            assert_eq!(only(&damaged), text, "{damaged}");
        }
    }
    assert_eq!(
        only(&text.replacen("ms1", "mslc", 1).replacen("lc", "l", 1)),
        text
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Wrong and unknown characters within the distance of the code have one solution.
    #[test]
    fn damage_within_the_distance((text, _) in select(&TEXTS[..5]), n_wrong in 0..=4_usize, places in proptest::collection::vec((any::<Index>(), 1..32_usize), 8)) {
        let mut damaged = text.as_bytes().to_vec();
        for (i, (place, by)) in places.iter().take(8 - n_wrong).enumerate() {
            let place = 3 + place.index(text.len() - 3);
            let value = CHARSET.iter().position(|c| *c == damaged[place]).unwrap_or(0);
            damaged[place] = if i < n_wrong { CHARSET[(value + by) % 32] } else { b'?' };
        }
        let damaged = String::from_utf8(damaged).unwrap();
        prop_assert_eq!(only(&damaged), text, "{}", damaged);
    }

    #[test]
    fn any_text(text in "ms1[a-z0-9?\\[\\]é]{40,60}") {
        let _ = recover(&text, None, &|_| true, true);
    }
}
