//! A program of somebody else that serves a session.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::json;

use super::http::ask;

/// A magnet link.
const LINK: &str = "magnet:?xt=urn:btih:0123456789012345678901234567890123456789&dn=linked";

/// The example `serve` of hashlane-web.
struct Serving {
    child: Child,
    /// The address of its page.
    address: std::net::SocketAddr,
    bearer: String,
}

impl Serving {
    fn start(state: &Path, folder: &Path) -> Self {
        let test = std::env::current_exe().unwrap();
        let program = test.ancestors().nth(2).unwrap().join("examples/serve");
        let mut command = Command::new(&program);
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let spawned = piped.args([state, folder]).spawn();
        // `cargo test --test it` does not build it.
        let mut child = spawned.expect("run `cargo test` or build the examples first");
        let mut line = String::new();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        stdout.read_line(&mut line).unwrap();
        let (url, token) = line.trim_end().split_once('#').unwrap();
        let address = url.strip_prefix("http://").unwrap().trim_end_matches('/');
        Self {
            child,
            address: address.parse().unwrap(),
            bearer: format!("Bearer {token}"),
        }
    }

    fn ask(&self, request: &str, body: &str) -> super::http::Response {
        let headers = [
            ("Authorization", self.bearer.as_str()),
            ("Content-Type", "application/json"),
        ];
        ask(self.address, request, &headers, body)
    }

    fn end(mut self) {
        drop(self.child.stdin.take());
        assert!(self.child.wait().unwrap().success());
    }
}

#[test]
fn the_example_serves_a_session_that_lasts() {
    let folder = tempfile::tempdir().unwrap();
    let (state, content) = (folder.path().join("state"), folder.path().join("content"));
    let serving = Serving::start(&state, &content);
    let link = json!({"link": LINK, "options": {"paused": true}}).to_string();
    let added = serving.ask("POST /api/v1/torrents", &link);
    assert_eq!(added.status, 201, "{added:?}");
    let elsewhere = json!({"link": LINK, "options": {"folder": "/elsewhere"}}).to_string();
    let refused = serving.ask("POST /api/v1/torrents", &elsewhere);
    assert_eq!(refused.status, 403, "{refused:?}");
    let reload = serving.ask("POST /api/v1/reload", "");
    assert_eq!(reload.status, 409, "{reload:?}");
    serving.end();

    let serving = Serving::start(&state, &content);
    let all = serving.ask("GET /api/v1/torrents", "").json();
    assert_eq!(all["torrents"][0]["paused"], true, "{all}");
    assert_eq!(all["torrents"][0]["folder"], content.to_str().unwrap());
    serving.end();
}
