"""Measure `hashlane get` and `hashlane seed` on loopback, and write bench/SWARM.md.

There are three measurements: the time from the start of the process until 485 MiB are served,
compared with libtorrent's own check; the rate of downloading 1 GiB, compared with libtorrent's
plain client; and the cost of serving a thousand small torrents. Commands take turns, the figures
are medians, and the data is in the page cache.
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

    @classmethod
    def in_empty_folder(cls, program: Path, work: Path) -> "Swarm":
        """Empty the folder, or create it."""
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        return cls(program, work)

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
        get = (self.program, "get", "--quiet", *LOOPBACK, "--peer", peer, "-o", folder, torrent)
        return list(get)


def starts(swarm: Swarm, rounds: int, length: int) -> dict[str, float]:
    """Measure the seconds until one torrent is served, and the seconds of libtorrent's check."""
    torrent = swarm.torrent("served.bin", length)
    ours, theirs = [], []
    check = [sys.executable, HERE / "libtorrent_check.py", torrent, swarm.work, str(os.cpu_count())]
    for _ in range(rounds):
        with swarm.seed(torrent) as (seconds, _, _):
            ours.append(seconds)
        found = json.loads(subprocess.run(check, check=True, capture_output=True).stdout)
        theirs.append(found["wall"])
    return {"ours": statistics.median(ours), "libtorrent": statistics.median(theirs)}


def downloads(swarm: Swarm, rounds: int, length: int) -> dict[str, Sample]:
    """Measure a download by hashlane and by a plain client."""
    torrent = swarm.torrent("downloaded.bin", length)
    taken: dict[str, list[Sample]] = {"ours": [], "libtorrent": []}
    folder = swarm.work / "come"
    for _ in range(rounds):
        for name, runs in taken.items():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            with swarm.seed(torrent) as (_, address, _):
                plain = [sys.executable, HERE / "libtorrent_get.py", torrent, folder, address]
                ours = swarm.get(torrent, address, folder)
                runs.append(spent(ours if name == "ours" else plain, swarm.work))
            compare = ["cmp", swarm.work / "downloaded.bin", folder / "downloaded.bin"]
            subprocess.run(compare, check=True)
    return {
        name: Sample(*(statistics.median(times) for times in zip(*map(astuple, runs), strict=True)))
        for name, runs in taken.items()
    }


def many(swarm: Swarm, count: int) -> tuple[float, float]:
    """Measure the seconds until this many small torrents are served, and the memory in MiB."""
    torrents = [swarm.torrent(f"small{i}.bin", SMALL_LEN) for i in range(count)]
    with swarm.seed(*torrents) as (seconds, _, pid):
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
        peak = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
    return seconds, int(peak.split()[1]) / 1024


def report(swarm: Swarm, rounds: int, *, is_quick: bool) -> str:
    """Measure, and return the report."""
    scale = 16 if is_quick else 1
    start = starts(swarm, rounds, SERVED_LEN // scale)
    taken = downloads(swarm, rounds, DOWNLOADED_LEN // scale)
    seconds, memory = many(swarm, SMALL_TORRENTS // scale)
    ours, theirs = taken["ours"], taken["libtorrent"]
    rate = theirs.wall / ours.wall
    served = f"{SERVED_LEN // scale // MIB} MiB: process started, verified and served"
    downloaded = f"{DOWNLOADED_LEN // scale // MIB} MiB downloaded, whole process"
    rows = (
        (
            f"{served}; libtorrent's check alone",
            f"{start['ours']:.3f} s",
            f"{start['libtorrent']:.3f} s",
        ),
        (
            f"{downloaded}; Hashlane verifies once more",
            f"{ours.wall:.2f} s",
            f"{theirs.wall:.2f} s",
        ),
        ("the same, CPU seconds", f"{ours.cpu:.2f}", f"{theirs.cpu:.2f}"),
        (
            f"{SMALL_TORRENTS // scale} torrents of 64 KiB: process started, all served",
            f"{seconds:.2f} s",
            "",
        ),
        ("the same, peak memory", f"{memory:.0f} MiB", ""),
    )
    goals = (
        at_most("start to serving", start["ours"], 0.2, unit=" s"),
        at_least("download rate, of libtorrent's", rate, 0.9),
    )
    return page(
        "Downloading and serving",
        "bench-swarm",
        f"Figures are medians of {rounds} rounds in turns. Version 1, over TCP on loopback, from"
        " the page cache.",
        table(("what", "Hashlane", "libtorrent"), rows),
        goal_section(goals),
    )


def main() -> None:
    """Read the command line, measure and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hashlane", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=HERE / "SWARM.md")
    parser.add_argument("--work", type=Path, default=HERE / "work" / "swarm")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument(
        "--quick", action="store_true", help="use little data, to check that the benchmark works"
    )
    arguments = parser.parse_args()
    swarm = Swarm.in_empty_folder(arguments.hashlane.resolve(), arguments.work.resolve())
    try:
        text = report(swarm, arguments.rounds, is_quick=arguments.quick)
    finally:
        shutil.rmtree(arguments.work, ignore_errors=True)
    arguments.out.write_text(text, encoding="utf-8")
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
