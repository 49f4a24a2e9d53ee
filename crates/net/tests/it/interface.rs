//! Connections of one network interface, which vanishes and returns. Another interface counts what leaves by it.
//!
//! Two network namespaces are joined by two pairs of interfaces. The default route of the client leads to `lan0`, which
//! needs no other machine to send a packet. Only `vpn0` may be used.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::daemon::{Daemon, folder};
use super::network::report_no_namespace;
use super::peers::{Content, Peer, Process, ended, get_command, seed_command};
use crate::wait_for;

/// A network namespace, which lasts as long as a process in it.
struct Namespace(Process);

impl Namespace {
    fn new() -> Option<Self> {
        let mut command = Command::new("unshare");
        command.args(["--net", "sleep", "1000"]);
        let child = command.stderr(Stdio::null()).spawn().ok()?;
        let mut namespace = Self(Process(child));
        let own = std::fs::read_link("/proc/self/ns/net").ok()?;
        let mut is_ready = false;
        wait_for(|| {
            let other = std::fs::read_link(namespace.path());
            is_ready = other.is_ok_and(|other| other != own);
            is_ready || namespace.0.0.try_wait().unwrap().is_some()
        });
        is_ready.then_some(namespace)
    }

    fn pid(&self) -> String {
        self.0.0.id().to_string()
    }

    fn path(&self) -> String {
        format!("/proc/{}/ns/net", self.pid())
    }

    /// Returns the same command in this namespace.
    fn inside(&self, command: &Command) -> Command {
        let mut inside = Command::new("nsenter");
        inside.arg(format!("--net={}", self.path()));
        inside.arg(command.get_program()).args(command.get_args());
        for (name, value) in command.get_envs() {
            if let Some(value) = value {
                inside.env(name, value);
            }
        }
        inside.stdin(Stdio::null());
        inside.stdout(Stdio::piped()).stderr(Stdio::piped());
        inside
    }

    fn sh(&self, script: &str) -> Option<String> {
        let mut command = Command::new("sh");
        command.args(["-ec", script]);
        let output = self.inside(&command).output().ok()?;
        output
            .status
            .success()
            .then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

/// The two namespaces.
struct Net {
    client: Namespace,
    server: Namespace,
}

impl Net {
    fn new() -> Option<Self> {
        let net = Self {
            client: Namespace::new()?,
            server: Namespace::new()?,
        };
        let no_v6 = "echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6; ip link set lo up";
        net.server.sh(no_v6)?;
        net.client.sh(no_v6)?;
        net.client.sh(&format!(
            "ip link add lan0 type veth peer name lan1 netns {}",
            net.server.pid()
        ))?;
        net.server
            .sh("ip addr add 10.9.2.1/24 dev lan1; ip link set lan1 up")?;
        net.client.sh(
            "ip addr add 10.9.2.2/24 dev lan0; ip link set lan0 arp off up; ip route add default via 10.9.2.1 dev lan0",
        )?;
        net.add_vpn();
        Some(net)
    }

    fn add_vpn(&self) {
        let pid = self.server.pid();
        let add = format!("ip link add vpn0 type veth peer name vpn1 netns {pid}");
        self.client.sh(&add).unwrap();
        self.server
            .sh("ip addr add 10.9.1.1/24 dev vpn1; ip link set vpn1 up")
            .unwrap();
        self.client
            .sh("ip addr add 10.9.1.2/24 dev vpn0; ip link set vpn0 up")
            .unwrap();
    }

    fn remove_vpn(&self) {
        self.client.sh("ip link del vpn0").unwrap();
    }

    /// Returns the number of packets that left by the other interface.
    fn n_leaked(&self) -> u64 {
        self.n_sent("lan0")
    }

    /// Returns the number of packets that left by an interface of the client.
    fn n_sent(&self, interface: &str) -> u64 {
        let show = format!("ip -s -j link show {interface}");
        let links: Value = serde_json::from_str(&self.client.sh(&show).unwrap()).unwrap();
        links[0]["stats64"]["tx"]["packets"].as_u64().unwrap()
    }
}

/// Returns the network, or reports that the test does not run.
fn network() -> Option<Net> {
    let net = Net::new();
    if net.is_none() {
        report_no_namespace();
    }
    net
}

/// An address that only the default route leads to.
const OUTSIDE: &str = "10.9.3.1";

/// Peers, trackers, the DHT and a web seed that only the other interface leads to.
fn leaky(content: &Content) -> std::path::PathBuf {
    let options = [
        "--announce",
        &format!("http://{OUTSIDE}:80/announce"),
        "--announce",
        &format!("udp://{OUTSIDE}:81/announce"),
        "--web-seed",
        &format!("http://{OUTSIDE}:82/file.bin"),
    ];
    content.torrent_with("file.bin", "v1", &options)
}

const OPTIONS: [&str; 15] = [
    "--port",
    "6998",
    "--bind",
    "vpn0",
    "!--no-dht",
    "!--no-discovery",
    "--dht-node",
    "10.9.3.1:84",
    "--web-seeds",
    "--transport",
    "both",
    "--timeout",
    "100s",
    "--peer",
    "10.9.3.1:83",
];

/// Starts a seed that connects to the client, as soon as the client listens.
fn seed_of(net: &Net, torrent: &Path, content: &Content) -> Peer {
    let is_listening = "timeout 1 bash -c '</dev/tcp/10.9.1.2/6998'";
    wait_for(|| net.server.sh(is_listening).is_some());
    let options = [
        "--bind",
        "10.9.1.1",
        "--peer",
        "10.9.1.2:6998",
        "--max-up",
        "300KiB",
    ];
    let seed = seed_command(&[torrent], content.path(), &options);
    Peer::start(net.server.inside(&seed))
}

/// Nothing leaves by another interface: neither while the interface is present, nor after it vanished.
#[test]
fn an_interface_that_vanishes_pauses_all() {
    let Some(net) = network() else {
        return;
    };
    let content = Content::new();
    let torrent = leaky(&content);
    let folder = tempfile::tempdir().unwrap();
    let before = net.n_leaked();
    let options = [&OPTIONS[..], &["--http", "0"]].concat();
    let get = get_command(&[&torrent], folder.path(), None, &options);
    let download = Peer::start(net.client.inside(&get));
    let seed = seed_of(&net, &torrent, &content);
    wait_for(|| !download.lines_of("piece").is_empty());
    net.remove_vpn();
    let is_absent = |line: &Value| {
        let message = line["message"].as_str().unwrap_or_default();
        message.starts_with("vpn0: no such network interface; all torrents wait")
    };
    wait_for(|| download.lines_of("warning").iter().any(is_absent));
    let n_pieces = download.lines_of("piece").len();
    assert!(download.lines_of("finished").is_empty());
    // Peers, trackers and nodes of the DHT are tried again after some seconds.
    std::thread::sleep(std::time::Duration::from_secs(3));
    assert!(download.lines_of("piece").len() <= n_pieces + 1);
    assert_eq!(net.n_leaked(), before);
    drop(seed);
    net.add_vpn();
    let _seed = seed_of(&net, &torrent, &content);
    let ended = download.end();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    content.assert_same("file.bin", folder.path());
    assert_eq!(net.n_leaked(), before);
}

/// A client that starts without its interface waits for it. A .torrent file from a URL takes the same way.
#[test]
fn an_interface_that_is_absent_at_the_start() {
    let Some(net) = network() else {
        return;
    };
    let content = Content::new();
    let torrent = leaky(&content);
    let before = net.n_leaked();
    let url = format!("http://{OUTSIDE}:85/file.torrent");
    let place = tempfile::tempdir().unwrap();
    let fetch = get_command(&[url.as_ref()], place.path(), None, &OPTIONS);
    ended(&mut net.client.inside(&fetch)).assert_failed("No route to host");
    net.remove_vpn();
    ended(&mut net.client.inside(&fetch)).assert_failed("vpn0: no such network interface");
    let get = get_command(&[&torrent], place.path(), None, &OPTIONS);
    let mut get = net.client.inside(&get);
    let child = get.spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_secs(2));
    assert_eq!(net.n_leaked(), before);
    net.add_vpn();
    let _seed = seed_of(&net, &torrent, &content);
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    assert!(stderr.contains("all torrents wait"), "{stderr}");
    content.assert_same("file.bin", place.path());
    assert_eq!(net.n_leaked(), before);
}

/// The torrents of a daemon show the reason, and are served again under the old port.
#[test]
fn a_daemon_reports_the_interface() {
    let Some(net) = network() else {
        return;
    };
    let content = Content::new();
    let torrent = content.torrent("file.bin", "v1");
    let (_place, state) = folder();
    let mut command = Command::new(env!("CARGO_BIN_EXE_hashlane-net"));
    command.arg("daemon").arg("--state-dir").arg(&state);
    command.args("--bind vpn0 --port 6999 --transport tcp --no-dht".split(' '));
    let daemon = Daemon::of(&state, net.client.inside(&command));
    let served = content.path().join("file.bin");
    daemon.done([
        "add",
        torrent.to_str().unwrap(),
        "--content",
        served.to_str().unwrap(),
    ]);
    daemon.wait_for_activity("serving");
    net.client.sh("ip link set vpn0 down").unwrap();
    let paused = daemon.wait_for_activity("paused");
    let reason = "vpn0: the network interface is down";
    assert_eq!(
        (&paused["error"], &paused["paused"]),
        (&reason.into(), &false.into())
    );
    let status = &daemon.done(["status"])[0];
    assert_eq!(status["problems"][0], reason, "{status:#}");
    net.client.sh("ip link set vpn0 up").unwrap();
    let serving = daemon.wait_for_activity("serving");
    assert_eq!(serving["error"], Value::Null);
    let target = tempfile::tempdir().unwrap();
    let options = ["--bind", "10.9.1.1", "--peer", "10.9.1.2:6999"];
    let get = get_command(&[&torrent], target.path(), None, &options);
    let came = ended(&mut net.server.inside(&get));
    assert_eq!(came.code, Some(0), "{came:?}");
    daemon.terminate();
}

/// There is no telemetry and no check for updates. The DHT, discovery in the local network and requests to routers begin with the
/// first torrent.
#[test]
fn a_daemon_without_a_torrent_sends_nothing() {
    let Some(net) = network() else {
        return;
    };
    let content = Content::new();
    let torrent = content.torrent("file.bin", "v1");
    let (place, state) = folder();
    let n_sent = || net.n_sent("lan0") + net.n_sent("vpn0");
    let before = n_sent();
    let mut command = Command::new(env!("CARGO_BIN_EXE_hashlane-net"));
    command.args(["daemon", "--http", "8080", "--dir"]);
    command.arg(place.path()).arg("--state-dir").arg(&state);
    let daemon = Daemon::of(&state, net.client.inside(&command));
    // The DHT would resolve a name at once, and discovery would send to its groups.
    std::thread::sleep(std::time::Duration::from_secs(3));
    assert_eq!(n_sent(), before, "{}", daemon.stderr());
    // The same daemon looks for peers of a torrent, so the packets are counted.
    daemon.done([std::ffi::OsStr::new("add"), torrent.as_ref()]);
    wait_for(|| n_sent() > before);
    daemon.terminate();
}
