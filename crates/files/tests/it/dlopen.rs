//! The handler of SIGBUS in a library that is loaded by dlopen.

use std::path::Path;
use std::process::Command;

use crate::not_run::is_installed;

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
    let (package, temporary) = (
        Path::new(env!("CARGO_MANIFEST_DIR")),
        Path::new(env!("CARGO_TARGET_TMPDIR")),
    );
    let target = temporary
        .parent()
        .expect("a folder below the target folder");
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .args(["build", "--quiet", "--package", "hashlane-files"])
        .args(["--example", "guarded", "--target-dir"])
        .arg(target);
    // Flags of a sanitizer would apply to procedural macros too, because there is no target. The handler is only in a build
    // without the fallbacks of tools/portable.
    for variable in [
        "CARGO_BUILD_TARGET",
        "CARGO_ENCODED_RUSTFLAGS",
        "RUSTC_WORKSPACE_WRAPPER",
        "RUSTFLAGS",
    ] {
        cargo.env_remove(variable);
    }
    run(cargo.current_dir(package));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let program = folder.path().join("main");
    run(Command::new("cc")
        .args(["-Wall", "-Wextra", "-Werror", "-pthread"])
        .arg(package.join("tests/guarded/main.c"))
        .args(["-ldl", "-o"])
        .arg(&program));
    run(Command::new(program)
        .arg(target.join("debug/examples/libguarded.so"))
        .arg(folder.path().join("file")));
}
