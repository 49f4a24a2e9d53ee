"""Properties of the machine that a reader needs; nothing that identifies its owner."""

import datetime
import os
import platform
import re
import subprocess
from pathlib import Path

from harness.payloads import GIB, KIB

REPOSITORY = Path(__file__).parents[2]
GENERATED = ("*.md", "*.json", "*.svg")
CORES = len(os.sched_getaffinity(0))


def summary() -> str:
    """Return the facts of a short report."""
    cores = "1 core" if CORES == 1 else f"{CORES} cores"
    return f"{cpu_model()}, {cores}, {now()}, load {load()}, commit {commit()}"


def now() -> str:
    """Return the date and time."""
    return f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d %H:%M} UTC"


def load() -> str:
    """Return the load average."""
    return f"{os.getloadavg()[0]:.2f}"


def first_line(program: str | Path, *arguments: str) -> str:
    """Return the first line that a program prints, without names of users and paths."""
    result = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    lines = (result.stdout or result.stderr).splitlines()
    return re.sub(r"\s*(<http[^>]*>|\(c\) .*)", "", lines[0]).strip() if lines else "unknown"


def commit() -> str:
    """Return the commit, and whether the measured program may differ from it."""
    found = _git("rev-parse", "--short", "HEAD")
    if found is None:
        return "unknown"
    # Uncommitted results do not affect the measured program.
    exceptions = [f":(exclude)bench/{name}" for name in GENERATED]
    changes = _git("status", "--porcelain", "--", ".", *exceptions)
    return f"{found}, and changes that are not committed" if changes else found


def _git(*arguments: str) -> str | None:
    try:
        result = subprocess.run(
            ["git", "--no-optional-locks", *arguments],
            cwd=REPOSITORY,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return result.stdout.strip()


def cpu_model() -> str:
    """Return the name of the CPU."""
    return _cpu_field("model name") or platform.machine()


def cpu_version() -> str:
    """Return family, model and stepping of the CPU."""
    fields = ("cpu family", "model", "stepping")
    return ", ".join(_cpu_field(name) or "unknown" for name in fields)


def _cpu_field(wanted: str) -> str | None:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        name, _, value = line.partition(":")
        if name.strip() == wanted:
            return value.strip()
    return None


def memory() -> str:
    """Return total and available memory. If little is available, the cache is not warm."""
    lines = Path("/proc/meminfo").read_text().splitlines()
    kib = {name: int(value.split()[0]) for name, value in (line.split(":") for line in lines)}
    total, available = (kib[name] * KIB / GIB for name in ("MemTotal", "MemAvailable"))
    return f"{total:.1f} GiB, {available:.1f} GiB of it available"


def file_system(folder: Path) -> str:
    """Return the type of the file system of a folder, from the longest matching mount point."""
    found = {}
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        before, _, after = line.partition(" - ")
        found[Path(before.split()[4])] = after.split()[0]
    mounts = [mount for mount in found if folder.resolve().is_relative_to(mount)]
    return found[max(mounts, key=lambda mount: len(mount.parts))]
