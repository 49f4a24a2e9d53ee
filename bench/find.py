#!/usr/bin/env python3
"""Measure how fast the content of torrents is found among files with other names.

    python3 bench/find.py --hashlane PROGRAM [--files 30000] [--rounds 3]

There is a torrent for each 300 files. All files get other names in other folders. `hashlane find`
is compared with `find -ls` of the tree, and `hashlane sum` of as many bytes as it hashed. Prints a
table with medians; the goal is three times `find -ls` plus `hashlane sum`, and 1.2 hashed pieces
for each candidate.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from harness import machine
from harness.tables import table

FILES_PER_TORRENT = 300


def timed(*command: str | Path) -> tuple[float, bytes]:
    """Return the seconds and the output of a command, whatever its status."""
    began = time.monotonic()
    ended = subprocess.run([str(part) for part in command], check=False, capture_output=True)
    return time.monotonic() - began, ended.stdout


def make(root: Path, program: str, version: str, files: int) -> None:
    """Make the torrents, and move their files to other names."""
    rng = random.Random(7)  # noqa: S311
    for number in range(files // FILES_PER_TORRENT):
        content = root / "content" / f"t{number}"
        content.mkdir(parents=True)
        for name in range(FILES_PER_TORRENT):
            # Some have no piece of their own.
            (content / f"{name:05}").write_bytes(rng.randbytes(rng.randrange(1000, 60_000)))
    contents = sorted((root / "content").iterdir())
    options = ["--format", version, "-l", "16KiB", "--parents", "-q"]
    output = ["--output-dir", str(root / "torrents")]
    subprocess.run([program, "create", *options, *output, *map(str, contents)], check=True)
    for content in contents:
        for path in content.iterdir():
            folder = root / "disk" / f"{rng.randrange(500):03}"
            folder.mkdir(parents=True, exist_ok=True)
            path.rename(folder / f"{rng.randrange(1 << 64):016x}")


def measure(program: str, version: str, files: int, rounds: int) -> list[str]:
    """Return a row of the table."""
    with tempfile.TemporaryDirectory(prefix="bench-find-") as folder:
        root = Path(folder)
        make(root, program, version, files)
        seconds: dict[str, list[float]] = {"find": [], "ls": [], "sum": []}
        hashed = root / "hashed"
        for _ in range(rounds):
            command = [program, "find", root / "torrents", "--in", root / "disk", "--json"]
            taken, output = timed(*command)
            seconds["find"].append(taken)
            seconds["ls"].append(timed("find", root / "disk", "-ls")[0])
            lines = [json.loads(line) for line in output.splitlines()]
            summary = lines[-1]
            hashed.write_bytes(os.urandom(summary["hashed_bytes"]))
            algorithm = "sha1" if version == "v1" else "sha256"
            seconds["sum"].append(timed(program, "sum", "-a", algorithm, hashed)[0])
            hashed.unlink()
    found = sum(line["type"] == "torrent" and line["identified"] for line in lines)
    find, ls, total = (statistics.median(seconds[name]) for name in ("find", "ls", "sum"))
    return [
        version,
        f"{found} of {files // FILES_PER_TORRENT}",
        f"{find:.2f}",
        f"{ls:.2f}",
        f"{total:.2f}",
        f"{find / (3 * ls + total):.2f}",
        f"{summary['hashed_pieces'] / summary['candidates']:.2f}",
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hashlane", required=True)
    parser.add_argument("--files", type=int, default=30_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    program = str(Path(options.hashlane).resolve())
    versions = ("v1", "v2", "hybrid")
    rows = [measure(program, version, options.files, options.rounds) for version in versions]
    times = ("`find`, s", "`find -ls`, s", "`sum`, s")
    head = ("version", "found", *times, "share of the goal", "pieces a candidate")
    print(f"{machine.summary()}; {options.rounds} rounds; {machine.load()}\n")
    print("\n".join(table(head, rows)))


if __name__ == "__main__":
    main()
