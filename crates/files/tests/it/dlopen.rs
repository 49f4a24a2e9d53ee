//! The handler of SIGBUS in a library that is loaded by dlopen.

use std::path::Path;
use std::process::Command;

use crate::not_run::{is_installed, not_run};

#[track_caller]
fn run(command: &mut Command) {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(
        output.status.success(),
        "{command:?}: {}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn the_handler_allocates_nothing() {
    if !is_installed("CC", "cc", "gcc") {
        return;
    }
    // The handler is only in a build without the fallbacks of tools/portable, and a program in C has no sanitizer.
    let changed = ["RUSTC_WORKSPACE_WRAPPER", "RUSTFLAGS"];
    if let Some(variable) = changed.iter().find(|name| std::env::var_os(name).is_some()) {
        let reason = format!("{variable} is set");
        not_run("the handler in a loaded library", &reason, "cargo test");
        return;
    }
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = std::env::current_exe().expect("the path of the test program");
    let target = program.ancestors().nth(2).expect("the folder of the build");
    let library = target.join("examples/libguarded.so");
    // `cargo test --test it` does not build it.
    assert!(
        library.exists(),
        "run `cargo test` or build the examples first"
    );
    let folder = tempfile::tempdir().expect("a temporary folder");
    let program = folder.path().join("main");
    run(Command::new("cc")
        .args(["-Wall", "-Wextra", "-Werror", "-pthread"])
        .arg(package.join("tests/guarded/main.c"))
        .args(["-ldl", "-o"])
        .arg(&program));
    run(Command::new(program)
        .arg(library)
        .arg(folder.path().join("file")));
}
