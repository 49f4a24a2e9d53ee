"""Compare two builds of hashlane, case by case, and print the ratio of their times and memory.

Usage: against.py --old PROGRAM --new PROGRAM [--rounds N] [--case TEXT]... [--out FILE]

The two builds take turns, so that disturbances affect both. Each ratio is the median over the
rounds of the new build's time divided by the old build's: above 1.00 the new build is slower. The
data is in bench/work, as for compare.py.
"""

import argparse
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from harness import machine, payloads, process
from harness.bench import CLASSIC_PIECE, SMALL_PIECE
from harness.payloads import KIB, MIB, Payload, size_text
from harness.process import Command, exit_status_complaint
from harness.tables import table
from harness.torrents import Maker, Version
from swarm import Swarm

HERE = Path(__file__).resolve().parent
TIME_LIMIT = 1.02
MEMORY_LIMIT = 1.05
MEMORY_RUNS = 3
GIB = 1 << 30


@dataclass
class Case:
    """One command that both builds run."""

    name: str
    seconds: Callable[[Path], float]
    peak_bytes: Callable[[Path], int] | None = None
    walls: dict[str, list[float]] = field(default_factory=lambda: {"old": [], "new": []})
    peaks: dict[str, list[int]] = field(default_factory=lambda: {"old": [], "new": []})


def main() -> int:
    """Run the comparison, print the table, and return 1 if a limit is exceeded."""
    options = _options()
    builds = {"old": options.old.resolve(), "new": options.new.resolve()}
    work = HERE / "work"
    work.mkdir(exist_ok=True)
    cases = [case for case in _cases(builds["old"], work) if _is_chosen(case, options.case)]
    _measure_times(cases, builds, options.rounds)
    _measure_peaks(cases, builds)
    lines, is_within = _table(cases, options.rounds)
    text = "\n".join(lines) + "\n"
    sys.stdout.write(text)
    if options.out:
        options.out.write_text(text, encoding="utf-8")
    return 0 if is_within else 1


def _measure_times(cases: list[Case], builds: dict[str, Path], rounds: int) -> None:
    """Run the builds in turns. The first round is not counted."""
    for number in range(rounds + 1):
        for case in cases:
            # The build that runs first alternates.
            for key in sorted(builds, reverse=bool(number % 2)):
                wall = case.seconds(builds[key])
                if number:
                    case.walls[key].append(wall)
        print(f"against: round {number} of {rounds}", file=sys.stderr, flush=True)


def _measure_peaks(cases: list[Case], builds: dict[str, Path]) -> None:
    for case in cases:
        for key in sorted(builds) * MEMORY_RUNS if case.peak_bytes else ():
            case.peaks[key].append(case.peak_bytes(builds[key]))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--old", type=Path, required=True, help="the build to compare with")
    parser.add_argument("--new", type=Path, required=True, help="the build to test")
    parser.add_argument("--rounds", type=int, default=11, help="[default: %(default)s]")
    parser.add_argument("--case", action="append", help="only cases whose names contain this text")
    parser.add_argument("--out", type=Path, help="write the table to this file too")
    return parser.parse_args()


def _is_chosen(case: Case, texts: list[str] | None) -> bool:
    return texts is None or any(text in case.name for text in texts)


def _cases(maker_program: Path, work: Path) -> Iterator[Case]:
    maker = Maker(maker_program, libtorrent=False)
    classic = payloads.classic(work, payloads.FULL)
    many = payloads.many_files(work, payloads.FULL)
    payloads.with_torrents(classic, CLASSIC_PIECE, maker)
    payloads.with_torrents(many, SMALL_PIECE, maker)
    for threads in (1, 2):
        for version in Version:
            yield _verify(f"485 MiB, {version}", classic, CLASSIC_PIECE, version, threads)
        for piece in (16 * KIB, 1 * MIB, 16 * MIB):
            label = f"485 MiB, v1, pieces of {size_text(piece)}"
            yield _verify(label, classic, piece, Version.V1, threads)
        for version in Version:
            label = f"10,000 files of 50 KiB, {version}"
            yield _verify(label, many, SMALL_PIECE, version, threads)
        for version in Version:
            yield _create(classic, work, version, threads)
    hole = payloads.sparse(work, payloads.FULL)
    yield _verify("hole of 100 GiB, v1", hole, CLASSIC_PIECE, Version.V1, 2)
    yield from _swarm_cases(maker_program, work / "against")


def _verify(label: str, payload: Payload, piece: int, version: Version, threads: int) -> Case:
    if version is Version.V1:
        payload.torrent(piece)
    torrent = payload.torrent_path(piece, version)
    arguments = ["verify", "--quiet", "--threads", str(threads), "-d", payload.folder, torrent]
    return _case(f"verify {label}, {_threads(threads)}", payload, arguments)


def _create(payload: Payload, work: Path, version: Version, threads: int) -> Case:
    output = work / "against.torrent"
    arguments = ["create", "--quiet", "--force", "--format", str(version), "-o", output]
    arguments += ["--threads", str(threads), "-l", str(CLASSIC_PIECE), payload.path]
    return _case(f"create 485 MiB, {version}, {_threads(threads)}", payload, arguments)


def _threads(count: int) -> str:
    return "1 thread" if count == 1 else f"{count} threads"


def _case(name: str, payload: Payload, arguments: list[str | Path]) -> Case:
    payloads.read_through(payload)

    def command(program: Path) -> Command:
        argv = [str(program), *map(str, arguments)]
        return Command(argv, payload.folder, exit_status_complaint, {}, name)

    def seconds(program: Path) -> float:
        return process.run_checked(command(program)).sample.wall

    return Case(name, seconds, lambda program: process.peak_memory(command(program)))


def _swarm_cases(program: Path, work: Path) -> Iterator[Case]:
    """Serving and downloading on loopback, for builds with `hashlane-net`."""
    if (
        "libtorrent-rasterbar"
        in subprocess.run([program, "get", "x"], capture_output=True, text=True, check=False).stderr
    ):
        print("against: get and seed are not compared: the old build has none", file=sys.stderr)
        return
    swarm = Swarm.in_empty_folder(program, work)
    served = swarm.torrent("served.bin", 485 * MIB)
    downloaded = swarm.torrent("downloaded.bin", GIB)

    def start(build: Path) -> float:
        with Swarm(build, work).seed(served) as (seconds, _, _):
            return seconds

    def download(build: Path) -> float:
        folder = work / "download"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        build_swarm = Swarm(build, work)
        # One build serves all downloads, so that only the downloading build differs.
        with swarm.seed(downloaded) as (_, address, _):
            seconds = process.spent(build_swarm.get(downloaded, address, folder), folder).wall
        subprocess.run(["cmp", work / "downloaded.bin", folder / "downloaded.bin"], check=True)
        return seconds

    yield Case("seed 485 MiB: process started, verified and served", start)
    yield Case("get 1 GiB on loopback, whole process", download)


def _table(cases: list[Case], rounds: int) -> tuple[list[str], bool]:
    rows, is_within = [], True
    for case in cases:
        old, new = (statistics.median(case.walls[key]) for key in ("old", "new"))
        rounds_of_both = zip(case.walls["new"], case.walls["old"], strict=True)
        ratio = statistics.median(new_wall / old_wall for new_wall, old_wall in rounds_of_both)
        memory = ""
        is_within &= ratio <= TIME_LIMIT
        if case.peaks["old"]:
            peak_ratio = max(case.peaks["new"]) / max(case.peaks["old"])
            is_within &= peak_ratio <= MEMORY_LIMIT
            memory = f"{peak_ratio:.2f}"
        rows.append((case.name, f"{old:.3f} s", f"{new:.3f} s", f"{ratio:.3f}", memory))
    header = ("case", "old", "new", "new / old", "peak memory, new / old")
    lines = [
        f"{machine.summary()}; {rounds} rounds, interleaved; medians.",
        f"Limits: time {TIME_LIMIT}, memory {MEMORY_LIMIT}.",
        "",
        *table(header, rows),
    ]
    return lines, is_within


if __name__ == "__main__":
    sys.exit(main())
