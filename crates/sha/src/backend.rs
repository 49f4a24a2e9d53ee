//! Backends by name.

use core::fmt;
use core::str::FromStr;

/// A family of kernels that need the same CPU features.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Backend {
    /// Plain integers, one message.
    Portable,
    /// SSE2, one and four messages.
    Sse2,
    /// SSSE3, one message.
    Ssse3,
    /// AVX, one and four messages.
    Avx,
    /// AVX2 with BMI1 and BMI2, one and eight messages.
    Avx2,
    /// AVX-512 F and VL in 256-bit vectors, one and eight messages.
    Avx512Vl,
    /// AVX-512 F and BW, sixteen messages.
    Avx512,
    /// The x86 SHA extensions; one, two and four messages.
    ShaNi,
    /// NEON, the vectors of 64-bit ARM CPUs, four messages.
    Neon,
    /// The SHA instructions of ARM: `FEAT_SHA1` and `FEAT_SHA256`.
    ArmSha,
    /// NEON with the three-way exclusive-or of `FEAT_SHA3`, four messages.
    NeonSha3,
    /// The 128-bit vectors of WebAssembly, four messages. Available if the module is compiled with
    /// `simd128`.
    Simd128,
}

impl Backend {
    /// Returns every backend of this crate, including those that this CPU cannot run.
    pub fn all() -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator + Clone {
        [
            Self::Portable,
            Self::Sse2,
            Self::Ssse3,
            Self::Avx,
            Self::Avx2,
            Self::Avx512Vl,
            Self::Avx512,
            Self::ShaNi,
            Self::Neon,
            Self::NeonSha3,
            Self::ArmSha,
            Self::Simd128,
        ]
        .into_iter()
    }

    /// Returns the name that [`FromStr`] accepts.
    pub fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::Sse2 => "sse2",
            Self::Ssse3 => "ssse3",
            Self::Avx => "avx",
            Self::Avx2 => "avx2",
            Self::Avx512Vl => "avx512vl",
            Self::Avx512 => "avx512",
            Self::ShaNi => "sha-ni",
            Self::Neon => "neon",
            Self::NeonSha3 => "neon-sha3",
            Self::ArmSha => "arm-sha",
            Self::Simd128 => "simd128",
        }
    }

    /// Returns `true` if this CPU and the operating system can run the backend.
    pub fn is_available(self) -> bool {
        cfg_if::cfg_if! {
            if #[cfg(any(target_arch = "x86", target_arch = "x86_64"))] {
                match self {
                    Self::Portable => true,
                    Self::Sse2 => hashlane_simd::Sse2::detect().is_some(),
                    Self::Ssse3 => hashlane_simd::Ssse3::detect().is_some(),
                    Self::Avx => hashlane_simd::Avx::detect().is_some(),
                    Self::Avx2 => hashlane_simd::Avx2::detect().is_some(),
                    Self::Avx512Vl => hashlane_simd::Avx512Vl::detect().is_some(),
                    Self::Avx512 => hashlane_simd::Avx512::detect().is_some(),
                    Self::ShaNi => hashlane_simd::ShaNi::detect().is_some(),
                    _ => false,
                }
            } else if #[cfg(target_arch = "aarch64")] {
                match self {
                    Self::Portable => true,
                    Self::Neon => hashlane_simd::Neon::detect().is_some(),
                    Self::NeonSha3 => hashlane_simd::NeonSha3::detect().is_some(),
                    Self::ArmSha => hashlane_simd::ArmSha::detect().is_some(),
                    _ => false,
                }
            } else {
                match self {
                    Self::Portable => true,
                    Self::Simd128 => {
                        cfg!(all(target_family = "wasm", target_feature = "simd128"))
                    }
                    _ => false,
                }
            }
        }
    }

    /// Returns `true` if the backend uses the CPU's instructions for the rounds of SHA-1 and
    /// SHA-256.
    pub(crate) fn has_sha_instructions(self) -> bool {
        matches!(self, Self::ShaNi | Self::ArmSha)
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Backend {
    type Err = ParseBackendError;

    fn from_str(name: &str) -> Result<Self, ParseBackendError> {
        let backend = Self::all().find(|backend| backend.name() == name);
        backend.ok_or(ParseBackendError(()))
    }
}

/// No backend has the given name. The error does not contain the name, because it must not
/// allocate; the caller has the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseBackendError(());

impl fmt::Display for ParseBackendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unknown backend; ")?;
        write_available(f)
    }
}

impl core::error::Error for ParseBackendError {}

/// Writes the names of the backends that this CPU can run.
fn write_available(f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str("available here:")?;
    let available = Backend::all().filter(|backend| backend.is_available());
    for (i, backend) in available.enumerate() {
        write!(f, "{} {backend}", if i == 0 { "" } else { "," })?;
    }
    Ok(())
}

/// This CPU lacks a feature that the backend needs. The error is the name alone, and stays so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackendUnavailable(pub Backend);

impl fmt::Display for BackendUnavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "this CPU cannot run the backend {}; ", self.0)?;
        write_available(f)
    }
}

impl core::error::Error for BackendUnavailable {}
