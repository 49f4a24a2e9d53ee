//! Executes this program again with the same arguments, if libtorrent does not respond: its threads end only with the
//! program.

use std::convert::Infallible;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Seek as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use anyhow::Context as _;
use hashlane_client::Handover;
use rustix::io::FdFlags;

/// The variable that names the file with the state, in `/dev/fd`. The state can contain passkeys, so the file has no name of
/// its own, and neither the arguments nor the variable show the state.
const VARIABLE: &str = Handover::VARIABLE;

/// Returns the state of the process that executed this program again, or the default.
pub(crate) fn continued() -> anyhow::Result<Handover> {
    let Some(path) = std::env::var_os(VARIABLE) else {
        return Ok(Handover::default());
    };
    let path = Path::new(&path);
    if !path.starts_with("/dev/fd") {
        return Ok(Handover::default());
    }
    let state = fs::read(path).context(VARIABLE)?;
    let handover = serde_json::from_slice(&state).context(VARIABLE)?;
    // Commands of --exec inherit the descriptor.
    let _ = File::options().write(true).truncate(true).open(path);
    Ok(handover)
}

/// Executes the program again. Returns only if that fails.
pub(crate) fn execute(args: &[OsString], handover: &Handover) -> io::Result<Infallible> {
    let mut file = unnamed_file()?;
    serde_json::to_writer(io::BufWriter::new(&file), handover)?;
    file.flush()?;
    // Some systems share the position with the file that is opened from `/dev/fd`.
    file.rewind()?;
    rustix::io::fcntl_setfd(&file, FdFlags::empty())?;
    hashlane_swarm::close_sockets_on_exec();
    let mut program = Command::new(std::env::current_exe()?);
    if let Some((name, args)) = args.split_first() {
        program.arg0(name).args(args);
    }
    program.env(VARIABLE, format!("/dev/fd/{}", file.as_raw_fd()));
    Err(program.exec())
}

#[cfg(target_os = "linux")]
fn unnamed_file() -> io::Result<File> {
    use rustix::fs::{MemfdFlags, memfd_create};
    Ok(memfd_create(c"hashlane", MemfdFlags::empty())?.into())
}

#[cfg(not(target_os = "linux"))]
fn unnamed_file() -> io::Result<File> {
    tempfile::tempfile()
}
