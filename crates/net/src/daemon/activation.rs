//! Sockets that systemd opened before the start of the daemon (`sd_listen_fds(3)`).

use std::net::TcpListener;

use anyhow::{Context as _, bail};
use listenfd::ListenFd;

/// The sockets, by the listeners of the daemon. Each replaces the address of an option.
#[derive(Debug, Default)]
pub(super) struct Sockets {
    pub(super) http: Option<TcpListener>,
    pub(super) transmission: Option<TcpListener>,
    pub(super) qbittorrent: Option<TcpListener>,
}

impl Sockets {
    /// Returns the sockets that this process was given.
    ///
    /// # Errors
    /// A socket has the name of no listener or that of another socket, or does not listen on TCP.
    pub(super) fn take() -> anyhow::Result<Self> {
        // The names first: the other call takes the variables.
        let names = sd_notify::listen_fds_with_names().context("LISTEN_FDS")?;
        let names: Vec<String> = names.map(|(_, name)| name).collect();
        let mut passed = ListenFd::from_env();
        let mut sockets = Self::default();
        for (index, name) in names.iter().enumerate() {
            let context = || format!("socket `{name}` of LISTEN_FDS");
            let place = match name.as_str() {
                "http" => &mut sockets.http,
                "transmission" => &mut sockets.transmission,
                "qbittorrent" => &mut sockets.qbittorrent,
                _ => bail!(
                    "{}: unknown name; use FileDescriptorName=http, transmission or qbittorrent",
                    context()
                ),
            };
            let socket = passed.take_tcp_listener(index).with_context(context)?;
            if place.is_some() {
                bail!("{}: several sockets have this name", context());
            }
            *place = Some(socket.with_context(context)?);
        }
        Ok(sockets)
    }
}
