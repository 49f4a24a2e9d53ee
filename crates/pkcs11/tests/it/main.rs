//! Tests of the module.

#[cfg(target_os = "linux")]
mod module;
