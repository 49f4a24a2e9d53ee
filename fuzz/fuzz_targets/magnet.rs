//! Arbitrary text as a magnet link: the parser never panics, and accepted links are unchanged after
//! writing and reading.

#![no_main]

use hashlane_metainfo::Magnet;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|link: &str| {
    match link.parse::<Magnet>() {
        Ok(magnet) => check(&magnet),
        // The error text must neither panic nor contain control characters.
        Err(error) => assert!(!error.to_string().contains(char::is_control)),
    }
    // Most inputs are not links, so they are also tried as the parameters of a link.
    let info_hash = "0123456789abcdef0123456789ABCDEF01234567";
    let link = format!("magnet:?xt=urn:btih:{info_hash}&{link}");
    if let Ok(magnet) = link.parse::<Magnet>() {
        assert!(magnet.info_hashes.v1().is_some());
        check(&magnet);
    }
});

fn check(magnet: &Magnet) {
    let text = magnet.to_string();
    assert!(text.is_ascii() && !text.contains(|c: char| c.is_control() || c == ' '));
    assert_eq!(text.parse().as_ref(), Ok(magnet), "{text}");
    for url in magnet.trackers.iter().chain(&magnet.web_seeds) {
        assert!(url.contains("://") && !url.contains(char::is_control));
    }
}
