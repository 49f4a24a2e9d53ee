//! The commands that need libtorrent, or the driver of a GPU. Only the program `hashlane-net` is linked with libtorrent,
//! OpenSSL and the C++ library, because every start of a program loads its libraries. The program `hashlane` of the
//! packages is static, so it cannot load a driver either.

use std::path::PathBuf;

use anyhow::bail;

use crate::{Daemon, Env, Exit, Get, Magnet, Seed};

/// The commands that need libtorrent. Errors are printed by the caller.
pub trait NetworkCommands {
    /// Runs `hashlane get`.
    ///
    /// # Errors
    /// The command cannot start, or its output cannot be written.
    fn get(&self, env: &mut Env, get: Get) -> anyhow::Result<Exit>;

    /// Runs `hashlane seed`.
    ///
    /// # Errors
    /// The command cannot start, or its output cannot be written.
    fn seed(&self, env: &mut Env, seed: Seed) -> anyhow::Result<Exit>;

    /// Runs `hashlane daemon`.
    ///
    /// # Errors
    /// The command cannot start, or its output cannot be written.
    fn daemon(&self, env: &mut Env, daemon: Daemon) -> anyhow::Result<Exit>;

    /// Runs `hashlane magnet --fetch`.
    ///
    /// # Errors
    /// The command cannot start, or its output cannot be written.
    fn fetch(&self, env: &mut Env, magnet: Magnet) -> anyhow::Result<Exit>;

    /// Runs `hashlane recover --device DEVICE` in a program that was built without GPUs. The default is a refusal.
    ///
    /// # Errors
    /// The command cannot start.
    fn recover_on_device(&self, env: &mut Env, device: &str) -> anyhow::Result<Exit> {
        let _ = env;
        bail!("--device {device}: {WITHOUT_GPUS}; `make build GPU=1` includes them")
    }
}

/// The commands of the program `hashlane-net`, which replaces this process.
#[derive(Clone, Copy, Debug)]
pub struct OtherProgram;

impl NetworkCommands for OtherProgram {
    fn get(&self, env: &mut Env, _: Get) -> anyhow::Result<Exit> {
        become_other_program(env, "`get`", INSTALL_LIBTORRENT)
    }

    fn seed(&self, env: &mut Env, _: Seed) -> anyhow::Result<Exit> {
        become_other_program(env, "`seed`", INSTALL_LIBTORRENT)
    }

    fn daemon(&self, env: &mut Env, _: Daemon) -> anyhow::Result<Exit> {
        become_other_program(env, "`daemon`", INSTALL_LIBTORRENT)
    }

    fn fetch(&self, env: &mut Env, _: Magnet) -> anyhow::Result<Exit> {
        become_other_program(env, "`magnet --fetch`", INSTALL_LIBTORRENT)
    }

    fn recover_on_device(&self, env: &mut Env, device: &str) -> anyhow::Result<Exit> {
        let what = format!("--device {device}: {WITHOUT_GPUS}, and");
        become_other_program(env, &what, INSTALL_WITH_GPUS)
    }
}

/// The name of the other program.
const NAME: &str = "hashlane-net";

const WITHOUT_GPUS: &str = "this program was built without GPUs";

/// How to get the other program.
const INSTALL_LIBTORRENT: &str = "install libtorrent-rasterbar 2.0.8 or later with its headers, pkg-config and a C++ \
    compiler (Debian: apt-get install libtorrent-rasterbar-dev pkg-config g++), then run `make build` or `make install`";

/// How to get a program with GPUs.
const INSTALL_WITH_GPUS: &str =
    "install the package hashlane-net, or build this program by `make build GPU=1`";

/// The variable that holds the version of the program `hashlane` when it executes the other program.
const CALLER: &str = "HASHLANE_CALLER";

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Returns the places of the other program: the folder of this program, and the folder where `make install` puts it.
fn places() -> Vec<PathBuf> {
    // Links to this program are followed.
    let this = std::env::current_exe().and_then(std::fs::canonicalize);
    let folder = this.ok().and_then(|this| Some(this.parent()?.to_owned()));
    let Some(folder) = folder else {
        return Vec::new();
    };
    let installed = folder
        .parent()
        .map(|prefix| prefix.join("libexec/hashlane"));
    let folders = [Some(folder), installed].into_iter().flatten();
    folders.map(|folder| folder.join(NAME)).collect()
}

/// Returns the path of the other program, if it is installed and is not this one.
pub(crate) fn other_program() -> Option<PathBuf> {
    let this = std::env::current_exe().ok();
    let others = places()
        .into_iter()
        .filter(|place| this.as_ref() != Some(place));
    others.into_iter().find(|place| place.exists())
}

/// Executes the other program with the arguments of this process. The error says that `command` needs it, and the remedy.
#[cfg_attr(
    not(unix),
    allow(unused_variables, reason = "libtorrent is supported on Unix only")
)]
fn become_other_program(env: &Env, command: &str, remedy: &str) -> anyhow::Result<Exit> {
    #[cfg(unix)]
    if let Some(program) = other_program() {
        use std::os::unix::process::CommandExt as _;
        let mut other = std::process::Command::new(&program);
        if let Some((name, args)) = env.args.split_first() {
            // Lists of processes show the name that the user called.
            other.arg0(name).args(args);
        }
        let error = other.env(CALLER, VERSION).exec();
        return Err(anyhow::Error::new(error).context(program.display().to_string()));
    }
    let places: Vec<String> = places()
        .iter()
        .map(|place| place.display().to_string())
        .collect();
    bail!(
        "{command} needs the program {NAME}, which does not exist ({}): {remedy}",
        places.join(", ")
    )
}

/// Checks in the other program that the program `hashlane` that executed it, if one did, has the same version.
///
/// # Errors
/// The versions differ.
pub fn check_caller() -> anyhow::Result<()> {
    match std::env::var_os(CALLER) {
        Some(caller) if caller != VERSION => bail!(
            "this is version {}, but {} is version {VERSION}: install both from the same source",
            caller.display(),
            std::env::current_exe().map_or(NAME.into(), |path| path.display().to_string())
        ),
        _ => Ok(()),
    }
}
