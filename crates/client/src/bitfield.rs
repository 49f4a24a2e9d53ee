//! Pieces as a bitfield.

/// Returns the bits in the order of the bitfield message (BEP 3).
pub(crate) fn bits(have: &[bool]) -> Vec<u8> {
    let bytes = have.chunks(8).map(|pieces| {
        let bits = pieces.iter().enumerate();
        bits.fold(0, |byte, (i, have)| byte | u8::from(*have) << (7 - i))
    });
    bytes.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_piece_is_highest_in_the_first_byte() {
        let mut have = [false; 10];
        have[0] = true;
        have[9] = true;
        assert_eq!(bits(&have), [0b1000_0000, 0b0100_0000]);
        assert!(bits(&[]).is_empty());
    }
}
