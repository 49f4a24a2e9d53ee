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

use hashlane_api::{
    Category, Command, GroupChange, Groups, NewTorrent, Rates, Refusal, SessionPatch, Source, Status,
    Target,
};
use hashlane_client::{
    Added, Config, Identity, Network, Rights, Snapshot, TorrentKey, TorrentSnapshot,
};
use hashlane_web::{Auth, Endpoint, Found, Http, Links, Server, Service, Statistics};
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
    rates: Rates,
    groups: Groups,
}

impl Memory {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Changes a torrent that exists.
    fn edit(&self, number: usize, edit: impl FnOnce(&mut TorrentSnapshot)) -> Result<(), Refusal> {
        let mut state = self.state();
        let mut torrents = state.torrents.iter_mut();
        let torrent = torrents.find(|torrent| torrent.identity.number == number);
        edit(Arc::make_mut(torrent.ok_or(Refusal::Absent)?));
        Ok(())
    }

    fn apply_to(&self, number: usize, command: &Command) -> Result<(), Refusal> {
        match command {
            Command::Pause => self.edit(number, |torrent| torrent.is_paused = true),
            Command::Resume { .. } => self.edit(number, |torrent| torrent.is_paused = false),
            Command::Set(patch) => {
                check_ratio(patch.ratio);
                assert!(
                    patch
                        .labels
                        .as_ref()
                        .is_none_or(|labels| labels.len() <= 64)
                );
                self.edit(number, |torrent| {
                    if let Some(labels) = &patch.labels {
                        torrent.labels = labels.iter().cloned().collect();
                    }
                    if let Some(category) = &patch.category {
                        torrent.category.clone_from(category);
                    }
                    if let Some(ratio) = patch.ratio {
                        torrent.seed_ratio = ratio.limit();
                    }
                })
            }
            Command::Relocate { folder } | Command::Place { folder } => {
                check_folder(folder)?;
                self.edit(number, |_| {})
            }
            Command::Remove { .. } => {
                self.edit(number, |_| {})?;
                let torrents = &mut self.state().torrents;
                torrents.retain(|torrent| torrent.identity.number != number);
                Ok(())
            }
            _ => self.edit(number, |_| {}),
        }
    }
}

/// Refuses a folder in which requests may not place content, and asserts that others are plain.
fn check_folder(folder: &Path) -> Result<(), Refusal> {
    let rights = Rights { folders: vec![ROOT.into()], ..Rights::default() };
    rights.check_folder(folder)?;
    let is_plain = |part| matches!(part, Component::RootDir | Component::Normal(_));
    assert!(folder.starts_with(ROOT) && folder.components().all(is_plain));
    Ok(())
}

/// Asserts that a ratio can be reached and compared.
fn check_ratio(ratio: Option<Target<f64>>) {
    let ratio = ratio.and_then(Target::limit);
    assert!(ratio.is_none_or(|ratio| ratio.is_finite() && ratio >= 0.0));
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
            max_down: state.rates.down.map(Into::into),
            max_up: state.rates.up.map(Into::into),
            accepts_torrents: true,
        })
    }

    fn find(&self, key: TorrentKey) -> Option<Found> {
        let torrent = self.snapshot().find(key).cloned()?;
        let handle = None;
        Some(Found { torrent, handle })
    }

    fn check_folder(&self, folder: &Path) -> Result<(), Refusal> {
        check_folder(folder)
    }

    fn add(&self, source: Source, new: &NewTorrent) -> Result<Added, Refusal> {
        new.check(&source)?;
        if let Some(folder) = &new.folder {
            check_folder(folder)?;
        }
        let info_hashes = match &source {
            Source::Torrent(torrent) => torrent.info_hashes(),
            Source::Magnet(magnet) => magnet.info_hashes,
            // No server is asked for a .torrent file.
            Source::Url(_) => return Err(Refusal::Conflict("not fetched".to_owned())),
        };
        let mut state = self.state();
        let is_same = |it: &&Arc<TorrentSnapshot>| it.identity.info_hashes == Some(info_hashes);
        if let Some(present) = state.torrents.iter().find(is_same) {
            return Ok(Added {
                torrent: present.named(),
                is_present: true,
            });
        }
        let number = state.next_number;
        state.next_number += 1;
        let mut torrent = TorrentSnapshot::new(number, "torrent");
        torrent.identity = Identity {
            number,
            info_hashes: Some(info_hashes),
        };
        torrent.is_paused = new.paused.unwrap_or(false);
        let added = torrent.named();
        state.torrents.push(Arc::new(torrent));
        drop(state);
        let set = Command::Set(Box::new(new.set.clone()));
        self.apply_to(number, &set)?;
        Ok(Added {
            torrent: added,
            is_present: false,
        })
    }

    fn status(&self) -> Status {
        Status::default()
    }

    fn apply(&self, numbers: &[usize], command: &Command) -> Vec<Result<(), Refusal>> {
        let numbers = numbers.iter();
        numbers
            .map(|number| self.apply_to(*number, command))
            .collect()
    }

    fn change_session(&self, patch: &SessionPatch) -> Result<(), Refusal> {
        check_ratio(patch.ratio);
        let rates = &mut self.state().rates;
        rates.down = patch.max_down.map_or(rates.down, Target::limit);
        rates.up = patch.max_up.map_or(rates.up, Target::limit);
        Ok(())
    }

    fn groups(&self) -> Groups {
        self.state().groups.clone()
    }

    fn change_groups(&self, change: &GroupChange) -> Result<(), Refusal> {
        let groups = &mut self.state().groups;
        match change {
            GroupChange::SetCategory(patch) => {
                patch.check()?;
                groups.categories.retain(|known| known.name != patch.name);
                groups.categories.push(Category {
                    name: patch.name.clone(),
                    goal: patch.goal(Default::default()),
                    ..Category::default()
                });
            }
            GroupChange::RemoveCategories { names } => {
                groups
                    .categories
                    .retain(|known| !names.contains(&known.name));
            }
            GroupChange::AddLabels { labels } => groups.labels.extend(labels.iter().cloned()),
            GroupChange::RemoveLabels { labels } => {
                groups.labels.retain(|label| !labels.contains(label));
            }
        }
        Ok(())
    }

    fn set_network(&self, network: Network) -> Result<(), Refusal> {
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
    let config = Config::default();
    let http = Http {
        endpoint: Endpoint::Tcp(vec![SocketAddr::from(([127, 0, 0, 1], 0))]),
        origins: Vec::new(),
        folders: vec![ROOT.into()],
        auth: Auth::Off,
        fetches_local: false,
        links: Links::default(),
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
