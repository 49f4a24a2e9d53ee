//! Tests of the public interface.
#![allow(clippy::unwrap_used)]

#[cfg(target_os = "linux")]
mod descriptors;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod dlopen;
#[cfg(unix)]
mod link_paths;
mod not_run;
#[cfg(target_os = "linux")]
mod own_process;
#[cfg(unix)]
mod root;
#[cfg(unix)]
mod walk;

// The fallbacks for other systems keep no access times, do not notice writers, and map nothing.
#[cfg(all(target_os = "linux", not(hashlane_portable)))]
mod access_time;
#[cfg(all(target_os = "linux", not(hashlane_portable)))]
mod direct;
#[cfg(all(target_os = "linux", not(hashlane_portable)))]
mod map;
#[cfg(all(target_os = "linux", not(hashlane_portable)))]
mod sync;
#[cfg(all(target_os = "linux", not(hashlane_portable)))]
mod writers;
