//! A daemon that is controlled by its API, Transmission RPC and the Web API of qBittorrent at once.

#![expect(clippy::too_many_lines, reason = "a test follows one daemon")]

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::symlink;
use std::path::Path;

use data_encoding::BASE64;
use serde_json::{Value, json};

use super::daemon::{Daemon, folder};
use super::http::{Response, ask, ask_bytes, encoded};
use super::metadata::shown;
use super::peers::{Content, Peer};
use super::servers::{WebServer, serve};
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

    /// Sends a command to the first torrent.
    fn apply(&self, command: &Value) -> Response {
        self.send("POST", "torrents/1", command)
    }

    /// Adds a .torrent file by the API. It is paused.
    fn add(&self, torrent: &Path, folder: &str) -> Response {
        let headers = [
            ("Authorization", self.bearer.as_str()),
            ("Content-Type", "application/x-bittorrent"),
        ];
        let options = json!({"paused": true, "folder": folder}).to_string();
        let request = format!("POST /api/v1/torrents?options={}", encoded(&options));
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
        let fields = fields.iter();
        let fields: Vec<_> = fields
            .map(|(name, value)| format!("{name}={}", encoded(value)))
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
    let hash = all.get("torrents/1").json()["info_hash"].clone();
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
        for action in ["relocate", "place"] {
            let moved = all.apply(&json!({"action": action, "folder": folder}));
            assert_eq!(moved.status, 403, "{action} {folder}: {moved:?}");
        }
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

/// Trackers that requests change last across a kill. Secrets in their URLs are not shown, and not needed to name them.
#[test]
fn requests_change_trackers_and_peers() {
    let content = Content::new();
    let first = "http://127.0.0.1:1/0123456789abcdef0123456789abcdef/announce";
    let torrent = content.torrent_with("tree", "v1", &["--announce", first]);
    let seed = Peer::seed(&[&torrent], content.path());
    let (place, state) = folder();
    let downloads = place.path().join("downloads");
    let all = Protocols::start(&state, &downloads, &[]);
    assert_eq!(all.add(&torrent, downloads.to_str().unwrap()).status, 201);
    let shown = |all: &Protocols| -> Vec<(String, u64)> {
        let trackers = all.get("torrents/1/trackers").json();
        let trackers = trackers["trackers"].as_array().unwrap().iter();
        let shown = trackers.map(|it| {
            let url = it["url"].as_str().unwrap().to_owned();
            (url, it["tier"].as_u64().unwrap())
        });
        shown.collect()
    };
    let stored = |all: &Protocols| {
        let asked = all.rpc("torrent-get", &json!({"fields": ["trackerList"]}));
        let list = &asked["arguments"]["torrents"][0]["trackerList"];
        list.as_str().unwrap().to_owned()
    };
    // A torrent that does not run yet has no trackers in the session.
    wait_for(|| shown(&all).len() == 1);
    let masked = shown(&all)[0].0.clone();
    assert!(!masked.contains("0123456789abcdef"), "{masked}");
    let (second, third) = ("http://127.0.0.1:1/second", "http://127.0.0.1:1/third");
    let change = |command: &Value| all.apply(command).status;
    let add = json!({"action": "add_tracker", "url": second});
    assert_eq!(change(&add), 202);
    assert_eq!(stored(&all).trim(), format!("{first}\n\n{second}"));
    let replace = |url: &str| json!({"action": "replace_tracker", "url": url, "new_url": third});
    assert_eq!(change(&replace(&masked)), 202);
    assert_eq!(stored(&all).trim(), format!("{third}\n\n{second}"));
    wait_for(|| shown(&all) == [(third.to_owned(), 0), (second.to_owned(), 1)]);
    // Neither an unknown tracker nor a text that is no URL changes anything.
    let remove = |url: &str| json!({"action": "remove_tracker", "url": url});
    for (command, expected) in [
        (replace(&masked), 422),
        (replace(second), 409),
        (json!({"action": "add_tracker", "url": "no url"}), 422),
        (
            json!({"action": "set_trackers", "trackers": [["no url"]]}),
            422,
        ),
        (remove("http://127.0.0.1:1/absent"), 422),
        (json!({"action": "remove_tracker"}), 422),
    ] {
        assert_eq!(change(&command), expected, "{command}");
    }
    assert_eq!(stored(&all).trim(), format!("{third}\n\n{second}"));
    assert_eq!(change(&remove(third)), 202);
    assert_eq!(stored(&all).trim(), second);
    let tiers = json!({"action": "set_trackers", "trackers": [[first, second], [third]]});
    assert_eq!(change(&tiers), 202);
    let batch = json!({"all": true, "change": remove(second)});
    let results = all.send("POST", "batch", &batch).json();
    assert_eq!(results["results"][0]["status"], 202, "{results}");
    all.daemon.kill();

    let all = Protocols::start(&state, &downloads, &[]);
    assert_eq!(stored(&all).trim(), format!("{first}\n\n{third}"));
    // No tracker answers, so the content comes from the peer of the request.
    assert_eq!(all.apply(&json!({"action": "resume"})).status, 202);
    let peer = json!({"action": "add_peer", "address": seed.address().to_string()});
    assert_eq!(all.apply(&peer).status, 202);
    wait_for(|| all.daemon.torrent()["complete"] == true);
    content.assert_same("tree", &downloads);
    all.daemon.terminate();
}

/// Returns a port that a change accepts. Another test can take a free port before the daemon does.
fn accepted_port(change: impl Fn(u16) -> bool) -> u16 {
    let mut ports = (0..10).map(|_| free_address().port());
    ports.find(|port| change(*port)).unwrap()
}

/// The port of peers changes by requests of all protocols, unless it is taken.
#[test]
fn requests_change_the_port() {
    let (place, state) = folder();
    let all = Protocols::start(&state, place.path(), &[]);
    let config = || all.get("config").json();
    assert_eq!(
        (&config()["port"], &config()["bind"]),
        (&json!(0), &json!("127.0.0.1"))
    );
    let patch = |body: Value| all.send("PATCH", "config", &body);
    let by_api = |port: u16| patch(json!({"port": port})).status == 202;
    let by_rpc = |port: u16| {
        let answer = all.rpc("session-set", &json!({"peer-port": port}));
        answer["result"] == "success"
    };
    let by_web = |port: u16| {
        let settings = json!({"listen_port": port}).to_string();
        all.web("app/setPreferences", &[("json", &settings)]).status == 200
    };
    let changes: [&dyn Fn(u16) -> bool; 3] = [&by_api, &by_rpc, &by_web];
    for change in changes {
        let port = accepted_port(change);
        wait_for(|| config()["port"] == port);
        assert_eq!(config()["listen"], json!([format!("127.0.0.1:{port}")]));
        // The daemon accepts connections of peers there.
        wait_for(|| TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok());
        let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        assert!(!change(taken.local_addr().unwrap().port()));
        assert_eq!(config()["port"], port);
        let arguments = all.rpc("session-get", &json!({}));
        assert_eq!(arguments["arguments"]["peer-port"], port);
        let preferences = all.web("app/preferences", &[]).json();
        assert_eq!(preferences["listen_port"], port);
    }
    let before = config();
    let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = taken.local_addr().unwrap().port();
    for (body, status, reason) in [
        (
            json!({"port": port, "max_up": 1}),
            409,
            format!("port {port}"),
        ),
        // An address for documentation (RFC 5737), which no machine has.
        (json!({"bind": "192.0.2.1"}), 409, "192.0.2.1".to_owned()),
        (
            json!({"bind": "absent-0"}),
            422,
            "absent-0: no such network interface".to_owned(),
        ),
        (json!({"port": 65_536}), 422, String::new()),
        (json!({"dht": false}), 422, String::new()),
    ] {
        let refused = patch(body.clone());
        assert_eq!(refused.status, status, "{body}: {refused:?}");
        assert!(refused.body.contains(&reason), "{body}: {refused:?}");
    }
    assert_eq!(config(), before);
    let other = json!({"bind": "127.0.0.2", "port": 0, "max_up": 100_000});
    assert_eq!(patch(other).status, 202);
    wait_for(|| config()["bind"] == "127.0.0.2" && config()["max_up"] == 100_000);
    all.daemon.terminate();
}

/// A limit of the session for the time without an upload pauses the torrents that have none of their own.
#[test]
fn programs_set_an_idle_limit_of_the_session() {
    let content = Content::new();
    let (place, state) = folder();
    let all = Protocols::start(&state, place.path(), &[]);
    for name in ["tree", "file.bin"] {
        let torrent = content.torrent(name, "v1");
        let served = content.path().join(name);
        let args = ["add".as_ref(), torrent.as_os_str(), "--content".as_ref()];
        all.daemon
            .done(args.into_iter().chain([served.as_os_str()]));
    }
    let activities = || -> Vec<String> {
        let list = all.daemon.done(["list"]).into_iter();
        list.map(|it| it["activity"].as_str().unwrap().to_owned())
            .collect()
    };
    wait_for(|| activities() == ["serving", "serving"]);
    let success = |method: &str, arguments: Value| {
        let answer = all.rpc(method, &arguments);
        assert_eq!(answer["result"], "success", "{answer}");
        answer["arguments"].clone()
    };
    let shown = || {
        let settings = success("session-get", json!({}));
        (
            settings["idle-seeding-limit-enabled"].clone(),
            settings["idle-seeding-limit"].clone(),
        )
    };
    assert_eq!(shown(), (json!(false), json!(30)));
    // The second torrent is served in spite of the limit.
    success("torrent-set", json!({"ids": [2], "seedIdleMode": 2}));
    let limit = json!({"idle-seeding-limit-enabled": true, "idle-seeding-limit": 0});
    success("session-set", limit);
    assert_eq!(shown(), (json!(true), json!(0)));
    wait_for(|| activities() == ["paused", "serving"]);
    let set = |settings: Value| {
        let settings = settings.to_string();
        let answer = all.web("app/setPreferences", &[("json", &settings)]);
        assert_eq!(answer.status, 200, "{answer:?}");
    };
    set(json!({"max_inactive_seeding_time_enabled": false}));
    assert_eq!(shown(), (json!(false), json!(30)));
    success("session-set", json!({"idle-seeding-limit-enabled": true}));
    assert_eq!(shown(), (json!(true), json!(30)));
    set(json!({"max_inactive_seeding_time_enabled": true, "max_inactive_seeding_time": 0}));
    success("torrent-set", json!({"ids": [2], "seedIdleMode": 0}));
    wait_for(|| activities() == ["paused", "paused"]);
    all.daemon.terminate();
}

impl Protocols {
    /// Adds the .torrent file of a URL by each protocol, and returns the reasons for which that failed.
    fn add_url(&self, url: &str) -> [Result<(), String>; 3] {
        let started = self.send("POST", "torrents", &json!({"link": url}));
        let by_api = if started.status == 202 {
            let place = started.header("location").unwrap();
            let place = place.trim_start_matches("/api/v1/").to_owned();
            let mut job = started.json();
            wait_for(|| {
                job = self.get(&place).json();
                job["state"] != "fetching"
            });
            job["error"]
                .as_str()
                .map_or(Ok(()), |error| Err(error.to_owned()))
        } else {
            Err(started.body)
        };
        let answer = self.rpc("torrent-add", &json!({"filename": url, "paused": true}));
        let by_rpc = match answer["result"].as_str().unwrap() {
            "success" => Ok(()),
            error => Err(error.to_owned()),
        };
        let answer = self.web("torrents/add", &[("urls", url), ("stopped", "true")]);
        let by_web = match (answer.status, &*answer.body) {
            (200, "Ok.") => Ok(()),
            _ => Err(answer.body),
        };
        [by_api, by_rpc, by_web]
    }
}

/// Returns the URL of a server that answers with a redirection to another place.
fn redirecting(to: &'static str) -> String {
    let address = serve(move |mut stream| {
        let _ = stream.read(&mut [0; 1024])?;
        let head = "HTTP/1.1 302 Found\r\nContent-Length: 0\r\nConnection: close\r\n";
        write!(stream, "{head}Location: {to}\r\n\r\n")
    });
    format!("http://{address}/{KEY}/x.torrent")
}

/// A part of URLs that no reason may repeat.
const KEY: &str = "0123456789abcdef0123456789abcdef";

/// .torrent files from hostile URLs are refused alike by all protocols.
#[test]
fn all_protocols_fetch_torrents_alike() {
    let content = Content::new();
    let torrent = content.torrent("tree", "v1");
    fs::copy(&torrent, content.path().join("x.torrent")).unwrap();
    let server = WebServer::of(content.path());
    let good = server.url("x.torrent");
    let (place, state) = folder();
    let downloads = place.path().join("downloads");
    let all = Protocols::start(&state, &downloads, &[]);
    for reason in all.add_url(&good).map(Result::unwrap_err) {
        assert!(reason.contains("--http-fetch-local"), "{reason}");
    }
    assert_eq!(server.sent("/x.torrent"), 0);
    all.daemon.terminate();

    let all = Protocols::start(&state, &downloads, &["--http-fetch-local"]);
    // Longer than any .torrent file may be, without an end.
    let endless = serve(|mut stream| {
        let _ = stream.read(&mut [0; 1024])?;
        write!(stream, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nd")?;
        loop {
            stream.write_all(&[b'0'; 1 << 14])?;
        }
    });
    for (url, expected) in [
        (format!("http://{endless}/{KEY}"), "32 MiB"),
        (redirecting("file:///etc/passwd"), ""),
        (redirecting("ftp://127.0.0.1/x.torrent"), ""),
        // To itself.
        (redirecting("x.torrent"), "redirect"),
        // No .torrent file.
        (server.url("file.bin"), ""),
        (format!("http://127.0.0.1:1/{KEY}"), ""),
        ("file:///etc/passwd".to_owned(), ""),
        (format!("ftp://127.0.0.1/{KEY}"), ""),
    ] {
        for (number, added) in all.add_url(&url).into_iter().enumerate() {
            let reason = added.expect_err(&url);
            // qBittorrent's answer to bytes that are no torrent has no reason.
            let has_reason = reason != "Fails.";
            assert!(has_reason || number == 2, "{url}: {reason:?}");
            if has_reason {
                assert!(reason.contains(expected), "{url}: {reason}");
            }
            assert!(
                !reason.contains(KEY) && !reason.contains("root:"),
                "{url}: {reason}"
            );
        }
    }
    assert!(all.daemon.done(["list"]).is_empty());
    let hash = shown(&torrent)["info_hash_v1"].clone();
    assert_eq!(
        all.add_url(&good),
        [Ok(()), Ok(()), Err("Fails.".to_owned())]
    );
    assert_eq!(all.daemon.torrent()["info_hash"], hash);
    let hash = hash.as_str().unwrap();
    for add in [1, 2] {
        all.daemon.done(["remove", hash]);
        let added = if add == 1 {
            let answer = all.rpc("torrent-add", &json!({"filename": good, "paused": true}));
            answer["arguments"]["torrent-added"]["hashString"] == hash
        } else {
            all.web("torrents/add", &[("urls", &good)]).body == "Ok."
        };
        assert!(added);
        assert_eq!(all.daemon.torrent()["info_hash"], hash);
    }
    all.daemon.terminate();
}
