#!/usr/bin/env python3
"""Measure how fast the content of torrents is found among files with other names.

    python3 bench/find.py --hashlane PROGRAM --out FILE [--files 30000] [--rounds 3]
    python3 bench/find.py ... --max-len 400000 --data 16000    each has a length of its own
    python3 bench/find.py ... --folder DIR --prepare    makes the files and torrents in DIR
    python3 bench/find.py ... --folder DIR              measures with what is in DIR

There is a torrent for each 300 files. All files get other names in other folders. `hashlane find`
is compared with `find -ls` of the tree, and `hashlane sum` of as many bytes as it hashed. Writes a
table with medians; the goal is three times `find -ls` plus `hashlane sum`, 1.2 hashed pieces for
each candidate, and 1.1 times the time of version 1. The torrents of all versions are of the same
files. The versions take turns, after a round that does not count and fills the page cache. The
bytes that the counted rounds read from the disk all the same are printed and named in the table.
"""

import argparse
import contextlib
import json
import os
import random
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from harness.tables import page, table

FILES_PER_TORRENT = 300
VERSIONS = ("v1", "v2", "hybrid")

# `sum` hashes this many bytes, and its time is scaled: a file of all hashed bytes would take the
# place of the others in the page cache.
SUM_LEN = 1 << 30


def timed(*command: str | Path) -> tuple[float, float, int, bytes]:
    """Return seconds, seconds of processors, bytes from the disk and the output of a command."""
    began = time.monotonic()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen([str(part) for part in command], stdout=output)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.monotonic() - began
        output.seek(0)
        cpu = usage.ru_utime + usage.ru_stime
        return seconds, cpu, usage.ru_inblock * 512, output.read()


def lengths_of(rng: random.Random, options: argparse.Namespace) -> list[int]:
    """Return the lengths of the files. Short ones have no piece of their own."""
    if options.data:
        return rng.sample(range(1000, options.max_len), options.files)
    return [rng.randrange(1000, options.max_len) for _ in range(options.files)]


def make(root: Path, options: argparse.Namespace) -> None:
    """Make the torrents, and move their files to other names."""
    rng = random.Random(7)  # noqa: S311
    lengths = lengths_of(rng, options)
    for number in range(options.files // FILES_PER_TORRENT):
        content = root / "content" / f"t{number}"
        content.mkdir(parents=True)
        for name in range(FILES_PER_TORRENT):
            length = lengths.pop()
            data = min(length, options.data or length)
            with (content / f"{name:05}").open("wb") as file:
                file.seek((length - data) // 2)
                file.write(rng.randbytes(data))
                file.truncate(length)
    contents = sorted((root / "content").iterdir())
    for version in VERSIONS:
        chosen = ["--format", version, "-l", "16KiB", "--parents", "-q"]
        output = ["--output-dir", str(root / version)]
        command = [options.hashlane, "create", *chosen, *output, *map(str, contents)]
        subprocess.run(command, check=True)
    for content in contents:
        for path in content.iterdir():
            folder = root / "disk" / f"{rng.randrange(500):03}"
            folder.mkdir(parents=True, exist_ok=True)
            path.rename(folder / f"{rng.randrange(1 << 64):016x}")
    os.sync()


class Version:
    """The measurements of a version."""

    def __init__(self, name: str) -> None:
        """Start without measurements."""
        self.name = name
        self.find: list[float] = []
        self.cpu: list[float] = []
        self.ls: list[float] = []
        self.sum: list[float] = []
        self.from_disk = 0
        self.found = 0
        self.summary: dict[str, int] = {}

    def measure(self, root: Path, program: str, *, counts: bool) -> None:
        """Run the programs once."""
        command = [program, "find", root / self.name, "--in", root / "disk", "--json"]
        find, cpu, from_disk, output = timed(*command)
        ls = timed("find", root / "disk", "-ls")[0]
        lines = output.splitlines()
        self.summary = json.loads(lines[-1])
        self.found = sum(b'"identified":true' in line for line in lines)
        algorithm = "sha1" if self.name == "v1" else "sha256"
        taken = timed(program, "sum", "-a", algorithm, root / "hashed")[0]
        print(f"{self.name}: {find:.2f} s, {cpu:.2f} s of processors, {from_disk >> 20} MiB read")
        if counts:
            self.find.append(find)
            self.cpu.append(cpu)
            self.ls.append(ls)
            self.sum.append(taken * self.summary["hashed_bytes"] / SUM_LEN)
            self.from_disk = max(self.from_disk, from_disk)

    def row(self, v1: "Version", options: argparse.Namespace) -> list[str]:
        """Return a row of the table."""
        find, cpu, ls, total = map(statistics.median, (self.find, self.cpu, self.ls, self.sum))
        of_v1 = [one / other for one, other in zip(self.find, v1.find, strict=True)]
        return [
            self.name,
            f"{self.found} of {options.files // FILES_PER_TORRENT}",
            f"{find:.2f}",
            f"{cpu:.2f}",
            f"{ls:.2f}",
            f"{total:.2f}",
            f"{find / (3 * ls + total):.2f}",
            f"{statistics.median(of_v1):.2f}",
            f"{self.summary['hashed_pieces'] / self.summary['candidates']:.2f}",
            f"{self.from_disk >> 20}",
        ]


def measure(root: Path, options: argparse.Namespace) -> list[list[str]]:
    """Return the rows of the table."""
    write_random(root / "hashed", SUM_LEN)
    versions = [Version(name) for name in VERSIONS]
    for counts in [False] + [True] * options.rounds:
        for version in versions:
            version.measure(root, options.hashlane, counts=counts)
    (root / "hashed").unlink()
    for version in versions:
        if version.from_disk > version.summary["hashed_bytes"] // 100:
            share = f"{version.from_disk >> 20} MiB came from the disk"
            print(f"NOT CACHED: {version.name}: {share}: use a shorter --data, or free memory")
    return [version.row(versions[0], options) for version in versions]


def write_random(path: Path, length: int) -> None:
    """Write a file of random bytes."""
    with path.open("wb") as file:
        while length > 0:
            length -= file.write(os.urandom(min(length, 1 << 24)))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hashlane", required=True)
    parser.add_argument("--out", type=Path, default=Path("/dev/stdout"))
    parser.add_argument("--files", type=int, default=30_000)
    parser.add_argument("--max-len", type=int, default=60_000)
    parser.add_argument("--data", type=int, help="bytes between two holes")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--prepare", action="store_true")
    options = parser.parse_args()
    options.hashlane = str(Path(options.hashlane).resolve())
    if options.prepare:
        make(options.folder, options)
        return
    with contextlib.ExitStack() as stack:
        root = options.folder
        if root is None:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-find-"))
            root = Path(folder)
            make(root, options)
        rows = measure(root, options)
    lengths = f"{options.files:,} files of 1,000 to {options.max_len:,} bytes"
    if options.data:
        lengths += f", each with another length, and holes around {options.data:,} in the middle"
    text = (
        f"{lengths}, in folders and with names that no torrent has; a torrent for each "
        f"{FILES_PER_TORRENT} of them, with pieces of 16 KiB. `sum` hashes a file of 1 GiB, and "
        "its time is scaled to as many bytes as `find` hashed. A share is that of three times "
        "`find -ls` plus `sum`; the goals are a share of 1.00, 1.10 times the time of version 1, "
        f"and 1.2 hashed pieces a candidate. Medians of {options.rounds} rounds in which the "
        "versions take turns, after one that does not count. The last column is the most that "
        "`find` read from the disk in a round; all else came from the page cache."
    )
    times = ("`find`, s", "CPU, s", "`find -ls`, s", "`sum`, s")
    counts = ("pieces a candidate", "from disk, MiB")
    head = ("version", "found", *times, "share", "of v1", *counts)
    options.out.write_text(page("Find", "bench-find", text, table(head, rows)))


if __name__ == "__main__":
    main()
