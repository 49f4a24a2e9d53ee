"""Compare `hashlane sha1sum`, `sha256sum` and `sum` with other tools, and write bench/SUM.md.

Commands take turns, the figures are medians, and the data is in the page cache. Every output is
checked: Hashlane's output must equal that of coreutils, and the output of other tools must contain
the digest of the first file.
"""

import argparse
import hashlib
import os
import resource
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from harness.bystanders import Bystanders
from harness.goal_table import at_most, goal_table
from harness.machine import commit, cpu_model
from harness.process import BenchmarkError, Command, peak_memory

HERE = Path(__file__).parent
KIB = 1 << 10
MIB = 1 << 20
MIB_OF_BIG = 485
MIDDLE = (1000, 512 * KIB)
SMALL = (100_000, 4 * KIB)
FILES_PER_FOLDER = 1000
FILES_PER_PROCESS = 50
THREADS = os.cpu_count() or 1
MEMORY_BOUND = 64 * MIB + 4 * MIB * THREADS
# Installed as Debian's packages coreutils, openssl, rhash, hashdeep and b3sum.
ALGORITHMS = ("sha1", "sha256")


@dataclass
class Entry:
    """A command of a case, and its times."""

    key: str
    shown: str
    argv: list[str]
    complaint: Callable[[bytes], str | None]
    stdin: bytes = b""
    seconds: list[float] = field(default_factory=list)
    user_seconds: list[float] = field(default_factory=list)
    system_seconds: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        """Median of the wall seconds."""
        return statistics.median(self.seconds)

    def run(self, folder: Path) -> None:
        """Run the command, and check its output."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        started = time.perf_counter()
        done = subprocess.run(
            self.argv, cwd=folder, input=self.stdin, stdout=subprocess.PIPE, check=True
        )
        self.seconds.append(time.perf_counter() - started)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.user_seconds.append(after.ru_utime - before.ru_utime)
        self.system_seconds.append(after.ru_stime - before.ru_stime)
        complaint = self.complaint(done.stdout)
        if complaint is not None:
            raise BenchmarkError(f"{self.shown}: {complaint}")


@dataclass
class Case:
    """Commands that do the same work on the same files."""

    title: str
    folder: Path
    entries: list[Entry]

    def entry(self, key: str) -> Entry:
        """Return a command."""
        return next(entry for entry in self.entries if entry.key == key)

    def median(self, key: str) -> float:
        """Return the median wall time of a command."""
        return self.entry(key).median

    def run(self, rounds: int) -> None:
        """Run all commands in turns. The first round is not counted."""
        print(f"sum: {self.title}", file=sys.stderr, flush=True)
        for number in range(rounds + 1):
            for entry in self.entries:
                entry.run(self.folder)
                if number == 0:
                    for times in (entry.seconds, entry.user_seconds, entry.system_seconds):
                        times.clear()

    def table(self) -> Iterator[str]:
        """Return the lines of the report."""
        yield from ("", f"## {self.title}", "", "| command | median | of ours |", "|---|---|---|")
        ours = self.entries[0].median
        for entry in self.entries:
            yield f"| `{entry.shown}` | {entry.median:.3f} s | {entry.median / ours:.2f} |"


@dataclass(frozen=True)
class Programs:
    """The programs, and links to hashlane under the names of coreutils."""

    hashlane: Path
    links: Path

    def case(self, title: str, folder: Path, names: list[str], algorithm: str) -> Case:
        """Return a case for one algorithm, with every tool that is installed."""
        tool = f"{algorithm}sum"
        expected = subprocess.run(
            [tool, *names], cwd=folder, stdout=subprocess.PIPE, check=True
        ).stdout
        what = names[0] if len(names) == 1 else "*"

        def is_equal(output: bytes) -> str | None:
            return None if output == expected else "the output differs from that of coreutils"

        def is_complete(output: bytes) -> str | None:
            lines = sorted(output.splitlines())
            return None if lines == sorted(expected.splitlines()) else "lines are missing"

        entries = [
            Entry("ours", f"hashlane {tool} {what}", [str(self.links / tool), *names], is_equal),
            Entry("coreutils", f"{tool} {what}", [tool, *names], is_equal),
        ]
        if len(names) > 1:
            xargs = ["xargs", "-P2", "-n", str(FILES_PER_PROCESS), tool]
            stdin = "\n".join(names).encode()
            entries.append(Entry("xargs", " ".join([*xargs, "< list"]), xargs, is_complete, stdin))
        if len(names) <= FILES_PER_FOLDER:
            digest = expected[: 2 * hashlib.new(algorithm).digest_size]
            entries += others(algorithm, digest, what, names)
        return Case(title, folder, entries)

    def several(self, folder: Path, names: list[str]) -> Case:
        """Return the case of two algorithms at once."""

        def check(output: bytes) -> str | None:
            return None if len(output.splitlines()) >= len(names) else "lines are missing"

        def entry(key: str, algorithms: str) -> Entry:
            argv = ["sum", "-a", algorithms]
            return Entry(
                key, " ".join(["hashlane", *argv, "*"]), [str(self.hashlane), *argv, *names], check
            )

        entries = [entry("both", "sha1,sha256"), entry("sha1", "sha1"), entry("sha256", "sha256")]
        return Case("SHA-1 and SHA-256 together, 1,000 files of 512 KiB", folder, entries)


def others(algorithm: str, digest: bytes, what: str, names: list[str]) -> Iterator[Entry]:
    """Return the commands of the other tools that are installed."""

    def has_digest(output: bytes) -> str | None:
        return None if digest in output.lower() else "the digest of the first file is missing"

    def is_any(output: bytes) -> str | None:
        return None if output else "the output is empty"

    for key, argv, check in (
        ("openssl", ["openssl", "dgst", f"-{algorithm}"], has_digest),
        ("rhash", ["rhash", f"--{algorithm}"], has_digest),
        ("hashdeep", ["hashdeep", "-c", algorithm], has_digest),
        ("b3sum", ["b3sum"], is_any),
    ):
        if shutil.which(argv[0]):
            yield Entry(key, " ".join([*argv, what]), [*argv, *names], check)


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


def goals(cases: dict[str, Case], peak: int) -> Iterator[str]:
    """Return the rows of the table of goals."""

    def ratio(case: str, other: str) -> float:
        return cases[case].median("ours") / cases[case].median(other)

    for algorithm in ALGORITHMS:
        what = f"one file, {algorithm}: of `openssl dgst`"
        yield at_most(what, ratio(f"big {algorithm}", "openssl"), 1.05)
    yield at_most("1,000 files, sha1: of `sha1sum`", ratio("middle sha1", "coreutils"), 0.2)
    yield at_most("1,000 files, sha1: of `xargs -P2 sha1sum`", ratio("middle sha1", "xargs"), 0.4)
    yield at_most("1,000 files, sha256: of `sha256sum`", ratio("middle sha256", "coreutils"), 0.12)
    yield at_most("100,000 files, sha1: of `sha1sum`", ratio("small sha1", "coreutils"), 0.5)
    both = cases["both"]
    # The kernel reads, and the program hashes.
    median = statistics.median
    sha1, sha256, together = (both.entry(key) for key in ("sha1", "sha256", "both"))
    read = median(sha1.system_seconds + sha256.system_seconds)
    separate = median(sha1.user_seconds) + median(sha256.user_seconds) + read
    measured = median(together.user_seconds) + median(together.system_seconds)
    what = "both algorithms, CPU time: of the user times of each and one system time"
    yield at_most(what, measured / separate, 1.1)
    what = f"100,000 files: MiB of memory, {THREADS} threads, at most 1024 descriptors"
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
        name = {"sha1": "SHA-1", "sha256": "SHA-256"}[algorithm]
        title = f"{name} of one file of {MIB_OF_BIG // data.scale} MiB"
        cases[f"big {algorithm}"] = programs.case(title, *data.big(), algorithm)
        title = f"{name} of {MIDDLE[0] // data.scale:,} files of 512 KiB"
        middle = data.many("middle", *MIDDLE)
        cases[f"middle {algorithm}"] = programs.case(title, *middle, algorithm)
    title = f"SHA-1 of {SMALL[0] // data.scale:,} files of 4 KiB"
    small = data.many("small", *SMALL)
    cases["small sha1"] = programs.case(title, *small, "sha1")
    cases["both"] = programs.several(*data.many("middle", *MIDDLE))
    for key, case in cases.items():
        # The goal for two algorithms compares four times, so it needs more rounds.
        case.run(3 * rounds if key == "both" else rounds)
    peak = peak_of(programs, *small)
    when = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())
    lines = [
        "# Digests of files",
        "",
        f"`make bench-sum` wrote this file. Figures are medians of wall times over {rounds}"
        f" rounds in turns ({3 * rounds} for two algorithms). The data is in the page cache."
        f" {cpu_model()}, {THREADS} cores, {when}, commit {commit()}. Other processes kept"
        f" {bystanders.cores():.1f} cores busy.",
        "",
        *goal_table(*goals(cases, peak)),
    ]
    for case in cases.values():
        lines += case.table()
    return "\n".join([*lines, ""])


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
