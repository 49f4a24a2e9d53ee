//! The choice of kernels by algorithm and number of messages, from measured rates.

use core::fmt;

use hashlane_simd::Family;

use crate::backend::{Backend, BackendUnavailable};
use crate::kernels::rounds::Rounds;
use crate::kernels::sha1::Sha1Compression;
use crate::kernels::sha256::Sha256Compression;
use crate::md5::Md5Kernel;
use crate::sha512::Sha512Kernel;
use crate::table::Kernel;
use crate::table::checked::CheckedKernel;
use crate::types::{CpuFeature, MAX_MESSAGES};

/// The engine that [`Engine::detect`] returns.
#[cfg(feature = "std")]
static DETECTED: std::sync::OnceLock<Engine> = std::sync::OnceLock::new();

/// The engine of this process is already in use: see `Engine::set_default`.
#[cfg(feature = "std")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AlreadyDetected(());

#[cfg(feature = "std")]
impl fmt::Display for AlreadyDetected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the engine of this process was chosen before")
    }
}

#[cfg(feature = "std")]
impl core::error::Error for AlreadyDetected {}

/// The kernels in use, by algorithm and number of messages.
///
/// An engine is small and cheap to copy. Choosing a kernel costs one table look-up.
#[derive(Clone, Copy)]
pub struct Engine {
    /// The kernels of each algorithm, at its [`Rounds::INDEX`].
    plans: [Plan; 2],
    /// The kernel that detects collision attacks on SHA-1.
    pub(crate) checked: CheckedKernel,
    is_estimate: bool,
    md5: Md5Kernel,
    sha512: Sha512Kernel,
}

impl Engine {
    /// Returns the best engine that this CPU can run, or the engine that the program has passed to
    /// `Engine::set_default`.
    ///
    /// The choice is made once per process, from the features of the CPU alone. No environment
    /// variable is read.
    ///
    /// Without the feature `std`, each call makes the choice again. The choice takes about a
    /// microsecond, so keep the engine where that matters.
    pub fn detect() -> Self {
        #[cfg(feature = "std")]
        {
            *DETECTED.get_or_init(Self::of_all)
        }
        #[cfg(not(feature = "std"))]
        Self::of_all()
    }

    /// Makes [`Engine::detect`] return `self` for the whole process, also where other crates call
    /// it. Requires the feature `std`.
    ///
    /// For programs that let their users choose a backend: call it first in `main`. Libraries pass
    /// an engine as an argument instead.
    ///
    /// ```
    /// use hashlane_sha::{Backend, Engine};
    ///
    /// if let Some(name) = std::env::var_os("PROGRAM_BACKEND") {
    ///     let backend: Backend = name.to_string_lossy().parse()?;
    ///     Engine::with(backend)?.set_default()?;
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The process has called [`Engine::detect`] or this function before, perhaps by creating a
    /// hasher.
    #[cfg(feature = "std")]
    pub fn set_default(self) -> Result<(), AlreadyDetected> {
        DETECTED.set(self).map_err(|_| AlreadyDetected(()))
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

    /// Returns the best engine that this CPU can run with the backends for which `is_allowed`
    /// returns `true`. `portable` is always allowed.
    ///
    /// ```
    /// use hashlane_sha::{Backend, Engine};
    /// // Without 512-bit vectors, which lower the clock of some CPUs.
    /// let engine = Engine::among(|backend| backend != Backend::Avx512);
    /// # assert_ne!(engine.kernel::<hashlane_sha::Sha1>(16).backend, Backend::Avx512);
    /// ```
    pub fn among(is_allowed: impl Fn(Backend) -> bool) -> Self {
        Self::of(|backend| backend == Backend::Portable || is_allowed(backend))
    }

    /// Returns an engine that runs one kernel while up to [`MAX_MESSAGES`] messages are in progress,
    /// even if the kernel has fewer lanes.
    #[cfg(test)]
    pub(crate) fn with_wide_plan(kernel: Kernel) -> Self {
        let plan = Plan {
            kernels: [kernel; MAX_MESSAGES + 1],
            n_lanes: MAX_MESSAGES,
        };
        Self {
            plans: [plan; 2],
            checked: CheckedKernel::portable(),
            is_estimate: false,
            md5: Md5Kernel::portable(),
            sha512: Sha512Kernel::portable(),
        }
    }

    /// Returns an engine with the best kernels, except that `A` has only this one.
    pub(crate) fn with_only<A: Rounds>(kernel: Kernel) -> Self {
        let mut engine = Self::of_all();
        engine.plans[A::INDEX] = Plan::only(kernel);
        engine
    }

    fn of_all() -> Self {
        Self::of(|_| true)
    }

    fn of(wanted: impl Fn(Backend) -> bool) -> Self {
        let family = Family::detect();
        let plan = |index: usize| {
            Plan::new(
                |kernel| kernel.rate(family).of[index],
                |kernel| wanted(kernel.backend()),
            )
        };
        // The SHA instructions neither test conditions nor compute MD5 or SHA-512, but CPUs that have them have vectors.
        let with_vectors = |backend: Backend| match backend {
            Backend::Sse2 => wanted(Backend::Sse2) || wanted(Backend::ShaNi),
            Backend::Neon => wanted(Backend::Neon) || wanted(Backend::ArmSha),
            _ => wanted(backend),
        };
        Self {
            plans: [plan(Sha1Compression::INDEX), plan(Sha256Compression::INDEX)],
            checked: CheckedKernel::available()
                .find(|kernel| with_vectors(kernel.backend()))
                .unwrap_or(CheckedKernel::portable()),
            md5: Md5Kernel::best(family, with_vectors),
            sha512: Sha512Kernel::best(family, with_vectors),
            is_estimate: Self::is_estimate_on(family, &wanted),
        }
    }

    /// Returns `true` if the rate of a wanted kernel of this CPU was not measured on the family.
    pub(crate) fn is_estimate_on(family: Family, wanted: impl Fn(Backend) -> bool) -> bool {
        Kernel::available()
            .filter(|kernel| wanted(kernel.backend()))
            .any(|kernel| kernel.rate(family).is_estimate)
    }

    /// Returns `true` if an estimate took part in the choice of the kernels: at least one kernel
    /// that the CPU can run and the engine may use was not measured on a CPU of this family.
    /// Estimates follow from other CPUs and from tables of instructions, so another kernel may be
    /// faster.
    #[must_use]
    pub fn is_estimate(&self) -> bool {
        self.is_estimate
    }

    /// Returns the kernel that hashes many messages of MD5.
    pub fn md5_kernel(&self) -> Md5Kernel {
        self.md5
    }

    /// Returns the kernel that hashes many messages of SHA-384, SHA-512 or SHA-512/256.
    pub fn sha512_kernel(&self) -> Sha512Kernel {
        self.sha512
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

/// A kernel for each number of available messages, up to the largest number of lanes.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    /// The kernel for each number of messages. `[0]` never runs.
    kernels: [Kernel; MAX_MESSAGES + 1],
    n_lanes: usize,
}

impl Plan {
    /// Returns the best kernel for each number of messages. The rates come from the table of each
    /// architecture, so there are no thresholds to maintain.
    fn new(rate: impl Fn(Kernel) -> f32, wanted: impl Fn(Kernel) -> bool) -> Self {
        let mut plan = Self::only(Self::best(&rate, 1, &wanted));
        for n_messages in 1..=MAX_MESSAGES {
            plan.kernels[n_messages] = Self::best(&rate, n_messages, &wanted);
            plan.n_lanes = plan.n_lanes.max(plan.kernels[n_messages].lanes());
        }
        plan
    }

    /// Returns the kernel for one message by the rates on other CPUs of Intel, and unknown ones. The CPUs
    /// with rates of their own have the SHA instructions, whose kernel is the fastest for one
    /// message by all rates. Only a virtual machine that hides these instructions gets another
    /// kernel than [`Engine::detect`] chooses.
    #[cfg(not(feature = "std"))]
    pub(crate) fn best_alone<A: Rounds>() -> Kernel {
        Self::best(
            |kernel| kernel.rate(Family::default()).of[A::INDEX],
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
        #[expect(clippy::cast_precision_loss, reason = "at most 32")]
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
            kernels: [kernel; MAX_MESSAGES + 1],
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
