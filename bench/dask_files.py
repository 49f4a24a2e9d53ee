"""Measure `hashlane.dask` where tasks are many and short: small files, wrong pieces, metainfo.

    python bench/dask_files.py [--files 20000] [--rounds 5]

Prints a table of wall time and CPU time: that of the client, of the scheduler in its process, and
of the workers. Other work on the machine distorts CPU time less. Small files are compared with
what a user of Dask writes in five lines: `client.map` over batches of paths, with hashlib. Both
read the same files, and take turns. The other rows compare two sizes of the same work: twice the
wrong pieces, and 32 times the metainfo.
"""

import argparse
import hashlib
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import dask.config
import hashlane
import psutil
from distributed import Client, LocalCluster
from hashlane.dask import sum_many, verify_many

from harness import machine
from harness.process import BenchmarkError
from harness.samples import quartiles
from harness.tables import table

PIECE = 16_384
FILE_BYTES = 4096
BATCH = 500
WRONG_PIECES = 4096
TASKS = 200
WARM_UP = 1


def digests(paths: list[str]) -> list[str]:
    """Return the digests of files, as a user would write it."""
    return [hashlib.sha256(Path(path).read_bytes()).hexdigest() for path in paths]


def cpu_of(processes: list[psutil.Process]) -> float:
    """Return the CPU time of processes."""
    return sum(sum(process.cpu_times()[:2]) for process in processes)


def timed(call: Callable[[], object], processes: list[psutil.Process]) -> tuple[float, float]:
    """Return the seconds of a call, and its CPU time in all processes."""
    started, used = time.perf_counter(), cpu_of(processes)
    call()
    return time.perf_counter() - started, cpu_of(processes) - used


def small_files(client: Client, folder: Path, n_files: int) -> tuple[Callable[[], object], ...]:
    """Return both ways to hash small files."""
    names = []
    for number in range(n_files):
        path = folder / f"{number % 256:02x}" / f"{number}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(number.to_bytes(8, "big") * (FILE_BYTES // 8))
        names.append(str(path))

    def ours() -> None:
        with tempfile.TemporaryDirectory() as report:
            if sum_many(names, client=client, manifest=report).proven != n_files:
                raise BenchmarkError("sum_many")

    def theirs() -> None:
        batches = [names[first : first + BATCH] for first in range(0, n_files, BATCH)]
        found = client.gather(client.map(digests, batches, pure=False))
        if sum(map(len, found)) != n_files:
            raise BenchmarkError("client.map")

    return ours, theirs


def wrong_pieces(client: Client, folder: Path, n_pieces: int) -> Callable[[], object]:
    """Return the verification of a file whose pieces are all wrong."""
    path = folder / f"wrong-{n_pieces}"
    path.write_bytes(os.urandom(n_pieces * PIECE))
    torrent = hashlane.create(path, version="v1", piece_length=PIECE)
    path.write_bytes(os.urandom(n_pieces * PIECE))

    def verify() -> None:
        with tempfile.TemporaryDirectory() as report:
            summary = verify_many([torrent], folder, client=client, manifest=report)
        if summary.counts != {"bad": n_pieces}:
            raise BenchmarkError("wrong pieces")

    return verify


def metainfo(client: Client, folder: Path, n_pieces: int) -> Callable[[], object]:
    """Return the verification of a hole in as many tasks, whatever the number of pieces is."""
    path = folder / f"hole-{n_pieces}"
    with path.open("wb") as file:
        file.truncate(n_pieces * PIECE)
    torrent = hashlane.create(path, version="v1", piece_length=PIECE)
    task_bytes = n_pieces // TASKS * PIECE

    def verify() -> None:
        with tempfile.TemporaryDirectory() as report:
            options = {"client": client, "manifest": report, "task_bytes": task_bytes}
            if not verify_many([torrent], folder, **options).is_ok:
                raise BenchmarkError("metainfo")

    return verify


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    memory = Path("/dev/shm")  # noqa: S108 - a file system in memory
    with (
        tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as name,
        # As `python -m hashlane.dask` starts a cluster.
        dask.config.set({"distributed.worker.profile.enabled": False}),
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        folder = Path(name)
        rows = {
            f"{options.files:,} files of 4 KiB, and `client.map` of hashlib in batches of {BATCH}":
                small_files(client, folder / "small", options.files),
            f"{2 * WRONG_PIECES:,} wrong pieces, and {WRONG_PIECES:,}": (
                wrong_pieces(client, folder, 2 * WRONG_PIECES),
                wrong_pieces(client, folder, WRONG_PIECES),
            ),
            f"{TASKS} tasks of a torrent with 768 kB of metainfo, and with 24 kB": (
                metainfo(client, folder, 38_400),
                metainfo(client, folder, 1_200),
            ),
        }  # fmt: skip
        processes = [psutil.Process(), *map(psutil.Process, client.run(os.getpid).values())]
        times: dict[str, list[tuple[float, ...]]] = {what: [] for what in rows}
        for number in range(options.rounds + WARM_UP):
            for what, (first, second) in rows.items():
                both = *timed(first, processes), *timed(second, processes)
                if number >= WARM_UP:
                    times[what].append(both)
    print(f"{machine.summary()}\n")
    cells = []
    for what, rounds in times.items():
        medians = [quartiles(list(one)).median for one in zip(*rounds, strict=True)]
        wall = quartiles([one[0] / one[2] for one in rounds])
        cpu = quartiles([one[1] / one[3] for one in rounds])
        figures = [f"{medians[index]:.3f}" for index in (0, 2, 1, 3)]
        cells.append([what, *figures[:2], f"{wall.median:.2f}", *figures[2:], f"{cpu.median:.2f}"])
    header = ("what", "first, s", "second, s", "ratio", "first, CPU s", "second, CPU s", "ratio")
    print("\n".join(table(header, cells)))


if __name__ == "__main__":
    main()
