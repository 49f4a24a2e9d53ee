"""Compare `hashlane.dask` on this machine with the program: an archive in the page cache.

    python bench/dask_verify.py --hashlane PROGRAM [--gigabytes 10] [--rounds 5]

4 workers with one thread each against the program with 2 threads. Both take turns. Prints a table.
The start of the workers does not count, and the CPU time is that of client, scheduler and workers.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import dask.config
import hashlane
import psutil
from distributed import Client, LocalCluster
from hashlane.dask import verify_many

from harness import machine
from harness.process import BenchmarkError
from harness.samples import quartiles
from harness.tables import table

FILE_BYTES = 250_000_000
PIECE_LENGTH = 1 << 20
TASK_BYTES = 1 << 29
WARM_UP = 1


def cpu_of(processes: list[psutil.Process]) -> float:
    """Return the CPU time of processes, and of the children that they have waited for."""
    return sum(sum(process.cpu_times()[:4]) for process in processes)


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hashlane", type=Path, required=True)
    parser.add_argument("--gigabytes", type=float, default=10)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--io", default="pread", help="how the program reads; the package reads by pread"
    )
    parser.add_argument("--folder", type=Path, help="where the archive is made")
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(dir=options.folder) as folder,
        # As `python -m hashlane.dask` starts a cluster.
        dask.config.set({"distributed.worker.profile.enabled": False}),
        LocalCluster(n_workers=4, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        content = Path(folder) / "content"
        content.mkdir()
        block = hashlane.blake3(b"content").digest() * (FILE_BYTES // 32)
        for number in range(round(options.gigabytes * 1e9 / FILE_BYTES)):
            (content / f"{number:04}").write_bytes(number.to_bytes(8, "big") + block[8:])
        torrent = hashlane.create(content, version="v1", piece_length=PIECE_LENGTH)
        metainfo = Path(folder) / "content.torrent"
        metainfo.write_bytes(bytes(torrent))
        program = options.hashlane.resolve()
        argv = [program, "verify", "--quiet", "--threads", "2", "--io", options.io]
        argv += [metainfo, "-d", folder]
        workers = client.run(os.getpid).values()
        ours = [psutil.Process(), *map(psutil.Process, workers)]
        chosen = {"client": client, "task_bytes": TASK_BYTES}

        def by_dask(number: int) -> None:
            manifest = Path(folder) / f"report-{number}"
            if not verify_many([torrent], folder, manifest=manifest, **chosen).is_ok:
                raise BenchmarkError("verify_many")

        times: list[tuple[float, ...]] = []
        for number in range(options.rounds + WARM_UP):
            started, used = time.perf_counter(), cpu_of(ours)
            by_dask(number)
            of_dask = time.perf_counter() - started, cpu_of(ours) - used
            started, used = time.perf_counter(), cpu_of(ours[:1])
            subprocess.run(argv, check=True, stdout=subprocess.DEVNULL)
            times.append((*of_dask, time.perf_counter() - started, cpu_of(ours[:1]) - used))
    times = times[WARM_UP:]
    medians = [quartiles(list(one)).median for one in zip(*times, strict=True)]
    wall = quartiles([one[0] / one[2] for one in times])
    cpu = quartiles([one[1] / one[3] for one in times])
    print(f"{machine.summary()}, {options.gigabytes:g} GB\n")
    rows = [
        ["wall time", f"{medians[0]:.2f}", f"{medians[2]:.2f}", f"{wall.median:.2f}", wall.spread],
        ["CPU time", f"{medians[1]:.2f}", f"{medians[3]:.2f}", f"{cpu.median:.2f}", cpu.spread],
    ]
    print("\n".join(table(("", "Dask, s", "program, s", "ratio", "middle half"), rows)))


if __name__ == "__main__":
    sys.exit(main())
