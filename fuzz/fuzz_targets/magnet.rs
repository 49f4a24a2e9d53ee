//! Arbitrary text as a magnet link: the parser never panics, and accepted links are unchanged after
//! writing and reading, also without their names and in percent-encoding.

#![no_main]

use hashlane_metainfo::Magnet;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|link: &str| {
    match link.parse::<Magnet>() {
        Ok(magnet) => check(link, &magnet),
        // The error text must neither panic nor contain control characters.
        Err(error) => assert!(!error.to_string().contains(char::is_control)),
    }
    // Most inputs are not links, so they are also tried as the parameters of a link.
    let info_hash = "0123456789abcdef0123456789ABCDEF01234567";
    let link = format!("magnet:?xt=urn:btih:{info_hash}&{link}");
    if let Ok(magnet) = link.parse::<Magnet>() {
        assert!(magnet.info_hashes.v1().is_some());
        check(&link, &magnet);
    }
});

fn check(link: &str, magnet: &Magnet) {
    let text = magnet.to_string();
    // A space in a URL is encoded twice: `%2520`.
    assert!(text.len() <= 5 * link.len() + "magnet:?xt=urn:btih:".len());
    assert!(text.is_ascii() && !text.contains(|c: char| c.is_control() || c == ' '));
    assert_eq!(text.parse().as_ref(), Ok(magnet), "{text}");
    for url in magnet.trackers.iter().chain(&magnet.web_seeds) {
        assert!(url.contains("://") && !url.contains(char::is_control));
    }
    for link in [link, &text] {
        if let Some(rest) = link.strip_prefix("magnet:") {
            let encoded: String = rest.bytes().map(|byte| format!("%{byte:02x}")).collect();
            assert_eq!(format!("magnet%3A{encoded}").parse().as_ref(), Ok(magnet));
        }
    }
    let mut nameless = magnet.clone();
    nameless.name = None;
    let text = nameless.to_string();
    assert!(!text.contains("&dn="));
    assert_eq!(text.parse().as_ref(), Ok(&nameless));
}
