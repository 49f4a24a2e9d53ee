//! Builds the C++ half of the libtorrent binding if the feature `libtorrent` is on.

#[cfg(feature = "libtorrent")]
use std::{env, fs, path::Path};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    #[cfg(feature = "libtorrent")]
    libtorrent();
}

/// Each unit is a header and a source file in `cpp/`. All are compiled as one file: libtorrent's headers
/// take longer to compile than the units.
#[cfg(feature = "libtorrent")]
const UNITS: [&str; 6] = ["alerts", "disk", "session", "settings", "text", "web_seeds"];

#[cfg(feature = "libtorrent")]
fn libtorrent() {
    // docs.rs has no libtorrent, and documentation needs no C++.
    println!("cargo::rerun-if-env-changed=DOCS_RS");
    if env::var_os("DOCS_RS").is_some() {
        return;
    }
    let library = pkg_config::Config::new()
        .atleast_version("2.0.8")
        .probe("libtorrent-rasterbar");
    let library = library.unwrap_or_else(|error| {
        panic!(
            "libtorrent-rasterbar 2.0.8 or newer and its headers are needed \
             (Debian: apt-get install libtorrent-rasterbar-dev pkg-config g++): {error}"
        )
    });
    let mut build = cxx_build::bridge("src/ffi.rs");
    let out = env::var_os("OUT_DIR").expect("Cargo sets OUT_DIR");
    let all_units = Path::new(&out).join("all_units.cc");
    let includes = UNITS.map(|unit| format!("#include \"hashlane-swarm/cpp/{unit}.cc\"\n"));
    fs::write(&all_units, includes.concat()).expect("OUT_DIR is writable");
    build
        .file(all_units)
        .std("c++17")
        .includes(&library.include_paths)
        // The layer between libtorrent and Rust handles what peers send.
        .flag_if_supported("-fstack-protector-strong")
        .flag_if_supported("-fstack-clash-protection")
        // libtorrent's headers use deprecated declarations.
        .flag_if_supported("-Wno-deprecated-declarations")
        .flag_if_supported("-Wno-unused-parameter");
    for (name, value) in &library.defines {
        build.define(name, value.as_deref());
    }
    build.compile("hashlane-swarm");
    println!("cargo::rerun-if-changed=cpp");
    println!("cargo::rerun-if-changed=src/ffi.rs");
}
