//! The file in which another program writes the port for incoming connections (`--port-file`).

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::daemon::{Daemon, folder, text};
use super::daemon_api::Api;
use super::foreign::free_port;
use super::peers::{Content, Peer, get_from};
use crate::wait_for;

fn is_open(port: u16) -> bool {
    TcpStream::connect(("127.0.0.1", port)).is_ok()
}

/// Replaces a file by another one of the same name, as programs do that write a file as a whole.
fn replace(file: &Path, text: &str) {
    let new = file.with_extension("new");
    fs::write(&new, text).unwrap();
    fs::rename(new, file).unwrap();
}

/// Returns the addresses at which a daemon listens, as its API shows them.
fn listening(api: &Api) -> Value {
    api.get("statistics").json()["listening"].clone()
}

/// Returns the address of a port.
fn on(port: u16) -> Value {
    json!([format!("127.0.0.1:{port}")])
}

/// The port is that of the file at the start, and follows it. Peers connect to the new port.
#[test]
fn the_daemon_listens_at_the_port_of_a_file() {
    let content = Content::new();
    let torrent = content.torrent("file.bin", "v1");
    let (place, state) = folder();
    let file = place.path().join("port");
    let [first, second, third] = [free_port(), free_port(), free_port()];
    fs::write(&file, format!("{first}\n")).unwrap();
    let options = ["--port-file", text(&file)];
    let api = Api::start(&state, &place.path().join("downloads"), &options);
    wait_for(|| is_open(first));
    fs::write(&file, format!("{second}\n{third}\n")).unwrap();
    wait_for(|| is_open(second));
    wait_for(|| !is_open(first));
    replace(&file, &third.to_string());
    wait_for(|| is_open(third));
    wait_for(|| listening(&api) == on(third));
    api.daemon.done([
        "add",
        text(&torrent),
        "--content",
        text(&content.path().join("file.bin")),
    ]);
    api.daemon.wait_for_activity("serving");
    let downloads = tempfile::tempdir().unwrap();
    let from = ["--peer", &format!("127.0.0.1:{third}")];
    let ended = get_from(&[&torrent], downloads.path(), None, &from);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    content.assert_same("file.bin", downloads.path());
    assert_eq!(api.daemon.stderr(), "");
    api.daemon.terminate();
}

/// A file that is absent, empty or no port leaves the port as it is, and so does a port that is in use. The last two are
/// reported once.
#[test]
fn what_is_no_port_changes_nothing() {
    let (place, state) = folder();
    let file = place.path().join("port");
    let options = ["--port-file", text(&file)];
    let api = Api::start(&state, &place.path().join("downloads"), &options);
    let mut before = json!([]);
    wait_for(|| {
        before = listening(&api);
        before != json!([])
    });
    fs::write(&file, "").unwrap();
    replace(&file, "secret-of-another-file\n");
    let refused = format!(
        "warning: --port-file {}: its first line is no port, a number from 1 to 65535\n",
        file.display()
    );
    wait_for(|| api.daemon.stderr().ends_with(&refused));
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let taken = listener.local_addr().unwrap().port();
    replace(&file, &taken.to_string());
    let in_use = format!("port {taken}: Address already in use");
    wait_for(|| api.daemon.stderr().contains(&in_use));
    assert_eq!(listening(&api), before);
    // It is tried again.
    drop(listener);
    wait_for(|| is_open(taken));
    fs::remove_file(&file).unwrap();
    // A port that a request sets stays until the file has another one.
    let port = free_port();
    assert_eq!(
        api.send("PATCH", "config", &json!({ "port": port })).status,
        202
    );
    wait_for(|| listening(&api) == on(port));
    let last = free_port();
    replace(&file, &last.to_string());
    wait_for(|| listening(&api) == on(last));
    assert_eq!(
        api.daemon.stderr().lines().count(),
        2,
        "{}",
        api.daemon.stderr()
    );
    api.daemon.terminate();
}

/// A reload can name another file or none, and leaves the port of a file that stays.
#[test]
fn a_reload_names_another_file() {
    let (place, state) = folder();
    let [file, other, config] =
        ["port", "other", "config.toml"].map(|name| place.path().join(name));
    let [own, first, second] = [free_port(), free_port(), free_port()];
    let configure = |port: u16, file: Option<&PathBuf>| {
        let file = file.map(|file| format!("port-file = \"{}\"\n", file.display()));
        let rest = "bind = \"127.0.0.1\"\ntransport = \"tcp\"\nno-dht = true\nno-discovery = true";
        let text = format!(
            "[network]\nport = {port}\n{rest}\n{}",
            file.unwrap_or_default()
        );
        fs::write(&config, text).unwrap();
    };
    fs::write(&file, first.to_string()).unwrap();
    fs::write(&other, second.to_string()).unwrap();
    configure(0, Some(&file));
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_hashlane-net"));
    command.args(["daemon", "--state-dir"]).arg(&state);
    command.arg("--config").arg(&config);
    command.stdin(std::process::Stdio::null());
    command.stdout(std::process::Stdio::piped());
    let daemon = Daemon::of(&state, command);
    wait_for(|| is_open(first));
    let reload = || assert_eq!(daemon.done(["reload"])[0]["restart"], json!([]));
    configure(own, Some(&file));
    reload();
    wait_for(|| is_open(first));
    configure(own, Some(&other));
    reload();
    wait_for(|| is_open(second));
    configure(own, None);
    reload();
    wait_for(|| is_open(own));
    wait_for(|| !is_open(second));
    daemon.terminate();
}

/// `seed` follows the file too.
#[test]
fn a_seed_listens_at_the_port_of_a_file() {
    let content = Content::new();
    let torrent = content.torrent("file.bin", "v1");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("port");
    let [first, second] = [free_port(), free_port()];
    fs::write(&file, first.to_string()).unwrap();
    let options = ["--port-file", text(&file)];
    let peer = Peer::seed_with(&[&torrent], content.path(), &options);
    assert_eq!(peer.address().port(), first);
    replace(&file, &second.to_string());
    wait_for(|| is_open(second));
    drop(peer);
}
