//! Payloads for the tests.

/// Bytes that follow from a seed, by a multiplication that mixes well (Knuth).
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
