//! Tests of the shared library.

#[cfg(target_os = "linux")]
mod libmd;
#[cfg(target_os = "linux")]
mod not_run;
