//! Builds the C++ half of the libtorrent binding, where the feature asks for it.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    #[cfg(feature = "libtorrent")]
    libtorrent();
}

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
        .files(["cpp/disk.cc", "cpp/session.cc"])
        .std("c++17")
        .includes(&library.include_paths)
        // Of the library's headers, which are not ours to mend.
        .flag_if_supported("-Wno-deprecated-declarations")
        .flag_if_supported("-Wno-unused-parameter");
    for (name, value) in &library.defines {
        build.define(name, value.as_deref());
    }
    build.compile("hashlane-swarm");
    for file in ["disk.h", "disk.cc", "session.h", "session.cc"] {
        println!("cargo::rerun-if-changed=cpp/{file}");
    }
    println!("cargo::rerun-if-changed=src/ffi.rs");
}
