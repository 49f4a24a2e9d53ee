//! The header and the exported symbols are those that are checked in. `HASHLANE_UPDATE=1` writes both files.

use std::fs;
use std::process::Command;

use crate::support::{is_installed, is_linux, library, package, run};

/// The modules whose items the header shows, in the order of the header.
const MODULES: [&str; 13] = [
    "error",
    "algorithm",
    "engine",
    "digest",
    "tree",
    "verity",
    "hasher",
    "hmac",
    "many",
    "queue",
    "torrent",
    "verify",
    "base58",
];

/// Compares a checked-in file of this package with its generated text, or writes it if `HASHLANE_UPDATE` is 1.
fn compare(path: &str, generated: &str) {
    let file = package().join(path);
    if std::env::var_os("HASHLANE_UPDATE").is_some_and(|value| value == "1") {
        fs::write(&file, generated).unwrap_or_else(|error| panic!("{path}: {error}"));
    }
    let found = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{path}: {error}"));
    assert!(
        found == generated,
        "{path} is out of date. HASHLANE_UPDATE=1 cargo test --package hashlane-capi --test it abi:: writes:\n{generated}"
    );
}

#[test]
fn the_header_is_generated_from_the_sources() {
    let config = cbindgen::Config::from_file(package().join("cbindgen.toml"));
    let mut builder = cbindgen::Builder::new().with_config(config.expect("cbindgen.toml is valid"));
    for module in MODULES {
        builder = builder.with_src(package().join(format!("src/{module}.rs")));
    }
    let mut header = Vec::new();
    builder
        .generate()
        .expect("cbindgen reads the sources")
        .write(&mut header);
    compare(
        "include/hashlane.h",
        &String::from_utf8(header).expect("the sources are UTF-8"),
    );
}

#[test]
fn the_library_exports_the_listed_symbols() {
    if !is_linux("the list of symbols") || !is_installed("nm", "binutils") {
        return;
    }
    let library = library().join("libhashlane.so");
    let listing = run(Command::new("nm")
        .args(["-D", "--defined-only"])
        .arg(library))
    .stdout;
    let listing = String::from_utf8(listing).expect("symbols are ASCII");
    let mut names: Vec<&str> = listing
        .lines()
        .filter_map(|line| line.split(' ').nth(2))
        .collect();
    names.sort_unstable();
    compare("symbols.txt", &(names.join("\n") + "\n"));
}

#[test]
fn the_shared_library_has_its_soname() {
    if !is_linux("the soname") || !is_installed("readelf", "binutils") {
        return;
    }
    let library = library().join("libhashlane.so");
    let dynamic = run(Command::new("readelf").arg("-d").arg(library)).stdout;
    let dynamic = String::from_utf8_lossy(&dynamic).into_owned();
    assert!(dynamic.contains("soname: [libhashlane.so.0]"), "{dynamic}");
}

/// Unsafe code relies on the Safety section of its function alone, so the section must name each pointer that the function
/// uses. It only passes on the `context` and the `tag` of a callback.
#[test]
fn safety_sections_name_each_pointer() {
    let mut n_functions = 0;
    for module in MODULES {
        let path = package().join(format!("src/{module}.rs"));
        let source = fs::read_to_string(&path).unwrap();
        for (before, function) in source
            .match_indices("pub unsafe extern \"C\" fn ")
            .map(|(at, _)| source.split_at(at))
        {
            let (_, safety) = before
                .rsplit_once("/// # Safety")
                .expect("a Safety section");
            let (arguments, _) = function.split_once(')').unwrap();
            let (name, arguments) = arguments.split_once('(').unwrap();
            assert!(!safety.contains(" fn "), "{name} has no Safety section");
            for (argument, _) in arguments
                .split(',')
                .filter_map(|argument| argument.trim().split_once(": *"))
                .filter(|(argument, _)| !["context", "tag"].contains(argument))
            {
                assert!(
                    safety.contains(&format!("`{argument}`")),
                    "{name}: the Safety section does not name `{argument}`"
                );
            }
            n_functions += 1;
        }
    }
    assert!(n_functions > 40, "{n_functions}");
}
