//! The field GF(2¹⁶) of PAR2, with the polynomial x¹⁶ + x¹² + x³ + x + 1.

use std::sync::OnceLock;

/// The polynomial that reduces products.
const POLYNOMIAL: u32 = 0x1100b;

/// Number of elements other than zero.
const ORDER: u32 = 0xffff;

/// Logarithms to the base 2, and powers of 2, which are all elements other than zero.
struct Tables {
    logs: Vec<u16>,
    powers: Vec<u16>,
}

fn tables() -> &'static Tables {
    static TABLES: OnceLock<Tables> = OnceLock::new();
    TABLES.get_or_init(|| {
        let mut logs = vec![0; 0x1_0000];
        let mut powers = vec![0; 0x1_0000];
        let mut power = 1;
        for log in 0..=u16::MAX {
            // The last power is the first one again, so that a sum of logarithms need not be reduced to zero.
            powers[usize::from(log)] = power;
            if u32::from(log) < ORDER {
                logs[usize::from(power)] = log;
            }
            power = double(power);
        }
        Tables { logs, powers }
    })
}

/// Returns the product of an element and 2.
pub(crate) const fn double(a: u16) -> u16 {
    let doubled = (a as u32) << 1;
    (if doubled > 0xffff {
        doubled ^ POLYNOMIAL
    } else {
        doubled
    }) as u16
}

/// Returns the power of 2 with this exponent.
fn power_of_two(exponent: u64) -> u16 {
    tables().powers[(exponent % u64::from(ORDER)) as usize]
}

/// Returns the product of two elements.
#[cfg(test)]
pub(crate) fn product(a: u16, b: u16) -> u16 {
    if a == 0 || b == 0 {
        return 0;
    }
    let log = |a: u16| u64::from(tables().logs[usize::from(a)]);
    power_of_two(log(a) + log(b))
}

/// Returns the inverse of an element.
///
/// # Panics
/// If the element is zero.
pub(crate) fn inverse(a: u16) -> u16 {
    assert_ne!(a, 0, "zero has no inverse");
    power_of_two(u64::from(ORDER) - u64::from(tables().logs[usize::from(a)]))
}

/// Returns the logarithms of the constants of the first `n` slices: the numbers that share no divisor with the order of the
/// field, which are 32,768.
pub(crate) fn slice_logs(n: usize) -> Vec<u16> {
    let logs = 1..=u16::MAX;
    let is_used = |log: &u16| {
        [3, 5, 17, 257]
            .iter()
            .all(|divisor| !log.is_multiple_of(*divisor))
    };
    logs.filter(is_used).take(n).collect()
}

/// Returns the factor of a slice in the recovery slice with this exponent: a power of the slice's constant.
pub(crate) fn factor(slice_log: u16, exponent: u16) -> u16 {
    power_of_two(u64::from(slice_log) * u64::from(exponent))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Multiplies as on paper.
    pub(crate) fn long_product(a: u16, b: u16) -> u16 {
        let mut sum = 0_u32;
        for bit in 0..16 {
            if b >> bit & 1 == 1 {
                sum ^= u32::from(a) << bit;
            }
        }
        for bit in (16..32).rev() {
            if sum >> bit & 1 == 1 {
                sum ^= POLYNOMIAL << (bit - 16);
            }
        }
        sum as u16
    }

    #[test]
    fn products_and_inverses() {
        for a in (0..=u16::MAX).step_by(97) {
            for b in (0..=u16::MAX).step_by(89) {
                assert_eq!(product(a, b), long_product(a, b), "{a} {b}");
            }
        }
        for a in 1..=u16::MAX {
            assert_eq!(product(a, inverse(a)), 1, "{a}");
        }
    }

    #[test]
    fn constants_of_slices() {
        // The specification lists the first constants: 2, 4, 16, 128, 256, 2048, 8192, ...
        let logs = slice_logs(usize::MAX);
        assert_eq!(logs.len(), 32768);
        let first: Vec<u16> = logs.iter().take(7).map(|log| factor(*log, 1)).collect();
        assert_eq!(first, [2, 4, 16, 128, 256, 2048, 8192]);
        assert_eq!(factor(logs[5], 0), 1);
        let square = product(factor(logs[9], 1), factor(logs[9], 1));
        assert_eq!(factor(logs[9], 2), square);
        assert_eq!(factor(logs[9], u16::MAX), 1);
    }
}
