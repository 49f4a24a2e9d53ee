//! The bodies of the kernels. They know blocks, states and vectors, and nothing of jobs, engines and
//! hashers.

#[cfg(target_arch = "aarch64")]
pub(crate) mod aarch64_sha;
pub(crate) mod compression;
pub(crate) mod constants;
pub(crate) mod lanes;
mod rounds;
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
pub(crate) mod schedule;
pub(crate) mod sha256d;
#[cfg(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) mod sha_streams;
#[cfg(test)]
pub(crate) mod tests;
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
pub(crate) mod x86_sha;

// The kernels that use the CPU's own SHA instructions.
#[cfg(target_arch = "aarch64")]
pub(crate) use aarch64_sha as sha;
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
pub(crate) use x86_sha as sha;
