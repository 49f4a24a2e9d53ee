//! Builds the C++ half of the libtorrent binding if the feature `libtorrent` is on.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    #[cfg(feature = "libtorrent")]
    libtorrent();
}

/// Each unit is a header and a source file in `cpp/`.
#[cfg(feature = "libtorrent")]
const UNITS: [&str; 5] = ["alerts", "disk", "session", "settings", "text"];

#[cfg(feature = "libtorrent")]
fn libtorrent() {
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
    build
        .files(UNITS.map(|unit| format!("cpp/{unit}.cc")))
        .std("c++17")
        .includes(&library.include_paths)
        // Warnings in libtorrent's headers.
        .flag_if_supported("-Wno-deprecated-declarations")
        .flag_if_supported("-Wno-unused-parameter");
    for (name, value) in &library.defines {
        build.define(name, value.as_deref());
    }
    build.compile("hashlane-swarm");
    println!("cargo::rerun-if-changed=cpp");
    println!("cargo::rerun-if-changed=src/ffi.rs");
}
