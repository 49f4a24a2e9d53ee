#!/usr/bin/env python3
"""Compare reads past the page cache with fio, on the disk of the folder for temporary files.

    python3 bench/disk.py --hashlane PROGRAM [--old PROGRAM] [--mib 1024] [--rounds 5] [--out FILE]

A file of random bytes is verified against a torrent of it. Before each run, the pages of the file
are dropped from the page cache, and nothing else is. The programs take turns, and the order
changes from round to round. fio reads the same file with eight reads of 4 MiB at the same time.
A ratio is the median of the ratios to fio in each round.
"""

import argparse
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from harness import machine
from harness.tables import page, table

GOAL = 1.05
PIECE = "4MiB"


def make(path: Path, mib: int) -> None:
    """Write a file of random bytes to the disk."""
    with path.open("wb") as file:
        for _ in range(mib):
            file.write(os.urandom(1 << 20))
        file.flush()
        os.fsync(file.fileno())


def drop(path: Path) -> None:
    """Drop the pages of a file from the page cache."""
    descriptor = os.open(path, os.O_RDONLY)
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(descriptor)


def timed(command: list[str], folder: Path) -> tuple[float, float]:
    """Run a command, and return its wall time and CPU time in seconds."""
    began = time.monotonic()
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.monotonic() - began
    if status != 0:
        raise SystemExit(f"disk.py: {command[0]} failed with status {status}")
    return wall, usage.ru_utime + usage.ru_stime


Runs = dict[str, list[tuple[float, float]]]


def rows_of(runs: Runs, mib: int) -> list[list[str]]:
    """Return the rows of the table. The first program is the one that others are compared with."""
    first, measured, *_ = runs
    rows = []
    for name, times in runs.items():
        wall, cpu = (statistics.median(values) for values in zip(*times, strict=True))
        pairs = zip(times, runs[first], strict=True)
        ratio = statistics.median(mine[0] / other[0] for mine, other in pairs)
        rate = mib * (1 << 20) / wall / 1e6
        goal = f"{GOAL:.2f}" if name == measured else ""
        rows.append([name, f"{wall:.2f}", f"{cpu:.2f}", f"{rate:.0f}", f"{ratio:.2f}", goal])
    return rows


def main() -> None:
    """Print the report, and write it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hashlane", required=True)
    parser.add_argument("--old", help="an older program, whose cold runs are compared")
    parser.add_argument("--mib", type=int, default=1024, help="length of the file in MiB")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    program = str(Path(options.hashlane).resolve())
    fio = "fio --name=read --rw=read --direct=1 --bs=4M --iodepth=8 --ioengine=io_uring --readonly"
    with tempfile.TemporaryDirectory(prefix="bench-disk-", dir=os.environ.get("TMPDIR")) as name:
        folder = Path(name)
        content = folder / "content"
        make(content, options.mib)
        create = [program, "create", "content", "--piece-length", PIECE, "-q"]
        subprocess.run(create, cwd=folder, check=True)

        def verify(which: str, *arguments: str) -> list[str]:
            return [which, "verify", "content.torrent", "-q", *arguments]

        programs = {
            "fio, 8 reads of 4 MiB": [*fio.split(), "--filename=content", "--minimal"],
            "`--io direct`": verify(program, "--io", "direct"),
            "`--io auto`": verify(program),
            "`--io pread`": verify(program, "--io", "pread"),
        }
        if options.old:
            old = str(Path(options.old).resolve())
            programs["`--io auto` of the older program"] = verify(old)
        runs: Runs = {name: [] for name in programs}
        for turn in range(options.rounds):
            for name, command in list(programs.items())[:: -1 if turn % 2 else 1]:
                drop(content)
                runs[name].append(timed(command, folder))
        kind = machine.file_system(folder)
        rotational = is_rotational(folder)
    rows = rows_of(runs, options.mib)
    about = (
        f"{options.mib} MiB of random bytes in one file, as a torrent with pieces of {PIECE}, on "
        f"{kind} on a disk that reports that it {'rotates' if rotational else 'does not rotate'}. "
        f"The pages of the file are dropped before each run. {options.rounds} rounds in which the "
        "programs take turns; medians. A ratio is that to fio in the same round."
    )
    head = ("program", "seconds", "CPU seconds", "MB/s", "ratio", "goal at most")
    text = page("Reads past the page cache", "bench-disk", about, table(head, rows))
    print(text)
    if options.out:
        options.out.write_text(text)


def is_rotational(folder: Path) -> bool:
    """Return whether the disk of a folder reports that it rotates."""
    device = folder.stat().st_dev
    block = Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}").resolve()
    for place in (block, block.parent):
        flag = place / "queue/rotational"
        if flag.exists():
            return flag.read_text().strip() == "1"
    return False


if __name__ == "__main__":
    main()
