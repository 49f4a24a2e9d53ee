//! CPU families of an architecture on which all CPUs share one column of rates.

/// CPUs whose kernels have the same ratios of rates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Family {
    #[default]
    Any = 0,
}

impl Family {
    /// Returns the family of this CPU.
    pub(crate) fn detect() -> Self {
        Self::Any
    }
}
