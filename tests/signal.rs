//! Signals to processes of tests. This file is a module of the tests of two crates, which have links to it.

use std::process::Command;

/// Sends a signal, for example `INT`, to a process. `kill` is a part of every shell, and a program only where procps is installed.
pub(crate) fn send(signal: &str, pid: u32) {
    let command = format!("kill -{signal} {pid}");
    let sent = Command::new("sh").args(["-c", &command]).status();
    assert!(sent.unwrap().success());
}
