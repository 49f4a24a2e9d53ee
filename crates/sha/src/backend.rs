//! Backends by name, and the choice among their kernels: for each algorithm and each number of
//! messages at hand, by measurement.

use core::fmt;
use core::str::FromStr;

use crate::algorithm::Algorithm;
use crate::hasher::{Sha1, Sha256};
use crate::kernels::{Kernel, Seal};

/// The most messages that any kernel compresses at once.
pub const MAX_LANES: usize = 16;

/// The environment variable that names the one backend to use.
#[cfg(feature = "std")]
const OVERRIDE_VARIABLE: &str = "HASHLANE_BACKEND";

/// A family of kernels that need the same CPU features.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Backend {
    /// Plain integers, one message.
    Portable,
    /// SSE2, one and four messages.
    Sse2,
    /// SSSE3, one and four messages.
    Ssse3,
    /// AVX, one and four messages.
    Avx,
    /// AVX2 with BMI1 and BMI2, one and eight messages.
    Avx2,
    /// AVX-512 F and VL in 256-bit vectors, one and eight messages.
    Avx512Vl,
    /// AVX-512 F and BW, sixteen messages.
    Avx512,
    /// The x86 SHA extensions, one and two messages.
    ShaNi,
    /// NEON, the vectors of 64-bit ARM CPUs, four messages.
    Neon,
    /// The ARM SHA instructions, `FEAT_SHA1` and `FEAT_SHA256`.
    ArmSha,
}

impl Backend {
    /// Every backend that this crate has, whether or not this CPU can run it.
    pub const ALL: [Self; 10] = [
        Self::Portable,
        Self::Sse2,
        Self::Ssse3,
        Self::Avx,
        Self::Avx2,
        Self::Avx512Vl,
        Self::Avx512,
        Self::ShaNi,
        Self::Neon,
        Self::ArmSha,
    ];

    /// The name, as `HASHLANE_BACKEND` and [`FromStr`] take it.
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
            Self::ArmSha => "arm-sha",
        }
    }

    /// Whether this CPU, and the operating system, can run it.
    pub fn is_available(self) -> bool {
        Kernel::available().any(|kernel| kernel.backend() == self)
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Backend {
    type Err = ParseBackendError;

    fn from_str(name: &str) -> Result<Self, ParseBackendError> {
        let backend = Self::ALL.into_iter().find(|backend| backend.name() == name);
        backend.ok_or(ParseBackendError(()))
    }
}

/// No backend has this name. (Whoever parsed it has the name; the error does not, so as to need no
/// allocation.)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseBackendError(());

impl fmt::Display for ParseBackendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no such backend; there are")?;
        for (i, backend) in Backend::ALL.into_iter().enumerate() {
            write!(f, "{} {backend}", if i == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

impl core::error::Error for ParseBackendError {}

/// This CPU lacks a feature that the backend needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackendUnavailable(pub Backend);

impl fmt::Display for BackendUnavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "this CPU cannot run the backend {}", self.0)
    }
}

impl core::error::Error for BackendUnavailable {}

/// No engine can run this kernel here: the name is unknown, or this CPU lacks a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelUnavailable(pub KernelName);

impl fmt::Display for KernelUnavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: no such kernel on this CPU", self.0)
    }
}

impl core::error::Error for KernelUnavailable {}

/// `HASHLANE_BACKEND` is set to something that cannot be honoured. Needs the feature `std`.
#[cfg(feature = "std")]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OverrideError {
    /// It is this, which names no backend.
    Unknown(String, ParseBackendError),
    /// It names a backend that this CPU cannot run.
    Unavailable(BackendUnavailable),
}

#[cfg(feature = "std")]
impl fmt::Display for OverrideError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{OVERRIDE_VARIABLE}: ")?;
        match self {
            Self::Unknown(name, error) => write!(f, "{name:?}: {error}"),
            Self::Unavailable(error) => error.fmt(f),
        }
    }
}

#[cfg(feature = "std")]
impl core::error::Error for OverrideError {}

/// The kernels in use: which one runs for how many messages of which algorithm.
///
/// It is small and freely copied; all that a choice costs is a look into a table.
#[derive(Clone, Copy)]
pub struct Engine {
    /// `[n]` is the kernel for `n` messages at hand, and for more than that the last one.
    sha1: Plan,
    sha256: Plan,
}

impl Engine {
    /// The best that this CPU can do, or what `HASHLANE_BACKEND` names.
    ///
    /// It is found out once in a process. An override that cannot be honoured is ignored here, as
    /// there is nobody to tell; a program that wants to tell calls `Engine::from_env` first.
    ///
    /// Without the feature `std` there is no environment to look at, and the choice is made anew at
    /// each call, which takes about a microsecond: keep the engine where that matters.
    pub fn detect() -> Self {
        #[cfg(feature = "std")]
        {
            static DETECTED: std::sync::OnceLock<Engine> = std::sync::OnceLock::new();
            *DETECTED.get_or_init(|| Self::from_env().unwrap_or_else(|_| Self::of_all()))
        }
        #[cfg(not(feature = "std"))]
        Self::of_all()
    }

    /// What `HASHLANE_BACKEND` names, or the best that this CPU can do when it is unset or empty.
    /// Needs the feature `std`.
    ///
    /// # Errors
    /// The variable names no backend, or one that this CPU cannot run.
    #[cfg(feature = "std")]
    pub fn from_env() -> Result<Self, OverrideError> {
        match Self::override_of_env()? {
            None => Ok(Self::of_all()),
            Some(backend) => Self::with(backend).map_err(OverrideError::Unavailable),
        }
    }

    /// What `HASHLANE_BACKEND` names; `None` when it is unset or empty. Needs the feature `std`.
    ///
    /// # Errors
    /// The variable names no backend, or one that this CPU cannot run.
    #[cfg(feature = "std")]
    pub fn override_of_env() -> Result<Option<Backend>, OverrideError> {
        let name = std::env::var_os(OVERRIDE_VARIABLE).unwrap_or_default();
        if name.is_empty() {
            return Ok(None);
        }
        let name = name.to_string_lossy();
        let backend: Backend = name
            .parse()
            .map_err(|error| OverrideError::Unknown(name.into_owned(), error))?;
        if backend.is_available() {
            Ok(Some(backend))
        } else {
            Err(OverrideError::Unavailable(BackendUnavailable(backend)))
        }
    }

    /// One backend, with `portable` beside it for numbers of messages that it would be slower on.
    ///
    /// # Errors
    /// This CPU cannot run the backend.
    pub fn with(backend: Backend) -> Result<Self, BackendUnavailable> {
        if !backend.is_available() {
            return Err(BackendUnavailable(backend));
        }
        Ok(Self::of(|kernel| {
            kernel.backend() == backend || kernel.backend() == Backend::Portable
        }))
    }

    /// One kernel for its algorithm, however few messages are at hand, as tests and benchmarks want
    /// it; for the other algorithm, the best that this CPU can do.
    ///
    /// # Errors
    /// This CPU cannot run the kernel, there is no kernel of that name, or it is a kernel of the
    /// search of double hashes, which no engine runs.
    pub fn with_kernel(name: KernelName) -> Result<Self, KernelUnavailable> {
        let kernel = Kernel::available()
            .find(|kernel| kernel.backend() == name.backend && kernel.lanes() == name.lanes)
            .ok_or(KernelUnavailable(name))?;
        let mut engine = Self::of_all();
        match name.algorithm {
            Sha1::NAME => engine.sha1 = Plan::only(kernel),
            Sha256::NAME => engine.sha256 = Plan::only(kernel),
            _ => return Err(KernelUnavailable(name)),
        }
        Ok(engine)
    }

    /// How many messages of `A` it pays to have at hand.
    pub fn lanes<A: Algorithm>(&self) -> usize {
        A::plan(Seal(()), self).len() - 1
    }

    /// The kernel that runs while `n_messages` of `A` are at hand.
    pub fn kernel<A: Algorithm>(&self, n_messages: usize) -> KernelName {
        let plan = A::plan(Seal(()), self);
        KernelName::new::<A>(plan[n_messages.clamp(1, plan.len() - 1)])
    }

    /// The kernel that runs for one message of `A` alone.
    pub(crate) fn kernel_alone<A: Algorithm>(&self) -> Kernel {
        A::plan(Seal(()), self)[1]
    }

    fn of_all() -> Self {
        Self::of(|_| true)
    }

    fn of(wanted: impl Fn(Kernel) -> bool) -> Self {
        Self {
            sha1: Plan::new::<Sha1>(&wanted),
            sha256: Plan::new::<Sha256>(&wanted),
        }
    }

    pub(crate) fn sha1_plan(&self) -> &[Kernel] {
        self.sha1.kernels()
    }

    pub(crate) fn sha256_plan(&self) -> &[Kernel] {
        self.sha256.kernels()
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine")
            .field("sha1", &self.sha1.kernels())
            .field("sha256", &self.sha256.kernels())
            .finish()
    }
}

/// The kernel that [`Engine::detect`] has for one message of `A` alone.
///
/// Every new hasher asks. Without `std` there is no place to keep the answer that would not need an
/// allocator or a lock to spin on, which an interrupt must not do; but the answer is cheap. On bare
/// metal the compiler knows which features there are, and nothing is left to do at run time.
/// Elsewhere it is one look at each kernel, not the plans of all numbers of messages: 30 ns, where a
/// message of one block takes 70 ns (Xeon, Sapphire Rapids generation, 2026-11).
pub(crate) fn kernel_alone<A: Algorithm>() -> Kernel {
    #[cfg(feature = "std")]
    {
        Engine::detect().kernel_alone::<A>()
    }
    #[cfg(not(feature = "std"))]
    Plan::best::<A>(1, |_| true)
}

/// What a kernel is called in tests, benchmarks and reports: `sha1_x16_avx512`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KernelName {
    /// `sha1` or `sha256`; `sha256d` for the search of double hashes.
    pub algorithm: &'static str,
    /// Messages compressed at once.
    pub lanes: usize,
    /// The backend that it belongs to.
    pub backend: Backend,
}

impl KernelName {
    /// The kernels of `A` that this CPU can run.
    pub fn available<A: Algorithm>() -> impl Iterator<Item = Self> {
        Kernel::available().map(Self::new::<A>)
    }

    pub(crate) fn new<A: Algorithm>(kernel: Kernel) -> Self {
        Self {
            algorithm: A::NAME,
            lanes: kernel.lanes(),
            backend: kernel.backend(),
        }
    }
}

impl fmt::Display for KernelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}_x{}_", self.algorithm, self.lanes)?;
        self.backend.name().chars().try_for_each(|c| {
            let c = if c == '-' { '_' } else { c };
            write!(f, "{c}")
        })
    }
}

/// A kernel for each number of messages at hand, from 1 to the most that any of them takes.
#[derive(Clone, Copy)]
struct Plan {
    /// `[0]` stands for no message, and is never run.
    kernels: [Kernel; MAX_LANES + 1],
    n_lanes: usize,
}

impl Plan {
    /// The best kernel for each number of messages. No thresholds need to be kept in step with the
    /// kernels: the rates stand beside them, in the table of each architecture.
    fn new<A: Algorithm>(wanted: impl Fn(Kernel) -> bool) -> Self {
        let mut plan = Self::only(Self::best::<A>(1, &wanted));
        for n_messages in 1..=MAX_LANES {
            plan.kernels[n_messages] = Self::best::<A>(n_messages, &wanted);
            plan.n_lanes = plan.n_lanes.max(plan.kernels[n_messages].lanes());
        }
        plan
    }

    /// The kernel that gets the most bytes of so many messages done: its rate times the share of
    /// its lanes that are busy. So few messages never run slower than one message alone would.
    fn best<A: Algorithm>(n_messages: usize, wanted: impl Fn(Kernel) -> bool) -> Kernel {
        #[expect(clippy::cast_precision_loss, reason = "at most 16")]
        let gain = |kernel: &Kernel| {
            let busy = n_messages.min(kernel.lanes()) as f32 / kernel.lanes() as f32;
            A::rate(*kernel) * busy
        };
        Kernel::available()
            .filter(|kernel| wanted(*kernel))
            .max_by(|a, b| gain(a).total_cmp(&gain(b)))
            .expect("portable is always wanted")
    }

    /// One kernel for every number of messages.
    fn only(kernel: Kernel) -> Self {
        Self {
            kernels: [kernel; MAX_LANES + 1],
            n_lanes: kernel.lanes(),
        }
    }

    fn kernels(&self) -> &[Kernel] {
        &self.kernels[..=self.n_lanes]
    }
}

/// A feature of the CPU that a backend, here or planned, can use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuFeature {
    /// The name, as in the compiler's `target_feature`.
    pub name: &'static str,
    /// Whether this CPU and operating system have it.
    pub is_available: bool,
}

/// What this CPU has of the features that matter for hashing. None on an architecture that has
/// no backend yet but `portable`.
pub fn cpu_features() -> impl Iterator<Item = CpuFeature> {
    #[cfg(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64"))]
    {
        crate::simd::features()
    }
    #[cfg(not(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64")))]
    core::iter::empty()
}
