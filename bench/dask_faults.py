"""Verify an archive on a cluster with a killed, a stopped and a blind worker, and show the report.

    python bench/dask_faults.py

Five workers have host names of their own. While the command runs, the second one is killed and the
third one is stopped. The fourth one sees an empty folder in place of the archive, in which one byte
is wrong and one file is missing. Prints the output of the command, in which the folder of the
archive is `/archive`, and the first row of the report with each fault. Needs root, for the names
and the empty folder.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import dask.config
import hashlane
from distributed import Client, LocalCluster

from harness import machine
from harness.process import BenchmarkError

PIECE = 64 << 10
FILE_BYTES = 16 << 20
WORKERS = 5
KILLED, STOPPED, BLIND = 2, 3, 4
PAUSE = 0.1
OPTIONS = ["--task-bytes", str(1 << 20), "--timeout", "5"]


def archive(folder: Path) -> list[Path]:
    """Make three torrents and their content, with a wrong byte and a missing file."""
    root = folder / "archive"
    torrents = []
    for version in ("v1", "v2", "hybrid"):
        content = root / f"backup-{version}"
        content.mkdir(parents=True)
        for name in ("a.img", "b.img"):
            (content / name).write_bytes(os.urandom(FILE_BYTES))
        torrents.append(folder / f"{content.name}.torrent")
        hashlane.create(content, version=version, piece_length=PIECE).write(torrents[-1])
    with (root / "backup-v1" / "a.img").open("r+b") as file:
        file.seek(100 * PIECE)
        byte = file.read(1)
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte[0] ^ 1]))
    (root / "backup-hybrid" / "b.img").unlink()
    return torrents


@contextlib.contextmanager
def workers(scheduler: str, folder: Path) -> Iterator[dict[int, subprocess.Popen[bytes]]]:
    """Start the workers, each with a host name and an address of its own."""
    found = {}
    try:
        for number in range(1, WORKERS + 1):
            blind = f"mount -t tmpfs none '{folder}/archive' && " if number == BLIND else ""
            worker = f"'{sys.executable}' -m distributed.cli.dask_worker {scheduler}"
            options = f"--host 127.0.0.{number} --nthreads 1 --no-nanny --no-dashboard"
            script = f"hostname host-{number} && {blind}exec {worker} {options}"
            argv = ["unshare", "--mount", "--uts", "sh", "-c", script]
            quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            found[number] = subprocess.Popen(argv, cwd=folder, **quiet)
        yield found
    finally:
        for process in found.values():
            process.kill()
            process.wait()


def slow_down(seconds: float) -> None:
    """Make each task take longer, as on a slow disk."""
    from hashlane.dask import _work

    fast = _work._FUNCTIONS[_work.PieceRun]

    def slow(items: tuple[_work.PieceRun, ...], threads: int) -> list[object]:
        time.sleep(seconds)
        return fast(items, threads)

    _work._FUNCTIONS[_work.PieceRun] = slow


def lines_of(report: Path) -> list[str]:
    """Return the rows of a report."""
    parts = report.glob("part-*.jsonl")
    return [line for part in parts for line in part.read_text().splitlines()]


def main() -> None:
    """Run the command, and print what it shows."""
    with (
        tempfile.TemporaryDirectory() as name,
        dask.config.set({"distributed.worker.profile.enabled": False}),
        LocalCluster(n_workers=0, dashboard_address=None, silence_logs=50) as cluster,
        Client(cluster) as client,
        workers(client.scheduler.address, Path(name)) as processes,
    ):
        folder = Path(name)
        torrents = archive(folder)
        client.wait_for_workers(WORKERS, timeout=60)
        client.run(slow_down, PAUSE)
        argv = ["verify", *map(str, torrents), "--root", f"{folder}/archive", *OPTIONS]
        argv += ["--scheduler", client.scheduler.address, "--manifest", f"{folder}/report"]
        with subprocess.Popen(
            [sys.executable, "-m", "hashlane.dask", *argv],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as command:
            while command.poll() is None and not lines_of(folder / "report"):
                time.sleep(PAUSE)
            processes[KILLED].send_signal(signal.SIGKILL)
            processes[STOPPED].send_signal(signal.SIGSTOP)
            output, _ = command.communicate(timeout=300)
        lines = lines_of(folder / "report")
        first = {json.loads(line)["verdict"]: line for line in reversed(lines)}
        rows = [line for verdict, line in first.items() if verdict != "have"]
    if command.returncode != 1:
        raise BenchmarkError(f"exit status {command.returncode}:\n{output}")
    shown = "\n".join([output.rstrip("\n"), *rows]).replace(f"{name}/archive", "/archive")
    sys.stdout.write(f"{machine.summary()}\n\n{shown}\n")


if __name__ == "__main__":
    main()
