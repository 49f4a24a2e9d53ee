//! Tests in a process of their own.
//!
//! `cargo test` runs the tests of a program in one process, at the same time. A test that counts allocations, lowers a limit or
//! looks at descriptors must be alone. This file is a module of the tests of several crates, which have links to it.

use std::process::{Command, Stdio};

/// The variable that holds the name of the test in such a process.
const ALONE: &str = "HASHLANE_TEST_ALONE";

/// Runs a test in a process of its own. `name` is the full name of the calling test, such as `memory::peak`.
///
/// # Panics
/// The test fails in that process, or the name is wrong.
#[track_caller]
pub(crate) fn alone(name: &str, test: impl FnOnce()) {
    if std::env::var_os(ALONE).is_some_and(|alone| alone == name) {
        return test();
    }
    let program = std::env::current_exe().expect("the path of the test program");
    let output = Command::new(program)
        .args([name, "--exact", "--include-ignored"])
        .args(["--nocapture", "--test-threads=1"])
        .env(ALONE, name)
        // Shown at once: a test reports there what it cannot run.
        .stderr(Stdio::inherit())
        .output()
        .expect("the test program starts");
    let text = String::from_utf8_lossy(&output.stdout);
    print!("{text}");
    assert!(output.status.success(), "{name}: {}", output.status);
    assert!(text.contains("1 passed"), "{name} is the name of no test");
}
