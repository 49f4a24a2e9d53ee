//! Operation tables of the x86 vector instruction sets, one line per intrinsic.
//!
//! The file is long because the tables of all instruction sets use the same macros.
//!
#![allow(unsafe_code, reason = "calls intrinsics")]
#![expect(
    clippy::undocumented_unsafe_blocks,
    reason = "a block without a comment calls intrinsics in a function that receives a token: \
              the token exists, so the CPU has their features"
)]
#![allow(
    clippy::wildcard_imports,
    reason = "a table of intrinsics names fifty of them"
)]

#[cfg(target_arch = "x86")]
use core::arch::x86::*;
#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::*;

use core::sync::atomic::{AtomicU8, Ordering};

use crate::portable::simd_word;
use crate::wide::transpose_long_block;
use crate::{
    Block, CpuFeature, Group, LongBlock, MAX_LANES, MAX_QUADS, Portable, Quads, Schedule, Simd,
    Simd64, Vectorize,
};

/// The token of a backend. Its features include SSE2.
trait Token: Copy {}

/// Defines a token, and the function that runs code with its features. The features are written
/// once, so the detected and the enabled features are the same.
macro_rules! token {
    ($(#[$doc:meta])* $name:ident in $module:ident: $first:tt $($feature:tt)*) => {
        cpufeatures::new!($module, $first $(, $feature)*);

        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name(());

        impl Token for $name {}

        impl $name {
            /// Returns the token if this CPU and the operating system support the instructions.
            // Miri implements few of the intrinsics. SSE2, which every x86-64 CPU has, would be
            // detected under Miri too.
            #[inline]
            pub fn detect() -> Option<Self> {
                (!cfg!(miri) && $module::get()).then_some(Self(()))
            }
        }

        impl Vectorize for $name {
            #[inline(always)]
            #[cfg(any(target_feature = "sse2", not(any(target_os = "none", target_os = "uefi"))))]
            fn vectorize<R>(self, f: impl FnOnce() -> R) -> R {
                #[inline(never)]
                #[target_feature(enable = $first)]
                $(#[target_feature(enable = $feature)])*
                fn enabled<F: FnOnce() -> R, R>(f: F) -> R {
                    f()
                }
                // SAFETY: `self` exists, so `detect` has seen each of the features enabled here.
                unsafe { enabled(f) }
            }

            #[inline(always)]
            #[cfg(any(target_feature = "sse2", not(any(target_os = "none", target_os = "uefi"))))]
            fn fragment<R>(self, f: impl FnOnce() -> R) -> R {
                #[inline]
                #[target_feature(enable = $first)]
                $(#[target_feature(enable = $feature)])*
                fn enabled<F: FnOnce() -> R, R>(f: F) -> R {
                    f()
                }
                // SAFETY: `self` exists, so `detect` has seen each of the features enabled here.
                unsafe { enabled(f) }
            }

            /// Never runs: on bare metal without vector registers no token exists. LLVM cannot
            /// compile vector code for such a target.
            #[cfg(all(not(target_feature = "sse2"), any(target_os = "none", target_os = "uefi")))]
            fn vectorize<R>(self, _: impl FnOnce() -> R) -> R {
                unreachable!("no token exists on a target without vector registers")
            }

            #[cfg(all(not(target_feature = "sse2"), any(target_os = "none", target_os = "uefi")))]
            fn fragment<R>(self, f: impl FnOnce() -> R) -> R {
                self.vectorize(f)
            }
        }
    };
}

token!(
    /// 128-bit integer vectors: every x86-64 CPU.
    Sse2 in sse2: "sse2"
);
token!(
    /// 128-bit integer vectors with a byte shuffle.
    Ssse3 in ssse3: "ssse3"
);
token!(
    /// 128-bit integer vectors, in instructions that do not overwrite their operands.
    Avx in avx: "avx"
);
token!(
    /// 256-bit integer vectors, and rotations of general registers that do not overwrite their
    /// operand.
    Avx2 in avx2: "avx2" "bmi1" "bmi2"
);
token!(
    /// 256-bit integer vectors, with rotations and three-operand logic.
    Avx512Vl in avx512vl: "avx512f" "avx512vl" "avx2" "bmi1" "bmi2"
);
token!(
    /// 512-bit integer vectors, with rotations and three-operand logic.
    Avx512 in avx512: "avx512f" "avx512bw"
);
token!(
    /// 256-bit integer vectors, with products of bytes and matrices of bits.
    Avx2Gfni in avx2_gfni: "gfni" "avx2"
);
token!(
    /// 512-bit integer vectors, with products of bytes and matrices of bits.
    Avx512Gfni in avx512_gfni: "gfni" "avx512f" "avx512bw"
);
token!(
    /// The SHA extensions.
    ShaNi in sha_ni: "sha" "sse4.1" "ssse3"
);

/// CPUs whose kernels have the same ratios of rates: a row of the tables of rates of other crates. A
/// new family is a breaking change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Family {
    /// CPUs that no other row has: most CPUs of Intel, and unknown ones.
    #[default]
    Other = 0,
    /// AMD Zen and Zen+, and Hygon's Zen.
    Zen = 1,
    /// AMD Zen 2.
    Zen2 = 2,
    /// AMD Zen 3.
    Zen3 = 3,
    /// AMD Zen 4.
    Zen4 = 4,
    /// AMD Zen 5 and later.
    Zen5 = 5,
    /// Intel Sapphire Rapids, and Emerald Rapids, which has the same cores.
    SapphireRapids = 6,
}

impl Family {
    /// Returns the family of this CPU. The first call executes CPUID, which takes microseconds in a
    /// virtual machine.
    #[inline]
    pub fn detect() -> Self {
        const UNKNOWN: u8 = u8::MAX;
        static DETECTED: AtomicU8 = AtomicU8::new(UNKNOWN);
        match DETECTED.load(Ordering::Relaxed) {
            UNKNOWN => {
                let family = Self::ask();
                DETECTED.store(family as u8, Ordering::Relaxed);
                family
            }
            // A table of families would be read at an absolute address, which Linux modules avoid.
            zen if zen == Self::Zen as u8 => Self::Zen,
            zen2 if zen2 == Self::Zen2 as u8 => Self::Zen2,
            zen3 if zen3 == Self::Zen3 as u8 => Self::Zen3,
            zen4 if zen4 == Self::Zen4 as u8 => Self::Zen4,
            zen5 if zen5 == Self::Zen5 as u8 => Self::Zen5,
            rapids if rapids == Self::SapphireRapids as u8 => Self::SapphireRapids,
            _ => Self::Other,
        }
    }

    #[allow(unused_unsafe, reason = "the intrinsic is unsafe to call in Rust 1.89")]
    fn ask() -> Self {
        if cfg!(miri) || Sse2::detect().is_none() {
            return Self::Other;
        }
        // SAFETY: a CPU with SSE2 has the instruction.
        let (vendor, version) = unsafe { (__cpuid(0), __cpuid(1)) };
        Self::of([vendor.ebx, vendor.edx, vendor.ecx], version.eax)
    }

    /// Returns the family for the vendor in EBX, EDX and ECX of CPUID function 0, and for EAX of
    /// function 1.
    fn of(vendor: [u32; 3], version: u32) -> Self {
        const AMD: [[u8; 4]; 3] = [*b"Auth", *b"enti", *b"cAMD"];
        const HYGON: [[u8; 4]; 3] = [*b"Hygo", *b"nGen", *b"uine"];
        const INTEL: [[u8; 4]; 3] = [*b"Genu", *b"ineI", *b"ntel"];
        let vendor = vendor.map(u32::to_le_bytes);
        // Each is a sum or a concatenation of two fields (AMD64 Architecture Programmer's Manual,
        // volume 3, function 1). The second field of the family is 0 unless the first one is 15. The
        // second field of the model counts there, and for Intel's family 6 (Intel's manual, volume 2A, CPUID).
        let family = ((version >> 8) & 0xf) + ((version >> 20) & 0xff);
        let model = ((version >> 4) & 0xf) | ((version >> 12) & 0xf0);
        // One row per family; the models are those of Linux (`arch/x86/kernel/cpu/amd.c`, and
        // `arch/x86/include/asm/intel-family.h`).
        match (family, model) {
            (0x06, 0x8f | 0xcf) if vendor == INTEL => Self::SapphireRapids,
            _ if ![AMD, HYGON].contains(&vendor) => Self::Other,
            // Naples, Summit Ridge, Raven Ridge, Pinnacle Ridge, Dali; Hygon's Dhyana.
            (0x17, 0x00..=0x2f | 0x50..=0x5f) | (0x18, _) => Self::Zen,
            // Rome, Renoir, Matisse, Van Gogh, Mendocino.
            (0x17, _) => Self::Zen2,
            // Genoa and Storm Peak, Raphael, Phoenix, Bergamo.
            (0x19, 0x10..=0x1f | 0x60..=0xaf) => Self::Zen4,
            // Milan, Vermeer, Rembrandt, Cezanne.
            (0x19, _) => Self::Zen3,
            // Turin, Strix Point, Granite Ridge, and what follows.
            (0x1a.., _) => Self::Zen5,
            _ => Self::Other,
        }
    }
}

#[test]
fn families_of_cpus() {
    let vendor = |name: &[u8; 12]| {
        let (words, _) = name.as_chunks::<4>();
        [0, 1, 2].map(|i| u32::from_le_bytes(words[i]))
    };
    // Zen of AMD and Hygon, Rome and Matisse of Zen 2, Milan and Vermeer of Zen 3, Genoa, Raphael
    // and Bergamo of Zen 4, Zen 5, and Bulldozer's successor of family 21. Of Intel: Sapphire and
    // Emerald Rapids; Ice Lake, Alder Lake and Granite Rapids, which were not measured. Others: Zhaoxin,
    // and an unknown vendor with the number of Sapphire Rapids.
    for (name, version, family) in [
        (b"AuthenticAMD", 0x0080_0f11, Family::Zen),
        (b"HygonGenuine", 0x0090_0f11, Family::Zen),
        (b"AuthenticAMD", 0x0083_0f10, Family::Zen2),
        (b"AuthenticAMD", 0x0087_0f10, Family::Zen2),
        (b"AuthenticAMD", 0x00a0_0f11, Family::Zen3),
        (b"AuthenticAMD", 0x00a2_0f10, Family::Zen3),
        (b"AuthenticAMD", 0x00a1_0f11, Family::Zen4),
        (b"AuthenticAMD", 0x00a6_0f12, Family::Zen4),
        (b"AuthenticAMD", 0x00aa_0f02, Family::Zen4),
        (b"AuthenticAMD", 0x00b4_0f40, Family::Zen5),
        (b"AuthenticAMD", 0x0060_0f12, Family::Other),
        (b"GenuineIntel", 0x0008_06f8, Family::SapphireRapids),
        (b"GenuineIntel", 0x000c_06f2, Family::SapphireRapids),
        (b"GenuineIntel", 0x0006_06a6, Family::Other),
        (b"GenuineIntel", 0x0009_0672, Family::Other),
        (b"GenuineIntel", 0x000a_06d1, Family::Other),
        (b"  Shanghai  ", 0x0007_07b0, Family::Other),
        (b"UnknownMaker", 0x0008_06f8, Family::Other),
    ] {
        assert_eq!(Family::of(vendor(name), version), family, "{version:x}");
        let unknown = vendor(b"UnknownMaker");
        assert_eq!(Family::of(unknown, version), Family::Other);
    }
}

macro_rules! features {
    ($($module:ident: $name:tt;)*) => {
        /// Returns the CPU features that a backend uses or could use, each with its availability.
        /// Uses the checks of the tokens: CPUID and XGETBV. The operating system is not asked.
        pub fn features() -> impl Iterator<Item = CpuFeature> {
            $(cpufeatures::new!($module, $name);)*
            [$(CpuFeature { name: $name, is_available: $module::get() }),*].into_iter()
        }
    };
}

features! {
    sse2: "sse2";
    ssse3: "ssse3";
    sse4_1: "sse4.1";
    avx: "avx";
    avx2: "avx2";
    bmi1: "bmi1";
    bmi2: "bmi2";
    avx512f: "avx512f";
    avx512bw: "avx512bw";
    avx512vl: "avx512vl";
    sha: "sha";
    gfni: "gfni";
}

mod bytes;

/// Defines methods that are one intrinsic each.
macro_rules! ops {
    ($vis:vis $v:ty: $($name:ident($($arg:ident),+) = $intrinsic:ident $([$($generic:expr),+])?;)*) => { $(
        #[doc = concat!("Executes `", stringify!($intrinsic), "`.")]
        #[inline(always)]
        $vis fn $name(self, $($arg: $v),+) -> $v {
            unsafe { $intrinsic $(::<$($generic),+>)? ($($arg),+) }
        }
    )* };
}

/// Implements [`Simd`] and [`Quads`] for a token.
macro_rules! simd {
    ($name:ident, $v:ident, lanes: $lanes:literal,
     splat: $splat:ident, add: $add:ident, sub: $sub:ident, and: $and:ident, xor: $xor:ident,
     min: |$min_a:ident, $min_b:ident| $min:expr, zero_lanes: |$zero_a:ident| $zero_lanes:expr,
     shl: |$shl_a:ident, $shl_n:ident| $shl:expr, shr: |$shr_a:ident, $shr_n:ident| $shr:expr,
     load: $load:ident, store: $store:ident,
     zip32: $zip_lo32:ident $zip_hi32:ident, zip64: $zip_lo64:ident $zip_hi64:ident,
     swap_bytes: |$swap_s:ident, $swap_a:ident| $swap:expr,
     load_quads: |$quads_s:ident, $quarters:ident| $load_quads:expr
     $(, overrides: { $($overrides:tt)* })? $(, quads_overrides: { $($quads_overrides:tt)* })?) => {
        impl Simd for $name {
            type V = $v;
            const LANES: usize = $lanes;

            #[inline(always)]
            fn splat(self, word: u32) -> $v {
                unsafe { $splat(word.cast_signed()) }
            }
            ops!($v:
                add(a, b) = $add; sub(a, b) = $sub; and(a, b) = $and; xor(a, b) = $xor;
            );
            #[inline(always)]
            fn min(self, $min_a: $v, $min_b: $v) -> $v {
                unsafe { $min }
            }
            #[inline(always)]
            fn zero_lanes(self, $zero_a: $v) -> u32 {
                unsafe { $zero_lanes }
            }
            #[inline(always)]
            fn shl<const $shl_n: i32>(self, $shl_a: $v) -> $v {
                unsafe { $shl }
            }
            #[inline(always)]
            fn shr<const $shr_n: i32>(self, $shr_a: $v) -> $v {
                unsafe { $shr }
            }
            #[inline(always)]
            fn load(self, words: &[u32; MAX_LANES]) -> $v {
                const { assert!(size_of::<$v>() <= size_of::<[u32; MAX_LANES]>()) }
                // SAFETY: a vector is no longer than the words, and the load needs no alignment.
                unsafe { $load(words.as_ptr().cast()) }
            }
            #[inline(always)]
            fn store(self, a: $v, words: &mut [u32; MAX_LANES]) {
                const { assert!(size_of::<$v>() <= size_of::<[u32; MAX_LANES]>()) }
                // SAFETY: as in `load`.
                unsafe { $store(words.as_mut_ptr().cast(), a) }
            }
            #[inline(always)]
            fn load_block(self, inputs: &[&[Block]; MAX_LANES], n: usize) -> [$v; 16] {
                self.transpose_block(inputs, n)
            }
            #[inline(always)]
            fn prefetch(self, blocks: &[Block], n: usize) {
                let block = blocks.as_ptr().wrapping_add(n).cast();
                // SAFETY: every token's features include SSE, and a prefetch never faults.
                unsafe { _mm_prefetch::<_MM_HINT_T1>(block) }
            }
            $($($overrides)*)?
        }

        impl Quads for $name {
            ops!($v:
                zip_lo32(a, b) = $zip_lo32; zip_hi32(a, b) = $zip_hi32;
                zip_lo64(a, b) = $zip_lo64; zip_hi64(a, b) = $zip_hi64;
            );
            #[inline(always)]
            fn swap_bytes(self, $swap_a: $v) -> $v {
                let $swap_s = self;
                unsafe { $swap }
            }
            #[inline(always)]
            fn load_quads(self, $quarters: [&[u8; 16]; MAX_QUADS]) -> $v {
                let $quads_s = self;
                $load_quads
            }
            $($($quads_overrides)*)?
        }
    };
}

/// Returns the shuffle mask that reverses the bytes of each 32-bit word.
#[inline(always)]
fn swap_mask(_: impl Token) -> __m128i {
    unsafe { _mm_set_epi32(0x0c0d_0e0f, 0x0809_0a0b, 0x0405_0607, 0x0001_0203) }
}

#[inline(always)]
fn load_16(_: impl Token, bytes: &[u8; 16]) -> __m128i {
    // SAFETY: the array has 16 bytes, and the load needs no alignment.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

#[inline(always)]
fn load_words(_: impl Token, words: &[u32; 4]) -> __m128i {
    // SAFETY: as in `load_16`.
    unsafe { _mm_loadu_si128(words.as_ptr().cast()) }
}

/// Implements [`Simd`] and [`Quads`] with 128-bit vectors.
macro_rules! simd_128 {
    ($name:ident, swap_bytes: |$swap_s:ident, $swap_a:ident| $swap:expr) => {
        simd!($name, __m128i, lanes: 4,
            splat: _mm_set1_epi32, add: _mm_add_epi32, sub: _mm_sub_epi32, and: _mm_and_si128,
            xor: _mm_xor_si128,
            // SSE2 has only signed comparisons. Flipping the highest bit maps unsigned order to
            // signed.
            min: |a, b| {
                let highest = _mm_set1_epi32(i32::MIN);
                let greater =
                    _mm_cmpgt_epi32(_mm_xor_si128(a, highest), _mm_xor_si128(b, highest));
                _mm_or_si128(_mm_and_si128(greater, b), _mm_andnot_si128(greater, a))
            },
            zero_lanes: |a| {
                let zero = _mm_cmpeq_epi32(a, _mm_setzero_si128());
                _mm_movemask_ps(_mm_castsi128_ps(zero)).cast_unsigned()
            },
            shl: |a, N| _mm_slli_epi32::<N>(a), shr: |a, N| _mm_srli_epi32::<N>(a),
            load: _mm_loadu_si128, store: _mm_storeu_si128,
            zip32: _mm_unpacklo_epi32 _mm_unpackhi_epi32,
            zip64: _mm_unpacklo_epi64 _mm_unpackhi_epi64,
            swap_bytes: |$swap_s, $swap_a| $swap,
            load_quads: |s, quarters| load_16(s, quarters[0])
        );
    };
}

/// Implements [`Simd`] and [`Quads`] with 256-bit vectors.
macro_rules! simd_256 {
    ($name:ident $(, overrides: { $($overrides:tt)* })?) => {
        simd!($name, __m256i, lanes: 8,
            splat: _mm256_set1_epi32, add: _mm256_add_epi32, sub: _mm256_sub_epi32,
            and: _mm256_and_si256, xor: _mm256_xor_si256,
            min: |a, b| _mm256_min_epu32(a, b),
            zero_lanes: |a| {
                let zero = _mm256_cmpeq_epi32(a, _mm256_setzero_si256());
                _mm256_movemask_ps(_mm256_castsi256_ps(zero)).cast_unsigned()
            },
            shl: |a, N| _mm256_slli_epi32::<N>(a), shr: |a, N| _mm256_srli_epi32::<N>(a),
            load: _mm256_loadu_si256, store: _mm256_storeu_si256,
            zip32: _mm256_unpacklo_epi32 _mm256_unpackhi_epi32,
            zip64: _mm256_unpacklo_epi64 _mm256_unpackhi_epi64,
            swap_bytes: |s, a| _mm256_shuffle_epi8(a, _mm256_broadcastsi128_si256(swap_mask(s))),
            load_quads: |s, quarters| {
                unsafe {
                    let quads = _mm256_castsi128_si256(load_16(s, quarters[0]));
                    _mm256_inserti128_si256::<1>(quads, load_16(s, quarters[1]))
                }
            }
            $(, overrides: { $($overrides)* })?
        );
    };
}

/// Operations that are one instruction in AVX-512. The constants are truth tables.
macro_rules! avx512_ops {
    ($v:ident, rotl: $rotl:ident, logic: $logic:ident) => {
        #[inline(always)]
        fn rotl<const L: i32, const R: i32>(self, a: $v) -> $v {
            const { assert!(L + R == 32) }
            unsafe { $rotl::<L>(a) }
        }
        ops!($v:
            ch(x, y, z) = $logic[0xca]; maj(x, y, z) = $logic[0xe8]; parity(x, y, z) = $logic[0x96];
        );
        #[inline(always)]
        fn maj_in_chain(self, x: $v, y: $v, z: $v, _: &mut $v) -> $v {
            self.maj(x, y, z)
        }
    };
}

simd_128!(Sse2, swap_bytes: |_s, a| {
    // Swaps the bytes of each 16-bit half, then the halves of each word.
    let a = _mm_or_si128(_mm_slli_epi16::<8>(a), _mm_srli_epi16::<8>(a));
    _mm_shufflehi_epi16::<0b10_11_00_01>(_mm_shufflelo_epi16::<0b10_11_00_01>(a))
});
simd_128!(Ssse3, swap_bytes: |s, a| _mm_shuffle_epi8(a, swap_mask(s)));
simd_128!(Avx, swap_bytes: |s, a| _mm_shuffle_epi8(a, swap_mask(s)));

simd_256!(Avx2);
simd_256!(Avx512Vl, overrides: {
    avx512_ops!(__m256i, rotl: _mm256_rol_epi32, logic: _mm256_ternarylogic_epi32);
});

simd!(Avx512, __m512i, lanes: 16,
    splat: _mm512_set1_epi32, add: _mm512_add_epi32, sub: _mm512_sub_epi32, and: _mm512_and_si512,
    xor: _mm512_xor_si512,
    min: |a, b| _mm512_min_epu32(a, b), zero_lanes: |a| u32::from(_mm512_testn_epi32_mask(a, a)),
    // Only the forms with the count in a register take an i32. The compiler makes the count an
    // immediate.
    shl: |a, N| _mm512_sll_epi32(a, _mm_cvtsi32_si128(N)),
    shr: |a, N| _mm512_srl_epi32(a, _mm_cvtsi32_si128(N)),
    load: _mm512_loadu_si512, store: _mm512_storeu_si512,
    zip32: _mm512_unpacklo_epi32 _mm512_unpackhi_epi32,
    zip64: _mm512_unpacklo_epi64 _mm512_unpackhi_epi64,
    swap_bytes: |s, a| _mm512_shuffle_epi8(a, _mm512_broadcast_i32x4(swap_mask(s))),
    load_quads: |s, quarters| {
        unsafe {
            let quads = _mm512_castsi128_si512(load_16(s, quarters[0]));
            let quads = _mm512_inserti32x4::<1>(quads, load_16(s, quarters[1]));
            let quads = _mm512_inserti32x4::<2>(quads, load_16(s, quarters[2]));
            _mm512_inserti32x4::<3>(quads, load_16(s, quarters[3]))
        }
    },
    overrides: { avx512_ops!(__m512i, rotl: _mm512_rol_epi32, logic: _mm512_ternarylogic_epi32); }
);

/// Returns the shuffle mask that reverses the bytes of each 64-bit word.
#[inline(always)]
fn swap_mask_64(_: impl Token) -> __m128i {
    unsafe { _mm_set_epi32(0x0809_0a0b, 0x0c0d_0e0f, 0x0001_0203, 0x0405_0607) }
}

/// Implements [`Simd64`] for a token.
macro_rules! simd_64 {
    ($name:ident, $v:ident, lanes: $lanes:literal,
     splat: $splat:ident, add: $add:ident, and: $and:ident, xor: $xor:ident,
     shl: |$shl_a:ident, $shl_n:ident| $shl:expr, shr: |$shr_a:ident, $shr_n:ident| $shr:expr,
     load: $load:ident, store: $store:ident,
     swap_bytes: |$swap_s:ident, $swap_a:ident| $swap:expr,
     overrides: { $($overrides:tt)* }) => {
        impl Simd64 for $name {
            type V = $v;
            const LANES: usize = $lanes;

            #[inline(always)]
            fn splat(self, word: u64) -> $v {
                unsafe { $splat(word.cast_signed()) }
            }
            ops!($v: add(a, b) = $add; and(a, b) = $and; xor(a, b) = $xor;);
            #[inline(always)]
            fn shl<const $shl_n: i32>(self, $shl_a: $v) -> $v {
                unsafe { $shl }
            }
            #[inline(always)]
            fn shr<const $shr_n: i32>(self, $shr_a: $v) -> $v {
                unsafe { $shr }
            }
            #[inline(always)]
            fn load(self, words: &[u64; MAX_LANES]) -> $v {
                const { assert!(size_of::<$v>() <= size_of::<[u64; MAX_LANES]>()) }
                // SAFETY: a vector is no longer than the words, and the load needs no alignment.
                unsafe { $load(words.as_ptr().cast()) }
            }
            #[inline(always)]
            fn store(self, a: $v, words: &mut [u64; MAX_LANES]) {
                const { assert!(size_of::<$v>() <= size_of::<[u64; MAX_LANES]>()) }
                // SAFETY: as in `load`.
                unsafe { $store(words.as_mut_ptr().cast(), a) }
            }
            #[inline(always)]
            fn load_block(self, inputs: &[&[LongBlock]; MAX_LANES], n: usize) -> [$v; 16] {
                let $swap_s = self;
                transpose_long_block(
                    self,
                    inputs,
                    n,
                    #[inline(always)]
                    |$swap_a| unsafe { $swap },
                )
            }
            #[inline(always)]
            fn prefetch(self, blocks: &[LongBlock], n: usize) {
                let block: *const i8 = blocks.as_ptr().wrapping_add(n).cast();
                // SAFETY: every token's features include SSE, and a prefetch never faults.
                unsafe {
                    _mm_prefetch::<_MM_HINT_T1>(block);
                    _mm_prefetch::<_MM_HINT_T1>(block.wrapping_add(64));
                }
            }
            $($overrides)*
        }
    };
}

/// Implements [`Simd64`] with 256-bit vectors.
macro_rules! simd_64_256 {
    ($name:ident, overrides: { $($overrides:tt)* }) => {
        simd_64!($name, __m256i, lanes: 4,
            splat: _mm256_set1_epi64x, add: _mm256_add_epi64, and: _mm256_and_si256,
            xor: _mm256_xor_si256,
            shl: |a, N| _mm256_slli_epi64::<N>(a), shr: |a, N| _mm256_srli_epi64::<N>(a),
            load: _mm256_loadu_si256, store: _mm256_storeu_si256,
            swap_bytes: |s, a| _mm256_shuffle_epi8(a, _mm256_broadcastsi128_si256(swap_mask_64(s))),
            overrides: { $($overrides)* }
        );
    };
}

/// Operations on 64-bit words that are one instruction in AVX-512. The constants are truth tables.
macro_rules! avx512_ops_64 {
    ($v:ident, rotr: $rotr:ident, logic: $logic:ident) => {
        #[inline(always)]
        fn rotr<const R: i32, const L: i32>(self, a: $v) -> $v {
            const { assert!(L + R == 64) }
            unsafe { $rotr::<R>(a) }
        }
        ops!($v: ch(x, y, z) = $logic[0xca]; parity(x, y, z) = $logic[0x96];);
        #[inline(always)]
        fn maj_in_chain(self, x: $v, y: $v, z: $v, _: &mut $v) -> $v {
            unsafe { $logic::<0xe8>(x, y, z) }
        }
    };
}

simd_64!(Sse2, __m128i, lanes: 2,
    splat: _mm_set1_epi64x, add: _mm_add_epi64, and: _mm_and_si128, xor: _mm_xor_si128,
    shl: |a, N| _mm_slli_epi64::<N>(a), shr: |a, N| _mm_srli_epi64::<N>(a),
    load: _mm_loadu_si128, store: _mm_storeu_si128,
    // Swaps the bytes of each 16-bit quarter, then reverses the quarters.
    swap_bytes: |_s, a| {
        let a = _mm_or_si128(_mm_slli_epi16::<8>(a), _mm_srli_epi16::<8>(a));
        _mm_shufflehi_epi16::<0b00_01_10_11>(_mm_shufflelo_epi16::<0b00_01_10_11>(a))
    },
    overrides: {}
);
simd_64_256!(Avx2, overrides: {
    ops!(__m256i: and_not(a, b) = _mm256_andnot_si256;);
    #[inline(always)]
    fn rotr<const R: i32, const L: i32>(self, a: __m256i) -> __m256i {
        const { assert!(L + R == 64) }
        if R == 8 {
            // One shuffle of bytes instead of two shifts and a logical operation.
            return unsafe {
                let mask = _mm_set_epi32(0x080f_0e0d, 0x0c0b_0a09, 0x0007_0605, 0x0403_0201);
                _mm256_shuffle_epi8(a, _mm256_broadcastsi128_si256(mask))
            };
        }
        unsafe { _mm256_xor_si256(_mm256_srli_epi64::<R>(a), _mm256_slli_epi64::<L>(a)) }
    }
});
simd_64_256!(Avx512Vl, overrides: {
    avx512_ops_64!(__m256i, rotr: _mm256_ror_epi64, logic: _mm256_ternarylogic_epi64);
});
simd_64!(Avx512, __m512i, lanes: 8,
    splat: _mm512_set1_epi64, add: _mm512_add_epi64, and: _mm512_and_si512, xor: _mm512_xor_si512,
    // As for words of 32 bits.
    shl: |a, N| _mm512_sll_epi64(a, _mm_cvtsi32_si128(N)),
    shr: |a, N| _mm512_srl_epi64(a, _mm_cvtsi32_si128(N)),
    load: _mm512_loadu_si512, store: _mm512_storeu_si512,
    swap_bytes: |s, a| _mm512_shuffle_epi8(a, _mm512_broadcast_i32x4(swap_mask_64(s))),
    overrides: {
        avx512_ops_64!(__m512i, rotr: _mm512_ror_epi64, logic: _mm512_ternarylogic_epi64);
    }
);

/// The token for single words in kernels whose schedule is in AVX2 vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word;

simd_word!(Word, enable: |f| f(), overrides: {
    /// Adds with LEA, which uses ports that cannot rotate and that the six rotations of a SHA-256
    /// round leave idle. The compiler prefers ADD, which uses any port. SHA-256 x1 with AVX2
    /// reaches 0.489 GB/s with ADD and 0.503 GB/s with LEA (Xeon, Sapphire Rapids generation,
    /// 2026-11).
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn add_aside(self, a: u32, b: u32) -> u32 {
        let sum: u32;
        // SAFETY: LEA computes a sum, and touches neither memory nor flags. Only the lower half of
        // the sum is used, which does not depend on the upper halves of the two registers.
        unsafe {
            core::arch::asm!(
                "lea {sum:e}, [{a:r} + {b:r}]",
                a = in(reg) a, b = in(reg) b, sum = lateout(reg) sum,
                options(pure, nomem, nostack, preserves_flags)
            );
        }
        sum
    }
    /// Adds `late` first, so that both additions use LEA although one of them waits: 0.504 GB/s.
    /// The order with the shortest wait reaches 0.488 GB/s.
    #[inline(always)]
    fn add_late(self, x: u32, y: u32, late: u32) -> u32 {
        self.add_aside(self.add_aside(late, x), y)
    }
});

/// Implements [`Schedule`] for a token.
macro_rules! schedule {
    ($name:ident, $v:ident, word: $word:ident,
     splat_quad: $splat_quad:expr, shuffle: $shuffle:ident, store: $store:ident,
     shr64: |$shr_a:ident, $shr_n:ident| $shr:expr,
     words_from: |$from_lo:ident, $from_hi:ident, $from_n:ident| $from:expr,
     halves: |$halves_a:ident, $halves_b:ident| $halves:expr) => {
        impl Schedule for $name {
            type Word = $word;
            const WORD: $word = $word;

            #[inline(always)]
            fn splat_quad(self, words: &[u32; 4]) -> $v {
                let quad = load_words(self, words);
                $splat_quad(self, quad)
            }
            #[inline(always)]
            fn shuffle<const ORDER: i32>(self, a: $v) -> $v {
                unsafe { $shuffle::<ORDER>(a) }
            }
            #[inline(always)]
            fn shr64<const $shr_n: i32>(self, $shr_a: $v) -> $v {
                unsafe { $shr }
            }
            #[inline(always)]
            fn words_from<const $from_n: i32>(self, $from_lo: $v, $from_hi: $v) -> $v {
                unsafe { $from }
            }
            #[inline(always)]
            fn halves(self, $halves_a: $v, $halves_b: $v) -> $v {
                unsafe { $halves }
            }
            #[inline(always)]
            fn store_group(self, a: $v, group: &mut Group) {
                const { assert!(size_of::<$v>() <= size_of::<Group>()) }
                // SAFETY: a vector is no longer than a group, and the store needs no alignment.
                unsafe { $store(group.as_mut_ptr().cast(), a) }
            }
        }
    };
}

/// Implements [`Schedule`] with 128-bit vectors.
macro_rules! schedule_128 {
    ($name:ident, words_from: |$lo:ident, $hi:ident, $n:ident| $from:expr) => {
        schedule!($name, __m128i, word: Portable,
            splat_quad: |_, quad| quad, shuffle: _mm_shuffle_epi32, store: _mm_storeu_si128,
            shr64: |a, N| _mm_srli_epi64::<N>(a),
            words_from: |$lo, $hi, $n| $from,
            halves: |a, b| {
                let (a, b) = (_mm_castsi128_pd(a), _mm_castsi128_pd(b));
                _mm_castpd_si128(_mm_shuffle_pd::<0b10>(a, b))
            }
        );
    };
}

/// Implements [`Schedule`] with 256-bit vectors.
macro_rules! schedule_256 {
    ($name:ident) => {
        schedule!($name, __m256i, word: Word,
            splat_quad: Self::both, shuffle: _mm256_shuffle_epi32, store: _mm256_storeu_si256,
            shr64: |a, N| _mm256_srli_epi64::<N>(a),
            words_from: |lo, hi, BYTES| _mm256_alignr_epi8::<BYTES>(hi, lo),
            halves: |a, b| _mm256_blend_epi32::<0b1100_1100>(a, b)
        );

        impl $name {
            #[inline(always)]
            fn both(self, quad: __m128i) -> __m256i {
                unsafe { _mm256_broadcastsi128_si256(quad) }
            }
        }
    };
}

schedule_128!(Sse2, words_from: |lo, hi, BYTES| {
    const { assert!(BYTES == 4 || BYTES == 8) }
    if BYTES == 4 {
        _mm_or_si128(_mm_srli_si128::<4>(lo), _mm_slli_si128::<12>(hi))
    } else {
        _mm_castpd_si128(_mm_shuffle_pd::<0b01>(_mm_castsi128_pd(lo), _mm_castsi128_pd(hi)))
    }
});
schedule_128!(Ssse3, words_from: |lo, hi, BYTES| _mm_alignr_epi8::<BYTES>(hi, lo));
schedule_128!(Avx, words_from: |lo, hi, BYTES| _mm_alignr_epi8::<BYTES>(hi, lo));
schedule_256!(Avx2);
schedule_256!(Avx512Vl);

/// Operations on the highest bit of each word.
impl Avx2 {
    /// Returns the words of `mask` in the lanes where the highest bit of `a` is set, and zeros.
    #[inline(always)]
    pub fn where_high(self, a: __m256i, mask: __m256i) -> __m256i {
        unsafe { _mm256_and_si256(_mm256_srai_epi32::<31>(a), mask) }
    }

    /// Returns the words of `mask` in the lanes where the highest bit of `a` is not set, and zeros.
    #[inline(always)]
    pub fn where_low(self, a: __m256i, mask: __m256i) -> __m256i {
        unsafe { _mm256_andnot_si256(_mm256_srai_epi32::<31>(a), mask) }
    }
}

/// The operations of kernels with the SHA extensions, named after the instructions. The words
/// of a vector are named from the lowest.
impl ShaNi {
    /// Returns four zeros.
    #[inline(always)]
    pub fn zero(self) -> __m128i {
        unsafe { _mm_setzero_si128() }
    }

    /// Returns a copy that the compiler does not recognise as one. Under register pressure, the
    /// compiler can then spill the copy and keep the original in a register. On targets without
    /// vector registers, returns an ordinary copy.
    #[inline(always)]
    pub fn opaque_copy(self, a: __m128i) -> __m128i {
        #[cfg(target_feature = "sse2")]
        {
            let mut copy = a;
            // SAFETY: the assembly is a comment: it executes nothing.
            unsafe {
                core::arch::asm!(
                    "/* {0} */",
                    inout(xmm_reg) copy,
                    options(pure, nomem, nostack, preserves_flags),
                );
            }
            copy
        }
        #[cfg(not(target_feature = "sse2"))]
        a
    }

    /// Loads sixteen bytes.
    #[inline(always)]
    pub fn load_bytes(self, bytes: &[u8; 16]) -> __m128i {
        load_16(self, bytes)
    }

    /// Loads four words.
    #[inline(always)]
    pub fn load_words(self, words: &[u32; 4]) -> __m128i {
        load_words(self, words)
    }

    /// Returns the four words.
    #[inline(always)]
    pub fn store_words(self, a: __m128i) -> [u32; 4] {
        let mut words = [0; 4];
        // SAFETY: the array has 16 bytes, and the store needs no alignment.
        unsafe { _mm_storeu_si128(words.as_mut_ptr().cast(), a) };
        words
    }

    /// Reverses all sixteen bytes. The result holds big-endian words, the first one highest.
    #[inline(always)]
    pub fn reverse_bytes(self, a: __m128i) -> __m128i {
        unsafe {
            let mask = _mm_set_epi32(0x0001_0203, 0x0405_0607, 0x0809_0a0b, 0x0c0d_0e0f);
            _mm_shuffle_epi8(a, mask)
        }
    }

    /// Reverses the bytes of each word.
    #[inline(always)]
    pub fn swap_bytes(self, a: __m128i) -> __m128i {
        unsafe { _mm_shuffle_epi8(a, swap_mask(self)) }
    }

    /// Executes four rounds of SHA-1 with function number `F`.
    #[inline(always)]
    pub fn sha1rnds4<const F: i32>(self, abcd: __m128i, e_w: __m128i) -> __m128i {
        unsafe { _mm_sha1rnds4_epu32::<F>(abcd, e_w) }
    }

    /// Reverses the four words.
    #[inline(always)]
    pub fn reverse_words(self, a: __m128i) -> __m128i {
        unsafe { _mm_shuffle_epi32::<0b00_01_10_11>(a) }
    }

    /// Returns words 1 and 0 of `a`, then words 1 and 0 of `b`.
    #[inline(always)]
    pub fn low_pairs(self, a: __m128i, b: __m128i) -> __m128i {
        unsafe {
            let pairs = _mm_shuffle_ps::<0b00_01_00_01>(_mm_castsi128_ps(a), _mm_castsi128_ps(b));
            _mm_castps_si128(pairs)
        }
    }

    /// Returns words 3 and 2 of `a`, then words 3 and 2 of `b`.
    #[inline(always)]
    pub fn high_pairs(self, a: __m128i, b: __m128i) -> __m128i {
        unsafe {
            let pairs = _mm_shuffle_ps::<0b10_11_10_11>(_mm_castsi128_ps(a), _mm_castsi128_ps(b));
            _mm_castps_si128(pairs)
        }
    }

    /// Moves the two high words of `a` to the low half.
    #[inline(always)]
    pub fn high_words(self, a: __m128i) -> __m128i {
        unsafe { _mm_shuffle_epi32::<0x0e>(a) }
    }

    /// Returns W(t-7) of the next four words, from the last eight words `newer` and `older`.
    #[inline(always)]
    pub fn words_7_back(self, newer: __m128i, older: __m128i) -> __m128i {
        unsafe { _mm_alignr_epi8::<4>(newer, older) }
    }

    ops!(pub __m128i:
        add(a, b) = _mm_add_epi32; xor(a, b) = _mm_xor_si128;
        sha1msg1(a, b) = _mm_sha1msg1_epu32; sha1msg2(a, b) = _mm_sha1msg2_epu32;
        sha1nexte(a, b) = _mm_sha1nexte_epu32;
        sha256msg1(a, b) = _mm_sha256msg1_epu32; sha256msg2(a, b) = _mm_sha256msg2_epu32;
        sha256rnds2(cdgh, abef, w_k) = _mm_sha256rnds2_epu32;
    );
}
