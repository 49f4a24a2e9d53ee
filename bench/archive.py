#!/usr/bin/env python3
"""Measure an update of a catalogue whose files have not changed.

    python3 bench/archive.py --hashlane PROGRAM [--files 1000000] [--tree DIR] [--rounds 5]

The files are tiny, a hundred to a folder. `hashlane archive update` takes turns with `find -ls` of
the tree, whose output is discarded. The goal is 1.5 times `find -ls`, and 300 MB of memory.
"""

import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from harness import machine
from harness.tables import table

FILES_PER_FOLDER = 100
GOAL = 1.5
MAX_MEMORY_MB = 300


@dataclass(frozen=True)
class Run:
    """Times of a run in seconds, its peak of memory in MB, and its output."""

    wall: float
    cpu: float
    memory: float
    output: bytes


def timed(*command: str | Path, discard: bool = False) -> Run:
    """Run a command. With `discard`, its output goes to /dev/null."""
    began = time.monotonic()
    stdout = subprocess.DEVNULL if discard else subprocess.PIPE
    process = subprocess.Popen([str(part) for part in command], stdout=stdout)
    output = process.stdout.read() if process.stdout else b""
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.monotonic() - began
    if status != 0:
        raise SystemExit(f"archive.py: {command[0]} failed with status {status}")
    return Run(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e6, output)


def times(run: Run) -> tuple[float, float]:
    """Return the times of a run."""
    return run.wall, run.cpu


def make(tree: Path, files: int) -> None:
    """Make the files."""
    for number in range(files):
        group = number // FILES_PER_FOLDER
        folder = tree / f"{group // 100:03}" / f"{group:05}"
        if number % FILES_PER_FOLDER == 0:
            folder.mkdir(parents=True)
        (folder / f"photo-{number:07}.jpg").write_bytes(b"%d" % number)


def main() -> None:
    """Print the report, and write it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hashlane", required=True)
    parser.add_argument("--files", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tree", type=Path, help="a folder with the files, which is then not made")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    program = str(Path(options.hashlane).resolve())
    with tempfile.TemporaryDirectory(prefix="bench-archive-") as folder:
        tree, catalogue = options.tree or Path(folder) / "tree", Path(folder) / "catalogue"
        if not options.tree:
            make(tree, options.files)
        update = [program, "archive", "update", tree, "--catalogue", catalogue, "--json"]
        # New files have a line each. A program starts with the peak of memory of this process.
        first = timed(*update, discard=True)
        finds: list[Run] = []
        updates: list[Run] = []
        for _ in range(options.rounds):
            finds.append(timed("find", tree, "-ls", discard=True))
            updates.append(timed(*update))
            summary = json.loads(updates[-1].output)
            if summary["files"]["unchanged"] != options.files:
                raise SystemExit(f"archive.py: not all files are unchanged: {summary}")
        size = catalogue.stat().st_size
        kind = machine.first_line("stat", "-f", "-c", "%T", tree)
    find = [statistics.median(values) for values in zip(*map(times, finds), strict=True)]
    now = [statistics.median(values) for values in zip(*map(times, updates), strict=True)]
    memory = max(run.memory for run in updates)
    rows = [
        ["`find -ls`", f"{find[0]:.2f}", f"{find[1]:.2f}", "", "", ""],
        [
            "`archive update`, nothing changed",
            *(f"{value:.2f}" for value in now),
            *(f"{value / other:.2f}" for value, other in zip(now, find, strict=True)),
            f"{memory:.0f}",
        ],
        [
            "`archive update`, all files new",
            *(f"{value:.2f}" for value in times(first)),
            "",
            "",
            f"{first.memory:.0f}",
        ],
    ]
    about = (
        f"`cargo xtask bench archive` wrote this file. {options.files:,} files of a few bytes on "
        f"{kind}, {FILES_PER_FOLDER} to a folder, whose inodes are cached; {options.rounds} rounds "
        f"in which the programs take turns, medians. The catalogue has {size / 1e6:.0f} MB. The "
        f"goal is at most {GOAL} times `find -ls`, and {MAX_MEMORY_MB} MB. {machine.summary()}."
    )
    shares = ("times `find -ls`", "in CPU seconds")
    head = ("what", "seconds", "CPU seconds", *shares, "memory, MB")
    lines = ["# Catalogues of archives", "", about, "", *table(head, rows)]
    text = "\n".join(lines) + "\n"
    print(text)
    if options.out:
        options.out.write_text(text)


if __name__ == "__main__":
    main()
