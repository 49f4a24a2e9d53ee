#!/usr/bin/env python3
"""Measure how fast the content of torrents is found among files with other names.

    python3 bench/find.py --hashlane PROGRAM --out FILE [--files 30000] [--rounds 3]
    python3 bench/find.py ... --max-len 400000 --data 40000    each has a length of its own
    python3 bench/find.py ... --folder DIR --prepare    makes the files and torrents in DIR
    python3 bench/find.py ... --folder DIR              measures with what is in DIR

There is a torrent for each 300 files. All files get other names in other folders. `hashlane find`
is compared with `find -ls` of the tree, and `hashlane sum` of as many bytes as it hashed. Writes a
table with medians; the goal is three times `find -ls` plus `hashlane sum`, and 1.2 hashed pieces
for each candidate. The torrents of all versions are of the same files.
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


def timed(*command: str | Path) -> tuple[float, bytes]:
    """Return the seconds and the output of a command, whatever its status."""
    began = time.monotonic()
    ended = subprocess.run([str(part) for part in command], check=False, capture_output=True)
    return time.monotonic() - began, ended.stdout


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


def measure(root: Path, version: str, options: argparse.Namespace) -> list[str]:
    """Return a row of the table."""
    program = options.hashlane
    seconds: dict[str, list[float]] = {"find": [], "ls": [], "sum": []}
    hashed = root / "hashed"
    for _ in range(options.rounds):
        command = [program, "find", root / version, "--in", root / "disk", "--json"]
        taken, output = timed(*command)
        seconds["find"].append(taken)
        seconds["ls"].append(timed("find", root / "disk", "-ls")[0])
        lines = output.splitlines()
        summary = json.loads(lines[-1])
        if not hashed.exists() or hashed.stat().st_size != summary["hashed_bytes"]:
            write_random(hashed, summary["hashed_bytes"])
        algorithm = "sha1" if version == "v1" else "sha256"
        seconds["sum"].append(timed(program, "sum", "-a", algorithm, hashed)[0])
    hashed.unlink()
    found = sum(b'"identified":true' in line for line in lines)
    find, ls, total = (statistics.median(seconds[name]) for name in ("find", "ls", "sum"))
    return [
        version,
        f"{found} of {options.files // FILES_PER_TORRENT}",
        f"{find:.2f}",
        f"{ls:.2f}",
        f"{total:.2f}",
        f"{find / (3 * ls + total):.2f}",
        f"{summary['hashed_pieces'] / summary['candidates']:.2f}",
    ]


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
        rows = [measure(root, version, options) for version in VERSIONS]
    lengths = f"{options.files:,} files of 1,000 to {options.max_len:,} bytes"
    if options.data:
        lengths += f", each with another length, and holes around {options.data:,} in the middle"
    text = (
        f"{lengths}, in folders and with names that no torrent has; a torrent for each "
        f"{FILES_PER_TORRENT} of them, with pieces of 16 KiB. `sum` hashes a file of as many bytes "
        "as `find` hashed. A share is that of three times `find -ls` plus `sum`; the goals are a "
        "share of 1.00, and 1.2 hashed pieces a candidate. Medians of "
        f"{options.rounds} rounds, from the page cache as far as it reaches."
    )
    times = ("`find`, s", "`find -ls`, s", "`sum`, s")
    head = ("version", "found", *times, "share", "pieces a candidate")
    options.out.write_text(page("Find", "bench-find", text, table(head, rows)))


if __name__ == "__main__":
    main()
