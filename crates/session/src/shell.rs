//! Shell commands of a person.

use std::io;
use std::os::fd::AsFd as _;
use std::process::{Command, Stdio};

/// The environment variable by which a program that executes itself again finds what it continues from. Commands of a person do not
/// get it.
pub const CONTINUED: &str = "HASHLANE_CONTINUE";

/// Returns a shell command without input. Its output goes to the standard error stream, because standard output is for the
/// reports of the program.
///
/// # Errors
/// Returns the reason why the command has no output.
pub fn shell(command: &str) -> io::Result<Command> {
    let output = io::stderr().as_fd().try_clone_to_owned()?;
    let mut shell = Command::new("sh");
    shell
        .args(["-c", command])
        .env_remove(CONTINUED)
        .stdin(Stdio::null())
        .stdout(Stdio::from(output));
    Ok(shell)
}
