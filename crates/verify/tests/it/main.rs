//! Tests of the public interface, on real files in a temporary folder.

mod borders;
mod cancel;
mod create;
mod example;
mod fixture;
mod hybrid;
mod layout;
mod library;
mod never_writes;
mod not_run;
mod plan;
mod random;
mod ranges;
mod roundtrip;
mod sizes;
mod states;
mod trusted;
mod v2;

#[cfg(target_os = "linux")]
mod changing;
#[cfg(target_os = "linux")]
mod descriptors;
#[cfg(all(target_os = "linux", not(hashlane_portable)))]
mod direct;
#[cfg(target_os = "linux")]
mod own_process;
// On other systems, holes are read like other bytes.
#[cfg(all(target_os = "linux", not(hashlane_portable)))]
mod holes;
#[cfg(unix)]
mod links;
#[cfg(unix)]
mod source_tree;
#[cfg(unix)]
mod unreadable;
