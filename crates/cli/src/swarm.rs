//! What `get` and `seed` share: how a session is set up, and torrents that are verified for it.

#[cfg(not(feature = "libtorrent"))]
mod without {
    use anyhow::bail;

    use crate::args::{Get, Seed};
    use crate::{Env, Exit};

    impl Get {
        pub(crate) fn run(self, _: &mut Env) -> anyhow::Result<Exit> {
            missing("get")
        }
    }

    impl Seed {
        pub(crate) fn run(self, _: &mut Env) -> anyhow::Result<Exit> {
            missing("seed")
        }
    }

    fn missing(command: &str) -> anyhow::Result<Exit> {
        bail!(
            "`{command}` needs libtorrent, which this program was built without: install \
             libtorrent-rasterbar 2.0.8 or newer with its headers, pkg-config and a C++ compiler (Debian: \
             apt-get install libtorrent-rasterbar-dev pkg-config g++), and build it again with `make build`"
        );
    }
}

#[cfg(feature = "libtorrent")]
pub(crate) use with::{Local, Report, ratio, settings};

#[cfg(feature = "libtorrent")]
mod with {
    use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs as _};
    use std::path::{Path, PathBuf};
    use std::sync::Arc;

    use anyhow::{Context as _, bail};
    use hashlane_metainfo::{PeerAddress, Torrent};
    use hashlane_swarm::{
        Access, Encryption, Event, Proxy, ProxyKind, Settings, Storage, Transport,
    };
    use hashlane_verify::{Content, Families, Options, PieceCounts, PieceState, Progress};
    use serde::Serialize;

    use crate::args::{Common, EncryptionArg, Network, TransportArg};
    use crate::progress::ProgressLine;
    use crate::text::{Size, count};
    use crate::{Env, json_lines};

    /// How the session meets others.
    pub(crate) fn settings(network: &Network) -> Settings {
        let any = [
            IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            IpAddr::V6(Ipv6Addr::UNSPECIFIED),
        ];
        let addresses = network.bind.map_or(any.to_vec(), |address| vec![address]);
        Settings {
            listen: addresses
                .iter()
                .map(|address| SocketAddr::new(*address, network.port))
                .collect(),
            outgoing: network.bind.iter().map(ToString::to_string).collect(),
            dht: !network.no_dht,
            local_discovery: !network.no_discovery,
            port_mapping: !network.no_discovery,
            transport: match network.transport {
                TransportArg::Both => Transport::Both,
                TransportArg::Tcp => Transport::Tcp,
                TransportArg::Utp => Transport::Utp,
            },
            max_down: network.max_down,
            max_up: network.max_up,
            encryption: match network.encryption {
                EncryptionArg::Allowed => Encryption::Allowed,
                EncryptionArg::Required => Encryption::Required,
                EncryptionArg::Off => Encryption::Off,
            },
            proxy: network.proxy.as_ref().map(|proxy| Proxy {
                kind: if proxy.is_http {
                    ProxyKind::Http
                } else {
                    ProxyKind::Socks5
                },
                host: proxy.address.host().to_owned(),
                port: proxy.address.port(),
                login: proxy.login.clone(),
            }),
        }
    }

    impl Common {
        pub(crate) fn teller(&self) -> Teller {
            Teller {
                is_json: self.json,
                is_quiet: self.quiet,
            }
        }
    }

    impl Network {
        /// The peers that were named, by their addresses.
        pub(crate) fn peer_addresses(&self) -> anyhow::Result<Vec<SocketAddr>> {
            let mut all = Vec::new();
            for peer in &self.peers {
                all.extend(addresses(peer).with_context(|| format!("--peer {peer}"))?);
            }
            Ok(all)
        }
    }

    fn addresses(peer: &PeerAddress) -> std::io::Result<impl Iterator<Item = SocketAddr>> {
        (peer.host(), peer.port()).to_socket_addrs()
    }

    /// A torrent, and what of it is on this machine.
    #[derive(Debug)]
    pub(crate) struct Local {
        /// The .torrent file.
        pub(crate) metainfo: Vec<u8>,
        pub(crate) name: String,
        /// The file, or the folder of the files.
        pub(crate) root: PathBuf,
        pub(crate) storage: Arc<Storage>,
        pub(crate) have: Vec<bool>,
        pub(crate) counts: PieceCounts,
        pub(crate) is_complete: bool,
        /// Bytes of files.
        pub(crate) length: u64,
    }

    impl Local {
        /// Verifies what is in `folder`.
        pub(crate) fn look(
            env: &mut Env,
            metainfo: Vec<u8>,
            folder: &Path,
            access: Access,
            options: &Options,
            is_quiet: bool,
        ) -> anyhow::Result<Self> {
            let torrent = Torrent::parse(&metainfo)?;
            let content = Content::in_folder(&torrent, folder)?;
            let storage = Storage::new(&content, folder, access)?;
            let report = verify(env, &content, options, is_quiet)?;
            let (name, root) = (torrent.name().to_string(), content.root().to_owned());
            Ok(Self {
                name,
                root,
                storage: Arc::new(storage),
                have: have(&report),
                counts: report.counts(),
                is_complete: report.is_complete(),
                length: torrent.content_length(),
                metainfo,
            })
        }

        /// How many pieces are there.
        pub(crate) fn n_have(&self) -> u32 {
            // There are as many pieces as a u32 can count.
            self.have.iter().filter(|have| **have).count() as u32
        }

        /// Verifies once more which pieces are there.
        pub(crate) fn look_again(
            &self,
            env: &mut Env,
            folder: &Path,
            options: &Options,
            is_quiet: bool,
        ) -> anyhow::Result<Vec<bool>> {
            self.storage.close();
            let torrent = Torrent::parse(&self.metainfo)?;
            let content = Content::in_folder(&torrent, folder)?;
            Ok(have(&verify(env, &content, options, is_quiet)?))
        }
    }

    /// Which pieces are there. Of a hybrid whose piece layers have not come with a magnet link, version 1
    /// proves what version 2 cannot.
    fn have(report: &hashlane_verify::Report) -> Vec<bool> {
        let v1 = report.pieces_v1();
        let pieces = report.pieces().iter().enumerate();
        let have = pieces.map(|(i, piece)| match piece {
            PieceState::Have => true,
            PieceState::Unproven => v1.is_some_and(|v1| v1[i] == PieceState::Have),
            _ => false,
        });
        have.collect()
    }

    fn verify(
        env: &mut Env,
        content: &Content<'_>,
        options: &Options,
        is_quiet: bool,
    ) -> anyhow::Result<hashlane_verify::Report> {
        let name = content.torrent().name();
        let mut line =
            (env.progress && !is_quiet).then(|| ProgressLine::new(format!("{name}: verifying")));
        let progress = |progress: &Progress| {
            if let Some(line) = &mut line {
                line.update(progress.hashed_bytes, progress.total_bytes);
            }
        };
        let families = Families { v1: true, v2: true };
        let report = hashlane_verify::verify(content, families, options, &env.cancel, progress);
        if let Some(line) = line {
            line.clear();
        }
        let report = report?;
        anyhow::ensure!(!report.is_cancelled(), "interrupted");
        Ok(report)
    }

    /// What is told, for people or as JSON lines.
    #[derive(Serialize)]
    #[serde(tag = "type", rename_all = "snake_case")]
    pub(crate) enum Report<'r> {
        /// What of a torrent was there.
        Verified {
            torrent: &'r str,
            name: &'r str,
            content: String,
            pieces: u32,
            have: u32,
            total_bytes: u64,
        },
        /// Peers are waited for there.
        Listening { address: SocketAddr },
        /// A piece has come.
        Piece { torrent: &'r str, piece: u32 },
        /// A torrent has all that was asked for.
        Finished {
            torrent: &'r str,
            downloaded_bytes: u64,
            wasted_bytes: u64,
            elapsed_seconds: f64,
        },
        /// A torrent is not served any more.
        Ended {
            torrent: &'r str,
            uploaded_bytes: u64,
        },
        /// Something that is gone on from.
        Warning {
            #[serde(skip_serializing_if = "Option::is_none")]
            torrent: Option<&'r str>,
            message: &'r str,
        },
        /// A torrent that cannot be gone on with.
        Error { torrent: &'r str, message: &'r str },
    }

    /// Tells people or programs what happens.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Teller {
        pub(crate) is_json: bool,
        pub(crate) is_quiet: bool,
    }

    impl Teller {
        /// A JSON line, or `text` for people.
        pub(crate) fn tell(
            self,
            env: &mut Env,
            report: &Report<'_>,
            text: impl FnOnce() -> String,
        ) -> anyhow::Result<()> {
            if self.is_json {
                json_lines::print(env, report)?;
            } else if !self.is_quiet {
                writeln!(env.stdout, "{}", text())?;
            }
            // Whoever reads it waits for what happens.
            Ok(env.stdout.flush()?)
        }

        /// What was there of a torrent.
        pub(crate) fn verified(
            self,
            env: &mut Env,
            torrent: &str,
            local: &Local,
        ) -> anyhow::Result<()> {
            let (have, pieces) = (local.n_have(), local.counts.total());
            let report = Report::Verified {
                torrent,
                name: &local.name,
                content: local.root.to_string_lossy().into_owned(),
                pieces,
                have,
                total_bytes: local.length,
            };
            self.tell(env, &report, || {
                if local.is_complete {
                    format!("{}: all there", local.name)
                } else {
                    format!(
                        "{}: {have} of {} there",
                        local.name,
                        count(pieces.into(), "piece")
                    )
                }
            })
        }

        /// How much was sent of a torrent.
        pub(crate) fn ended(
            self,
            env: &mut Env,
            torrent: &str,
            uploaded_bytes: u64,
        ) -> anyhow::Result<()> {
            let report = Report::Ended {
                torrent,
                uploaded_bytes,
            };
            self.tell(env, &report, || {
                format!("{torrent}: {} sent", Size(uploaded_bytes))
            })
        }

        /// Where peers are waited for, for programs; or why they cannot be. A port that somebody else has
        /// is an error.
        pub(crate) fn of_session(self, env: &mut Env, event: &Event) -> anyhow::Result<()> {
            match event {
                Event::Listening(address) if self.is_json => {
                    let report = Report::Listening { address: *address };
                    self.tell(env, &report, String::new)
                }
                Event::ListenFailed {
                    port,
                    is_taken: true,
                    text,
                } => bail!("port {port}: {text}: --port gives another one, 0 any"),
                Event::ListenFailed { port, text, .. } => {
                    self.warn(env, None, &format!("port {port}: {text}"))
                }
                _ => Ok(()),
            }
        }

        /// Something that is gone on from.
        pub(crate) fn warn(
            self,
            env: &mut Env,
            torrent: Option<&str>,
            message: &str,
        ) -> anyhow::Result<()> {
            if self.is_json {
                self.tell(env, &Report::Warning { torrent, message }, String::new)?;
            }
            let name = torrent
                .map(|torrent| format!("{torrent}: "))
                .unwrap_or_default();
            env.error(&format!("warning: {name}{message}"));
            Ok(())
        }

        /// Why a torrent cannot be gone on with. If nobody can be told, that is the error.
        pub(crate) fn error(
            self,
            env: &mut Env,
            torrent: &str,
            error: anyhow::Error,
        ) -> anyhow::Result<()> {
            if crate::is_broken_pipe(&error) {
                return Err(error);
            }
            let message = &format!("{error:#}");
            if self.is_json {
                self.tell(env, &Report::Error { torrent, message }, String::new)?;
            }
            env.error(&format!("{torrent}: {message}"));
            Ok(())
        }
    }

    /// How many times a content has been sent.
    #[expect(clippy::cast_precision_loss, reason = "nobody counts so exactly")]
    pub(crate) fn ratio(uploaded: u64, length: u64) -> f64 {
        uploaded as f64 / length.max(1) as f64
    }
}
