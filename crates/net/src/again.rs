//! Executes this program again with the same arguments, if libtorrent does not respond: its threads end only with the
//! program.
//!
//! The torrents of `get` and `seed`, which are in memory, go to a temporary state folder, which the other process deletes as soon as
//! it has read it.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Seek as _, Write as _};
use std::net::IpAddr;
use std::os::fd::AsRawFd as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;
use hashlane_client::{Bind, Network, Settings, StuckWebSeed, WebSeeds};
use hashlane_session::{CONTINUED, GivenNames, Kept, Session};
use hashlane_store::Store;
use rustix::io::FdFlags;
use serde::{Deserialize, Serialize};

/// Number of restarts after which web seeds are no longer used.
const MAX_RESTARTS: usize = 8;

/// What another process continues from. It can contain passkeys, so its file has no name of its own, and neither the arguments nor
/// the environment show it: the variable [`CONTINUED`] names the file in `/dev/fd`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Continued {
    /// The reason for the restart, as text; empty without one.
    pub(crate) cause: String,
    /// Whether the program has already failed for a reason that the client does not know.
    pub(crate) has_failed: bool,
    /// The servers that made libtorrent hang, `host:port`: one for each restart.
    avoided_web_seeds: Vec<String>,
    /// The address, the interface and the port of connections.
    network: Option<(Option<IpAddr>, Option<String>, u16)>,
    /// The temporary state folder, which need not be UTF-8.
    folder: Option<OsString>,
    /// How a person named torrents, by the names of these.
    labels: Vec<(String, String)>,
    /// What a person gave and is in the folder, or was removed.
    given: BTreeSet<String>,
}

impl Continued {
    /// Returns what a process continues from whose settings of the session are these.
    pub(crate) fn new(stuck: StuckWebSeed, settings: &Settings, network: &Network) -> Self {
        let StuckWebSeed { server, torrent } = stuck;
        let address = match network.bind {
            Bind::Address(address) => Some(address),
            Bind::Any | Bind::Interface(_) => None,
        };
        let interface = network.bind.interface().map(str::to_owned);
        let mut avoided_web_seeds = settings.avoided_web_seeds.clone();
        let cause = format!("the web seed {server} of {torrent}");
        avoided_web_seeds.push(server);
        Self {
            cause,
            avoided_web_seeds,
            network: Some((address, interface, network.port)),
            ..Self::default()
        }
    }

    /// Writes the torrents of a session to a temporary folder.
    pub(crate) fn keep(&mut self, session: &Session) -> anyhow::Result<()> {
        let folder = tempfile::Builder::new().prefix("hashlane-").tempdir()?;
        let GivenNames { labels, given } = session.copy_to(folder.path())?;
        let labels = labels.into_iter();
        self.labels = labels
            .map(|(name, label)| (name.to_string(), label))
            .collect();
        self.given = given;
        self.folder = Some(folder.keep().into_os_string());
        Ok(())
    }

    /// Deletes the temporary folder, if no process continues.
    pub(crate) fn discard(&self) {
        // Nothing can be done about an error.
        let _ = self.folder.as_ref().map(fs::remove_dir_all);
    }

    /// Takes the torrents out of the temporary folder, which is deleted.
    pub(crate) fn take_kept(&mut self) -> anyhow::Result<Kept> {
        let Some(folder) = self.folder.take().map(PathBuf::from) else {
            return Ok(Store::in_memory().into());
        };
        let context = || folder.display().to_string();
        let store = Store::open(&folder)?.into_memory()?;
        fs::remove_dir_all(&folder).with_context(context)?;
        let labels = std::mem::take(&mut self.labels).into_iter();
        let labels = labels.map(|(name, label)| Ok((name.parse()?, label)));
        let labels: anyhow::Result<BTreeMap<_, _>> = labels.collect();
        Ok(Kept {
            store,
            names: GivenNames {
                labels: labels?,
                given: std::mem::take(&mut self.given),
            },
        })
    }

    /// Returns `true` if the other process had read what a person gave, so that it is not added again.
    pub(crate) fn has(&self, given: &str) -> bool {
        self.given.contains(given)
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
