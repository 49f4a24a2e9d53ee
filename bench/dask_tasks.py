"""Measure the scheduler of Dask with tasks that do nothing, in the window of `hashlane.dask`.

    python bench/dask_tasks.py [--tasks 1000 10000 100000]

Prints a table. Each task has an argument of the size of a task of `verify_many`: the metainfo of a
torrent of 1,000 pieces. The answers have one row.
"""

import argparse
import os
import time

from distributed import Client, LocalCluster
from hashlane.dask._window import Task, Window
from hashlane.dask._work import FileSum

from harness import machine
from harness.tables import table

METAINFO_LEN = 20_000


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", type=int, nargs="+", default=[1000, 10_000, 100_000])
    options = parser.parse_args()
    rows = []
    with (
        LocalCluster(n_workers=4, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        for n in options.tasks:
            started, used = time.perf_counter(), time.process_time()
            tasks = (Task((empty(number),)) for number in range(n))
            window = Window(client, threads=1, retries=0, timeout=3600)
            answers = sum(1 for _ in window.run({None: tasks}))
            wall, cpu = time.perf_counter() - started, time.process_time() - used
            if answers != n:
                raise SystemExit(f"{answers} answers for {n} tasks")
            rows.append([f"{n:,}", f"{wall:.1f}", f"{1e3 * wall / n:.2f}", f"{1e3 * cpu / n:.2f}"])
    print(f"{machine.summary()}\n")
    header = ("tasks", "seconds", "ms per task", "ms of CPU time of client and scheduler per task")
    print("\n".join(table(header, rows)))


def empty(number: int) -> FileSum:
    """Return the sum of a file that does not exist, whose name is as long as metainfo."""
    name = f"/{number}-{os.urandom(METAINFO_LEN // 2).hex()}"
    return FileSum(f"{number}", name, "/", None, 0, "sha256", None)


if __name__ == "__main__":
    main()
