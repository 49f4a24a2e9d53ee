//! The bodies of the kernels. They do not depend on jobs, engines or hashers.

#[cfg(target_arch = "aarch64")]
mod aarch64_sha;
#[cfg(target_arch = "aarch64")]
mod aarch64_sha512;
pub(crate) mod lanes;
pub(crate) mod md5;
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
pub(crate) mod one_message;
pub(crate) mod rounds;
pub(crate) mod sha1;
pub(crate) mod sha1_checked;
pub(crate) mod sha1_conditions;
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
pub(crate) mod sha1_one_block;
pub(crate) mod sha1_vectors;
pub(crate) mod sha256;
pub(crate) mod sha512;
#[cfg(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) mod sha_streams;
#[cfg(test)]
pub(crate) mod tests;
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
pub(crate) mod x86_sha;
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
pub(crate) mod x86_sha1_checked;
