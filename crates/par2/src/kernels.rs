//! Kernels that multiply words of GF(2¹⁶) by a constant, and add them to sums.
//!
//! # Planes
//!
//! A group holds the low bytes of 64 words, then their high bytes. A word times a constant is a linear map of its bits. A
//! kernel composes it of maps of bytes: by tables of sixteen bytes for each of the four nibbles of a word (PSHUFB, VTBL), or
//! by matrices of 8 × 8 bits (GFNI). With low and high bytes apart, no instruction is spent on separating them.
//!
//! # Ports
//!
//! Instructions for two vectors, the low and the high bytes of as many words as a vector has bytes, of one input and one sum:
//!
//! | kernel | loads | stores | shifts and masks | shuffles | products | sums |
//! |---|---|---|---|---|---|---|
//! | tables | 4 | 2 | 6 | 8 | – | 8 |
//! | matrices | 4 | 2 | – | – | 4 | 4 |
//!
//! With `N` inputs at once, the sums are loaded and stored once for all of them. Zen 3 has four vector pipes, two of which
//! shuffle: 22 instructions take 5.5 cycles, and the shuffles alone 4. A pass over 64 bytes with AVX2 so takes at least 5.5
//! cycles. Cores of Intel since Ice Lake have three pipes for 256 bits, two of which shuffle: 7.3 cycles. With matrices, Zen 4
//! and Sapphire Rapids are bound by two products per cycle: 2 cycles for 64 bytes, or 128 bytes with AVX-512.

use hashlane_simd::{Affine, ByteTables, UNIT_LEN, Unit};

use crate::gf;

/// Number of bytes of a group.
pub(crate) const GROUP_LEN: usize = 2 * UNIT_LEN;

/// 64 words.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(crate) struct Group {
    low: Unit,
    high: Unit,
}

impl Group {
    /// Zeros.
    pub(crate) const ZERO: Self = Self {
        low: [0; UNIT_LEN],
        high: [0; UNIT_LEN],
    };

    /// Returns a word.
    pub(crate) fn word(&self, at: usize) -> u16 {
        u16::from_le_bytes([self.low[at], self.high[at]])
    }

    /// Overwrites a word.
    pub(crate) fn set_word(&mut self, at: usize, word: u16) {
        [self.low[at], self.high[at]] = word.to_le_bytes();
    }
}

/// Overwrites groups with the little-endian words of `bytes`. Missing bytes are zeros.
///
/// # Panics
/// If the bytes need more groups.
pub(crate) fn split(bytes: &[u8], groups: &mut [Group]) {
    let (whole, rest) = bytes.as_chunks::<GROUP_LEN>();
    let (first, after) = groups.split_at_mut(whole.len());
    for (group, bytes) in first.iter_mut().zip(whole) {
        split_one(bytes, group);
    }
    let mut padded = [0; GROUP_LEN];
    padded[..rest.len()].copy_from_slice(rest);
    if let Some((group, after)) = after.split_first_mut() {
        split_one(&padded, group);
        after.fill(Group::ZERO);
    } else {
        assert!(rest.is_empty(), "the bytes need more groups");
    }
}

fn split_one(bytes: &[u8; GROUP_LEN], group: &mut Group) {
    // Words first: the compiler makes vectors of this form, and not of pairs of bytes: 34 instead of 1.3 GB/s on
    // Zen 3 (2026-12-01).
    let mut words = [0_u16; UNIT_LEN];
    for (word, bytes) in words.iter_mut().zip(bytes.as_chunks::<2>().0) {
        *word = u16::from_le_bytes(*bytes);
    }
    for (low, word) in group.low.iter_mut().zip(&words) {
        *low = *word as u8;
    }
    for (high, word) in group.high.iter_mut().zip(&words) {
        *high = (*word >> 8) as u8;
    }
}

/// Overwrites `bytes` with the words of the groups.
///
/// # Panics
/// If the bytes need more groups.
pub(crate) fn join(groups: &[Group], bytes: &mut [u8]) {
    assert!(bytes.len() <= groups.len() * GROUP_LEN, "too few groups");
    for (group, bytes) in groups.iter().zip(bytes.chunks_mut(GROUP_LEN)) {
        let mut joined = [0; GROUP_LEN];
        let (words, _) = joined.as_chunks_mut::<2>();
        for (word, (low, high)) in words.iter_mut().zip(group.low.iter().zip(&group.high)) {
            *word = [*low, *high];
        }
        bytes.copy_from_slice(&joined[..bytes.len()]);
    }
}

/// A constant as tables: for each nibble of a word, from the lowest, the low and the high bytes of its multiples.
pub(crate) type NibbleTables = [[[u8; 16]; 2]; 4];

/// A constant as matrices: from low to low bytes, from high to low, from low to high, and from high to high.
pub(crate) type Matrices = [u64; 4];

/// Returns the constant times 2⁰ to 2¹⁵.
fn images(constant: u16) -> [u16; 16] {
    let mut image = constant;
    [(); 16].map(|()| {
        let this = image;
        image = gf::double(image);
        this
    })
}

pub(crate) fn nibble_tables(constant: u16) -> NibbleTables {
    let images = images(constant);
    let mut tables = [[[0; 16]; 2]; 4];
    for (table, images) in tables.iter_mut().zip(images.as_chunks::<4>().0) {
        let mut multiples = [0_u16; 16];
        for (bit, image) in images.iter().enumerate() {
            for lower in 0..1 << bit {
                multiples[lower | 1 << bit] = multiples[lower] ^ image;
            }
        }
        for (at, multiple) in multiples.into_iter().enumerate() {
            [table[0][at], table[1][at]] = multiple.to_le_bytes();
        }
    }
    tables
}

pub(crate) fn matrices(constant: u16) -> Matrices {
    let images = images(constant);
    // Row `i` of a matrix has the factors' bits that bit `i` of the product is the sum of. It is byte `7 - i`.
    let matrix = |from: usize, to: usize| {
        let mut rows = 0_u64;
        for (bit, image) in images[8 * from..8 * from + 8].iter().enumerate() {
            let byte = u64::from(image.to_le_bytes()[to]);
            for row in 0..8 {
                rows |= (byte >> row & 1) << (8 * (7 - row) + bit);
            }
        }
        rows
    };
    [matrix(0, 0), matrix(1, 0), matrix(0, 1), matrix(1, 1)]
}

/// The two forms of kernels, and the one without vectors.
trait Body: Copy {
    type Factor: Copy;

    fn factor(constant: u16) -> Self::Factor;

    /// Adds the products of inputs and factors to the sums. All have the same number of groups.
    fn add_products(self, sums: &mut [Group], inputs: &[&[Group]], factors: &[Self::Factor]);
}

/// A kernel with tables, which takes up to `N` inputs at once.
#[derive(Clone, Copy)]
struct WithTables<S, const N: usize>(S);

impl<S: ByteTables, const N: usize> Body for WithTables<S, N> {
    type Factor = NibbleTables;

    fn factor(constant: u16) -> NibbleTables {
        nibble_tables(constant)
    }

    #[inline(always)]
    fn add_products(self, sums: &mut [Group], inputs: &[&[Group]], factors: &[NibbleTables]) {
        let (inputs, last_inputs) = inputs.as_chunks::<N>();
        let (factors, last_factors) = factors.as_chunks::<N>();
        for (inputs, factors) in inputs.iter().zip(factors) {
            add_by_tables(self.0, sums, inputs, factors);
        }
        for (input, factor) in last_inputs.iter().zip(last_factors) {
            add_by_tables(self.0, sums, &[*input], &[*factor]);
        }
    }
}

#[inline(always)]
fn add_by_tables<S: ByteTables, const N: usize>(
    s: S,
    sums: &mut [Group],
    inputs: &[&[Group]; N],
    factors: &[NibbleTables; N],
) {
    let inputs = inputs.map(|input| &input[..sums.len()]);
    s.vectorize(
        #[inline(always)]
        || {
            let mut tables = [[[s.table(&[0; 16]); 2]; 4]; N];
            for i in 0..N {
                for nibble in 0..4 {
                    for byte in 0..2 {
                        tables[i][nibble][byte] = s.table(&factors[i][nibble][byte]);
                    }
                }
            }
            for at in 0..sums.len() {
                let sum = &mut sums[at];
                for n in 0..S::PER_UNIT {
                    let mut low = s.load_bytes(&sum.low, n);
                    let mut high = s.load_bytes(&sum.high, n);
                    for i in 0..N {
                        let from_low = s.load_bytes(&inputs[i][at].low, n);
                        let from_high = s.load_bytes(&inputs[i][at].high, n);
                        let nibbles = [
                            s.low_nibbles(from_low),
                            s.high_nibbles(from_low),
                            s.low_nibbles(from_high),
                            s.high_nibbles(from_high),
                        ];
                        for nibble in 0..4 {
                            let [to_low, to_high] = tables[i][nibble];
                            low = s.xor_bytes(low, s.look_up(to_low, nibbles[nibble]));
                            high = s.xor_bytes(high, s.look_up(to_high, nibbles[nibble]));
                        }
                    }
                    s.store_bytes(low, &mut sum.low, n);
                    s.store_bytes(high, &mut sum.high, n);
                }
            }
        },
    );
}

/// A kernel with matrices, which takes up to `N` inputs at once.
#[derive(Clone, Copy)]
struct WithMatrices<S, const N: usize>(S);

impl<S: Affine, const N: usize> Body for WithMatrices<S, N> {
    type Factor = Matrices;

    fn factor(constant: u16) -> Matrices {
        matrices(constant)
    }

    #[inline(always)]
    fn add_products(self, sums: &mut [Group], inputs: &[&[Group]], factors: &[Matrices]) {
        let (inputs, last_inputs) = inputs.as_chunks::<N>();
        let (factors, last_factors) = factors.as_chunks::<N>();
        for (inputs, factors) in inputs.iter().zip(factors) {
            add_by_matrices(self.0, sums, inputs, factors);
        }
        for (input, factor) in last_inputs.iter().zip(last_factors) {
            add_by_matrices(self.0, sums, &[*input], &[*factor]);
        }
    }
}

#[inline(always)]
fn add_by_matrices<S: Affine, const N: usize>(
    s: S,
    sums: &mut [Group],
    inputs: &[&[Group]; N],
    factors: &[Matrices; N],
) {
    let inputs = inputs.map(|input| &input[..sums.len()]);
    s.vectorize(
        #[inline(always)]
        || {
            let mut matrices = [[s.matrix(0); 4]; N];
            for i in 0..N {
                for part in 0..4 {
                    matrices[i][part] = s.matrix(factors[i][part]);
                }
            }
            for at in 0..sums.len() {
                let sum = &mut sums[at];
                for n in 0..S::PER_UNIT {
                    let mut low = s.load_bytes(&sum.low, n);
                    let mut high = s.load_bytes(&sum.high, n);
                    for i in 0..N {
                        let from_low = s.load_bytes(&inputs[i][at].low, n);
                        let from_high = s.load_bytes(&inputs[i][at].high, n);
                        let [low_low, high_low, low_high, high_high] = matrices[i];
                        low = s.xor_bytes(low, s.multiply(low_low, from_low));
                        low = s.xor_bytes(low, s.multiply(high_low, from_high));
                        high = s.xor_bytes(high, s.multiply(low_high, from_low));
                        high = s.xor_bytes(high, s.multiply(high_high, from_high));
                    }
                    s.store_bytes(low, &mut sum.low, n);
                    s.store_bytes(high, &mut sum.high, n);
                }
            }
        },
    );
}

/// The kernel without vectors: one table for each byte of a word.
#[derive(Clone, Copy)]
struct Words;

impl Body for Words {
    type Factor = NibbleTables;

    fn factor(constant: u16) -> NibbleTables {
        nibble_tables(constant)
    }

    fn add_products(self, sums: &mut [Group], inputs: &[&[Group]], factors: &[NibbleTables]) {
        for (input, factor) in inputs.iter().zip(factors) {
            let multiple = |nibble: usize, at: usize| {
                let [low, high] = &factor[nibble];
                u16::from_le_bytes([low[at], high[at]])
            };
            let table = |first: usize| -> [u16; 256] {
                std::array::from_fn(|at| multiple(first, at & 15) ^ multiple(first + 1, at >> 4))
            };
            let (of_low, of_high) = (table(0), table(2));
            for (sum, input) in sums.iter_mut().zip(*input) {
                for at in 0..UNIT_LEN {
                    let product =
                        of_low[usize::from(input.low[at])] ^ of_high[usize::from(input.high[at])];
                    let [low, high] = product.to_le_bytes();
                    sum.low[at] ^= low;
                    sum.high[at] ^= high;
                }
            }
        }
    }
}

/// Maximum number of groups of a tile: 4 KiB, so that a sum stays in the first cache, and a batch of sixteen inputs in the
/// second one.
pub(crate) const TILE: usize = 32;

/// Number of sums whose factors are kept for all tiles: at most 256 KiB.
const SUMS_PER_PASS: usize = 128;

/// Columns of sums: tiles that follow each other, each with the same columns of all sums.
pub(crate) struct Tiles<'t> {
    pub(crate) groups: &'t mut [Group],
    /// Number of groups of a sum in a tile.
    pub(crate) width: usize,
    /// Number of sums.
    pub(crate) n_sums: usize,
}

/// Adds the products of inputs and factors to each sum. The inputs of a tile stay in the second cache for all sums. They start
/// in the columns of the first tile, and may end within the last one.
fn add_all<B: Body>(
    body: B,
    Tiles {
        groups,
        width,
        n_sums,
    }: Tiles<'_>,
    inputs: &[&[Group]],
    factor: impl Fn(usize, usize) -> u16,
) {
    let len = inputs.first().map_or(0, |input| input.len());
    let mut factors = Vec::new();
    let mut tile_inputs = Vec::with_capacity(inputs.len());
    for first in (0..n_sums).step_by(SUMS_PER_PASS) {
        let sums = first..n_sums.min(first + SUMS_PER_PASS);
        factors.clear();
        for sum in sums.clone() {
            factors.extend((0..inputs.len()).map(|input| B::factor(factor(sum, input))));
        }
        let whole = groups.chunks_exact_mut(n_sums * width);
        for (tile, start) in whole.zip((0..len).step_by(width)) {
            let columns = start..len.min(start + width);
            tile_inputs.clear();
            tile_inputs.extend(inputs.iter().map(|input| &input[columns.clone()]));
            let rows = tile.chunks_exact_mut(width).skip(sums.start);
            for (sum, factors) in rows.zip(factors.chunks_exact(inputs.len())) {
                body.add_products(&mut sum[..columns.len()], &tile_inputs, factors);
            }
        }
    }
}

/// Defines the kernels, the best first, and the call of each.
macro_rules! kernels {
    ($($(#[$cfg:meta])* $token:ident $name:literal: $body:ident<$n:literal>;)*) => {
        /// A kernel for the arithmetic of recovery slices.
        #[derive(Clone, Copy, Debug)]
        pub struct Kernel(Token);

        #[derive(Clone, Copy, Debug)]
        enum Token {
            $($(#[$cfg])* $token(hashlane_simd::$token),)*
            Portable,
        }

        impl Kernel {
            /// Returns the kernels that this CPU can run, the best first. The last one runs everywhere.
            pub fn available() -> impl Iterator<Item = Self> {
                let all = [
                    $($(#[$cfg])* hashlane_simd::$token::detect().map(Token::$token),)*
                    Some(Token::Portable),
                ];
                all.into_iter().flatten().map(Self)
            }

            /// Returns the names of all kernels of this architecture, the best first.
            pub fn names() -> &'static [&'static str] {
                &[$($(#[$cfg])* $name,)* "portable"]
            }

            /// Returns the name, for example `avx2`.
            pub fn name(self) -> &'static str {
                match self.0 {
                    $($(#[$cfg])* Token::$token(_) => $name,)*
                    Token::Portable => "portable",
                }
            }

            /// Adds the products of inputs and factors to each sum. `factor` gets the number of the sum and of the input.
            ///
            /// # Panics
            /// If inputs differ in length.
            pub(crate) fn add_products(
                self,
                tiles: Tiles<'_>,
                inputs: &[&[Group]],
                factor: impl Fn(usize, usize) -> u16,
            ) {
                match self.0 {
                    $($(#[$cfg])* Token::$token(s) => {
                        add_all($body::<_, $n>(s), tiles, inputs, factor);
                    })*
                    Token::Portable => add_all(Words, tiles, inputs, factor),
                }
            }
        }
    };
}

kernels! {
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    Avx512Gfni "avx512-gfni": WithMatrices<4>;
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    Avx2Gfni "avx2-gfni": WithMatrices<2>;
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    Avx512 "avx512": WithTables<2>;
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    Avx2 "avx2": WithTables<1>;
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    Ssse3 "ssse3": WithTables<1>;
    #[cfg(target_arch = "aarch64")]
    Neon "neon": WithTables<2>;
}

impl Kernel {
    /// Returns the best kernel for this CPU.
    pub fn detect() -> Self {
        Self::available().next().unwrap_or(Self(Token::Portable))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::not_run::not_run;
    use hashlane_simd::PortableMatrices;

    fn word(seed: usize) -> u16 {
        ((seed as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as u16
    }

    fn bytes(seed: usize, len: usize) -> Vec<u8> {
        (0..len).map(|i| word(seed * 1_000_003 + i) as u8).collect()
    }

    /// Computes sums by `add`, and compares them with products of single words.
    fn check(name: &str, add: impl Fn(Tiles<'_>, &[&[Group]], &dyn Fn(usize, usize) -> u16)) {
        // Whole and partial tiles, numbers of inputs around the numbers that kernels take at once, and zero as a factor.
        for (n_groups, width, n_inputs, n_sums) in [
            (1, 1, 1, 1),
            (2, 2, 0, 2),
            (3, 3, 2, 3),
            (33, 32, 5, 2),
            (70, 32, 9, 3),
            (1, 1, 3, 300),
            (7, 3, 4, 130),
        ] {
            let len = n_groups * GROUP_LEN - 2;
            let factor = |sum: usize, input: usize| match word(sum * 31 + input) {
                even if even % 7 == 0 => even % 5,
                other => other,
            };
            let inputs: Vec<Vec<u8>> = (0..n_inputs).map(|i| bytes(i, len)).collect();
            let planes: Vec<Vec<Group>> = inputs
                .iter()
                .map(|input| {
                    let mut groups = vec![Group::ZERO; n_groups];
                    split(input, &mut groups);
                    groups
                })
                .collect();
            let planes: Vec<&[Group]> = planes.iter().map(Vec::as_slice).collect();
            let n_tiles = n_groups.div_ceil(width);
            let before: Vec<Vec<u8>> = (0..n_sums).map(|i| bytes(77 + i, len)).collect();
            let mut groups = vec![Group::ZERO; n_tiles * width * n_sums];
            for tile in 0..n_tiles {
                for (sum, before) in before.iter().enumerate() {
                    let start = tile * width * GROUP_LEN;
                    let part = &before[start..len.min(start + width * GROUP_LEN)];
                    split(part, &mut groups[(tile * n_sums + sum) * width..][..width]);
                }
            }
            add(
                Tiles {
                    groups: &mut groups,
                    width,
                    n_sums,
                },
                &planes,
                &factor,
            );
            for number in 0..n_sums {
                let mut found = vec![0; n_tiles * width * GROUP_LEN];
                for (tile, part) in found.chunks_mut(width * GROUP_LEN).enumerate() {
                    join(&groups[(tile * n_sums + number) * width..][..width], part);
                }
                found.truncate(len);
                let mut expected = before[number].clone();
                for (i, input) in inputs.iter().enumerate() {
                    let words = input.as_chunks::<2>().0.iter();
                    for (to, from) in expected.as_chunks_mut::<2>().0.iter_mut().zip(words) {
                        let product = gf::product(u16::from_le_bytes(*from), factor(number, i));
                        *to = (u16::from_le_bytes(*to) ^ product).to_le_bytes();
                    }
                }
                assert_eq!(found, expected, "{name}: {n_groups} {n_inputs} {number}");
            }
        }
    }

    #[test]
    fn kernels_compute_sums_of_products() {
        let mut tested = Vec::new();
        for kernel in Kernel::available() {
            check(kernel.name(), |sums, inputs, factor| {
                kernel.add_products(sums, inputs, factor);
            });
            tested.push(kernel.name());
        }
        for name in Kernel::names().iter().filter(|name| !tested.contains(name)) {
            let what = format!("the kernel {name} of hashlane-par2");
            not_run(&what, "this CPU lacks it", "use a CPU that has it");
        }
    }

    /// The bodies and factors of the kernels for GFNI, with the product of the instruction's definition.
    #[test]
    fn matrices_compute_sums_of_products() {
        check("1 input", |sums, inputs, factor| {
            add_all(WithMatrices::<_, 1>(PortableMatrices), sums, inputs, factor);
        });
        check("4 inputs", |sums, inputs, factor| {
            add_all(WithMatrices::<_, 4>(PortableMatrices), sums, inputs, factor);
        });
    }

    #[test]
    fn planes_hold_all_bytes() {
        for len in [0, 2, 126, 128, 130, 254, 256, 400] {
            let bytes = bytes(len, len);
            let mut groups = vec![
                Group {
                    low: [1; 64],
                    high: [1; 64]
                };
                4
            ];
            split(&bytes, &mut groups);
            let mut joined = vec![7; 4 * GROUP_LEN];
            join(&groups, &mut joined);
            assert_eq!(joined[..len], bytes);
            assert!(joined[len..].iter().all(|byte| *byte == 0));
        }
    }
}
