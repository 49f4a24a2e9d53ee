//! The trait of a device that runs launches.

use std::fmt;

use hashlane_base58::Addends;

use crate::launch::{Found, Launch};

/// A device that runs launches. [`GpuBackend`](crate::GpuBackend) cuts a search into launches,
/// checks their results, and continues on the CPU if the device fails.
pub trait Device: fmt::Debug + Send + Sync {
    /// Returns the name that is shown to users, for example `NVIDIA H100 PCIe`.
    fn name(&self) -> String;

    /// Returns the maximum number of queries in a launch.
    fn max_queries(&self) -> usize;

    /// Copies a table of addends to the device.
    ///
    /// # Errors
    /// [`DeviceError`] if the device has no memory or no longer answers.
    fn load<'d>(&'d self, addends: &Addends<'_>) -> Result<Box<dyn Loaded + 'd>, DeviceError>;
}

/// A table of addends in the memory of a device.
pub trait Loaded {
    /// Hashes all messages of a launch, and waits for the results.
    ///
    /// # Errors
    /// [`DeviceError`] if the device has no memory or no longer answers.
    fn run(&mut self, launch: &Launch) -> Result<Answer, DeviceError>;
}

/// The result of a launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// The matches for which the device had room, in any order.
    pub found: Vec<Found>,
    /// Number of all matches.
    pub n_found: usize,
}

/// An error of a device. The text is the driver's, or says what is wrong with an answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct DeviceError(pub String);
