//! The CRC-32 of a window that moves by one byte.

/// The reflected polynomial of ISO 3309.
const POLYNOMIAL: u32 = 0xedb8_8320;

/// The state for no bytes, and the difference between a state and the CRC-32.
const ONES: u32 = u32::MAX;

const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut state = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            state = (state >> 1) ^ (POLYNOMIAL * (state & 1));
            bit += 1;
        }
        table[byte] = state;
        byte += 1;
    }
    table
}

static TABLE: [u32; 256] = table();

fn append(state: u32, byte: u8) -> u32 {
    TABLE[usize::from(state as u8 ^ byte)] ^ (state >> 8)
}

/// The change of a state by zeros, as a linear map: the images of the bits.
type Map = [u32; 32];

fn apply(map: &Map, state: u32) -> u32 {
    let images = map
        .iter()
        .enumerate()
        .filter(|(bit, _)| state >> bit & 1 == 1);
    images.fold(0, |sum, (_, image)| sum ^ image)
}

/// Returns the map for this number of zero bytes.
fn zeros(mut n: u64) -> Map {
    let bit = |bit: usize| 1_u32 << bit;
    let mut power: Map = std::array::from_fn(|i| append(bit(i), 0));
    let mut map: Map = std::array::from_fn(bit);
    while n > 0 {
        if n & 1 == 1 {
            map = map.map(|image| apply(&power, image));
        }
        power = power.map(|image| apply(&power, image));
        n >>= 1;
    }
    map
}

/// The CRC-32 of windows of one length.
pub(crate) struct Rolling {
    /// What a byte that leaves the window adds to the state.
    leaving: Box<[u32; 256]>,
}

impl Rolling {
    /// Returns the tables for windows of `len` bytes.
    pub(crate) fn new(len: u64) -> Self {
        let map = zeros(len);
        // The first state moves by one byte more, like the byte that leaves.
        let first = apply(&map, ONES) ^ apply(&map, append(ONES, 0));
        let leaving = std::array::from_fn(|byte| apply(&map, TABLE[byte]) ^ first);
        Self {
            leaving: Box::new(leaving),
        }
    }

    /// Moves the window by one byte.
    pub(crate) fn roll(&self, crc32: u32, leaving: u8, entering: u8) -> u32 {
        append(crc32 ^ ONES, entering) ^ self.leaving[usize::from(leaving)] ^ ONES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rolled_checksums_are_those_of_the_windows() {
        let bytes: Vec<u8> = (0..3000_u32).map(|i| (i * i / 7) as u8).collect();
        for len in [1, 4, 100, 1024] {
            let rolling = Rolling::new(len as u64);
            let mut crc32 = crc32fast::hash(&bytes[..len]);
            for at in 0..bytes.len() - len {
                crc32 = rolling.roll(crc32, bytes[at], bytes[at + len]);
                assert_eq!(crc32, crc32fast::hash(&bytes[at + 1..at + 1 + len]));
            }
        }
    }
}
