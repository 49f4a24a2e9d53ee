//! A daemon that is controlled by its API, Transmission RPC and the Web API of qBittorrent at once.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::unix::fs::symlink;
use std::path::Path;

use data_encoding::BASE64;
use serde_json::{Value, json};

use super::daemon::{Daemon, folder};
use super::http::{Response, ask, ask_bytes};
use super::peers::Content;
use crate::wait_for;

/// A daemon that serves all protocols to this machine.
struct Protocols {
    daemon: Daemon,
    api: SocketAddr,
    transmission: SocketAddr,
    qbittorrent: SocketAddr,
    bearer: String,
    session: String,
}

/// Returns an address of loopback that was free a moment ago.
fn free_address() -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.local_addr().unwrap()
}

impl Protocols {
    fn start(state: &Path, downloads: &Path, options: &[&str]) -> Self {
        // Another test can take a free port before the daemon does.
        for _ in 0..10 {
            let [api, transmission, qbittorrent] = [(); 3].map(|()| free_address());
            let addresses = [api, transmission, qbittorrent].map(|address| address.to_string());
            let own = [
                "--dir",
                downloads.to_str().unwrap(),
                "--http",
                &addresses[0],
                "--transmission",
                &addresses[1],
                "--qbittorrent",
                &addresses[2],
            ];
            let all: Vec<&str> = own.iter().chain(options).copied().collect();
            let Some(daemon) = Daemon::try_start(state, &all) else {
                continue;
            };
            let token = fs::read_to_string(state.join("http-token")).unwrap();
            let first = ask(transmission, "POST /transmission/rpc", &[], "");
            let session = first.header("x-transmission-session-id").unwrap();
            return Self {
                daemon,
                api,
                transmission,
                qbittorrent,
                bearer: format!("Bearer {}", token.trim()),
                session: session.to_owned(),
            };
        }
        panic!("no ports are free");
    }

    fn get(&self, path: &str) -> Response {
        let headers = [("Authorization", self.bearer.as_str())];
        ask(self.api, &format!("GET /api/v1/{path}"), &headers, "")
    }

    fn send(&self, method: &str, path: &str, body: &Value) -> Response {
        let headers = [
            ("Authorization", self.bearer.as_str()),
            ("Content-Type", "application/json"),
        ];
        let request = format!("{method} /api/v1/{path}");
        ask(self.api, &request, &headers, &body.to_string())
    }

    /// Adds a .torrent file by the API. It is paused.
    fn add(&self, torrent: &Path, folder: &str) -> Response {
        let headers = [
            ("Authorization", self.bearer.as_str()),
            ("Content-Type", "application/x-bittorrent"),
        ];
        let request = format!("POST /api/v1/torrents?paused=true&folder={folder}");
        ask_bytes(self.api, &request, &headers, &fs::read(torrent).unwrap())
    }

    /// Calls a method of Transmission RPC, and returns the answer.
    fn rpc(&self, method: &str, arguments: &Value) -> Value {
        let body = json!({"method": method, "arguments": arguments}).to_string();
        let headers = [("X-Transmission-Session-Id", self.session.as_str())];
        ask(self.transmission, "POST /transmission/rpc", &headers, &body).json()
    }

    /// Calls a method of the Web API of qBittorrent.
    fn web(&self, method: &str, fields: &[(&str, &str)]) -> Response {
        let form = [("Content-Type", "application/x-www-form-urlencoded")];
        let encode = |text: &str| -> String {
            let bytes = text.bytes();
            bytes.map(|byte| format!("%{byte:02x}")).collect()
        };
        let fields = fields.iter();
        let fields: Vec<_> = fields
            .map(|(name, value)| format!("{name}={}", encode(value)))
            .collect();
        let request = format!("POST /api/v2/{method}");
        ask(self.qbittorrent, &request, &form, &fields.join("&"))
    }
}

/// All protocols place content in the same folders. Links lead neither out of a root nor around it.
#[test]
fn all_protocols_check_folders_alike() {
    let content = Content::new();
    let (tree, file) = (
        content.torrent("tree", "v1"),
        content.torrent("file.bin", "v1"),
    );
    let metainfo = BASE64.encode(&fs::read(&tree).unwrap());
    let magnet = content.magnet(&tree);
    let (place, state) = folder();
    let path = |name: &str| place.path().join(name).to_str().unwrap().to_owned();
    for folder in ["real/in", "outside"] {
        fs::create_dir_all(path(folder)).unwrap();
    }
    // The root is a link itself.
    symlink(path("real"), path("root")).unwrap();
    symlink(path("outside"), path("real/out")).unwrap();
    symlink(path("absent"), path("real/dangling")).unwrap();
    let root = path("root");
    let all = Protocols::start(&state, Path::new(&root), &[]);
    // A torrent to be moved.
    assert_eq!(all.add(&file, &root).status, 201);
    let hash = all.get("torrents/0").json()["info_hash"].clone();
    let hash = hash.as_str().unwrap();
    let id = &all.rpc("torrent-get", &json!({"fields": ["id"]}))["arguments"]["torrents"][0]["id"];
    for refused in [
        "outside",
        "root/out",
        "root/out/new",
        "real/out",
        "root/dangling/new",
        "root/../outside",
        "root/in/../../outside",
    ]
    .map(path)
    {
        let folder = refused.as_str();
        assert_eq!(all.add(&tree, folder).status, 403, "{folder}");
        let relocate = all.send("POST", "torrents/0/relocate", &json!({"folder": folder}));
        assert_eq!(relocate.status, 403, "{folder}: {relocate:?}");
        let space = all.get(&format!("free-space?folder={folder}"));
        assert_eq!(space.status, 403, "{folder}: {space:?}");
        for (method, arguments) in [
            (
                "torrent-add",
                json!({"metainfo": metainfo, "download-dir": folder, "paused": true}),
            ),
            (
                "torrent-set-location",
                json!({"ids": [id], "location": folder, "move": true}),
            ),
            (
                "torrent-set-location",
                json!({"ids": [id], "location": folder, "move": false}),
            ),
            ("free-space", json!({"path": folder})),
        ] {
            let answer = all.rpc(method, &arguments);
            let result = answer["result"].as_str().unwrap();
            assert!(
                result.contains("not in a folder that the configuration allows"),
                "{method} {folder}: {answer}"
            );
        }
        for (method, fields) in [
            (
                "torrents/add",
                &[
                    ("urls", &*magnet),
                    ("savepath", folder),
                    ("stopped", "true"),
                ][..],
            ),
            (
                "torrents/setLocation",
                &[("hashes", hash), ("location", folder)],
            ),
            (
                "torrents/createCategory",
                &[("category", "x"), ("savePath", folder)],
            ),
        ] {
            let answer = all.web(method, fields);
            // An addition that fails has the status 200 and this text.
            assert!(
                answer.status >= 400 || answer.body == "Fails.",
                "{method} {folder}: {answer:?}"
            );
        }
    }
    assert_eq!(all.daemon.torrent()["folder"], root);
    assert_eq!(all.web("torrents/categories", &[]).body, "{}");
    // Both names of the root lead to its folders.
    let permitted = [path("root/in"), path("real/new")];
    for folder in &permitted {
        let space = all.get(&format!("free-space?folder={folder}"));
        assert_eq!(space.status, 200, "{space:?}");
        let arguments = json!({"ids": [id], "location": folder, "move": false});
        let moved = all.rpc("torrent-set-location", &arguments);
        assert_eq!(moved["result"], "success", "{moved}");
        wait_for(|| all.daemon.torrent()["folder"] == **folder);
    }
    let category = [("category", "x"), ("savePath", &*permitted[1])];
    assert_eq!(all.web("torrents/createCategory", &category).status, 200);
    all.daemon.terminate();
}
