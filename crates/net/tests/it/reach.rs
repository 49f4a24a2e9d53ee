//! Whether peers can connect, and whom the client knows, in the API.

use std::time::Instant;

use serde_json::{Value, json};

use super::network::in_namespace;
use super::page::{Page, served};
use super::peers::{Content, PATIENCE, Peer};
use crate::not_run::is_installed;

const STATISTICS: &str = "/api/v1/statistics";

/// The address on which the client listens has the port that the system chose. Nodes of the DHT are counted, and a peer of
/// the same machine does not show that other networks can connect.
#[test]
fn nodes_and_ports() {
    let content = Content::new();
    let torrent = content.torrent("tree", "v1");
    let other = content.torrent("file.bin", "v1");
    let options = ["!--no-dht", "--dht-node", "127.0.0.1:1"];
    let node = Peer::seed_with(&[&other], content.path(), &options);
    let address = node.address().to_string();
    let options = ["--http", "0", "!--no-dht", "--dht-node", &address];
    let page = Page::of(Peer::seed_with(&[&torrent], content.path(), &options));
    let started = Instant::now();
    let statistics = loop {
        let statistics = page.get(STATISTICS).json();
        if statistics["dht_nodes"] == 1 {
            break statistics;
        }
        assert!(started.elapsed() < PATIENCE, "{statistics}");
        std::thread::sleep(std::time::Duration::from_millis(100));
    };
    assert_eq!(
        statistics["listening"],
        json!([page.peer.address().to_string()])
    );
    assert_eq!(statistics["incoming_connections"], false);
    let page = served(&content, &torrent);
    assert_eq!(page.get(STATISTICS).json()["dht_nodes"], Value::Null);
}

/// A separate network namespace with an address that is not of a local network. It prints the statistics of a seed before
/// and after a download.
const NAMESPACE: &str = r#"
set -e
ip link set lo up
ip addr add 203.0.113.1/24 dev lo
options="--quiet --bind 203.0.113.1 --transport tcp --no-dht --no-discovery"
"$0" seed $options --port 7001 --http 8080 -d "$2" "$1" >&2 &
trap "kill $!" EXIT
ask() { curl --silent --fail http://127.0.0.1:8080/api/v1/statistics; }
for _ in $(seq 1200); do ask | grep 203.0.113.1:7001 && break; sleep 0.1; done
"$0" get $options --port 7002 --peer 203.0.113.1:7001 --timeout 100s --dir "$3" "$1" >&2
for _ in $(seq 1200); do ask | grep incoming_connections.:true && break; sleep 0.1; done
"#;

/// A peer of another network shows that the port can be reached.
#[test]
fn an_incoming_connection() {
    if !is_installed("CURL", "curl", "curl") {
        return;
    }
    let content = Content::new();
    let torrent = content.torrent("file.bin", "v1");
    let folder = tempfile::tempdir().unwrap();
    let args = [&*torrent, content.path(), folder.path()];
    let Some(stdout) = in_namespace(NAMESPACE, args) else {
        return;
    };
    let answers: Vec<Value> = stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let seen: Vec<&Value> = answers
        .iter()
        .map(|answer| &answer["incoming_connections"])
        .collect();
    assert_eq!(seen, [false, true], "{stdout}");
    assert_eq!(answers[0]["listening"], json!(["203.0.113.1:7001"]));
}
