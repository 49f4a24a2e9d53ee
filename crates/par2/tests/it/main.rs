//! Tests of the public interface.
#![allow(clippy::unwrap_used)]

mod damage;
mod hostile;
mod judges;
mod not_run;
mod par2cmdline;
mod place;
mod random;
mod repairs;
#[cfg(unix)]
mod restored;
