//! CRC-64/NVME of a file from those of its leaves, so that all cores hash a large file.
//!
//! Source: the NVM Express Command Set Specification 1.0, section 5.2.1.3.4. The CRC of a message is the remainder of a
//! polynomial over GF(2), so that of two messages in sequence is the first one, multiplied by x^n, plus the second one, where
//! n is the length of the second message in bits. The inversion of all bits before and after a message cancels out.

/// The polynomial without x^64. Bit 63 is the coefficient of x^0.
const POLYNOMIAL: u64 = 0xad93_d235_94c9_3659_u64.reverse_bits();

/// The polynomial 1.
const ONE: u64 = 1 << 63;

/// Returns the product of two polynomials.
fn multiply(a: u64, mut b: u64) -> u64 {
    let mut product = 0;
    for power in (0..64).rev() {
        if a >> power & 1 == 1 {
            product ^= b;
        }
        // Multiplies by x.
        b = (b >> 1) ^ (if b & 1 == 1 { POLYNOMIAL } else { 0 });
    }
    product
}

/// Returns x to the power of the number of bits in `len_bytes` bytes.
fn shift(mut len_bytes: u64) -> u64 {
    let (mut result, mut square) = (ONE, ONE >> 8);
    while len_bytes > 0 {
        if len_bytes & 1 == 1 {
            result = multiply(result, square);
        }
        square = multiply(square, square);
        len_bytes >>= 1;
    }
    result
}

/// Computes the CRC of a file from those of its leaves, in order.
#[derive(Clone, Debug)]
pub(crate) struct Combined {
    /// The CRC so far.
    crc: u64,
    leaf_len: u64,
    /// The factor of a leaf of `leaf_len` bytes.
    factor: u64,
    /// Number of bytes of the file that follow.
    rest: u64,
}

impl Combined {
    /// Starts a file of `len_bytes` bytes. Each leaf has `leaf_len` bytes, and the last one may be shorter.
    pub(crate) fn new(leaf_len: u64, len_bytes: u64) -> Self {
        Self {
            crc: 0,
            leaf_len,
            factor: shift(leaf_len),
            rest: len_bytes,
        }
    }

    /// Appends the CRC of the next leaf.
    pub(crate) fn push(&mut self, crc: u64) {
        let len = self.leaf_len.min(self.rest);
        let factor = if len == self.leaf_len {
            self.factor
        } else {
            shift(len)
        };
        self.crc = multiply(self.crc, factor) ^ crc;
        self.rest -= len;
    }

    /// Returns the CRC of the file.
    pub(crate) fn finish(self) -> u64 {
        self.crc
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_of_all_lengths_have_the_crc_of_the_whole() {
        let crc64 = crc::Crc::<u64>::new(&crc::CRC_64_NVME);
        assert_eq!(crc64.checksum(b"123456789"), 0xae8b_1486_0a79_9888);
        let bytes: Vec<u8> = (0..1000_u32).map(|i| ((i * i) >> 3) as u8).collect();
        for len_bytes in [0, 1, 2, 63, 64, 65, 999, 1000] {
            let message = &bytes[..len_bytes];
            for leaf_len in [1, 3, 64, 500, 1000, 2000] {
                let mut combined = Combined::new(leaf_len, len_bytes as u64);
                for leaf in message.chunks(leaf_len as usize) {
                    combined.push(crc64.checksum(leaf));
                }
                let found = combined.finish();
                assert_eq!(found, crc64.checksum(message), "{len_bytes} {leaf_len}");
            }
        }
    }
}
