//! Texts of any kind, and damaged examples of each kind. A text is refused or recovered to texts that are intact; an example with one
//! error is found again.
#![no_main]

use arbitrary::Arbitrary;
use hashlane_recover::{Answer, KINDS, recover};
use libfuzzer_sys::fuzz_target;

/// Maximum number of strings that a search compares with a checksum. Larger searches are only counted.
const MAX_CANDIDATES: f64 = 20_000.0;

/// A text of each kind.
const EXAMPLES: [&str; 13] = [
    "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4",
    "npub10elfcs4fr0l0r8af98jlmgdh9c8tcxjvz9qkw038js35mp4dma8qzvjptg",
    "ms12namesa320zyxwvutsrqpnmlkjhgfedcaxrpp870hkkqrm",
    "duckling enlarge academic academic agency result length solution fridge kidney coal piece deal husband erode duke ajar critical decision keyboard",
    "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
    "4AdUndXHHZ6cfufTMvppY6JwXNouMBzSkbLYfpAV5Usx3skxNgYeYTRj5UzqtReoS44qo9mtmXCqY45DJ852K5Jv2684Rge",
    "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ",
    "7ZUECA7HFLZTXENRV24SHLU4AVPUTMTTDUFUBNBD64C73F3UHRTHAIOF6Q",
    "f17uoq6tp427uzv7fztkbsnn64iwotfrristwpryy",
    "5GrwvaEF5zXb26Fz9rcQpDWS57CtERHpNehXCPcNoHGKutQY",
    "HNZata7iMYWmk5RvZRTiAsSDhV8366zq2YGb3tLH5Upf74F",
    "EOS6MRyAjQq8ud7hVNYcfnVPJqcVpscN5So8BhtHuGYqET5GDW5CV",
    "PVT_K1_2bfGi9rYsXQSXXTvJbDAPhHLQUojjaNLomdm3cEJ1XTzMqUt3V",
];

#[derive(Debug, Arbitrary)]
struct Input<'a> {
    text: &'a str,
    errors: u8,
    is_last: bool,
    example: u8,
    position: u16,
    damage: u8,
}

fuzz_target!(|input: Input<'_>| {
    check(input.text, input.errors % 3, input.is_last);
    let example = EXAMPLES[usize::from(input.example) % EXAMPLES.len()];
    let damaged = damaged(example, &input);
    if let Some(answer) = check(&damaged, 1, true) {
        let is_found = answer.hits.iter().any(|hit| hit.text.as_str() == example);
        assert!(is_found, "{example} as {damaged}: {answer:?}");
    }
});

/// Recovers a text if that takes no long search. Each hit is an intact text.
fn check(text: &str, errors: u8, is_last: bool) -> Option<Answer> {
    let recognized = KINDS.iter().filter(|kind| kind.recognize(text, is_last).is_some());
    let counts = recognized.filter_map(|kind| kind.count(text, errors).ok());
    if counts.map(|count| count.candidates).sum::<f64>() > MAX_CANDIDATES {
        return None;
    }
    match recover(text, Some(errors), &|_| true, is_last)? {
        Ok(answer) => {
            assert!(answer.hits.is_sorted_by_key(|hit| hit.edits));
            for hit in &answer.hits {
                let again = recover(&hit.text, Some(0), &|_| true, is_last);
                let is_intact = again.is_some_and(|again| again.is_ok_and(|again| again.is_intact));
                assert!(is_intact, "{hit:?} of {text}");
                assert!(hit.changed.iter().all(|position| *position < hit.text.len()));
            }
            Some(answer)
        }
        Err(refusal) => {
            let _ = refusal.to_string();
            None
        }
    }
}

/// Returns an example with one character replaced by one that is written like another, or by `?`, or removed.
fn damaged(example: &str, input: &Input<'_>) -> String {
    let position = usize::from(input.position) % example.len();
    let (before, rest) = example.split_at(position);
    let other = match input.damage % 3 {
        0 => "?".to_owned(),
        1 => String::new(),
        _ => {
            let others = example.as_bytes();
            char::from(others[usize::from(input.damage / 3) % others.len()]).to_string()
        }
    };
    format!("{before}{other}{}", &rest[1..])
}
