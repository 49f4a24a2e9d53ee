//! CPU families of an architecture on which all CPUs share one column of rates.

/// CPUs whose kernels have the same ratios of rates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Family {
    #[default]
    /// All CPUs.
    Any = 0,
}

impl Family {
    /// Returns the family of this CPU.
    #[inline]
    pub fn detect() -> Self {
        Self::Any
    }
}
