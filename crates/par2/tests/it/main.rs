//! Tests of the public interface.
#![allow(clippy::unwrap_used)]

mod damage;
mod judges;
mod not_run;
mod place;
mod repairs;
#[cfg(unix)]
mod restored;
