//! Kernels by name, for tests, benchmarks and reports.

use core::fmt::{self, Write};

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
        let mut text = ShortText::default();
        match write!(text, "{}", Unpadded(self)) {
            Ok(()) => f.pad(str::from_utf8(&text.bytes[..text.len]).map_err(|_| fmt::Error)?),
            // Only the names of other crates can be so long.
            Err(fmt::Error) => Unpadded(self).fmt(f),
        }
    }
}

/// Writes a name in parts.
struct Unpadded<'k>(&'k KernelName);

impl fmt::Display for Unpadded<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(name) = self;
        write!(f, "{}_x{}_", name.algorithm, name.lanes)?;
        name.backend.name().chars().try_for_each(|c| {
            let c = if c == '-' { '_' } else { c };
            f.write_char(c)
        })
    }
}

/// A text on the stack: a name is padded as a whole, and the crate does not allocate.
#[derive(Default)]
struct ShortText {
    bytes: [u8; 32],
    len: usize,
}

impl Write for ShortText {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.len + text.len();
        let free = self.bytes.get_mut(self.len..end).ok_or(fmt::Error)?;
        free.copy_from_slice(text.as_bytes());
        self.len = end;
        Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_padded() {
        let name = KernelName {
            algorithm: "sha1_checked",
            lanes: 16,
            backend: Backend::NeonSha3,
        };
        let text = "sha1_checked_x16_neon_sha3";
        assert_eq!(name.to_string(), text);
        assert_eq!(format!("{name:28}|"), format!("{text}  |"));
        assert_eq!(format!("{name:.>28}"), format!("..{text}"));
        assert_eq!(format!("{name:.4}"), "sha1");
        let algorithm = "an_algorithm_with_a_name_of_its_own";
        let long = KernelName { algorithm, ..name };
        let text = "an_algorithm_with_a_name_of_its_own_x16_neon_sha3";
        assert_eq!(format!("{long:60}"), text);
    }
}
