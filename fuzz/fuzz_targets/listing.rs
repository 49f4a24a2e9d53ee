//! Listings of Hugging Face: no path of a file leaves the folder.

#![no_main]

use std::path::Component;

use hashlane_known::listing;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    for file in listing::parse(text).unwrap_or_default() {
        let mut components = file.path.components();
        assert!(components.all(|component| matches!(component, Component::Normal(_))));
    }
});
