//! CPU features of an architecture without vector instructions that a backend uses.

use crate::CpuFeature;

/// Returns the CPU features that a backend can use: none.
pub fn features() -> impl Iterator<Item = CpuFeature> {
    core::iter::empty()
}
