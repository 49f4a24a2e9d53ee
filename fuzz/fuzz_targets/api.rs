//! Requests of the HTTP API to a service in memory: each gets a complete answer that is no failure of the server, and the
//! service gets only what the API permits.
//!
//! The input is a text. A line of `%` separates requests. The first line of a request has its method and its path, and the
//! rest is its body.

#![no_main]

mod connection;

use std::net::SocketAddr;
use std::path::{Component, Path};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard};

use hashlane_client::http::{
    Added, Auth, Change, Endpoint, Found, NewSource, NewTorrent, RequestError, Server, Service,
    Statistics,
};
use hashlane_client::{
    Config, Http, Identity, Limits, Network, Proxy, ProxyKind, Snapshot, TorrentKey,
    TorrentSnapshot,
};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

use connection::{Answer, Connection};

const MAX_REQUESTS: usize = 20;

/// The folder in which requests may place content.
const ROOT: &str = "/srv";

const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/// Statuses of docs/reference/http.md, and 405 and 414 of the server.
const STATUSES: [u16; 18] = [
    200, 201, 202, 204, 400, 401, 403, 404, 405, 408, 409, 413, 414, 415, 421, 422, 429, 503,
];

/// A service in memory.
#[derive(Default)]
struct Memory {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    torrents: Vec<Arc<TorrentSnapshot>>,
    next_number: usize,
    network: Network,
    limits: Limits,
}

impl Memory {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Changes a torrent that exists.
    fn edit(
        &self,
        number: usize,
        edit: impl FnOnce(&mut TorrentSnapshot),
    ) -> Result<(), RequestError> {
        let mut state = self.state();
        let mut torrents = state.torrents.iter_mut();
        let torrent = torrents.find(|torrent| torrent.identity.number == number);
        edit(Arc::make_mut(torrent.ok_or(RequestError::Absent)?));
        Ok(())
    }
}

/// Asserts that a folder is one in which requests may place content.
fn check_folder(folder: &Path) {
    let is_plain = |part| matches!(part, Component::RootDir | Component::Normal(_));
    assert!(folder.starts_with(ROOT) && folder.components().all(is_plain));
}

impl Service for Memory {
    fn snapshot(&self) -> Arc<Snapshot> {
        let state = self.state();
        Arc::new(Snapshot {
            torrents: state.torrents.clone(),
            next_number: state.next_number,
            network: state.network.clone(),
            reach: Arc::default(),
            network_problem: None,
            max_down: state.limits.max_down.flatten().map(Into::into),
            max_up: state.limits.max_up.flatten().map(Into::into),
            accepts_torrents: true,
        })
    }

    fn find(&self, key: TorrentKey) -> Option<Found> {
        let torrent = self.snapshot().find(key).cloned()?;
        let handle = None;
        Some(Found { torrent, handle })
    }

    fn add(&self, new: NewTorrent) -> Result<Added, RequestError> {
        if let Some(folder) = &new.folder {
            check_folder(folder);
        }
        assert!(new.labels.len() <= 64);
        let info_hashes = match &new.source {
            NewSource::Torrent(torrent) => torrent.info_hashes(),
            NewSource::Magnet(magnet) => magnet.info_hashes,
        };
        let mut state = self.state();
        let is_same = |it: &&Arc<TorrentSnapshot>| it.identity.info_hashes == Some(info_hashes);
        if let Some(present) = state.torrents.iter().find(is_same) {
            let torrent = present.identity;
            return Ok(Added {
                torrent,
                is_new: false,
            });
        }
        let number = state.next_number;
        state.next_number += 1;
        let mut torrent = TorrentSnapshot::new(number, "torrent");
        torrent.identity = Identity {
            number,
            info_hashes: Some(info_hashes),
        };
        (torrent.labels, torrent.category) = (new.labels, new.category);
        torrent.is_paused = new.is_paused;
        let added = torrent.identity;
        state.torrents.push(Arc::new(torrent));
        Ok(Added {
            torrent: added,
            is_new: true,
        })
    }

    fn change(&self, number: usize, change: Change) -> Result<(), RequestError> {
        match change {
            Change::Pause => self.edit(number, |torrent| torrent.is_paused = true),
            Change::Resume => self.edit(number, |torrent| torrent.is_paused = false),
            Change::Label(labels) => {
                assert!(labels.len() <= 64);
                self.edit(number, |torrent| torrent.labels = labels)
            }
            Change::Category(category) => self.edit(number, |it| it.category = category),
            Change::Seed(Some(limits)) => {
                assert!(limits.ratio.is_none_or(|ratio| ratio >= 0.0));
                self.edit(number, |torrent| torrent.seed_ratio = limits.ratio)
            }
            Change::Relocate(folder) => {
                check_folder(&folder);
                self.edit(number, |_| {})
            }
            Change::Remove(_) => {
                self.edit(number, |_| {})?;
                let torrents = &mut self.state().torrents;
                torrents.retain(|torrent| torrent.identity.number != number);
                Ok(())
            }
            _ => self.edit(number, |_| {}),
        }
    }

    fn limit(&self, limits: Limits) -> Result<(), RequestError> {
        self.state().limits = limits;
        Ok(())
    }

    fn set_network(&self, network: Network) -> Result<(), RequestError> {
        self.state().network = network;
        Ok(())
    }

    fn statistics(&self) -> Statistics {
        Statistics {
            downloaded: 1,
            uploaded: 2,
            seconds: 3,
            all_downloaded: 4,
            all_uploaded: 5,
        }
    }
}

/// The server, and a connection to it.
struct Served {
    memory: Arc<Memory>,
    _server: Server,
    connection: Connection,
}

static SERVED: LazyLock<Mutex<Served>> = LazyLock::new(|| {
    let mut config = Config::default();
    // No server is asked for a .torrent file: nothing listens at this port.
    config.session.proxy = Some(Proxy {
        kind: ProxyKind::Http,
        host: "127.0.0.1".to_owned(),
        port: 1,
        login: None,
    });
    let http = Http {
        endpoint: Endpoint::Tcp(vec![SocketAddr::from(([127, 0, 0, 1], 0))]),
        origins: Vec::new(),
        folders: vec![ROOT.into()],
        auth: Auth::Off,
        fetches_local: false,
    };
    let memory = Arc::new(Memory::default());
    let listener = http.endpoint.bind().unwrap();
    let server = Server::start(listener, &http, &config, memory.clone()).unwrap();
    let url = server.url();
    let address = url.trim_start_matches("http://").trim_end_matches('/');
    Mutex::new(Served {
        memory,
        connection: Connection::new(address.parse().unwrap()),
        _server: server,
    })
});

impl Served {
    fn ask(&mut self, method: &str, path: &str, body: &[u8]) -> Answer {
        let kind = if body.starts_with(b"d") {
            "application/x-bittorrent"
        } else {
            "application/json"
        };
        let head = format!("{method} {path} HTTP/1.1\r\nContent-Type: {kind}\r\n");
        self.connection.ask(&head, body)
    }

    fn send(&mut self, request: &[u8]) {
        let end = request.iter().position(|byte| *byte == b'\n');
        let (head, body) = request.split_at(end.unwrap_or(request.len()));
        let body = body.strip_prefix(b"\n").unwrap_or(body);
        let mut words = head.splitn(2, |byte| *byte == b' ');
        let method = words.next().unwrap_or_default();
        let method = METHODS.iter().find(|known| known.as_bytes() == method);
        let path: String = words
            .next()
            .unwrap_or_default()
            .iter()
            .map(|byte| match byte {
                0x21..=0x7e => char::from(*byte).to_string(),
                _ => format!("%{byte:02X}"),
            })
            .collect();
        let (Some(method), true) = (method, path.starts_with('/')) else {
            return;
        };
        // Streams have no end.
        if path
            .split('?')
            .next()
            .is_some_and(|path| path.ends_with("events"))
        {
            return;
        }
        let answer = self.ask(method, &path, body);
        assert!(
            STATUSES.contains(&answer.status),
            "{method} {path}: {}",
            answer.status
        );
        answer.check_json();
    }
}

fuzz_target!(|input: &[u8]| {
    let mut served = SERVED.lock().unwrap();
    let text = String::from_utf8_lossy(input);
    let is_utf8 = text.len() == input.len();
    let requests: Vec<&[u8]> = if is_utf8 {
        text.split("\n%\n").map(str::as_bytes).collect()
    } else {
        vec![input]
    };
    for request in requests.into_iter().take(MAX_REQUESTS) {
        served.send(request);
    }
    let all = served.ask("GET", "/api/v1/torrents", b"");
    let all: Value = serde_json::from_slice(&all.body).unwrap();
    let shown = all["torrents"].as_array().unwrap().len();
    assert_eq!(shown, served.memory.state().torrents.len());
    *served.memory.state() = State::default();
});
