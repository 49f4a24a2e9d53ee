//! Tests of the public interface, on real files in a temporary folder.

mod cancel;
mod fixture;
mod layout;
mod never_writes;
mod sizes;
mod states;

#[cfg(target_os = "linux")]
mod changing;
#[cfg(target_os = "linux")]
mod descriptors;
// Elsewhere holes are read like any bytes.
#[cfg(all(target_os = "linux", not(hashlane_portable)))]
mod holes;
#[cfg(unix)]
mod unreadable;
