#!/usr/bin/env python3
"""Compare the search for duplicates with other programs.

    python3 bench/duplicates.py --hashlane PROGRAM --out FILE [--rounds 5] [--scale 1.0]

Two trees of random bytes are made in the folder for temporary files: many small files, and few
large ones. Each has duplicates, and files of equal length that differ in one byte. The programs
take turns, with the files in the page cache. The figures are medians of the wall time, and the
ratio is the median of the ratios to the fastest other program in each round. All programs must
find the same groups. Programs that are not installed are left out, and named: Debian has jdupes and
rmlint, and `cargo install fclones` installs fclones.
"""

import argparse
import json
import random
import shutil
import statistics
import subprocess
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path

from harness.tables import page, table

GOAL = 0.8

Groups = frozenset[frozenset[str]]


def groups(found: Iterable[Iterable[str]]) -> Groups:
    """Return groups in a form that can be compared."""
    return frozenset(frozenset(group) for group in found)


def of_hashlane(text: str) -> Groups:
    """Return the groups of `hashlane find --duplicates --json`."""
    lines = [json.loads(line) for line in text.splitlines()]
    found = [line["files"] for line in lines if line["type"] == "duplicates"]
    return groups([file["names"][0]["path"] for file in files] for files in found)


def of_fclones(text: str) -> Groups:
    """Return the groups of `fclones group -f json`."""
    return groups(group["files"] for group in json.loads(text)["groups"])


def of_jdupes(text: str) -> Groups:
    """Return the groups of `jdupes`."""
    return groups(block.splitlines() for block in text.strip().split("\n\n"))


def of_rmlint(text: str) -> Groups:
    """Return the groups of `rmlint -o json`."""
    found = defaultdict(list)
    for file in json.loads(text):
        if file.get("type") == "duplicate_file":
            found[file["size"], file["checksum"]].append(file["path"])
    return groups(found.values())


def contestants(hashlane: str) -> dict[str, tuple[list[str], Callable[[str], Groups]]]:
    """Return the installed commands, without the folder, and the readers of their results."""
    commands = {
        "hashlane": ([hashlane, "find", "--json", "--duplicates"], of_hashlane),
        "fclones": (["fclones", "group", "-f", "json"], of_fclones),
        "jdupes": (["jdupes", "-r", "-q"], of_jdupes),
        "rmlint": (["rmlint", "-T", "df", "-o", "json"], of_rmlint),
    }
    for name, (command, _) in list(commands.items()):
        if shutil.which(command[0]) is None:
            print(f"{name} is not compared: it is not installed")
            del commands[name]
    return commands


def make(root: Path, lengths: list[int], rng: random.Random) -> None:
    """Make a file of each length: half have a duplicate, some a file that nearly equals them."""
    number = 0

    def write(content: bytes) -> None:
        nonlocal number
        folder = root / f"{rng.randrange(200):03}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{number:06}").write_bytes(content)
        number += 1

    for length in lengths:
        content = rng.randbytes(length)
        write(content)
        kind = rng.random()
        if kind < 0.5:
            write(content)
        elif kind < 0.7:
            middle = length // 2
            write(content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :])


def measure(root: Path, hashlane: str, rounds: int) -> list[list[str]]:
    """Return the rows of a tree."""
    commands = contestants(hashlane)
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    for counted in [False] + [True] * rounds:
        results = {}
        for name, (command, read) in commands.items():
            began = time.monotonic()
            ended = subprocess.run(
                [*command, str(root)], check=True, capture_output=True, text=True
            )
            if counted:
                seconds[name].append(time.monotonic() - began)
            results[name] = read(ended.stdout)
        if len(set(results.values())) != 1:
            counts = {name: len(found) for name, found in results.items()}
            message = f"the programs find different groups: {counts}"
            raise SystemExit(message)
    n_groups = len(results["hashlane"])
    others = [name for name in commands if name != "hashlane"]
    best = [min(round_) for round_ in zip(*(seconds[name] for name in others), strict=True)]
    rows = []
    for name, taken in seconds.items():
        shares = [one / other for one, other in zip(taken, best, strict=True)]
        share = f"{statistics.median(shares):.2f}"
        goal = f"{GOAL:.2f}" if name == "hashlane" else ""
        rows.append(
            [root.name, name, str(n_groups), f"{statistics.median(taken):.3f}", share, goal]
        )
    return rows


def main() -> None:
    """Measure, and write the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hashlane", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--scale", type=float, default=1.0)
    options = parser.parse_args()
    rng = random.Random(7)  # noqa: S311
    trees = {
        "small": [rng.randrange(200, 60_000) for _ in range(int(20_000 * options.scale))],
        "large": [rng.randrange(8 << 20, 40 << 20) for _ in range(int(40 * options.scale))],
    }
    rows = []
    with tempfile.TemporaryDirectory(prefix="bench-duplicates-") as folder:
        for name, lengths in trees.items():
            root = Path(folder) / name
            make(root, lengths, rng)
            rows += measure(root, str(options.hashlane.resolve()), options.rounds)
            shutil.rmtree(root)
    text = (
        f"{len(trees['small']):,} files up to 60 kB, and {len(trees['large'])} of 8 to 40 MiB; "
        "half of them have a duplicate, and a fifth has a file that differs in one byte. All files "
        f"are in the page cache. {options.rounds} rounds in which programs take turns, after one "
        "that does not count. All programs find the same groups. A share is that of the time of "
        "the fastest other program."
    )
    head = ("tree", "program", "groups", "time, s", "share", "goal at most")
    options.out.write_text(page("Duplicates", "bench-duplicates", text, table(head, rows)))
    print(options.out.read_text())


if __name__ == "__main__":
    main()
