//! Base58 of one number, as Bitcoin writes it.

use zeroize::Zeroizing;

/// The characters by value.
pub(crate) const ALPHABET: &str = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/// Number of characters that are added to the number at once: 58¹⁰ is less than 2⁶⁴.
const CHUNK: usize = 10;

/// Returns the bytes of values: a zero for each zero value at the start, and the number of the others.
pub(crate) fn decode(values: &[u8]) -> Zeroizing<Vec<u8>> {
    // The least significant limb first.
    let mut limbs = Zeroizing::new(Vec::with_capacity(values.len() / CHUNK + 1));
    for chunk in values.chunks(CHUNK) {
        let append = |(number, scale), value: &u8| (number * 58 + u64::from(*value), scale * 58);
        let (mut carry, scale) = chunk.iter().fold((0_u64, 1_u64), append);
        for limb in limbs.iter_mut() {
            let sum = u128::from(*limb) * u128::from(scale) + u128::from(carry);
            (*limb, carry) = (sum as u64, (sum >> 64) as u64);
        }
        if carry > 0 {
            limbs.push(carry);
        }
    }
    let zeros = values.iter().take_while(|value| **value == 0);
    let mut bytes = Zeroizing::new(Vec::with_capacity(values.len() + 8));
    bytes.extend(zeros);
    let number = limbs.iter().rev().flat_map(|limb| limb.to_be_bytes());
    bytes.extend(number.skip_while(|byte| *byte == 0));
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of draft-msporny-base58, and numbers at the ends of limbs.
    #[test]
    fn examples() {
        for (text, bytes) in [
            ("", &b""[..]),
            ("1", &[0]),
            ("2NEpo7TZRRrLZSi2U", b"Hello World!"),
            (
                "USm3fpXnKG5EUBx2ndxBDMPVciP5hGey2Jh4NDv6gmeo1LkMeiKrLJUUBk6Z",
                b"The quick brown fox jumps over the lazy dog.",
            ),
            ("11233QC4", &[0, 0, 0x28, 0x7f, 0xb4, 0xcd]),
            ("jpXCZedGfVQ", &[0xff; 8]),
            ("jpXCZedGfVR", &[1, 0, 0, 0, 0, 0, 0, 0, 0]),
        ] {
            let value = |c| ALPHABET.find(c).unwrap() as u8;
            let values: Vec<u8> = text.chars().map(value).collect();
            assert_eq!(*decode(&values), bytes, "{text}");
        }
    }
}
