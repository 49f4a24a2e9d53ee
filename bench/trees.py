#!/usr/bin/env python3
"""Compare tree hashes with the programs that define them.

    python3 bench/trees.py --hashlane PROGRAM --out FILE [--mib 512] [--files 20000] [--rounds 7]

A file of random bytes, and a folder of small files, lie in memory. The commands take turns. The
figures are medians of the wall time, and the ratios are medians of the ratios in each round. Each
program must print the same values. Programs that are not installed are left out, and named.
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
from dataclasses import dataclass
from pathlib import Path

from harness.tables import page, table

IPFS = Path("target/ipfs")

# The ETag of a file in parts of 8 MiB, by OpenSSL.
ETAG = r"""
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    static unsigned char digests[16 * 10000], etag[16];
    size_t part = 8 << 20, len, n = 0;
    unsigned char *bytes = malloc(part);
    FILE *file = fopen(argv[argc - 1], "rb");
    if (!bytes || !file) return 1;
    while ((len = fread(bytes, 1, part, file)) > 0)
        if (!EVP_Digest(bytes, len, digests + 16 * n++, NULL, EVP_md5(), NULL)) return 1;
    if (!EVP_Digest(digests, 16 * n, etag, NULL, EVP_md5(), NULL)) return 1;
    for (len = 0; len < 16; len++) printf("%02x", etag[len]);
    printf("-%zu\n", n);
    return 0;
}
"""


@dataclass
class Case:
    """A tree hash, the command of the other program, and goals.

    The goals are shares of the time of the other program, by the number of threads.
    """

    name: str
    other: list[str | Path]
    goals: dict[int, float]
    of_files: bool = False


def run(argv: list[str | Path], stdin: Path | None = None) -> tuple[float, list[str]]:
    """Return the seconds and the values that a command prints first in each line."""
    with (stdin or Path("/dev/null")).open() as source:
        began = time.monotonic()
        ended = subprocess.run(
            [str(part) for part in argv],
            check=True,
            stdin=source,
            stdout=subprocess.PIPE,
            text=True,
        )
        seconds = time.monotonic() - began
    return seconds, [line.split()[0] for line in ended.stdout.splitlines()]


def cases(folder: Path) -> Iterator[Case]:
    """Return the cases whose programs are installed."""
    if shutil.which("fsverity"):
        yield Case("fsverity", ["fsverity", "digest"], {1: 0.50, 2: 0.27})
    else:
        print("NOT RUN: fsverity is not installed")
    if shutil.which("veritysetup"):
        # The program prints a table.
        root = 'sed -n "s/^Root hash:[^0-9a-f]*//p"'
        script = f'veritysetup format --salt=- "$0" {folder}/device | {root}'
        yield Case("dmverity", ["sh", "-c", script], {1: 0.50, 2: 0.27})
    else:
        print("NOT RUN: veritysetup is not installed")
    if shutil.which("node") and IPFS.exists():
        yield Case("cid-v1-2025", ["node", IPFS / "cid.mjs", "v1-2025"], {1: 0.15})
    else:
        print("NOT RUN: cargo xtask counterparts installs ipfs-unixfs-importer")
    source, program = folder / "etag.c", folder / "etag"
    source.write_text(ETAG)
    compiled = subprocess.run(["cc", "-O2", "-o", program, source, "-lcrypto"], check=False)
    if compiled.returncode == 0:
        yield Case("s3-etag", [program], {1: 0.50})
    else:
        print("NOT RUN: OpenSSL's headers are not installed")
    if shutil.which("git"):
        yield Case("git", ["git", "hash-object", "--stdin-paths"], {2: 0.15}, of_files=True)
    else:
        print("NOT RUN: git is not installed")


def measure(
    commands: dict[int, list[str | Path]], stdin: Path | None, rounds: int
) -> dict[int, list[float]]:
    """Return the seconds of commands with the same values. The other program reads `stdin`."""
    times: dict[int, list[float]] = {key: [] for key in commands}
    found = []
    for _ in range(rounds):
        for key, argv in commands.items():
            seconds, values = run(argv, None if key else stdin)
            times[key].append(seconds)
            found.append(values)
    if any(values != found[0] for values in found) or not found[0]:
        message = f"the programs differ: {commands}"
        raise SystemExit(message)
    return times


def rows(
    program: Path, file: Path, files: Path, names: list[str], rounds: int
) -> Iterator[list[str]]:
    """Return the rows of the table. The other program counts as 0 threads."""
    for case in cases(files.parent):
        ours = [program, "sum", "-a", case.name]
        content = ["-r", "--base", files.parent, files.name] if case.of_files else [file]
        if case.name == "dmverity":
            content = ["--force", "--hash-device", files.parent / "ours", file]
        commands = {threads: [*ours, "-t", str(threads), *content] for threads in (1, 2)}
        stdin = None
        other = [*case.other, file]
        if case.of_files:
            stdin, other = files.parent / "names", case.other
            stdin.write_text("".join(f"{files}/{name}\n" for name in names))
        times = measure({0: other, **commands}, stdin, rounds)
        for threads in commands:
            pairs = zip(times[threads], times[0], strict=True)
            share = statistics.median(ours / theirs for ours, theirs in pairs)
            goal = case.goals.get(threads)
            seconds = [f"{statistics.median(times[key]):.3f}" for key in (threads, 0)]
            limit = f"{goal:.2f}" if goal else ""
            yield [f"`{case.name}`", str(threads), *seconds, f"{share:.2f}", limit]


def main() -> None:
    """Measure, and write the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hashlane", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--mib", type=int, default=512)
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        file, files = Path(folder) / "file", Path(folder) / "files"
        with file.open("wb") as stream:
            for _ in range(options.mib):
                stream.write(os.urandom(1 << 20))
        files.mkdir()
        names = [f"{number:06}" for number in range(options.files)]
        for number, name in enumerate(names):
            (files / name).write_bytes(os.urandom(number * 7919 % 16_384))
        head = ("name", "threads", "Hashlane, s", "other, s", "share", "goal at most")
        program = options.hashlane.resolve()
        found = list(rows(program, file, files, names, options.rounds))
    text = (
        f"A file of {options.mib} MiB in memory, or {options.files:,} files of up to 16 KiB for "
        f"`git`. {options.rounds} rounds in which programs take turns. `fsverity` is compared with "
        "`fsverity digest`, `dmverity` with `veritysetup format` (both write the hash device), "
        "`cid-v1-2025` with ipfs-unixfs-importer in Node.js, which keeps the blocks in memory, "
        "`s3-etag` with a C program that calls OpenSSL's MD5 for parts of 8 MiB, and `git` with "
        "`git hash-object --stdin-paths`."
    )
    options.out.write_text(page("Tree hashes", "bench-trees", text, table(head, found)))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
