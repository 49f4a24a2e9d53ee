"""Measure `hashlane get` and `hashlane seed` on loopback, and write bench/SWARM.md.

There are three measurements: the time from the start of the process until 485 MiB are served,
compared with libtorrent's own check; the rate of downloading 1 GiB, compared with libtorrent's
plain client; and the cost of serving a thousand small torrents. Commands take turns, the figures
are medians, and the data is in the page cache. With --before, an older program takes its turns,
too.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from pathlib import Path

from harness.goal import at_least, at_most, goal_section
from harness.process import spent
from harness.samples import Sample
from harness.tables import page, table

HERE = Path(__file__).parent
MIB = 1 << 20
GIB = 1 << 30
# Columns of the table.
OURS = "Hashlane"
BEFORE = "before"
THEIRS = "libtorrent"
SERVED_LEN = 485 * MIB
DOWNLOADED_LEN = GIB
SMALL_TORRENTS = 1000
SMALL_LEN = 64 << 10
LOOPBACK = (
    "--bind",
    "127.0.0.1",
    "--no-dht",
    "--no-discovery",
    "--transport",
    "tcp",
    "--port",
    "0",
)


@dataclass(frozen=True)
class Swarm:
    """A build of the program, and a folder for its content and downloads."""

    program: Path
    work: Path

    def torrent(self, name: str, length: int) -> Path:
        """Create a file of random bytes, and its torrent."""
        path = self.work / name
        with path.open("wb") as file:
            for begin in range(0, length, MIB):
                file.write(os.urandom(min(MIB, length - begin)))
        torrent = self.work / f"{name}.torrent"
        create = ("create", "--quiet", "--force", "--format", "v1", "-o", torrent, path)
        subprocess.run([self.program, *create], check=True)
        return torrent

    @contextmanager
    def seed(self, *torrents: Path) -> Iterator[tuple[float, str, int]]:
        """Serve torrents; return the seconds until all are served, the address, and the process."""
        started = time.monotonic()
        command = [self.program, "seed", "--json", *LOOPBACK, "-d", self.work, *torrents]
        seed = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            yield (*self._served(seed, len(torrents), started), seed.pid)
        finally:
            seed.kill()
            seed.wait()

    @staticmethod
    def _served(seed: subprocess.Popen[str], count: int, started: float) -> tuple[float, str]:
        address, left = None, count
        for line in seed.stdout or ():
            event = json.loads(line)
            if event["type"] == "listening":
                address = event["address"]
            elif event["type"] == "verified":
                if event["have"] != event["pieces"]:
                    raise RuntimeError(f"incomplete: {event}")
                left -= 1
            if address is not None and left == 0:
                return time.monotonic() - started, address
        raise RuntimeError("it does not serve")

    def get(self, torrent: Path, peer: str, folder: Path) -> list[str | Path]:
        """Return the command of hashlane's download."""
        get = (self.program, "get", "--quiet", *LOOPBACK, "--peer", peer, "--dir", folder, torrent)
        return list(get)


def starts(swarms: dict[str, Swarm], rounds: int, length: int) -> dict[str, float]:
    """Measure the seconds until one torrent is served, and the seconds of libtorrent's check."""
    first = swarms[OURS]
    torrent = first.torrent("served.bin", length)
    taken: dict[str, list[float]] = {name: [] for name in (*swarms, THEIRS)}
    check = [sys.executable, HERE / "libtorrent_check.py", torrent, first.work, str(os.cpu_count())]
    for _ in range(rounds):
        for name, swarm in swarms.items():
            with swarm.seed(torrent) as (seconds, _, _):
                taken[name].append(seconds)
        found = json.loads(subprocess.run(check, check=True, capture_output=True).stdout)
        taken[THEIRS].append(found["wall"])
    return {name: statistics.median(times) for name, times in taken.items()}


def downloads(swarms: dict[str, Swarm], rounds: int, length: int) -> dict[str, Sample]:
    """Measure a download from hashlane by each program, and by a plain client."""
    first = swarms[OURS]
    torrent = first.torrent("downloaded.bin", length)
    taken: dict[str, list[Sample]] = {name: [] for name in (*swarms, THEIRS)}
    folder = first.work / "come"
    for _ in range(rounds):
        for name, runs in taken.items():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            # An older program is measured with its own server.
            swarm = swarms.get(name, first)
            with swarm.seed(torrent) as (_, address, _):
                plain = [sys.executable, HERE / "libtorrent_get.py", torrent, folder, address]
                command = plain if name == THEIRS else swarm.get(torrent, address, folder)
                runs.append(spent(command, swarm.work))
            compare = ["cmp", first.work / "downloaded.bin", folder / "downloaded.bin"]
            subprocess.run(compare, check=True)
    return {
        name: Sample(*(statistics.median(times) for times in zip(*map(astuple, runs), strict=True)))
        for name, runs in taken.items()
    }


def many(swarms: dict[str, Swarm], rounds: int, count: int) -> dict[str, tuple[float, float]]:
    """Measure the seconds until this many small torrents are served, and the memory in MiB."""
    torrents = [swarms[OURS].torrent(f"small{i}.bin", SMALL_LEN) for i in range(count)]
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in swarms}
    for _ in range(rounds):
        for name, swarm in swarms.items():
            with swarm.seed(*torrents) as (seconds, _, pid):
                status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
                peak = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
            taken[name].append((seconds, int(peak.split()[1]) / 1024))
    return {
        name: (statistics.median(s for s, _ in runs), statistics.median(m for _, m in runs))
        for name, runs in taken.items()
    }


def report(swarms: dict[str, Swarm], rounds: int, *, is_quick: bool) -> str:
    """Measure, and return the report."""
    scale = 16 if is_quick else 1
    start = starts(swarms, rounds, SERVED_LEN // scale)
    taken = downloads(swarms, rounds, DOWNLOADED_LEN // scale)
    small = many(swarms, rounds, SMALL_TORRENTS // scale)
    rate = taken[THEIRS].wall / taken[OURS].wall
    columns = (*swarms, THEIRS)

    def row(what: str, figures: dict[str, str]) -> tuple[str, ...]:
        return (what, *(figures.get(name, "") for name in columns))

    served = f"{SERVED_LEN // scale // MIB} MiB: process started, verified and served"
    downloaded = f"{DOWNLOADED_LEN // scale // MIB} MiB downloaded, whole process"
    rows = (
        row(
            f"{served}; libtorrent's check alone",
            {name: f"{seconds:.3f} s" for name, seconds in start.items()},
        ),
        row(
            f"{downloaded}; Hashlane verifies once more",
            {name: f"{sample.wall:.2f} s" for name, sample in taken.items()},
        ),
        row("the same, CPU seconds", {name: f"{sample.cpu:.2f}" for name, sample in taken.items()}),
        row(
            f"{SMALL_TORRENTS // scale} torrents of 64 KiB: process started, all served",
            {name: f"{seconds:.2f} s" for name, (seconds, _) in small.items()},
        ),
        row(
            "the same, peak memory",
            {name: f"{memory:.0f} MiB" for name, (_, memory) in small.items()},
        ),
    )
    goals = [
        at_most("start to serving", start[OURS], 0.2, unit=" s"),
        at_least("download rate, of libtorrent's", rate, 0.9),
    ]
    if BEFORE in swarms:
        goals += [
            at_most("start to serving, of before", start[OURS] / start[BEFORE], 1.1),
            at_most("download, of before", taken[OURS].wall / taken[BEFORE].wall, 1.1),
        ]
    return page(
        "Downloading and serving",
        "bench-swarm",
        f"Figures are medians of {rounds} rounds in turns. Version 1, over TCP on loopback, from"
        " the page cache.",
        table(("what", *columns), rows),
        goal_section(goals),
    )


def main() -> None:
    """Read the command line, measure and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hashlane", type=Path, required=True)
    parser.add_argument("--before", type=Path, help="an older program, with or without -net")
    parser.add_argument("--out", type=Path, default=HERE / "SWARM.md")
    parser.add_argument("--work", type=Path, default=HERE / "work" / "swarm")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument(
        "--quick", action="store_true", help="use little data, to check that the benchmark works"
    )
    arguments = parser.parse_args()
    work = arguments.work.resolve()
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    programs = {OURS: arguments.hashlane, BEFORE: arguments.before}
    swarms = {name: Swarm(path.resolve(), work) for name, path in programs.items() if path}
    try:
        text = report(swarms, arguments.rounds, is_quick=arguments.quick)
    finally:
        shutil.rmtree(arguments.work, ignore_errors=True)
    arguments.out.write_text(text, encoding="utf-8")
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
