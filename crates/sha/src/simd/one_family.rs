//! An architecture on which one column of rates serves all CPUs, as far as is known.

/// CPUs on which the rates of the kernels have the same ratios.
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
