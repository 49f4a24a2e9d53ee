"""Measures the requests of programs to a daemon with many torrents, and compares two daemons.

    python3 bench/daemon_requests.py --hashlane PROGRAM [--old PROGRAM] [--torrents N] [--rounds R]

Each torrent is of version 1, has one file of one piece, a hole in a sparse file, and two trackers.
The torrents are paused, so that nothing but requests takes time. Each program gets a copy of one
state folder, and the programs take turns. Figures are medians. The time of the processor is that
of all threads of the daemon, less what it uses while nothing asks.
"""

import argparse
import hashlib
import http.client
import json
import shutil
import socket
import statistics
import subprocess
import tempfile
import time
import urllib.parse
from collections.abc import Callable
from pathlib import Path

from daemon import Daemon
from harness import machine
from harness.tables import table

PIECE_LENGTH = 16384
REQUESTS = 100
IDLE_S = 2
FILES_AND_TRACKERS = ["id", "name", "files", "fileStats", "trackers", "trackerStats", "trackerList"]


def bencode(value: object) -> bytes:
    """Return a value as bencode."""
    match value:
        case int():
            return b"i%de" % value
        case bytes():
            return b"%d:%b" % (len(value), value)
        case list():
            return b"l" + b"".join(map(bencode, value)) + b"e"
        case dict():
            return b"d" + b"".join(bencode(x) for it in sorted(value.items()) for x in it) + b"e"
    raise TypeError(value)


def write(folder: Path, number: int) -> Path:
    """Write a torrent and its content, and return the path of the former."""
    name = f"content-{number:05}"
    info = {
        b"name": name.encode(),
        b"length": PIECE_LENGTH,
        b"piece length": PIECE_LENGTH,
        b"pieces": hashlib.sha1(bytes(PIECE_LENGTH), usedforsecurity=False).digest(),
    }
    hosts = [b"http://a.example.com/announce?passkey=0123456789", b"udp://b.example.com:6969"]
    tiers = [[host] for host in hosts]
    torrent = folder / "torrents" / f"{number:05}.torrent"
    torrent.write_bytes(bencode({b"announce-list": tiers, b"comment": b"zeros", b"info": info}))
    with (folder / "content" / name).open("wb") as file:
        file.truncate(PIECE_LENGTH)
    return torrent


def free_port() -> int:
    """Return a port that nothing uses now."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Served(Daemon):
    """A daemon that serves all protocols."""

    def __init__(self, program: Path, folder: Path) -> None:
        """Start it."""
        ports = [free_port() for _ in range(3)]
        names = ["--http", "--transmission", "--qbittorrent"]
        options = [
            x for name, port in zip(names, ports, strict=True) for x in (name, f"127.0.0.1:{port}")
        ]
        super().__init__(program, folder, "--trust", "size+mtime", *options)
        self.connections = [http.client.HTTPConnection("127.0.0.1", port) for port in ports]
        self.folder = folder
        self.session_id = ""

    def spent(self) -> float:
        """Return the seconds of processor of all threads so far."""
        paths = Path(f"/proc/{self.process.pid}/task").glob("*/schedstat")
        return sum(int(path.read_text().split()[0]) for path in paths) / 1e9

    def ask(self, way: int, path: str, body: bytes, headers: dict) -> http.client.HTTPResponse:
        """Send a request by the connection of a protocol, and return the answer with its body."""
        try:
            self.connections[way].request("POST", path, body, headers)
            answer = self.connections[way].getresponse()
        except (http.client.HTTPException, OSError):
            # The daemon closes connections that are idle.
            self.connections[way].close()
            self.connections[way].request("POST", path, body, headers)
            answer = self.connections[way].getresponse()
        answer.body = answer.read()
        if answer.status not in (200, 409):
            raise ValueError(answer.body)
        return answer

    def transmission(self, method: str, **arguments: object) -> dict:
        """Call a method of Transmission RPC."""
        body = json.dumps({"method": method, "arguments": arguments}).encode()
        name = "X-Transmission-Session-Id"
        answer = self.ask(1, "/transmission/rpc", body, {name: self.session_id})
        if answer.status == 409:
            self.session_id = answer.headers[name]
            return self.transmission(method, **arguments)
        result = json.loads(answer.body)
        if result["result"] != "success":
            raise ValueError(result["result"])
        return result["arguments"]

    def qbittorrent(self, method: str, **form: object) -> bytes:
        """Call a method of the qBittorrent Web API."""
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        body = urllib.parse.urlencode(form).encode()
        return self.ask(2, f"/api/v2/{method}", body, kind).body

    def http(self, path: str, body: object) -> dict:
        """Send a request to the HTTP API."""
        token = (self.folder / "state" / "http-token").read_text().strip()
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        return json.loads(self.ask(0, path, json.dumps(body).encode(), headers).body)

    def control(self, command: str) -> None:
        """Run a command of ctl for all torrents."""
        subprocess.run([*self.ctl, command, "--all"], stdout=subprocess.DEVNULL, check=True)


def per_request(daemon: Served, idle: float, ask: Callable[[], object]) -> float:
    """Return the milliseconds of processor of a request."""
    ask()
    started, before = time.monotonic(), daemon.spent()
    for _ in range(REQUESTS):
        ask()
    spent = daemon.spent() - before - idle * (time.monotonic() - started)
    return 1000 * spent / REQUESTS


def timed(ask: Callable[[], object]) -> float:
    """Return the seconds that a request takes."""
    started = time.monotonic()
    ask()
    return time.monotonic() - started


def figures(daemon: Served, n: int) -> dict[str, float]:
    """Return the figures of a daemon, whose torrents are paused."""
    daemon.until(lambda status: status["torrents"] == n and status["verifying"] == 0)
    time.sleep(1)
    before = daemon.spent()
    time.sleep(IDLE_S)
    idle = (daemon.spent() - before) / IDLE_S
    found = {"idle, % of a core": 100 * idle}
    first = json.loads(daemon.qbittorrent("torrents/info", limit=1))[0]["hash"]
    rid = json.loads(daemon.qbittorrent("sync/maindata", rid=0))["rid"]
    recent = {"ids": "recently-active", "fields": ["id", "rateDownload"]}
    for name, ask in {
        "app/version, ms": lambda: daemon.qbittorrent("app/version"),
        "session-get, ms": lambda: daemon.transmission("session-get"),
        "session-stats, ms": lambda: daemon.transmission("session-stats"),
        "torrents/properties, ms": lambda: daemon.qbittorrent("torrents/properties", hash=first),
        "sync/maindata without changes, ms": lambda: daemon.qbittorrent("sync/maindata", rid=rid),
        "torrent-get recently-active, ms": lambda: daemon.transmission("torrent-get", **recent),
    }.items():
        found[name] = per_request(daemon, idle, ask)
    for name, ask in {
        "torrents/info of all": lambda: daemon.qbittorrent("torrents/info"),
        "torrent-get of all, files and trackers": lambda: daemon.transmission(
            "torrent-get", fields=FILES_AND_TRACKERS
        ),
    }.items():
        before = daemon.spent()
        found[f"{name}, s"] = timed(ask)
        found[f"{name}, s of processor"] = daemon.spent() - before
    pause = {"all": True, "change": {"action": "pause"}}
    ways = {
        "ctl": lambda: daemon.control("pause"),
        "HTTP API": lambda: daemon.http("/api/v1/batch", pause),
        "qBittorrent": lambda: daemon.qbittorrent("torrents/stop", hashes="all"),
        "Transmission": lambda: daemon.transmission("torrent-stop"),
    }
    for name, way in ways.items():
        daemon.control("resume")
        time.sleep(1)
        before = daemon.spent()
        found[f"pause all, {name}, s"] = timed(way)
        found[f"pause all, {name}, s of processor"] = daemon.spent() - before
    found["resident, MiB"] = daemon.rss()
    return found


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(
        description="Measures requests to a daemon with many torrents."
    )
    parser.add_argument("--hashlane", type=Path, required=True)
    parser.add_argument("--old", type=Path)
    parser.add_argument("--torrents", type=int, default=3000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    n = options.torrents
    programs = {"new": options.hashlane}
    if options.old:
        programs = {"old": options.old, **programs}
    samples = {name: [] for name in programs}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in ("content", "torrents"):
            (folder / part).mkdir()
        torrents = [str(write(folder, number)) for number in range(n)]
        daemon = Served(options.hashlane, folder)
        daemon.until(bool)
        for first in range(0, n, 500):
            add = [*daemon.ctl, "add", "--paused", *torrents[first : first + 500]]
            subprocess.run(add, stdout=subprocess.DEVNULL, check=True)
        daemon.until(lambda status: status["paused"] == n)
        daemon.end()
        shutil.copytree(folder / "state", folder / "kept")
        for _ in range(options.rounds):
            for program, path in programs.items():
                shutil.rmtree(folder / "state")
                shutil.copytree(folder / "kept", folder / "state")
                daemon = Served(path, folder)
                samples[program].append(figures(daemon, n))
                daemon.end()
    rows = [
        [figure, *(f"{statistics.median(it[figure] for it in samples[p]):.2f}" for p in programs)]
        for figure in samples["new"][0]
    ]
    print(f"Medians of {options.rounds} rounds; {machine.summary()}\n")
    print("\n".join(table([f"{n} torrents", *programs], rows)))


if __name__ == "__main__":
    main()
