//! The checkout that a job works on, its tools, and what this machine has.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use xshell::{Cmd, Shell, cmd};

/// The oldest libtorrent that `hashlane-swarm` compiles with.
const LIBTORRENT: &str = "2.0.8";

/// The root of the checkout, and a shell in it.
pub(crate) struct Project {
    pub(crate) root: PathBuf,
    pub(crate) shell: Shell,
}

impl Project {
    /// Opens the checkout that this program was built from.
    pub(crate) fn open() -> Result<Self> {
        let package = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = package.parent().context("xtask is not in a checkout")?;
        let shell = Shell::new()?;
        shell.change_dir(root);
        Ok(Self {
            root: root.to_owned(),
            shell,
        })
    }

    /// Returns a Cargo command with these arguments, which white space separates.
    pub(crate) fn cargo(&self, arguments: &str) -> Cmd<'_> {
        let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
        // `cargo +nightly` is understood by the proxy of rustup alone, not by the Cargo of one toolchain.
        let program = if arguments.starts_with('+') {
            "cargo"
        } else {
            cargo.as_str()
        };
        cmd!(self.shell, "{program}").args(arguments.split_whitespace())
    }

    /// Returns a command whose program and arguments are separated by white space.
    pub(crate) fn command(&self, words: &str) -> Cmd<'_> {
        let mut words = words.split_whitespace();
        let program = words.next().unwrap_or_default();
        cmd!(self.shell, "{program}").args(words)
    }

    /// Returns a `make` command, which has no job server of a calling make.
    pub(crate) fn make(&self, arguments: &str) -> Cmd<'_> {
        self.command(&format!("make --no-print-directory {arguments}"))
            .env_remove("MAKEFLAGS")
            .env_remove("MAKELEVEL")
    }

    /// Returns a path below the checkout.
    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    /// Returns the features that this machine can build: those of libtorrent, if it is installed.
    ///
    /// `HASHLANE_LIBTORRENT=yes` or `no` decides without a look at the machine.
    pub(crate) fn features(&self) -> &'static str {
        if self.has_libtorrent() {
            "--features libtorrent"
        } else {
            ""
        }
    }

    pub(crate) fn has_libtorrent(&self) -> bool {
        match std::env::var("HASHLANE_LIBTORRENT").as_deref() {
            Ok("yes") => true,
            Ok("no") => false,
            _ => self.succeeds(&format!(
                "pkg-config --atleast-version={LIBTORRENT} libtorrent-rasterbar"
            )),
        }
    }

    /// Returns `true` if this command can be run and succeeds. It prints nothing.
    pub(crate) fn succeeds(&self, words: &str) -> bool {
        self.command(words)
            .quiet()
            .ignore_stdout()
            .ignore_stderr()
            .run()
            .is_ok()
    }

    /// Returns `true` if a folder of PATH has this program.
    pub(crate) fn has(&self, program: &str) -> bool {
        let path = self.shell.var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
    }

    /// Fails unless PATH has the programs; `how` installs them.
    pub(crate) fn need(&self, job: &str, programs: &[&str], how: &str) -> Result<()> {
        for program in programs {
            if !self.has(program) {
                bail!("{job} needs {program}: {how}");
            }
        }
        Ok(())
    }

    /// Fails unless the nightly compiler is installed.
    pub(crate) fn need_nightly(&self, job: &str) -> Result<()> {
        if self.succeeds("cargo +nightly --version") {
            return Ok(());
        }
        bail!("{job} needs a nightly compiler: rustup toolchain install nightly --profile minimal")
    }

    /// The target of this machine, for example `x86_64-unknown-linux-gnu`.
    pub(crate) fn host(&self) -> Result<String> {
        let version = cmd!(self.shell, "rustc --version --verbose")
            .quiet()
            .read()?;
        let host = version.lines().find_map(|line| line.strip_prefix("host: "));
        Ok(host.context("rustc prints no host")?.to_owned())
    }

    /// The text after `KEY = ` in the root's Cargo.toml.
    pub(crate) fn manifest_value(&self, key: &str) -> Result<String> {
        let manifest = self.shell.read_file(self.path("Cargo.toml"))?;
        let value = manifest
            .lines()
            .find_map(|line| line.strip_prefix(key)?.trim_start().strip_prefix("= \""));
        let value = value.with_context(|| format!("Cargo.toml has no {key}"))?;
        Ok(value.trim_end_matches('"').to_owned())
    }
}
