//! Bech32 and Bech32m with prefixes of other kinds than witness addresses.

use bech32::{Bech32, Bech32m, Checksum, Hrp};
use hashlane_recover::{Answer, recover};

fn encoded<C: Checksum>(prefix: &str, len: usize) -> String {
    let bytes: Vec<u8> = (0..len).map(|i| (i * 37 + 11) as u8).collect();
    bech32::encode::<C>(Hrp::parse(prefix).unwrap(), &bytes).unwrap()
}

fn answer(text: &str) -> Option<Answer> {
    recover(text, None, &|_| true, false).map(|answer| answer.unwrap())
}

/// A known prefix has one code and few lengths.
#[test]
fn rules_of_known_prefixes() {
    for (prefix, len) in [
        ("npub", 32),
        ("age", 32),
        ("addr", 57),
        ("addr", 29),
        ("cosmos", 20),
        ("zs", 43),
    ] {
        let text = encoded::<Bech32>(prefix, len);
        assert!(answer(&text).unwrap().is_intact, "{text}");
        for text in [
            encoded::<Bech32m>(prefix, len),
            encoded::<Bech32>(prefix, len + 5),
        ] {
            let hits = answer(&text).map_or(0, |answer| answer.hits.len());
            assert_eq!(hits, 0, "{text}");
        }
    }
    let bad = encoded::<Bech32>("lnbc", 300);
    assert_eq!(answer(&bad).unwrap().hits, []);
}

#[test]
fn unknown_prefixes_are_named_as_unknown() {
    for text in [
        encoded::<Bech32>("nobody", 25),
        encoded::<Bech32m>("nobody", 300),
    ] {
        let intact = answer(&text).unwrap();
        assert!(intact.is_intact, "{intact:?}");
        assert!(
            intact.hits[0]
                .what
                .ends_with("text with the unknown prefix nobody"),
            "{intact:?}"
        );
        for damaged in [text.replace("nob", "nab"), text.replacen('q', "p", 1)] {
            let found = answer(&damaged).unwrap();
            assert_eq!(
                (found.hits[0].text.as_str(), found.hits[0].edits),
                (text.as_str(), 1)
            );
        }
    }
}

#[test]
fn damage_in_a_known_prefix() {
    let text = encoded::<Bech32>("npub", 32);
    for start in ["npu81", "mpub1", "npubl", "?pub1", "npvh1"] {
        let damaged = format!("{start}{}", &text[5..]);
        let found = answer(&damaged).unwrap();
        assert_eq!(
            (found.hits.len(), found.hits[0].text.as_str()),
            (1, text.as_str()),
            "{damaged}"
        );
    }
    // `-` and `_` are lost when a text is extracted from others.
    let text = encoded::<Bech32>("age-secret-key-", 32).to_uppercase();
    for text in [text.clone(), text.replace('-', "")] {
        let found = answer(&text).unwrap();
        assert!(found.is_intact && found.hits[0].is_secret, "{found:?}");
    }
}
