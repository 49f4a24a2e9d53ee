//! Operations on the bytes of a vector, for arithmetic in finite fields.

use crate::Vectorize;

/// Length in bytes of the unit in which bytes are loaded: the longest vector.
pub const UNIT_LEN: usize = 64;

/// Bytes that are loaded into one or several vectors.
pub type Unit = [u8; UNIT_LEN];

/// A vector instruction set, whose vectors are seen as bytes.
///
/// As for [`Simd`](crate::Simd), all methods are `#[inline(always)]`.
pub trait Bytes: Vectorize {
    /// A vector.
    type B: Copy;

    /// Number of vectors in a unit.
    const PER_UNIT: usize;

    /// Loads vector `n` of a unit.
    ///
    /// # Panics
    /// If `n` is not less than [`Self::PER_UNIT`].
    fn load_bytes(self, unit: &Unit, n: usize) -> Self::B;

    /// Overwrites vector `n` of a unit.
    ///
    /// # Panics
    /// If `n` is not less than [`Self::PER_UNIT`].
    fn store_bytes(self, a: Self::B, unit: &mut Unit, n: usize);

    /// Returns the bits that exactly one of both has.
    fn xor_bytes(self, a: Self::B, b: Self::B) -> Self::B;
}

/// A vector instruction set whose bytes can index a table of sixteen bytes.
pub trait ByteTables: Bytes {
    /// Returns the table for [`Self::look_up`].
    fn table(self, table: &[u8; 16]) -> Self::B;

    /// Returns for each byte of `indices` the byte of the table at this index. All indices are less than 16.
    fn look_up(self, table: Self::B, indices: Self::B) -> Self::B;

    /// Returns the low four bits of each byte.
    fn low_nibbles(self, a: Self::B) -> Self::B;

    /// Returns the high four bits of each byte.
    fn high_nibbles(self, a: Self::B) -> Self::B;
}

/// A vector instruction set that multiplies bytes, as vectors of eight bits, by a matrix of bits.
pub trait Affine: Bytes {
    /// Returns the matrix for [`Self::multiply`]. Byte `7 - i` of the integer, counted from the lowest, has the bits of the
    /// factor whose sum is bit `i` of the product.
    fn matrix(self, rows: u64) -> Self::B;

    /// Returns the product of the matrix and each byte.
    fn multiply(self, matrix: Self::B, a: Self::B) -> Self::B;
}

/// One byte as a vector, and the product of the instruction of x86 computed bit by bit. Kernels for [`Affine`] are tested
/// with it on CPUs without the instruction.
#[derive(Clone, Copy, Debug)]
pub struct PortableMatrices;

impl Vectorize for PortableMatrices {
    #[inline(always)]
    fn vectorize<R>(self, f: impl FnOnce() -> R) -> R {
        f()
    }
}

impl Bytes for PortableMatrices {
    type B = u64;
    const PER_UNIT: usize = UNIT_LEN;

    #[inline(always)]
    fn load_bytes(self, unit: &Unit, n: usize) -> u64 {
        unit[n].into()
    }

    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "a vector is one byte")]
    fn store_bytes(self, a: u64, unit: &mut Unit, n: usize) {
        unit[n] = a as u8;
    }

    #[inline(always)]
    fn xor_bytes(self, a: u64, b: u64) -> u64 {
        a ^ b
    }
}

impl Affine for PortableMatrices {
    #[inline(always)]
    fn matrix(self, rows: u64) -> u64 {
        rows
    }

    #[inline(always)]
    fn multiply(self, matrix: u64, a: u64) -> u64 {
        // Intel's manual, volume 2, GF2P8AFFINEQB.
        let mut product = 0;
        for (i, row) in matrix.to_be_bytes().into_iter().enumerate() {
            product |= u64::from((u64::from(row) & a).count_ones() & 1) << i;
        }
        product
    }
}
