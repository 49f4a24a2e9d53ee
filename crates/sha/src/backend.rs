//! Backends by name, and the choice among their kernels: for each algorithm and each number of
//! messages at hand, by measurement.

use core::fmt;
use core::str::FromStr;
#[cfg(target_arch = "aarch64")]
use std::arch::is_aarch64_feature_detected;
use std::sync::OnceLock;

use crate::algorithm::Algorithm;
use crate::kernels::Kernel;

/// The most messages that any kernel compresses at once.
pub const MAX_LANES: usize = 16;

/// The environment variable that names the one backend to use.
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
        backend.ok_or_else(|| ParseBackendError(name.into()))
    }
}

/// No backend has this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseBackendError(Box<str>);

impl fmt::Display for ParseBackendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no backend is called {:?}; there are", self.0)?;
        for (i, backend) in Backend::ALL.into_iter().enumerate() {
            write!(f, "{} {backend}", if i == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

impl std::error::Error for ParseBackendError {}

/// This CPU lacks a feature that the backend needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackendUnavailable(pub Backend);

impl fmt::Display for BackendUnavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "this CPU cannot run the backend {}", self.0)
    }
}

impl std::error::Error for BackendUnavailable {}

/// `HASHLANE_BACKEND` is set to something that cannot be honoured.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OverrideError {
    /// It names no backend.
    Unknown(ParseBackendError),
    /// It names a backend that this CPU cannot run.
    Unavailable(BackendUnavailable),
}

impl fmt::Display for OverrideError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{OVERRIDE_VARIABLE}: ")?;
        match self {
            Self::Unknown(error) => error.fmt(f),
            Self::Unavailable(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for OverrideError {}

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
    /// there is nobody to tell; a program that wants to tell calls [`Engine::from_env`] first.
    pub fn detect() -> Self {
        static DETECTED: OnceLock<Engine> = OnceLock::new();
        *DETECTED.get_or_init(|| Self::from_env().unwrap_or_else(|_| Self::of_all()))
    }

    /// What `HASHLANE_BACKEND` names, or the best that this CPU can do when it is unset or empty.
    ///
    /// # Errors
    /// The variable names no backend, or one that this CPU cannot run.
    pub fn from_env() -> Result<Self, OverrideError> {
        let name = std::env::var_os(OVERRIDE_VARIABLE).unwrap_or_default();
        if name.is_empty() {
            return Ok(Self::of_all());
        }
        let backend = name
            .to_string_lossy()
            .parse()
            .map_err(OverrideError::Unknown)?;
        Self::with(backend).map_err(OverrideError::Unavailable)
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
    /// This CPU cannot run the kernel's backend, or there is no such kernel.
    pub fn with_kernel(name: KernelName) -> Result<Self, BackendUnavailable> {
        let kernel = Kernel::available()
            .find(|kernel| kernel.backend() == name.backend && kernel.lanes() == name.lanes)
            .ok_or(BackendUnavailable(name.backend))?;
        let mut engine = Self::of_all();
        match name.algorithm {
            "sha1" => engine.sha1 = Plan::only(kernel),
            _ => engine.sha256 = Plan::only(kernel),
        }
        Ok(engine)
    }

    /// How many messages of `A` it pays to have at hand.
    pub fn lanes<A: Algorithm>(&self) -> usize {
        A::plan(self).len() - 1
    }

    /// The kernel that runs while `n_messages` of `A` are at hand.
    pub fn kernel<A: Algorithm>(&self, n_messages: usize) -> KernelName {
        let plan = A::plan(self);
        KernelName::new::<A>(plan[n_messages.clamp(1, plan.len() - 1)])
    }

    fn of_all() -> Self {
        Self::of(|_| true)
    }

    fn of(wanted: impl Fn(Kernel) -> bool) -> Self {
        Self {
            sha1: Plan::new(|kernel| kernel.rates().sha1, &wanted),
            sha256: Plan::new(|kernel| kernel.rates().sha256, &wanted),
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

/// What a kernel is called in tests, benchmarks and reports: `sha1_x16_avx512`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KernelName {
    /// `sha1` or `sha256`.
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
    /// Chooses, for each number of messages, the kernel that gets the most bytes done: its rate
    /// times the share of its lanes that are busy. So few messages never run slower than one
    /// message alone would, and there are no thresholds to keep in step with the kernels. The
    /// rates stand beside the kernels, in the table of each architecture.
    fn new(rate: impl Fn(Kernel) -> f32, wanted: impl Fn(Kernel) -> bool) -> Self {
        let best = |n_messages: usize| {
            #[expect(clippy::cast_precision_loss, reason = "at most 16")]
            let gain = |kernel: &Kernel| {
                let busy = n_messages.min(kernel.lanes()) as f32 / kernel.lanes() as f32;
                rate(*kernel) * busy
            };
            Kernel::available()
                .filter(|kernel| wanted(*kernel))
                .max_by(|a, b| gain(a).total_cmp(&gain(b)))
                .expect("portable is always wanted")
        };
        let mut plan = Self::only(best(1));
        for n_messages in 1..=MAX_LANES {
            plan.kernels[n_messages] = best(n_messages);
            plan.n_lanes = plan.n_lanes.max(plan.kernels[n_messages].lanes());
        }
        plan
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

/// What this CPU has of the features that matter for hashing. Empty on an architecture that has
/// no backend yet but `portable`.
pub fn cpu_features() -> Vec<CpuFeature> {
    macro_rules! features {
        ($is_detected:ident: $($name:tt)*) => {
            vec![$(CpuFeature { name: $name, is_available: $is_detected!($name) }),*]
        };
    }
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    {
        features!(is_x86_feature_detected: "sse2" "ssse3" "sse4.1" "avx" "avx2" "bmi1" "bmi2" "avx512f" "avx512bw" "avx512vl" "sha")
    }
    #[cfg(target_arch = "aarch64")]
    {
        features!(is_aarch64_feature_detected: "neon" "sha2")
    }
    #[cfg(not(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64")))]
    {
        features!(none:)
    }
}
