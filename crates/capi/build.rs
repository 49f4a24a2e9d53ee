//! Sets the soname of the shared library. Its number changes with every incompatible change of the
//! ABI.

use std::env;

const SONAME: &str = "libhashlane.so.0";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let family = env::var("CARGO_CFG_TARGET_FAMILY").unwrap_or_default();
    let vendor = env::var("CARGO_CFG_TARGET_VENDOR").unwrap_or_default();
    if family == "unix" && vendor != "apple" {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,{SONAME}");
    }
}
