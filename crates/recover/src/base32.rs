//! Base32 (RFC 4648) without padding characters.

/// The characters by value, as Stellar and Algorand write them.
pub(crate) const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// The characters by value, as Filecoin writes them.
pub(crate) const LOWER: &str = "abcdefghijklmnopqrstuvwxyz234567";

/// Returns the bytes of values, or `None` if a bit after them is set.
pub(crate) fn decode(values: impl IntoIterator<Item = u8>) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(64);
    let (mut rest, mut n_bits) = (0_u16, 0);
    for value in values {
        rest = rest << 5 | u16::from(value);
        n_bits += 5;
        if n_bits >= 8 {
            n_bits -= 8;
            bytes.push((rest >> n_bits) as u8);
            rest &= (1 << n_bits) - 1;
        }
    }
    (rest == 0).then_some(bytes)
}
