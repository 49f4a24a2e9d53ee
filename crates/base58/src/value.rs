//! Integers of 384 bits, which hold a payload of 44 bytes with its checksum.

use std::cmp::Ordering;

/// Number of limbs of 64 bits.
const LIMBS: usize = 6;

/// An integer modulo 2³⁸⁴, the least significant limb first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Value([u64; LIMBS]);

impl Value {
    /// Returns 2^`exponent`, or 0 if the result does not fit.
    pub(crate) fn power_of_two(exponent: u32) -> Self {
        let mut limbs = [0; LIMBS];
        if let Some(limb) = limbs.get_mut((exponent / 64) as usize) {
            *limb = 1 << (exponent % 64);
        }
        Self(limbs)
    }

    /// Returns the big-endian number in these bytes.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Self {
        let bytes = bytes.iter();
        bytes.fold(Self::default(), |value, byte| {
            value.times(256).plus(&(*byte).into())
        })
    }

    #[inline]
    pub(crate) fn plus(&self, other: &Self) -> Self {
        let mut limbs = [0; LIMBS];
        let mut carry = false;
        for i in 0..LIMBS {
            let (sum, a) = self.0[i].overflowing_add(other.0[i]);
            let (sum, b) = sum.overflowing_add(carry.into());
            (limbs[i], carry) = (sum, a || b);
        }
        Self(limbs)
    }

    #[inline]
    pub(crate) fn minus(&self, other: &Self) -> Self {
        let mut limbs = [0; LIMBS];
        let mut borrow = false;
        for i in 0..LIMBS {
            let (difference, a) = self.0[i].overflowing_sub(other.0[i]);
            let (difference, b) = difference.overflowing_sub(borrow.into());
            (limbs[i], borrow) = (difference, a || b);
        }
        Self(limbs)
    }

    pub(crate) fn times(&self, factor: u64) -> Self {
        let mut limbs = [0; LIMBS];
        let mut carry = 0;
        for i in 0..LIMBS {
            let product = u128::from(self.0[i]) * u128::from(factor) + carry;
            (limbs[i], carry) = (product as u64, product >> 64);
        }
        Self(limbs)
    }

    /// Returns the quotient and the remainder.
    pub(crate) fn divided_by(&self, divisor: u64) -> (Self, u64) {
        let mut limbs = [0; LIMBS];
        let mut rest = 0;
        for i in (0..LIMBS).rev() {
            let part = u128::from(rest) << 64 | u128::from(self.0[i]);
            limbs[i] = (part / u128::from(divisor)) as u64;
            rest = (part % u128::from(divisor)) as u64;
        }
        (Self(limbs), rest)
    }

    /// Shifts right by `n` bits.
    #[inline]
    pub(crate) fn shifted_right(&self, n: u32) -> Self {
        let mut limbs = [0; LIMBS];
        for (i, limb) in limbs.iter_mut().enumerate() {
            *limb = self.low_u64_from(n + 64 * i as u32);
        }
        Self(limbs)
    }

    /// Shifts left by `n` bits and drops the bits that do not fit.
    pub(crate) fn shifted_left(&self, n: u32) -> Self {
        let (by, shift) = ((n / 64) as usize, n % 64);
        let of = |limb: Option<usize>| limb.and_then(|limb| self.0.get(limb)).copied().unwrap_or(0);
        let mut limbs = [0; LIMBS];
        for (i, limb) in limbs.iter_mut().enumerate() {
            let high = of(i.checked_sub(by)) << shift;
            let low = of(i.checked_sub(by + 1));
            *limb = if shift == 0 {
                high
            } else {
                high | low >> (64 - shift)
            };
        }
        Self(limbs)
    }

    /// Returns 64 bits from bit `n` on. Bits beyond the highest are zero.
    #[inline]
    pub(crate) fn low_u64_from(&self, n: u32) -> u64 {
        let (limb, shift) = ((n / 64) as usize, n % 64);
        let of = |limb: usize| self.0.get(limb).copied().unwrap_or(0);
        if shift == 0 {
            of(limb)
        } else {
            of(limb) >> shift | of(limb + 1) << (64 - shift)
        }
    }

    /// Returns the number, or `None` if it has more than 128 bits.
    pub(crate) fn to_u128(self) -> Option<u128> {
        let [low, high, rest @ ..] = self.0;
        let is_small = rest.iter().all(|limb| *limb == 0);
        is_small.then(|| u128::from(high) << 64 | u128::from(low))
    }

    /// Returns 32 bits from bit `n` on. Bits beyond the highest are zero.
    #[inline]
    pub(crate) fn word(&self, n: u32) -> u32 {
        self.low_u64_from(n) as u32
    }
}

impl From<u8> for Value {
    fn from(byte: u8) -> Self {
        u64::from(byte).into()
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        let mut limbs = [0; LIMBS];
        limbs[0] = number;
        Self(limbs)
    }
}

impl Ord for Value {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.iter().rev().cmp(other.0.iter().rev())
    }
}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with the compiler's 128-bit arithmetic.
    #[test]
    fn arithmetic_matches_the_compilers() {
        let of = |number: u128| {
            let bytes = number.to_be_bytes();
            Value::from_bytes(&bytes)
        };
        let numbers = [
            0,
            1,
            58,
            u128::from(u64::MAX),
            1 << 64,
            u128::MAX / 3,
            u128::MAX / 58,
        ];
        for a in numbers {
            for n in [0, 1, 31, 63, 64, 65, 100, 200] {
                assert_eq!(of(a).shifted_left(n).shifted_right(n), of(a), "{a} {n}");
                let expected = a.checked_shr(n).unwrap_or(0);
                assert_eq!(of(a).shifted_right(n), of(expected), "{a} {n}");
                assert_eq!(of(a).low_u64_from(n), expected as u64, "{a} {n}");
            }
            assert_eq!(of(a).times(3), of(a).plus(&of(a)).plus(&of(a)));
            let (quotient, rest) = of(a).divided_by(58);
            assert_eq!((quotient, u128::from(rest)), (of(a / 58), a % 58));
            for b in numbers {
                assert_eq!(of(a).plus(&of(b)).minus(&of(b)), of(a));
                assert_eq!(of(a).cmp(&of(b)), a.cmp(&b));
            }
        }
        assert_eq!(
            Value::power_of_two(300),
            Value::from(1_u64).shifted_left(300)
        );
    }
}
