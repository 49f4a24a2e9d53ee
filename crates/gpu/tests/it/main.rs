//! Tests of the public interface.
#![allow(clippy::unwrap_used)]

#[cfg(feature = "vulkan")]
mod devices;
mod launches;
mod searches;
