#!/usr/bin/env python3
"""Compare checks of stores and packages with the programs that own them.

    python3 bench/known.py --hashlane PROGRAM --out FILE [--rounds N] [--files N] [--bytes N]

A cache of Hugging Face with files of random bytes is made in the folder for temporary files. Its
check takes turns with sha256sum, with the function that `hf cache verify` hashes with (if `cargo
xtask counterparts` was run), and with itself on one thread. `debsums -a` takes turns with the
check of all installed packages. All files are in the page cache, if they fit. Both must report the
same files. Programs that are not installed are left out, and named.
"""

import argparse
import hashlib
import os
import re
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from harness.tables import page, table

HF_PYTHON = Path(__file__).parents[1] / "target/huggingface/bin/python"
HF_HASH = """
import sys
from huggingface_hub.utils.sha import sha_fileobj
for name in sys.argv[1:]:
    with open(name, 'rb') as stream:
        assert sha_fileobj(stream).hex() == name.rpartition('/')[2]
"""


def timed(command: list[str], statuses: tuple[int, ...] = (0,)) -> tuple[float, str, str]:
    """Return the seconds that a command takes, and what it prints."""
    began = time.monotonic()
    ended = subprocess.run(command, check=False, capture_output=True, text=True)
    seconds = time.monotonic() - began
    if ended.returncode not in statuses:
        message = f"{command[0]}: status {ended.returncode}: {ended.stderr[-1000:]}"
        raise SystemExit(message)
    return seconds, ended.stdout, ended.stderr


def make_cache(folder: Path, n_files: int, n_bytes: int) -> list[str]:
    """Make a cache, and return the paths of its blobs."""
    blobs = folder / "models--some--model/blobs"
    blobs.mkdir(parents=True)
    (blobs.parent / "snapshots").mkdir()
    paths = []
    for _ in range(n_files):
        digest = hashlib.sha256()
        unnamed = blobs / "unnamed"
        with unnamed.open("wb") as stream:
            for start in range(0, n_bytes, 1 << 24):
                part = os.urandom(min(1 << 24, n_bytes - start))
                digest.update(part)
                stream.write(part)
        path = blobs / digest.hexdigest()
        unnamed.rename(path)
        paths.append(str(path))
    return paths


def measure_store(hashlane: str, options: argparse.Namespace) -> list[list[str]]:
    """Return the rows of the store."""
    with tempfile.TemporaryDirectory(prefix="bench-known-") as folder:
        paths = make_cache(Path(folder), options.files, options.bytes)
        check = [hashlane, "sum", "--check", "--store", folder, "--threads"]
        commands = {
            "hashlane, 2 threads": [*check, "2"],
            "hashlane, 1 thread": [*check, "1"],
            "sha256sum": ["sha256sum", *paths],
        }
        if HF_PYTHON.exists():
            commands["hash of huggingface_hub"] = [str(HF_PYTHON), "-c", HF_HASH, *paths]
        else:
            print("NOT RUN: cargo xtask counterparts was not run")
        seconds: dict[str, list[float]] = {name: [] for name in commands}
        for counted in [False] + [True] * options.rounds:
            for name, command in commands.items():
                taken = timed(command)[0]
                if counted:
                    seconds[name].append(taken)
    return rows("store", seconds, "sha256sum", 0.3)


def reported(text: str) -> set[str]:
    """Return the paths that are reported by `hashlane sum --check` or debsums."""
    ours = re.findall(r"^(?:changed|missing) +(/.*)$", text, re.MULTILINE)
    failed = re.findall(r"^(/.*?) +FAILED$", text, re.MULTILINE)
    missing = re.findall(r"^debsums: missing file (/.*) \(from .* package\)$", text, re.MULTILINE)
    return {*ours, *failed, *missing}


def measure_packages(hashlane: str, n_rounds: int) -> list[list[str]]:
    """Return the rows of the packages."""
    if shutil.which("debsums") is None:
        print("NOT RUN: debsums is not installed")
        return []
    commands = {
        "hashlane": [hashlane, "sum", "--check", "--debsums"],
        "debsums -a": ["debsums", "-a"],
    }
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(n_rounds):
        found = {}
        for name, command in commands.items():
            taken, out, err = timed(command, (0, 1, 2))
            seconds[name].append(taken)
            found[name] = reported(out + err)
        if found["hashlane"] != found["debsums -a"]:
            different = sorted(found["hashlane"] ^ found["debsums -a"])[:10]
            message = f"reported by one program alone: {different}"
            raise SystemExit(message)
    return rows("packages", seconds, "debsums -a", 0.25)


def rows(what: str, seconds: dict[str, list[float]], other: str, goal: float) -> list[list[str]]:
    """Return the rows of programs that took turns. The first one has the goal."""
    found = []
    for i, (name, taken) in enumerate(seconds.items()):
        shares = [one / base for one, base in zip(taken, seconds[other], strict=True)]
        median, share = statistics.median(taken), statistics.median(shares)
        found.append([what, name, f"{median:.2f}", f"{share:.2f}", "" if i else f"{goal:.2f}"])
    return found


def main() -> None:
    """Measure, and write the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hashlane", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--files", type=int, default=6)
    parser.add_argument("--bytes", type=int, default=10**9)
    options = parser.parse_args()
    hashlane = str(options.hashlane.resolve())
    found = measure_store(hashlane, options) + measure_packages(hashlane, options.rounds)
    text = (
        f"Store: a cache of Hugging Face with {options.files} files of {options.bytes:,} bytes, "
        "after one round that does not count. Packages: all packages of the system, and both "
        f"programs report the same files. {options.rounds} rounds in which programs take turns, "
        "with the files in the page cache if they fit. A share is that of the time of sha256sum, "
        "and of debsums."
    )
    head = ("what", "program", "time, s", "share", "goal at most")
    options.out.write_text(page("Stores and packages", "bench-known", text, table(head, found)))
    print(options.out.read_text())


if __name__ == "__main__":
    main()
