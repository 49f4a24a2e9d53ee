//! Payloads and damaged strings for the tests.

use hashlane_base58::Alphabet;

/// Returns pseudo-random bytes of a seed, from Knuth's linear congruential generator.
pub(crate) fn bytes(seed: u64, n: usize) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    (0..n).map(|_| next()).collect()
}

/// Returns the text without letter case from position `known` on. A letter that the alphabet has in
/// one case only stays as it is.
pub(crate) fn with_lost_case(text: &str, known: usize) -> String {
    let both = |c: char| {
        let of = |c: char| Alphabet::Bitcoin.digit(c).is_some();
        of(c.to_ascii_lowercase()) && of(c.to_ascii_uppercase()) && c.is_ascii_alphabetic()
    };
    let of = |(i, c): (usize, char)| {
        if i < known || !both(c) {
            c.to_string()
        } else {
            format!("[{}{}]", c.to_ascii_lowercase(), c.to_ascii_uppercase())
        }
    };
    text.chars().enumerate().map(of).collect()
}
