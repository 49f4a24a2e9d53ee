//! The choice of kernels by algorithm and number of messages, from measured rates.

use core::fmt;

use hashlane_simd::Family;

#[cfg(feature = "std")]
use crate::backend::ParseBackendError;
use crate::backend::{Backend, BackendUnavailable};
use crate::kernels::rounds::Rounds;
use crate::kernels::sha1::Sha1Compression;
use crate::kernels::sha256::Sha256Compression;
use crate::table::Kernel;
use crate::types::{CpuFeature, MAX_LANES};

/// The environment variable that names the one backend to use.
#[cfg(feature = "std")]
const OVERRIDE_VARIABLE: &str = "HASHLANE_BACKEND";

impl Backend {
    /// Returns `true` if this CPU and the operating system can run the backend.
    pub fn is_available(self) -> bool {
        Kernel::available().any(|kernel| kernel.backend() == self)
    }
}

/// The engine cannot run this kernel: the name is unknown, or this CPU lacks a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelUnavailable(pub KernelName);

impl fmt::Display for KernelUnavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: no such kernel on this CPU", self.0)
    }
}

impl core::error::Error for KernelUnavailable {}

/// `HASHLANE_BACKEND` is set to a value that cannot be used. Requires the feature `std`.
#[cfg(feature = "std")]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OverrideError {
    /// The value names no backend.
    Unknown(String, ParseBackendError),
    /// The value names a backend that this CPU cannot run.
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

/// The kernels in use, by algorithm and number of messages.
///
/// An engine is small and cheap to copy. Choosing a kernel costs one table look-up.
#[derive(Clone, Copy)]
pub struct Engine {
    /// The kernels of each algorithm, at its [`Rounds::INDEX`].
    plans: [Plan; 2],
}

impl Engine {
    /// Returns the best engine that this CPU can run, or the one that `HASHLANE_BACKEND` names.
    ///
    /// The choice is made once per process. An override that names no usable backend is ignored. A
    /// program that reports such an override calls `Engine::from_env` first.
    ///
    /// Without the feature `std` the environment is not read, and each call makes the choice again.
    /// The choice takes about a microsecond, so keep the engine where that matters.
    pub fn detect() -> Self {
        #[cfg(feature = "std")]
        {
            static DETECTED: std::sync::OnceLock<Engine> = std::sync::OnceLock::new();
            *DETECTED.get_or_init(|| Self::from_env().unwrap_or_else(|_| Self::of_all()))
        }
        #[cfg(not(feature = "std"))]
        Self::of_all()
    }

    /// Returns the engine that `HASHLANE_BACKEND` names, or the best one if the variable is unset
    /// or empty. Requires the feature `std`.
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

    /// Returns the backend that `HASHLANE_BACKEND` names, or `None` if the variable is unset or
    /// empty. Requires the feature `std`.
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

    /// Returns an engine that uses `backend`, and `portable` for the numbers of messages for which
    /// `portable` is faster.
    ///
    /// # Errors
    /// This CPU cannot run the backend.
    pub fn with(backend: Backend) -> Result<Self, BackendUnavailable> {
        if !backend.is_available() {
            return Err(BackendUnavailable(backend));
        }
        Ok(Self::among(|allowed| allowed == backend))
    }

    /// Returns the best engine that this CPU can run with the backends for which `is_allowed` returns
    /// `true`. `portable` is always allowed.
    ///
    /// ```
    /// use hashlane_sha::{Backend, Engine};
    /// // Without 512-bit vectors, which lower the clock of some CPUs.
    /// let engine = Engine::among(|backend| backend != Backend::Avx512);
    /// # assert_ne!(engine.kernel::<hashlane_sha::Sha1>(16).backend, Backend::Avx512);
    /// ```
    pub fn among(is_allowed: impl Fn(Backend) -> bool) -> Self {
        Self::of(|kernel| kernel.backend() == Backend::Portable || is_allowed(kernel.backend()))
    }

    /// Returns an engine that runs one kernel for any number of messages, for tests and benchmarks.
    /// The other algorithm gets the best kernels.
    ///
    /// # Errors
    /// This CPU cannot run the kernel, or no kernel of SHA-1 or SHA-256 has this name.
    pub fn with_kernel(name: KernelName) -> Result<Self, KernelUnavailable> {
        let kernel = Kernel::available()
            .find(|kernel| kernel.backend() == name.backend && kernel.lanes() == name.lanes)
            .ok_or(KernelUnavailable(name))?;
        let index = [Sha1Compression::NAME, Sha256Compression::NAME]
            .iter()
            .position(|algorithm| *algorithm == name.algorithm)
            .ok_or(KernelUnavailable(name))?;
        let mut engine = Self::of_all();
        engine.plans[index] = Plan::only(kernel);
        Ok(engine)
    }

    /// Returns an engine that runs one kernel while up to [`MAX_LANES`] messages are in progress,
    /// even if the kernel has fewer lanes.
    #[cfg(test)]
    pub(crate) fn with_wide_plan(kernel: Kernel) -> Self {
        let plan = Plan {
            kernels: [kernel; MAX_LANES + 1],
            n_lanes: MAX_LANES,
        };
        Self { plans: [plan; 2] }
    }

    fn of_all() -> Self {
        Self::of(|_| true)
    }

    fn of(wanted: impl Fn(Kernel) -> bool) -> Self {
        let family = Family::detect();
        let plan = |index: usize| Plan::new(|kernel| kernel.rates(family)[index], &wanted);
        Self {
            plans: [plan(Sha1Compression::INDEX), plan(Sha256Compression::INDEX)],
        }
    }

    /// Returns the kernels of an algorithm by number of messages: `[n]` is the kernel for `n`
    /// available messages. The last kernel also serves larger numbers.
    #[inline(always)]
    pub(crate) fn plan<A: Rounds>(&self) -> &[Kernel] {
        self.plans[A::INDEX].kernels()
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine")
            .field(Sha1Compression::NAME, &self.plan::<Sha1Compression>())
            .field(Sha256Compression::NAME, &self.plan::<Sha256Compression>())
            .finish()
    }
}

/// The name of a kernel in tests, benchmarks and reports, for example `sha1_x16_avx512`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KernelName {
    /// `sha1` or `sha256`; other crates name their kernels otherwise.
    pub algorithm: &'static str,
    /// Number of messages that the kernel compresses at once.
    pub lanes: usize,
    /// The backend that the kernel belongs to.
    pub backend: Backend,
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

/// A kernel for each number of available messages, up to the largest number of lanes.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    /// The kernel for each number of messages. `[0]` never runs.
    kernels: [Kernel; MAX_LANES + 1],
    n_lanes: usize,
}

impl Plan {
    /// Returns the best kernel for each number of messages. The rates come from the table of each
    /// architecture, so there are no thresholds to maintain.
    fn new(rate: impl Fn(Kernel) -> f32, wanted: impl Fn(Kernel) -> bool) -> Self {
        let mut plan = Self::only(Self::best(&rate, 1, &wanted));
        for n_messages in 1..=MAX_LANES {
            plan.kernels[n_messages] = Self::best(&rate, n_messages, &wanted);
            plan.n_lanes = plan.n_lanes.max(plan.kernels[n_messages].lanes());
        }
        plan
    }

    /// Returns the kernel for one message by the rates on Intel and unknown CPUs. For one message,
    /// the order of the kernels by rate is the same on all CPUs.
    #[cfg(not(feature = "std"))]
    pub(crate) fn best_alone<A: Rounds>() -> Kernel {
        Self::best(
            |kernel| kernel.rates(Family::default())[A::INDEX],
            1,
            |_| true,
        )
    }

    /// Returns the fastest kernel for this many messages: the one with the highest rate times the
    /// share of its busy lanes. As a result, several messages never run slower than a single
    /// message.
    pub(crate) fn best(
        rate: impl Fn(Kernel) -> f32,
        n_messages: usize,
        wanted: impl Fn(Kernel) -> bool,
    ) -> Kernel {
        #[expect(clippy::cast_precision_loss, reason = "at most 16")]
        let gain = |kernel: &Kernel| {
            let busy = n_messages.min(kernel.lanes()) as f32 / kernel.lanes() as f32;
            rate(*kernel) * busy
        };
        Kernel::available()
            .filter(|kernel| wanted(*kernel))
            .max_by(|a, b| gain(a).total_cmp(&gain(b)))
            .expect("portable is always wanted")
    }

    /// Returns a plan with one kernel for every number of messages.
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

/// Returns the CPU features that matter for hashing, each with its availability. Empty on
/// architectures whose only backend is `portable`.
pub fn cpu_features() -> impl Iterator<Item = CpuFeature> {
    hashlane_simd::features()
}
