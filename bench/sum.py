"""Compare `hashlane sum`, `md5sum`, `sha1sum` and `sha256sum` with others, and write bench/SUM.md.

Commands take turns, the figures are medians, and the data is in the page cache. Every output is
checked: Hashlane's output must equal that of coreutils, and the output of other tools must contain
the digest of the first file.
"""

import argparse
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from harness.bystanders import Bystanders
from harness.goal import Goal, at_most, goal_section
from harness.machine import CORES
from harness.process import Command, Outcome, exit_status_complaint, peak_memory
from harness.rounds import run_rounds
from harness.samples import Sample, Suite
from harness.tables import page, table
from harness.tools import Complaint, Contestant

HERE = Path(__file__).parent
KIB = 1 << 10
MIB = 1 << 20
MIB_OF_BIG = 485
MIDDLE = (1000, 512 * KIB)
SMALL = (100_000, 4 * KIB)
FILES_PER_FOLDER = 1000
FILES_PER_PROCESS = 50
MEMORY_BOUND = 64 * MIB + 4 * MIB * CORES
# Installed as Debian's packages coreutils, openssl, rhash, hashdeep and b3sum.
ALGORITHMS = ("md5", "sha1", "sha256")
TITLES = {"md5": "MD5", "sha1": "SHA-1", "sha256": "SHA-256"}
CRC = HERE / "crc64nvme.py"


@dataclass(frozen=True)
class Case:
    """Commands that do the same work on the same files."""

    title: str
    contestants: list[Contestant]

    def run(self, rounds: int) -> Suite:
        """Run all commands in turns."""
        return run_rounds(self.title, self.contestants, rounds)


def table_of(suite: Suite) -> Iterator[str]:
    """Return the section of a case."""
    yield from (f"## {suite.key}", "")
    ours = suite.series[0].median
    yield from table(
        ("command", "median", "of ours", "CPU time"),
        (
            (
                f"`{one.label}`",
                f"{one.median:.3f} s",
                f"{one.median / ours:.2f}",
                f"{one.median_cpu:.3f} s",
            )
            for one in suite.series
        ),
    )


def entry(key: str, shown: str, argv: list[str], folder: Path, complaint: Complaint) -> Contestant:
    """Return a command whose output and exit status are checked."""

    def checked(outcome: Outcome) -> str | None:
        return complaint(outcome) or exit_status_complaint(outcome)

    return Contestant(key, shown, None, Command(argv, folder, checked, {}, shown))


@dataclass(frozen=True)
class Programs:
    """The programs, and links to hashlane under the names of coreutils."""

    hashlane: Path
    links: Path

    def case(self, title: str, folder: Path, names: list[str], algorithm: str) -> Case:
        """Return a case for one algorithm, with every tool that is installed."""
        tool = f"{algorithm}sum"
        expected = subprocess.run(
            [tool, *names], cwd=folder, stdout=subprocess.PIPE, text=True, check=True
        ).stdout
        what = names[0] if len(names) == 1 else "*"

        def is_equal(outcome: Outcome) -> str | None:
            is_right = outcome.stdout == expected
            return None if is_right else "the output differs from that of coreutils"

        def is_complete(outcome: Outcome) -> str | None:
            lines = sorted(outcome.stdout.splitlines())
            return None if lines == sorted(expected.splitlines()) else "lines are missing"

        ours = [str(self.links / tool), *names]
        contestants = [
            entry("ours", f"hashlane {tool} {what}", ours, folder, is_equal),
            entry("coreutils", f"{tool} {what}", [tool, *names], folder, is_equal),
        ]
        if len(names) > 1:
            names_file = folder.with_suffix(".list")
            names_file.write_text("\n".join(names))
            options = ["-P2", "-n", str(FILES_PER_PROCESS), tool]
            shown = " ".join(["xargs", *options, "< list"])
            argv = ["xargs", "-a", str(names_file), *options]
            contestants.append(entry("xargs", shown, argv, folder, is_complete))
        if len(names) <= FILES_PER_FOLDER:
            digest = expected[: 2 * hashlib.new(algorithm).digest_size]
            contestants += (
                entry(key, " ".join([*argv, what]), [*argv, *names], folder, check)
                for key, argv, check in others(algorithm, digest)
            )
        return Case(title, contestants)

    def several(self, folder: Path, names: list[str]) -> Case:
        """Return the case of two algorithms at once."""

        def check(outcome: Outcome) -> str | None:
            return None if len(outcome.stdout.splitlines()) >= len(names) else "lines are missing"

        def sums(key: str, algorithms: str) -> Contestant:
            argv = [str(self.hashlane), "sum", "-a", algorithms, *names]
            return entry(key, f"hashlane sum -a {algorithms} *", argv, folder, check)

        contestants = [sums("both", "sha1,sha256"), sums("sha1", "sha1"), sums("sha256", "sha256")]
        return Case("SHA-1 and SHA-256 together, 1,000 files of 512 KiB", contestants)

    def crc(self, title: str, folder: Path, name: str) -> Case:
        """Return the case of CRC-64/NVME. awscrt is called from Python, without its start."""
        argv = [str(self.hashlane), "sum", "-a", "s3-crc64nvme", name]
        ours = subprocess.run(argv, cwd=folder, stdout=subprocess.PIPE, text=True, check=True)
        value = ours.stdout.split()[0]

        def has_value(outcome: Outcome) -> str | None:
            is_right = outcome.stdout.split()[:1] == [value]
            return None if is_right else "the checksum differs"

        def inner(outcome: Outcome) -> Sample:
            wall, cpu = (float(word) for word in outcome.stdout.split()[1:])
            return Sample(wall=wall, user=cpu, system=0)

        contestants = [
            entry("ours", f"hashlane sum -a s3-crc64nvme {name}", argv, folder, has_value)
        ]
        if importlib.util.find_spec("awscrt"):
            argv = [sys.executable, str(CRC), name]
            shown = f"awscrt.checksums.crc64nvme, {name}"
            awscrt = entry("awscrt", shown, argv, folder, has_value)
            contestants.append(replace(awscrt, inner_sample=inner, inner_name="mapped file"))
        else:
            print("NOT RUN: awscrt is not installed", file=sys.stderr)
        return Case(title, contestants)


def others(algorithm: str, digest: str) -> Iterator[tuple[str, list[str], Complaint]]:
    """Return the commands of the other tools that are installed."""

    def has_digest(outcome: Outcome) -> str | None:
        is_right = digest in outcome.stdout.lower()
        return None if is_right else "the digest of the first file is missing"

    def is_any(outcome: Outcome) -> str | None:
        return None if outcome.stdout else "the output is empty"

    for key, argv, check in (
        ("openssl", ["openssl", "dgst", f"-{algorithm}"], has_digest),
        ("rhash", ["rhash", f"--{algorithm}"], has_digest),
        ("hashdeep", ["hashdeep", "-c", algorithm], has_digest),
        ("b3sum", ["b3sum"], is_any),
    ):
        if shutil.which(argv[0]):
            yield key, argv, check


@dataclass(frozen=True)
class Data:
    """Random files. They are kept for the next run."""

    folder: Path
    scale: int

    def big(self) -> tuple[Path, list[str]]:
        """Return the folder of the large file, and its name."""
        path = self.folder / "big" / "big"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("wb") as file:
                for _ in range(MIB_OF_BIG // self.scale):
                    file.write(os.urandom(MIB))
        return path.parent, [path.name]

    def many(self, name: str, count: int, length: int) -> tuple[Path, list[str]]:
        """Return a folder of files, and their names."""
        folder = self.folder / name
        count //= self.scale
        names = [f"{i // FILES_PER_FOLDER:02}/{i % FILES_PER_FOLDER:03}" for i in range(count)]
        for path in (folder / name for name in names):
            if not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(os.urandom(length))
        return folder, names


def goals(suites: dict[str, Suite], peak: int) -> Iterator[Goal]:
    """Return the goals."""

    def ratio(case: str, other: str) -> float | None:
        return suites[case].ratio("ours", other)

    # One message of MD5 has no kernel of vectors or special instructions.
    for algorithm in ("sha1", "sha256"):
        what = f"one file, {algorithm}: of `openssl dgst`"
        yield at_most(what, ratio(f"big {algorithm}", "openssl"), 1.05)
    yield at_most("1,000 files, md5: of `md5sum`", ratio("middle md5", "coreutils"), 0.25)
    yield at_most("1,000 files, sha1: of `sha1sum`", ratio("middle sha1", "coreutils"), 0.2)
    yield at_most("1,000 files, sha1: of `xargs -P2 sha1sum`", ratio("middle sha1", "xargs"), 0.4)
    yield at_most("1,000 files, sha256: of `sha256sum`", ratio("middle sha256", "coreutils"), 0.12)
    yield at_most("100,000 files, sha1: of `sha1sum`", ratio("small sha1", "coreutils"), 0.5)
    # The kernel reads, and the program hashes.
    sha1, sha256, together = (suites["both"].get(key).samples for key in ("sha1", "sha256", "both"))
    read = median(sample.system for sample in [*sha1, *sha256])
    separate = sum(median(sample.user for sample in one) for one in (sha1, sha256)) + read
    measured = median(one.user for one in together) + median(one.system for one in together)
    what = "both algorithms, CPU time: of the user times of each and one system time"
    yield at_most(what, measured / separate, 1.1)
    what = f"100,000 files: MiB of memory, {CORES} threads, at most 1024 descriptors"
    yield at_most(what, peak / MIB, MEMORY_BOUND / MIB)


def peak_of(programs: Programs, folder: Path, names: list[str]) -> int:
    """Return the peak memory with many files, under the usual limit of descriptors."""
    argv = [
        "/bin/sh",
        "-c",
        'ulimit -n 1024; exec "$@"',
        "sh",
        str(programs.links / "sha1sum"),
        *names,
    ]
    return peak_memory(
        Command(argv, folder, complaint=lambda _: None, environment={}, shown="hashlane sha1sum")
    )


def report(programs: Programs, data: Data, rounds: int) -> str:
    """Measure, and return the report."""
    bystanders = Bystanders()
    cases: dict[str, Case] = {}
    for algorithm in ALGORITHMS:
        name = TITLES[algorithm]
        title = f"{name} of one file of {MIB_OF_BIG // data.scale} MiB"
        cases[f"big {algorithm}"] = programs.case(title, *data.big(), algorithm)
        title = f"{name} of {MIDDLE[0] // data.scale:,} files of 512 KiB"
        middle = data.many("middle", *MIDDLE)
        cases[f"middle {algorithm}"] = programs.case(title, *middle, algorithm)
    title = f"SHA-1 of {SMALL[0] // data.scale:,} files of 4 KiB"
    small = data.many("small", *SMALL)
    cases["small sha1"] = programs.case(title, *small, "sha1")
    title = f"CRC-64/NVME of one file of {MIB_OF_BIG // data.scale} MiB"
    folder, names = data.big()
    cases["crc64nvme"] = programs.crc(title, folder, *names)
    cases["both"] = programs.several(*data.many("middle", *MIDDLE))
    # The goal for two algorithms compares four times, so it needs more rounds.
    suites = {key: case.run(3 * rounds if key == "both" else rounds) for key, case in cases.items()}
    peak = peak_of(programs, *small)
    return page(
        "Digests of files",
        "bench-sum",
        "Figures are medians of wall times, and of CPU times of all threads, over"
        f" {rounds} rounds in turns ({3 * rounds} for two algorithms). The data is in the page"
        f" cache. {bystanders.text()}",
        goal_section(list(goals(suites, peak))),
        *map(table_of, suites.values()),
    )


def main() -> None:
    """Read the command line, measure and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hashlane", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=HERE / "SUM.md")
    parser.add_argument("--work", type=Path, default=HERE / "work" / "sum")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument(
        "--quick", action="store_true", help="use little data, to check that the benchmark works"
    )
    arguments = parser.parse_args()
    work = arguments.work / ("quick" if arguments.quick else "full")
    links = work / "bin"
    links.mkdir(parents=True, exist_ok=True)
    program = arguments.hashlane.resolve()
    for algorithm in ALGORITHMS:
        link = links / f"{algorithm}sum"
        link.unlink(missing_ok=True)
        link.symlink_to(program)
    programs = Programs(program, links.resolve())
    text = report(programs, Data(work.resolve(), 20 if arguments.quick else 1), arguments.rounds)
    arguments.out.write_text(text, encoding="utf-8")
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
