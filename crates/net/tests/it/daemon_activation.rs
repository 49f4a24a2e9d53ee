//! Sockets that systemd opens before the daemon starts.

use std::fs;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Command, Stdio};

use super::daemon::{Daemon, daemon_command, folder};
use super::foreign::free_port;
use super::http::ask;
use super::peers::Process;
use crate::not_run::is_installed;
use crate::wait_for;

/// Returns a command that starts a daemon with these descriptors and names, as systemd does: the first one is number 3.
fn with_sockets(state: &Path, options: &[&str], names: &str, sockets: [OwnedFd; 2]) -> Command {
    let daemon = daemon_command(state, options);
    let script = "exec 3<&0 4<&1 </dev/null >/dev/null; export LISTEN_PID=$$; exec \"$@\"";
    let mut command = Command::new("sh");
    command.args(["-c", script, "sh"]).arg(daemon.get_program());
    command.args(daemon.get_args());
    command.env("LISTEN_FDS", "2").env("LISTEN_FDNAMES", names);
    let [one, other] = sockets;
    command.stdin(Stdio::from(one)).stdout(Stdio::from(other));
    command
}

/// Returns the error of a daemon that does not start.
#[track_caller]
fn refused(mut command: Command) -> String {
    let output = command.output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{error}");
    error
}

fn listener() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

/// Each socket serves what its name says, in place of the address of the option.
#[test]
fn sockets_of_systemd_replace_addresses() {
    let (_place, state) = folder();
    let ((one, page), (other, rpc)) = (listener(), listener());
    // This address cannot be used here.
    let options = ["--http", "198.51.100.7:80"];
    let sockets = [one.into(), other.into()];
    let command = with_sockets(&state, &options, "http:transmission", sockets);
    let daemon = Daemon::of(&state, command);
    let get = |headers: &[(&str, &str)]| ask(page, "GET /api/v1/torrents", headers, "").status;
    assert_eq!(get(&[]), 401);
    let token = fs::read_to_string(state.join("http-token")).unwrap();
    let bearer = format!("Bearer {}", token.trim());
    assert_eq!(get(&[("Authorization", &bearer)]), 200);
    let answer = ask(rpc, "POST /transmission/rpc", &[], "{}");
    assert_eq!(answer.status, 409, "{answer:?}");
    assert_eq!(daemon.stderr(), "");
    daemon.terminate();
    // The daemon has closed them.
    assert!(TcpStream::connect(page).is_err() && TcpStream::connect(rpc).is_err());
}

/// A socket that other machines can reach needs a password, as an address does.
#[test]
fn sockets_for_other_machines_need_a_password() {
    let (_place, state) = folder();
    let (one, _) = listener();
    let open = TcpListener::bind("0.0.0.0:0").unwrap();
    let sockets = [one.into(), open.into()];
    let refused = refused(with_sockets(&state, &[], "http:qbittorrent", sockets));
    assert!(
        refused.contains("can be reached by other machines"),
        "{refused}"
    );
}

#[test]
fn sockets_that_cannot_be_used_are_refused() {
    let null = || OwnedFd::from(fs::File::open("/dev/null").unwrap());
    for (names, second, reason) in [
        (
            "http:page",
            None,
            "socket `page` of LISTEN_FDS: unknown name",
        ),
        ("http:http", None, "several sockets have this name"),
        (
            "http:transmission",
            Some(null()),
            "socket `transmission` of LISTEN_FDS: ",
        ),
    ] {
        let (_place, state) = folder();
        let second = second.unwrap_or_else(|| listener().0.into());
        let sockets = [listener().0.into(), second];
        let refused = refused(with_sockets(&state, &[], names, sockets));
        assert!(refused.contains(reason), "{reason}: {refused}");
    }
}

/// Debian's systemd passes the socket, and starts the daemon at the first connection.
#[test]
fn a_connection_starts_the_daemon() {
    let program = "systemd-socket-activate";
    if !is_installed("SYSTEMD", program, "systemd") {
        return;
    }
    let (_place, state) = folder();
    let address = SocketAddr::from(([127, 0, 0, 1], free_port()));
    let daemon = daemon_command(&state, &[]);
    let mut command = Command::new(program);
    command.args([
        "--fdname=http",
        "--setenv=HASHLANE_CONFIG=/dev/null",
        "--listen",
    ]);
    command.arg(address.to_string()).arg(daemon.get_program());
    command.args(daemon.get_args());
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut process = Process(command.spawn().unwrap());
    wait_for(|| TcpStream::connect(address).is_ok());
    let answer = ask(address, "GET /api/v1/torrents", &[], "");
    assert_eq!(answer.status, 401, "{answer:?}");
    process.0.kill().unwrap();
    process.0.wait().unwrap();
}
