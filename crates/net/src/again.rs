//! Executes this program again with the same arguments, if libtorrent does not respond: its threads end only with the
//! program.
//!
//! The state of the session goes with it, in a file that has no name: nothing of it is left, however either process ends.

use std::convert::Infallible;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Seek as _, Write as _};
use std::net::IpAddr;
use std::os::fd::AsRawFd as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use anyhow::Context as _;
use hashlane_client::{Bind, Network, Settings, StuckWebSeed, WebSeeds};
use hashlane_session::{CONTINUED, Memory, Session};
use rustix::io::FdFlags;
use serde::{Deserialize, Serialize};

/// Number of restarts after which web seeds are no longer used.
const MAX_RESTARTS: usize = 8;

/// What another process continues from. It can contain passkeys, so its file has no name of its own, and neither the arguments nor
/// the environment show it: the variable [`CONTINUED`] names the file in `/dev/fd`.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Continued {
    /// The reason for the restart, as text; empty without one.
    pub(crate) cause: String,
    /// Whether the program has already failed for a reason that the client does not know.
    pub(crate) has_failed: bool,
    /// The servers that made libtorrent hang, `host:port`: one for each restart.
    avoided_web_seeds: Vec<String>,
    /// The address, the interface and the port of connections, if a request changed them.
    network: Option<(Option<IpAddr>, Option<String>, u16)>,
    /// The torrents of `get` and `seed`, which are in memory.
    pub(crate) memory: Memory,
}

impl Continued {
    /// Returns what a process continues from whose client has these settings.
    ///
    /// # Errors
    /// The state of the session cannot be taken.
    pub(crate) fn new(
        stuck: StuckWebSeed,
        settings: &Settings,
        session: &Session,
    ) -> Result<Self, hashlane_session::Error> {
        let StuckWebSeed { server, torrent } = stuck;
        let network = session.requested_network()?.map(|Network { bind, port }| {
            let address = match bind {
                Bind::Address(address) => Some(address),
                Bind::Any | Bind::Interface(_) => None,
            };
            (address, bind.interface().map(str::to_owned), port)
        });
        let mut avoided_web_seeds = settings.avoided_web_seeds.clone();
        let cause = format!("the web seed {server} of {torrent}");
        avoided_web_seeds.push(server);
        Ok(Self {
            cause,
            has_failed: false,
            avoided_web_seeds,
            network,
            memory: match session.folder() {
                Some(_) => Memory::default(),
                None => session.memory()?,
            },
        })
    }

    /// Returns what a person should know of the other process, if it had to end.
    pub(crate) fn warning(&self) -> Option<String> {
        (!self.cause.is_empty()).then(|| {
            format!(
                "libtorrent did not respond because of {}: Hashlane has started again without it, and continues from the content on disk",
                self.cause
            )
        })
    }

    /// Changes settings to those of the other process, without the web seeds that made libtorrent hang, or without all, if there
    /// were many of them.
    pub(crate) fn change(&self, settings: &mut Settings) {
        if let Some((address, interface, port)) = self.network.clone() {
            let bind = match (address, interface) {
                (_, Some(name)) => Bind::Interface(name),
                (Some(address), None) => Bind::Address(address),
                (None, None) => Bind::Any,
            };
            settings.network = Network { bind, port };
        }
        let avoided = &mut settings.avoided_web_seeds;
        avoided.extend_from_slice(&self.avoided_web_seeds);
        if avoided.len() >= MAX_RESTARTS {
            settings.web_seeds = WebSeeds::Unused;
        }
    }
}

/// Returns the state of the process that executed this program again, or the default.
pub(crate) fn continued() -> anyhow::Result<Continued> {
    let Some(path) = std::env::var_os(CONTINUED) else {
        return Ok(Continued::default());
    };
    let path = Path::new(&path);
    if !path.starts_with("/dev/fd") {
        return Ok(Continued::default());
    }
    let state = fs::read(path).context(CONTINUED)?;
    let continued = serde_json::from_slice(&state).context(CONTINUED)?;
    // Commands of --exec inherit the descriptor.
    let _ = File::options().write(true).truncate(true).open(path);
    Ok(continued)
}

/// Executes the program again. Returns only if that fails.
pub(crate) fn execute(args: &[OsString], continued: &Continued) -> io::Result<Infallible> {
    let mut file = unnamed_file()?;
    serde_json::to_writer(io::BufWriter::new(&file), continued)?;
    file.flush()?;
    // Some systems share the position with the file that is opened from `/dev/fd`.
    file.rewind()?;
    rustix::io::fcntl_setfd(&file, FdFlags::empty())?;
    hashlane_swarm::close_sockets_on_exec();
    let mut program = Command::new(std::env::current_exe()?);
    if let Some((name, args)) = args.split_first() {
        program.arg0(name).args(args);
    }
    program.env(CONTINUED, format!("/dev/fd/{}", file.as_raw_fd()));
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
