//! Tests of the module.

#[cfg(target_os = "linux")]
mod module;
#[cfg(target_os = "linux")]
mod not_run;
