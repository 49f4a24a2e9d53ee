#!/usr/bin/env python3
"""Measure the verification of a library of small torrents in one run.

    python3 bench/library.py --hashlane PROGRAM --out FILE [--torrents 10000] [--processes 1000]

Each torrent has three files with 20 KB on average. The library lies in memory. One run over the
folder takes turns with one process for each torrent. Only some torrents have a process, and their
time is multiplied. The figures are medians. The goals are a tenth of the time of the processes, and
200 MB of memory.
"""

import argparse
import hashlib
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from harness.tables import page, table

PIECE_LENGTH = 16384
PEAK_MEMORY = Path(__file__).parent / "harness" / "peak_memory.py"


def make(root: Path, torrents: int) -> None:
    """Make version 1 torrents, and the content of each."""
    rng = random.Random(7)  # noqa: S311
    (root / "torrents").mkdir()
    for number in range(torrents):
        name = f"t{number:05}"
        content = root / "content" / name
        content.mkdir(parents=True)
        files = [rng.randbytes(rng.randrange(1000, 40_000)) for _ in range(3)]
        entries = b""
        for index, data in enumerate(files):
            (content / f"{index}").write_bytes(data)
            entries += b"d6:lengthi%de4:pathl1:%dee" % (len(data), index)
        whole = b"".join(files)
        starts = range(0, len(whole), PIECE_LENGTH)
        pieces = [hashlib.sha1(whole[at : at + PIECE_LENGTH]).digest() for at in starts]  # noqa: S324
        (root / "torrents" / f"{name}.torrent").write_bytes(
            b"d4:infod5:filesl%se4:name6:%s12:piece lengthi%de6:pieces%d:%see"
            % (entries, name.encode(), PIECE_LENGTH, 20 * len(pieces), b"".join(pieces))
        )


def timed(*command: str | Path) -> float:
    """Return the seconds that a command takes, which must succeed."""
    began = time.monotonic()
    subprocess.run([str(part) for part in command], check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - began


def peak_bytes(*command: str | Path) -> int:
    """Return the peak resident set of a command in bytes."""
    argv = [sys.executable, "-I", "-S", PEAK_MEMORY, *command, "--quiet"]
    ended = subprocess.run(
        [str(part) for part in argv], check=True, stdout=subprocess.PIPE, text=True
    )
    return json.loads(ended.stdout)["peak_resident_bytes"]


def main() -> None:
    """Measure, and write the report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hashlane", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--torrents", type=int, default=10_000)
    parser.add_argument("--processes", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    program = options.hashlane.resolve()
    with tempfile.TemporaryDirectory(dir="/dev/shm", prefix="bench-library-") as folder:
        root = Path(folder)
        make(root, options.torrents)
        content = ("-d", root / "content")
        one_run = (program, "verify", root / "torrents", *content)
        some = sorted((root / "torrents").iterdir())[: options.processes]
        together, alone, shares = [], [], []
        for _ in range(options.rounds):
            together.append(timed(*one_run))
            processes = sum(timed(program, "verify", torrent, *content) for torrent in some)
            alone.append(processes * options.torrents / len(some))
            shares.append(together[-1] / alone[-1])
        peak = peak_bytes(*one_run)
    head = ("torrents", "one run, s", "one process each, s", "times as fast", "peak memory, MB")
    row = (
        f"{options.torrents:,}",
        f"{statistics.median(together):.2f}",
        f"{statistics.median(alone):.1f}",
        f"{1 / statistics.median(shares):.1f}",
        f"{peak / 1e6:.0f}",
    )
    text = (
        f"Torrents of three small files in memory, {options.rounds} rounds. The time of one "
        f"process each is that of {len(some):,} processes, multiplied. The goals are 10 times as "
        "fast, and 200 MB."
    )
    options.out.write_text(page("A library of torrents", "bench-library", text, table(head, [row])))
    print(json.dumps(row))


if __name__ == "__main__":
    main()
