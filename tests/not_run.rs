//! Reports of tests that cannot run on this machine.
//!
//! All have one form, `NOT RUN: what, because what; how to get it`. `cargo xtask test` collects them, and fails if one has another.
//! This file is a module of xtask and of the tests of most crates, which have links to it.

#![allow(dead_code, reason = "no crate needs all functions")]

use std::io::Write as _;
use std::process::{Command, Stdio};

/// Starts each report.
pub(crate) const START: &str = "NOT RUN: ";

/// Returns the line that reports what was not run, why, and how to get what is missing.
pub(crate) fn line(what: &str, because: &str, how: &str) -> String {
    // Reasons can be output of other programs, which has several lines.
    let in_one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let [what, because, how] = [what, because, how].map(in_one_line);
    format!("{START}{what}, because {because}; {how}")
}

/// Prints such a line, also if the output of the test is captured.
pub(crate) fn not_run(what: &str, because: &str, how: &str) {
    let line = line(what, because, how) + "\n";
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// Prints such a line, or fails if `HASHLANE_TEST_REQUIRE_` with this name is 1.
///
/// # Panics
/// The test is required.
#[track_caller]
pub(crate) fn not_run_unless_required(name: &str, what: &str, because: &str, how: &str) {
    let variable = format!("HASHLANE_TEST_REQUIRE_{name}");
    let is_required = std::env::var_os(&variable).is_some_and(|value| value == "1");
    assert!(!is_required, "{variable}: {}", line(what, because, how));
    not_run(what, because, how);
}

/// Returns `true` if a folder of PATH has this program.
pub(crate) fn is_in_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let file = format!("{program}{}", std::env::consts::EXE_SUFFIX);
    std::env::split_paths(&path).any(|folder| folder.join(&file).is_file())
}

/// Returns `true` if PATH has this program. If not, reports it with the package of Debian that contains it.
///
/// # Panics
/// `HASHLANE_TEST_REQUIRE_` with this name requires a missing program.
#[track_caller]
pub(crate) fn is_installed(name: &str, program: &str, package: &str) -> bool {
    let is_installed = is_in_path(program);
    if !is_installed {
        let what = format!("tests with {program}");
        let how = format!("apt-get install {package}");
        not_run_unless_required(name, &what, "it is not installed", &how);
    }
    is_installed
}

/// Returns `true` if Python has this module. If not, reports it with the package of `PyPI` that contains it.
///
/// # Panics
/// `HASHLANE_TEST_REQUIRE_` with this name requires a missing module.
#[track_caller]
pub(crate) fn has_python_module(name: &str, module: &str, package: &str) -> bool {
    let mut import = Command::new("python3");
    import.args(["-c", &format!("import {module}")]);
    let status = import.stdout(Stdio::null()).stderr(Stdio::null()).status();
    let has_module = status.is_ok_and(|status| status.success());
    if !has_module {
        let what = format!("tests with {package} for Python");
        let how = format!("pip install {package}");
        not_run_unless_required(name, &what, "python3 cannot import it", &how);
    }
    has_module
}
