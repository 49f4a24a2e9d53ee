#!/usr/bin/env python3
"""Compare the verification of a Git pack with that of Git.

    python3 bench/git.py --hashlane PROGRAM --out FILE [--pack PACK] [--rounds 5]

The commands take turns on a pack in memory: the one that is given, or that of a repository which
Git makes of random texts. The figures are medians of the wall time, and the ratios are medians of
the ratios in each round.
"""

import argparse
import json
import random
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from harness.tables import page, table

# The goal is a share of the time of Git with two threads.
GOAL = 0.5


def commits(versions: int) -> Iterator[bytes]:
    """Return a stream for `git fast-import`: versions of 400 texts."""
    chance = random.Random(1)  # noqa: S311
    words = [f"{chance.getrandbits(40):x}" for _ in range(5000)]
    files = [[" ".join(chance.choices(words, k=8)) for _ in range(300)] for _ in range(400)]
    for version in range(versions):
        message = f"version {version}"
        yield b"commit refs/heads/main\ncommitter a <a@example.org> %d +0000\n" % version
        yield b"data %d\n%b\n" % (len(message), message.encode())
        for number in range(len(files)) if version == 0 else chance.sample(range(len(files)), 8):
            lines = files[number]
            for _ in range(5):
                lines[chance.randrange(len(lines))] = " ".join(chance.choices(words, k=8))
            text = "\n".join(lines).encode()
            yield b"M 100644 inline d%d/f%d\n" % (number % 20, number)
            yield b"data %d\n%b\n" % (len(text), text)


def make_pack(folder: Path, versions: int) -> Path:
    """Return the pack of a new repository."""
    subprocess.run(["git", "init", "-q", "--bare", folder], check=True)
    argv = ["git", "fast-import", "--quiet"]
    stream = b"".join(commits(versions))
    subprocess.run(argv, cwd=folder, input=stream, check=True)
    subprocess.run(["git", "repack", "-qadf", "--depth=50"], cwd=folder, check=True)
    return next((folder / "objects/pack").glob("*.pack"))


def seconds(argv: list[str | Path]) -> float:
    """Return the wall time of a command."""
    began = time.monotonic()
    subprocess.run([str(part) for part in argv], check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - began


def rows(program: Path, pack: Path, rounds: int) -> Iterator[list[str]]:
    """Return a row for one and for two threads."""
    for threads in (1, 2):
        ours = [program, "git", "verify-pack", "-t", str(threads), pack]
        theirs = ["git", "-c", f"pack.threads={threads}", "index-pack", "--verify", pack]
        pairs = [(seconds(ours), seconds(theirs)) for _ in range(rounds)]
        times = [f"{statistics.median(side):.2f}" for side in zip(*pairs, strict=True)]
        share = statistics.median(one / other for one, other in pairs)
        limit = f"{GOAL:.2f}" if threads == 2 else ""
        yield [str(threads), *times, f"{share:.2f}", limit]


def main() -> None:
    """Measure, and write the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hashlane", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--pack", type=Path)
    parser.add_argument("--versions", type=int, default=3000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        pack = options.pack or make_pack(Path(folder) / "repository", options.versions)
        size = pack.stat().st_size / 1e6
        head = ("threads", "Hashlane, s", "git index-pack --verify, s", "share", "goal at most")
        found = list(rows(options.hashlane.resolve(), pack.resolve(), options.rounds))
    text = (
        f"A pack of {size:.0f} MB in memory, {options.rounds} rounds in which programs take turns. "
        "Both programs verify every object and the checksums."
    )
    options.out.write_text(page("Git packs", "bench-git", text, table(head, found)))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
