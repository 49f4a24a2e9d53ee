"""Measure a small C program with each way of hashing, and write bench/LADDER.md.

The program (ladder/ladder.c) maps a file, hashes each piece and compares the digests, on one core.
It is built three times, in debug and release builds, and linked with libhashlane, which is built
once with optimisation. The commands take turns. The program prints its times, and the figures are
medians of CPU time, because work on other cores would change the wall time.
"""

import argparse
import hashlib
import os
import re
import statistics
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import log
from pathlib import Path

from harness.bystanders import Bystanders
from harness.goal import Goal, at_least, at_most, goal_section
from harness.process import (
    FORCED_BACKEND,
    BenchmarkError,
    Command,
    exit_status_complaint,
    run_checked,
)
from harness.svg import Drawing
from harness.tables import page, table

HERE = Path(__file__).parent
ROOT = HERE.parent
CONTENT_LEN = 508_559_360
PIECE_LEN = 262_144
GB = 1e9
# Name in the report, and the options of the compiler.
BUILDS = {
    "-O0 -g -fsanitize=address": ["-O0", "-g", "-fsanitize=address"],
    "-O0 -g": ["-O0", "-g"],
    "-O2 -march=native": ["-O2", "-march=native"],
}
SANITIZED, _, RELEASE = BUILDS
RUNGS = ("portable", "sse2", "ssse3", "avx", "avx2", "avx512vl", "sha-ni")
SHA_INSTRUCTIONS = "single, sha-ni"
RUST_BUILDS = ("dev + AddressSanitizer", "dev", "release")
RUST_SANITIZED = RUST_BUILDS[0]


@dataclass
class Way:
    """A way of hashing in one build."""

    name: str
    build: str
    argv: list[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        """The median of the seconds."""
        return statistics.median(self.seconds)

    def run(self) -> None:
        """Run the program on one core, and check that all pieces are right."""
        argv = ["taskset", "-c", "0", *self.argv]
        shown = f"{self.name}, {self.build}"
        outcome = run_checked(Command(argv, HERE, exit_status_complaint, self.environment, shown))
        # The Rust verifier prints a report instead of its seconds.
        printed = re.fullmatch(r"([0-9.]+)\n", outcome.stdout)
        sample = outcome.sample
        self.seconds.append(float(printed[1]) if printed else sample.user + sample.system)


def compiled(work: Path, library: Path) -> dict[str, Path]:
    """Compile the program in each build, and return the programs."""
    folder = work / "lib"
    folder.mkdir(exist_ok=True)
    for name in ("libhashlane.so", "libhashlane.so.0"):
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(library / "libhashlane.so")
    programs = {}
    for number, (build, options) in enumerate(BUILDS.items()):
        program = work / f"ladder-{number}"
        source = str(HERE / "ladder" / "ladder.c")
        include = f"-I{ROOT / 'crates' / 'capi' / 'include'}"
        link = [f"-L{folder}", f"-Wl,-rpath,{folder}", "-lhashlane", "-lcrypto"]
        # OpenSSL's one-shot function is not deprecated, but related functions are.
        command = ["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", *options]
        subprocess.run([*command, include, source, "-o", str(program), *link], check=True)
        programs[build] = program
    return programs


def content_in(work: Path) -> tuple[Path, Path]:
    """Return the content and its digests. They are kept for the next run."""
    content, digests = work / "content", work / "digests"
    if not (content.exists() and digests.exists() and content.stat().st_size == CONTENT_LEN):
        with content.open("wb") as file, digests.open("wb") as list_file:
            for begin in range(0, CONTENT_LEN, PIECE_LEN):
                piece = os.urandom(min(PIECE_LEN, CONTENT_LEN - begin))
                file.write(piece)
                list_file.write(hashlib.sha1(piece, usedforsecurity=False).digest())
    return content, digests


def available_rungs(hashlane: Path) -> list[str]:
    """Return the backends that this CPU has."""
    rungs = []
    for rung in RUNGS:
        environment = {**os.environ, FORCED_BACKEND: rung}
        command = [str(hashlane), "sha1sum"]
        done = subprocess.run(command, env=environment, input=b"", capture_output=True, check=False)
        if done.returncode == 0:
            rungs.append(rung)
    return rungs


def c_ways(work: Path, library: Path, hashlane: Path) -> Iterator[Way]:
    """Return the ways of the C program."""
    content, digests = (str(path) for path in content_in(work))
    rungs = available_rungs(hashlane)
    for build, program in compiled(work, library).items():
        yield Way("plain C", build, [str(program), "plain", content, digests])
        yield Way("OpenSSL", build, [str(program), "openssl", content, digests])
        for rung in rungs:
            argv = [str(program), "single", content, digests]
            yield Way(f"single, {rung}", build, argv, {FORCED_BACKEND: rung})
        yield Way("many", build, [str(program), "many", content, digests])


def rust_ways(work: Path, hashlane: Path) -> Iterator[Way]:
    """Return the ways of the Rust verifier. The Makefile builds it."""
    content = work / "content"
    torrent = work / "content.torrent"
    command = ["create", "--quiet", "--force", "-l", str(PIECE_LEN), "-o", str(torrent)]
    subprocess.run([str(hashlane), *command, str(content)], check=True)
    target = hashlane.parent.parent
    programs = {
        "dev + AddressSanitizer": target / "ladder" / "x86_64-unknown-linux-gnu" / "debug",
        "dev": target / "debug",
        "release": target / "release",
    }
    for build in RUST_BUILDS:
        program = programs[build] / "hashlane"
        # The build with AddressSanitizer needs a nightly compiler and many minutes.
        if not program.exists() and build == RUST_SANITIZED:
            continue
        if not program.exists():
            raise BenchmarkError(f"{program.relative_to(ROOT)} does not exist")
        argv = [str(program), "verify", "--quiet", "-j", "1", "-d", str(work), str(torrent)]
        yield Way("hashlane verify (Rust)", build, argv)


def goals(ways: list[Way]) -> Iterator[Goal]:
    """Return the goals."""
    median = {(way.name, way.build): way.median for way in ways}
    many = {build: median["many", build] for build in BUILDS}
    yield at_most("many, debug + ASan / release", many[SANITIZED] / many[RELEASE], 1.15)
    plain = median["plain C", SANITIZED]
    yield at_least("debug + ASan: plain C / many", plain / many[SANITIZED], 60)
    openssl = median["OpenSSL", RELEASE]
    yield at_most("many, debug + ASan / OpenSSL, release", many[SANITIZED] / openssl, 0.35)
    if (SHA_INSTRUCTIONS, RELEASE) in median:
        single = median[SHA_INSTRUCTIONS, SANITIZED] / median[SHA_INSTRUCTIONS, RELEASE]
        yield at_most("SHA instructions, debug + ASan / release", single, 1.1)
    name = "hashlane verify (Rust)"
    yield at_most(
        "Rust verifier, dev / release", median[name, "dev"] / median[name, "release"], 1.5
    )


def all_ways(ways: list[Way]) -> Iterator[str]:
    """Return the table of all ways."""
    plain = {way.build: way.median for way in ways if way.name == "plain C"}
    rows = []
    for way in ways:
        factor = f"{plain[way.build] / way.median:.1f}" if way.build in plain else ""
        rate = f"{CONTENT_LEN / way.median / GB:.2f}"
        rows.append((f"`{way.build}`", way.name, f"{way.median:.3f}", rate, factor))
    yield from ("## All ways", "")
    yield from table(("build", "way", "seconds", "GB/s", "times faster than plain C"), rows)


def chart(ways: list[Way]) -> str:
    """Return a chart of the seconds, on a logarithmic scale."""
    left, width, row, top = 330, 520, 18, 30
    shortest = min(way.median for way in ways) / 1.5
    longest = max(way.median for way in ways)
    colours = dict(zip([*BUILDS, *RUST_BUILDS], ["#b5482f", "#d08c3f", "#2f6fb5"] * 2, strict=True))
    drawing = Drawing(left + width + 80, top + row * len(ways) + 20)
    title = f"Seconds for {CONTENT_LEN:,} bytes on one core, logarithmic scale"
    drawing.text((10, 14), title, size=14)
    for number, way in enumerate(ways):
        y = top + row * (number + 0.5)
        bar = width * log(way.median / shortest) / log(longest / shortest)
        drawing.text((left - 8, y), f"{way.name}, {way.build}", size=12, anchor="end")
        drawing.bar((left, y - row / 2 + 3), bar, row - 6, colours[way.build])
        drawing.text((left + bar + 5, y), f"{way.median:.3f}", size=12)
    return str(drawing)


def main() -> None:
    """Read the command line, measure and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hashlane", type=Path, required=True)
    parser.add_argument("--library", type=Path, required=True, help="folder of libhashlane.so")
    parser.add_argument("--out", type=Path, default=HERE)
    parser.add_argument("--work", type=Path, default=HERE / "work" / "ladder")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    hashlane = arguments.hashlane.resolve()
    bystanders = Bystanders()
    work = arguments.work.resolve()
    ways = [*c_ways(work, arguments.library.resolve(), hashlane), *rust_ways(work, hashlane)]
    for number in range(arguments.rounds + 1):
        for way in ways:
            print(f"ladder: round {number}: {way.name}, {way.build}", file=sys.stderr, flush=True)
            way.run()
            if number == 0:
                way.seconds.clear()
    is_built = any(way.build == RUST_SANITIZED for way in ways)
    absent = "" if is_built else f" There was no program of the build {RUST_SANITIZED}."
    text = page(
        "The ladder",
        "ladder",
        "A C program (`bench/ladder/ladder.c`) maps a file of"
        f" {CONTENT_LEN:,} bytes, hashes pieces of {PIECE_LEN:,} bytes with SHA-1 and compares the"
        " digests. libhashlane is compiled once, with optimisation, so debug builds of its callers"
        ' lose nothing. "Single" hashes one piece after another on the named backend, "many" all'
        " pieces in one call. `hashlane verify` is timed as a whole process. Figures are medians of"
        f" {arguments.rounds} rounds in turns on one core, in CPU time. {bystanders.text()}"
        f"{absent}",
        ("![Seconds of each way](ladder.svg)", ""),
        goal_section(list(goals(ways))),
        all_ways(ways),
    )
    (arguments.out / "LADDER.md").write_text(text, encoding="utf-8")
    (arguments.out / "ladder.svg").write_text(chart(ways), encoding="utf-8")
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
