#!/usr/bin/env python3
"""Compare tree hashes with the programs that define them.

    python3 bench/trees.py --hashlane PROGRAM --out FILE [--mib 512] [--rounds 7]

A file of random bytes lies in memory. The commands take turns. The figures are medians of the wall
time, and the ratios are medians of the ratios in each round. Each program must print the same
value. Programs that are not installed are left out, and named.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from harness.tables import page, table

IPFS = Path("target/ipfs")

# The goals are shares of the time of the other program, by the number of threads.
GOALS = {"fsverity": {1: 0.50, 2: 0.27}, "cid-v1-2025": {1: 0.15}}


def run(argv: list[str | Path]) -> tuple[float, str]:
    """Return the seconds and the value that a command prints first."""
    began = time.monotonic()
    ended = subprocess.run(
        [str(part) for part in argv], check=True, stdout=subprocess.PIPE, text=True
    )
    return time.monotonic() - began, ended.stdout.split()[0]


def judges() -> Iterator[tuple[str, list[str | Path]]]:
    """Return the names of tree hashes with the commands of the other programs."""
    if shutil.which("fsverity"):
        yield "fsverity", ["fsverity", "digest"]
    else:
        print("NOT RUN: fsverity is not installed")
    if shutil.which("node") and IPFS.exists():
        yield "cid-v1-2025", ["node", IPFS / "cid.mjs", "v1-2025"]
    else:
        print("NOT RUN: make target/ipfs installs ipfs-unixfs-importer")


def measure(commands: dict[int, list[str | Path]], rounds: int) -> dict[int, list[float]]:
    """Return the seconds of commands that print the same value."""
    times: dict[int, list[float]] = {key: [] for key in commands}
    values = set()
    for _ in range(rounds):
        for key, argv in commands.items():
            seconds, value = run(argv)
            times[key].append(seconds)
            values.add(value)
    if len(values) != 1:
        message = f"the programs differ: {values}"
        raise SystemExit(message)
    return times


def rows(program: Path, file: Path, rounds: int) -> Iterator[list[str]]:
    """Return the rows of the table. The other program counts as 0 threads."""
    for name, judge in judges():
        ours = [program, "sum", "-a", name, "-t"]
        commands = {threads: [*ours, str(threads), file] for threads in (1, 2)}
        times = measure({0: [*judge, file], **commands}, rounds)
        for threads in commands:
            pairs = zip(times[threads], times[0], strict=True)
            share = statistics.median(ours / theirs for ours, theirs in pairs)
            goal = GOALS[name].get(threads)
            seconds = [f"{statistics.median(times[key]):.3f}" for key in (threads, 0)]
            limit = f"{goal:.2f}" if goal else ""
            yield [f"`{name}`", str(threads), *seconds, f"{share:.2f}", limit]


def main() -> None:
    """Measure, and write the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hashlane", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--mib", type=int, default=512)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        file = Path(folder) / "file"
        with file.open("wb") as stream:
            for _ in range(options.mib):
                stream.write(os.urandom(1 << 20))
        head = ("name", "threads", "Hashlane, s", "other, s", "share", "goal at most")
        found = list(rows(options.hashlane.resolve(), file, options.rounds))
    text = (
        f"A file of {options.mib} MiB in memory, {options.rounds} rounds in which programs take "
        "turns. `fsverity` is compared with `fsverity digest`, and `cid-v1-2025` with "
        "ipfs-unixfs-importer in Node.js, which keeps the blocks in memory."
    )
    options.out.write_text(page("Tree hashes", "bench-trees", text, table(head, found)))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
