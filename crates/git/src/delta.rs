//! Objects as changes to other objects (Git's documentation, `gitformat-pack`, "Deltified
//! representation").

use crate::report::Wrong;

/// Returns the lengths of the base and of the result, and the instructions.
pub(crate) fn lengths(delta: &[u8]) -> Result<(u64, u64, &[u8]), Wrong> {
    let mut rest = delta;
    let base = length(&mut rest)?;
    let result = length(&mut rest)?;
    Ok((base, result, rest))
}

/// Reads a number of seven bits per byte, the lowest first.
fn length(bytes: &mut &[u8]) -> Result<u64, Wrong> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let byte = next(bytes)?;
        let bits = u64::from(byte & 0x7f);
        if bits << shift >> shift != bits {
            return Err(Wrong::Delta);
        }
        number |= bits << shift;
        if byte & 0x80 == 0 {
            return Ok(number);
        }
    }
    Err(Wrong::Delta)
}

fn next(bytes: &mut &[u8]) -> Result<u8, Wrong> {
    let (first, rest) = bytes.split_first().ok_or(Wrong::Delta)?;
    *bytes = rest;
    Ok(*first)
}

/// Appends the object that `instructions` make of `base` to `result`, whose capacity limits it.
pub(crate) fn apply(
    base: &[u8],
    mut instructions: &[u8],
    result_len: usize,
    result: &mut Vec<u8>,
) -> Result<(), Wrong> {
    let end = result.len() + result_len;
    while !instructions.is_empty() {
        let instruction = next(&mut instructions)?;
        let bytes = if instruction & 0x80 != 0 {
            let mut number = |first: u32, n: u32| -> Result<usize, Wrong> {
                let mut number = 0;
                for i in 0..n {
                    if instruction >> (first + i) & 1 == 1 {
                        number |= usize::from(next(&mut instructions)?) << (8 * i);
                    }
                }
                Ok(number)
            };
            let offset = number(0, 4)?;
            let len = match number(4, 3)? {
                0 => 0x10000,
                len => len,
            };
            base.get(offset..)
                .and_then(|bytes| bytes.get(..len))
                .ok_or(Wrong::Delta)?
        } else {
            // Zero is reserved.
            let len = usize::from(instruction);
            if len == 0 {
                return Err(Wrong::Delta);
            }
            let (bytes, rest) = instructions.split_at_checked(len).ok_or(Wrong::Delta)?;
            instructions = rest;
            bytes
        };
        if bytes.len() > end - result.len() {
            return Err(Wrong::Delta);
        }
        result.extend_from_slice(bytes);
    }
    if result.len() == end {
        Ok(())
    } else {
        Err(Wrong::Delta)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_copy_and_insert() {
        // Insert "ab", copy three bytes from byte 2, copy 65,536 bytes from byte 0.
        let base: Vec<u8> = (0..70_000_u32).map(|n| n as u8).collect();
        let delta = [2, b'a', b'b', 0b1001_0001, 2, 3, 0b1000_0000];
        let mut result = b"head".to_vec();
        apply(&base, &delta, 65_541, &mut result).expect("valid");
        assert_eq!(result[..9], *b"headab\x02\x03\x04");
        assert_eq!(result[9..], base[..65_536]);
    }

    #[test]
    fn invalid_instructions_are_refused() {
        for (delta, len) in [
            (&[0][..], 0),                  // reserved
            (&[3, 1, 2], 3),                // too few bytes to insert
            (&[1, 7], 2),                   // too short
            (&[1, 7], 0),                   // too long
            (&[0b1001_0001, 8, 3], 3),      // past the end of the base
            (&[0b1001_0001, 8], 3),         // no length
            (&[0b1000_1000, 255], 0x10000), // an offset past the end of the base
        ] {
            let wrong = apply(&[0; 10], delta, len, &mut Vec::new());
            assert_eq!(wrong, Err(Wrong::Delta), "{delta:?}");
        }
        for delta in [&[0x80][..], &[0xff; 20], &[0; 1]] {
            assert!(lengths(delta).is_err(), "{delta:?}");
        }
        assert_eq!(lengths(&[0x81, 1, 2, 9]), Ok((129, 2, &[9][..])));
    }
}
