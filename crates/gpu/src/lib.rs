#![doc = include_str!("../README.md")]
//!
//! # Modules
//!
//! A module imports only modules above it in this list:
//!
//! | module | contents |
//! |---|---|
//! | `launch` | the queries that a device hashes at once, one of them with a known answer |
//! | `device` | the trait of a device that runs launches |
//! | `backend` | a device as a search backend: cuts work into launches, checks results, continues on the CPU |
//! | `shader` | the source of the kernel in WGSL |
//! | `vulkan` | devices of Vulkan, through `wgpu` |
//! | `list` | the devices of this system |
#![forbid(unsafe_code)]
#![allow(
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "rates and durations are estimates"
)]

mod backend;
mod device;
mod launch;
mod list;
mod shader;
#[cfg(feature = "vulkan")]
mod vulkan;

pub use backend::{GpuBackend, Limits};
pub use device::{Answer, Device, DeviceError, Loaded};
pub use launch::{Found, Launch, QueryWords};
pub use list::{Adapter, adapters};
pub use shader::kernel_source;
