//! An environment with nothing but Rust, a C compiler, make and git, as on a machine that somebody has just set up.

use std::os::unix::fs::symlink;
use std::path::PathBuf;

use anyhow::{Context, Result};
use xshell::cmd;

use crate::not_run::not_run;
use crate::project::Project;

/// What README.md asks for, and what a C compiler of Debian brings along.
const PROGRAMS: [&str; 16] = [
    "cargo", "rustc", "rustdoc", "rustup", "cc", "gcc", "as", "ld", "ar", "nm", "strip", "readelf",
    "objdump", "ranlib", "make", "git",
];

/// Runs a command in this environment.
///
/// The folder of its PATH has links to these programs, and to those of the packages that each Debian has. With `reuse`, the tests
/// that `make test` has compiled, with libtorrent if it is installed, run by cargo-nextest.
pub(crate) fn run(project: &Project, reuse: bool, words: &[String]) -> Result<()> {
    if !project.has("dpkg-query") {
        not_run(
            "a bare environment",
            "dpkg is missing, which knows the programs of each Debian",
            "use Debian",
        );
        return Ok(());
    }
    let shell = &project.shell;
    let folder = project.path("target/bare");
    shell.remove_path(&folder)?;
    shell.create_dir(&folder)?;
    let essential = cmd!(shell, "dpkg-query --show")
        .args(["--showformat", "${Package} ${Essential}\n"])
        .quiet()
        .read()?;
    let packages = essential
        .lines()
        .filter_map(|line| line.strip_suffix(" yes"));
    let files = cmd!(shell, "dpkg-query --listfiles")
        .args(packages)
        .quiet()
        .read()?;
    let is_program = |path: &&str| {
        ["/bin/", "/usr/bin/", "/sbin/", "/usr/sbin/"]
            .iter()
            .any(|folder| path.starts_with(folder))
    };
    let essential = files.lines().filter(is_program).map(PathBuf::from);
    let path = shell.var_os("PATH").unwrap_or_default();
    let find = |program: &&str| {
        std::env::split_paths(&path)
            .map(|folder| folder.join(program))
            .find(|file| file.is_file())
    };
    // `sh` and `awk` are alternatives, which no package contains.
    let others: &[_] = if reuse {
        &["sh", "awk", "cargo-nextest"]
    } else {
        &["sh", "awk"]
    };
    let programs = PROGRAMS.iter().chain(others).filter_map(find);
    for file in essential.chain(programs) {
        let link = folder.join(file.file_name().context("a program without a name")?);
        if file.is_file() && !link.exists() {
            symlink(&file, link)?;
        }
    }
    let libtorrent = if reuse && project.has_libtorrent() {
        "yes"
    } else {
        "no"
    };
    let mut command =
        cmd!(shell, "env --ignore-environment").arg(format!("PATH={}", folder.display()));
    for name in [
        "HOME",
        "CARGO_HOME",
        "RUSTUP_HOME",
        "CARGO_INCREMENTAL",
        "TMPDIR",
    ] {
        if let Some(value) = shell.var_os(name) {
            command = command.arg(format!("{name}={}", value.to_string_lossy()));
        }
    }
    command = command.arg(format!("HASHLANE_LIBTORRENT={libtorrent}"));
    Ok(command.args(words).run()?)
}
