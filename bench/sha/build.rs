//! Compiles the shims over the C libraries that are installed.

use std::env;

fn main() {
    println!("cargo::rustc-check-cfg=cfg(openssl)");
    println!("cargo::rustc-check-cfg=cfg(ipsec_mb)");
    println!("cargo::rerun-if-changed=shim");

    shim("shim/chain.c").compile("bench_chain");
    openssl();
    ipsec_mb();
}

/// Compiles the shim over OpenSSL (Debian package libssl-dev).
fn openssl() {
    let mut libcrypto = pkg_config::Config::new();
    libcrypto.atleast_version("3.0");
    // Linkers need a library after the code that uses it, so the link flags follow the shim.
    match libcrypto.cargo_metadata(false).probe("libcrypto") {
        Ok(found) => {
            shim("shim/openssl.c")
                .includes(found.include_paths)
                .compile("bench_openssl");
            libcrypto
                .cargo_metadata(true)
                .probe("libcrypto")
                .expect("it was found a moment ago");
            println!("cargo::rustc-cfg=openssl");
        }
        Err(_) => println!("cargo::warning=OpenSSL is not compared: no libssl-dev 3.0 or later"),
    }
}

/// Compiles the shim over ipsec-mb (Debian package libipsec-mb-dev, for x86-64 only, without pkg-config data).
fn ipsec_mb() {
    if env::var("CARGO_CFG_TARGET_ARCH").as_deref() != Ok("x86_64") {
        return;
    }
    match shim("shim/ipsec_mb.c").try_compile("bench_ipsec_mb") {
        Ok(()) => {
            println!("cargo::rustc-link-lib=IPSec_MB");
            println!("cargo::rustc-cfg=ipsec_mb");
        }
        Err(_) => println!(
            "cargo::warning=ipsec-mb is not compared: libipsec-mb-dev is not installed, or too old"
        ),
    }
}

fn shim(file: &str) -> cc::Build {
    let mut build = cc::Build::new();
    build.file(file).opt_level(2).warnings(true).std("c11");
    build
}
