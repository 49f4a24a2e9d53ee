//! Kernels by name, for tests, benchmarks and reports.

use core::fmt;

use crate::algorithm::Algorithm;
use crate::backend::Backend;
use crate::engine::Engine;
use crate::md5::Md5Kernel;
use crate::sha512::Sha512Kernel;
use crate::table::Kernel;

/// The name of a kernel in tests, benchmarks and reports, for example `sha1_x16_avx512`.
/// Crates with kernels of their own make names, so a new field is a breaking change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KernelName {
    /// `sha1`, `sha1_checked`, `sha256`, `sha512` or `md5`; other crates name their kernels otherwise.
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

impl KernelName {
    /// Returns the kernels of `A` that this CPU can run.
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

impl From<Md5Kernel> for KernelName {
    fn from(kernel: Md5Kernel) -> Self {
        Self {
            algorithm: "md5",
            lanes: kernel.lanes(),
            backend: kernel.backend(),
        }
    }
}

impl From<Sha512Kernel> for KernelName {
    fn from(kernel: Sha512Kernel) -> Self {
        Self {
            algorithm: "sha512",
            lanes: kernel.lanes(),
            backend: kernel.backend(),
        }
    }
}

/// The engine cannot run this kernel: the backend has no kernel with so many lanes, or this CPU
/// lacks a feature. The error is the name alone, and stays so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelUnavailable(pub KernelName);

impl fmt::Display for KernelUnavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: no such kernel on this CPU", self.0)
    }
}

impl core::error::Error for KernelUnavailable {}

impl Engine {
    /// Returns the kernel that runs while `n_messages` of `A` are available.
    pub fn kernel<A: Algorithm>(&self, n_messages: usize) -> KernelName {
        let plan = self.plan::<A::Entries>();
        KernelName::new::<A>(plan[n_messages.clamp(1, plan.len() - 1)])
    }

    /// Returns an engine that runs one kernel of `A` for any number of messages, for tests and
    /// benchmarks: the kernel of `backend` that compresses `lanes` messages at once. The other
    /// algorithm gets the best kernels.
    ///
    /// # Errors
    /// This CPU cannot run the backend, or the backend has no kernel with this number of lanes.
    pub fn with_kernel<A: Algorithm>(
        backend: Backend,
        lanes: usize,
    ) -> Result<Self, KernelUnavailable> {
        let kernel = Kernel::available()
            .find(|kernel| kernel.backend() == backend && kernel.lanes() == lanes);
        kernel
            .map(Self::with_only::<A::Entries>)
            .ok_or(KernelUnavailable(KernelName {
                algorithm: A::NAME,
                lanes,
                backend,
            }))
    }
}
