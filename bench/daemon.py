"""Measures a daemon with many torrents: time to serve with --trust, memory and idle CPU.

    python3 bench/daemon.py --hashlane PROGRAM [--torrents N]

Each torrent is of version 1 and has one file of 100 pieces, a hole in a sparse file. Adding and the
first verification are measured too.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NoReturn

PIECES = 100
PIECE_LENGTH = 16384
IDLE_S = 30
LIMIT_S = 600


def torrent(name: str) -> bytes:
    """Return a torrent of zeros, which differs for each name."""
    pieces = hashlib.sha1(bytes(PIECE_LENGTH), usedforsecurity=False).digest() * PIECES
    return (
        (
            f"d4:infod6:lengthi{PIECES * PIECE_LENGTH}e4:name{len(name)}:{name}"
            f"12:piece lengthi{PIECE_LENGTH}e6:pieces{len(pieces)}:"
        ).encode()
        + pieces
        + b"ee"
    )


class Daemon:
    """A running daemon."""

    def __init__(self, program: Path, folder: Path, *options: str) -> None:
        """Start it."""
        self.ctl = [str(program), "ctl", "--json", "--state-dir", str(folder / "state")]
        net = program.with_name(program.name + "-net")
        offline = ["--bind", "127.0.0.1", "--port", "0", "--no-dht", "--no-discovery", "--quiet"]
        state = ["daemon", "--state-dir", str(folder / "state"), "--dir", str(folder / "content")]
        self.started = time.monotonic()
        # Warnings, as about trackers that do not answer, are shown only if the daemon fails.
        self.errors = (folder / "errors").open("w+b")
        self.process = subprocess.Popen(
            [net, *state, *offline, *options], stdout=subprocess.DEVNULL, stderr=self.errors
        )

    def status(self) -> dict | None:
        """Return the state, if it answers."""
        done = subprocess.run([*self.ctl, "status"], capture_output=True, check=False)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def until(self, is_so) -> float:
        """Wait for a state, and return the seconds since the start."""
        while time.monotonic() - self.started < LIMIT_S:
            status = self.status()
            if status and is_so(status):
                return time.monotonic() - self.started
            if self.process.poll() is not None:
                self.fail()
            time.sleep(0.05)
        sys.exit(f"not within {LIMIT_S} s: {self.status()}")

    def rss(self) -> float:
        """Return the resident memory in MiB."""
        text = Path(f"/proc/{self.process.pid}/status").read_text()
        line = next(line for line in text.splitlines() if line.startswith("VmRSS:"))
        return int(line.split()[1]) / 1024

    def cpu(self) -> float:
        """Return the seconds of CPU so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self) -> float:
        """End it, and return the seconds that it took."""
        started = time.monotonic()
        self.process.terminate()
        if self.process.wait(LIMIT_S) != 0:
            self.fail()
        return time.monotonic() - started

    def fail(self) -> NoReturn:
        """End with the last lines that the daemon printed."""
        self.errors.seek(0)
        lines = self.errors.read().decode(errors="replace").splitlines()[-20:]
        sys.exit("\n".join([*lines, f"the daemon ended with {self.process.returncode}"]))


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description="Measures a daemon with many torrents.")
    parser.add_argument("--hashlane", type=Path, required=True)
    parser.add_argument("--torrents", type=int, default=5000)
    options = parser.parse_args()
    n = options.torrents
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in ("content", "torrents"):
            (folder / part).mkdir()
        for number in range(n):
            content = f"content-{number:05}"
            (folder / "torrents" / f"{number:05}.torrent").write_bytes(torrent(content))
            with (folder / "content" / content).open("wb") as file:
                file.truncate(PIECES * PIECE_LENGTH)
        daemon = Daemon(options.hashlane, folder, "--trust", "size+mtime")
        daemon.until(bool)
        started = time.monotonic()
        torrents = sorted(str(path) for path in (folder / "torrents").iterdir())
        for first in range(0, n, 1000):
            add = [*daemon.ctl, "add", *torrents[first : first + 1000]]
            subprocess.run(add, stdout=subprocess.DEVNULL, check=True)
        print(f"{n} torrents added in {time.monotonic() - started:.2f} s")

        def all_served(status: dict) -> bool:
            return status["serving"] == n

        print(f"all verified and served {daemon.until(all_served):.2f} s after the start")
        # Complete content is recorded when it is served at a start.
        daemon.end()
        daemon = Daemon(options.hashlane, folder, "--trust", "size+mtime")
        daemon.until(all_served)
        print(f"ended in {daemon.end():.2f} s")
        daemon = Daemon(options.hashlane, folder, "--trust", "size+mtime")
        print(f"all served {daemon.until(all_served):.2f} s after a start with --trust")
        time.sleep(5)
        before = daemon.cpu()
        time.sleep(IDLE_S)
        percent = 100 * (daemon.cpu() - before) / IDLE_S
        print(f"idle: {percent:.2f} % of a core over {IDLE_S} s, {daemon.rss():.0f} MiB resident")
        started = time.monotonic()
        listed = subprocess.run([*daemon.ctl, "list"], capture_output=True, check=True).stdout
        print(f"{len(listed.splitlines())} listed in {time.monotonic() - started:.2f} s")
        daemon.end()


if __name__ == "__main__":
    main()
