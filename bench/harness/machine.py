"""Properties of the machine that a reader needs; nothing that identifies its owner."""

import datetime
import os
import platform
import subprocess
from pathlib import Path

from harness.bench import CLASSIC_PIECE, Bench
from harness.payloads import GIB, KIB
from harness.tools import CORES, first_line
from harness.torrents import Version, creator_of

REPOSITORY = Path(__file__).parents[2]
GENERATED = ("RESULTS.md", "results.json", "SWARM.md", "SUM.md")


def describe(bench: Bench) -> dict[str, str]:
    """Describe what was measured, when and where."""
    hashlane = bench.hashlane
    return {
        "date": f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d %H:%M} UTC",
        "commit": commit(),
        "CPU": cpu_model(),
        "cores": str(CORES),
        "memory": _memory(),
        "load average before": f"{os.getloadavg()[0]:.2f}",
        "kernel": f"{platform.system()} {platform.release()}",
        "file system": _file_system(bench.work),
        "hashlane": f"{first_line(hashlane.program, '--version')}, {', '.join(hashlane.kernels)}",
        "python": platform.python_version(),
        **dict(bench.toolbox.versions()),
        "torrents of version 2 by": _maker(bench),
    }


def _maker(bench: Bench) -> str:
    """Name the program that wrote the torrents; it may have run earlier."""
    payload = bench.classic()
    paths = (
        payload.torrent_path(CLASSIC_PIECE, version) for version in (Version.V2, Version.HYBRID)
    )
    return ", ".join(sorted({creator_of(path) for path in paths}))


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
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "model name":
            return value.strip()
    return platform.machine()


def _memory() -> str:
    """Return total and available memory. If little is available, the cache is not warm."""
    lines = Path("/proc/meminfo").read_text().splitlines()
    kib = {name: int(value.split()[0]) for name, value in (line.split(":") for line in lines)}
    total, available = (kib[name] * KIB / GIB for name in ("MemTotal", "MemAvailable"))
    return f"{total:.1f} GiB, {available:.1f} GiB of it available"


def _file_system(folder: Path) -> str:
    """Return the type of the file system of a folder, from the longest matching mount point."""
    found = {}
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        before, _, after = line.partition(" - ")
        found[Path(before.split()[4])] = after.split()[0]
    mounts = [mount for mount in found if folder.resolve().is_relative_to(mount)]
    return found[max(mounts, key=lambda mount: len(mount.parts))]
