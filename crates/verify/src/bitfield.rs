//! Pieces as a bitfield: the first piece is the highest bit of the first byte, and spare bits at the end are zero (BEP 3,
//! peer messages).

/// Packs flags into bytes; the spare bits are zero.
pub fn bitfield(flags: impl IntoIterator<Item = bool>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (index, flag) in flags.into_iter().enumerate() {
        if index % 8 == 0 {
            bytes.push(0);
        }
        bytes[index / 8] |= u8::from(flag) << (7 - index % 8);
    }
    bytes
}

/// Returns the first `n_pieces` flags of a bitfield.
///
/// # Panics
/// The bitfield is too short.
pub fn flags(bitfield: &[u8], n_pieces: usize) -> Vec<bool> {
    let flag = |index: usize| bitfield[index / 8] >> (7 - index % 8) & 1 == 1;
    (0..n_pieces).map(flag).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_piece_is_highest_in_the_first_byte() {
        let mut have = [false; 10];
        have[0] = true;
        have[9] = true;
        assert_eq!(bitfield(have), [0b1000_0000, 0b0100_0000]);
        assert_eq!(flags(&[0b1000_0000, 0b0100_0000], 10), have);
        assert!(bitfield([]).is_empty());
    }
}
