//! Tests of the public interface.
#![allow(clippy::unwrap_used)]

#[cfg(feature = "vulkan")]
mod devices;
mod launches;
#[cfg(feature = "vulkan")]
mod not_run;
mod random;
mod searches;
