//! Arbitrary text as the choices for a torrent and as totals: the readers never panic, and what they accept is written and
//! read back unchanged.

#![no_main]

use hashlane_store::{Choices, Totals};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(choices) = toml::from_str::<Choices>(text) {
        assert!(choices.place.path().is_absolute());
        let written = toml::to_string(&choices).expect("choices can be written");
        assert_eq!(toml::from_str(&written).as_ref(), Ok(&choices), "{written}");
    }
    if let Ok(totals) = toml::from_str::<Totals>(text) {
        let written = toml::to_string(&totals).expect("totals can be written");
        assert_eq!(toml::from_str(&written).as_ref(), Ok(&totals), "{written}");
    }
});
