"""Measure small programs with each way of hashing, and write bench/LADDER.md.

The programs (ladder/ladder.c, ladder/src/main.rs) map a file, hash each piece and compare the
digests, on one core. The C program is built three times, in debug and release builds, and linked
with libhashlane, which is built once with optimisation. `cargo xtask bench ladder` builds the
program in Rust, also three times, together with the engine. The commands take turns. The programs
print their times, and the figures are medians of CPU time, because work on other cores would
change the wall time.
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
SLOW_SECONDS = 10
# Name in the report, and the options of the compiler.
BUILDS = {
    "-O0 -g -fsanitize=address": ["-O0", "-g", "-fsanitize=address"],
    "-O0 -g": ["-O0", "-g"],
    "-O2 -march=native": ["-O2", "-march=native"],
}
SANITIZED, _, RELEASE = BUILDS
RUNGS = ("portable", "sse2", "ssse3", "avx", "avx2", "avx512vl", "sha-ni")
SHA_INSTRUCTIONS = "single, sha-ni"
# Name in the report, and the folder below the target directory.
RUST_BUILDS = {
    "dev + AddressSanitizer": "x86_64-unknown-linux-gnu/debug",
    "dev": "debug",
    "release": "release",
}
RUST_SANITIZED, RUST_DEV, RUST_RELEASE = RUST_BUILDS
# The methods of the Rust program, the file of their digests, and names in the report.
RUST_METHODS = {
    "sha1-many": ("digests", "SHA-1, many (Rust)"),
    "checked-sha1dc": ("digests", "checked SHA-1, crate sha1dc"),
    "checked-single": ("digests", "checked SHA-1, single"),
    "checked-many": ("digests", "checked SHA-1, many"),
    "md5-rustcrypto": ("digests-md5", "MD5, crate md-5"),
    "md5-single": ("digests-md5", "MD5, single"),
    "md5-many": ("digests-md5", "MD5, many"),
}
VERIFY = "hashlane verify (Rust)"


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

    @property
    def is_slow(self) -> bool:
        """Whether the first run took so long that it is the only one."""
        return bool(self.seconds) and self.seconds[0] > SLOW_SECONDS

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


def content_in(work: Path) -> tuple[Path, Path, Path]:
    """Return the content, its SHA-1 digests and its MD5 digests. They are kept for the next run."""
    files = content, digests, md5 = work / "content", work / "digests", work / "digests-md5"
    is_whole = content.exists() and content.stat().st_size == CONTENT_LEN
    if not (is_whole and digests.exists() and md5.exists()):
        with content.open("wb") as file, digests.open("wb") as sha1_list, md5.open("wb") as list_:
            for begin in range(0, CONTENT_LEN, PIECE_LEN):
                piece = os.urandom(min(PIECE_LEN, CONTENT_LEN - begin))
                file.write(piece)
                sha1_list.write(hashlib.sha1(piece, usedforsecurity=False).digest())
                list_.write(hashlib.md5(piece, usedforsecurity=False).digest())
    return files


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
    content, digests, md5 = (str(path) for path in content_in(work))
    rungs = available_rungs(hashlane)
    for build, program in compiled(work, library).items():
        yield Way("plain C", build, [str(program), "plain", content, digests])
        yield Way("OpenSSL", build, [str(program), "openssl", content, digests])
        for rung in rungs:
            argv = [str(program), "single", content, digests]
            yield Way(f"single, {rung}", build, argv, {FORCED_BACKEND: rung})
        yield Way("many", build, [str(program), "many", content, digests])
        yield Way("MD5, OpenSSL", build, [str(program), "md5", content, md5])


def rust_ways(work: Path, hashlane: Path) -> Iterator[Way]:
    """Return the ways of the Rust programs. `cargo xtask bench ladder` builds them."""
    torrent = work / "content.torrent"
    command = ["create", "--quiet", "--force", "-l", str(PIECE_LEN), "-o", str(torrent)]
    subprocess.run([str(hashlane), *command, str(work / "content")], check=True)
    target = hashlane.parent.parent
    for build, folder in RUST_BUILDS.items():
        program = built(target / "ladder-rust" / folder / "hashlane-bench-ladder")
        for method, (digests, name) in RUST_METHODS.items():
            argv = [str(program), method, str(work / "content"), str(work / digests)]
            yield Way(name, build, argv)
    for build, folder in RUST_BUILDS.items():
        # The build with AddressSanitizer has a folder of its own, because its compiler differs.
        parent = target / "ladder" if build == RUST_SANITIZED else target
        program = built(parent / folder / "hashlane")
        argv = [str(program), "verify", "--quiet", "-j", "1", "-d", str(work), str(torrent)]
        yield Way(VERIFY, build, argv)


def built(program: Path) -> Path:
    """Return a program that `cargo xtask bench ladder` builds."""
    if not program.exists():
        message = f"{program.relative_to(ROOT)} does not exist: cargo xtask bench ladder builds it"
        raise BenchmarkError(message)
    return program


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
    for what, name, limit in (
        ("Rust verifier", VERIFY, 1.5),
        ("checked SHA-1, many", "checked SHA-1, many", 1.15),
        ("MD5, many", "MD5, many", 1.15),
    ):
        dev = median[name, RUST_DEV] / median[name, RUST_RELEASE]
        yield at_most(f"{what}, dev / release", dev, limit)
    openssl = median["MD5, OpenSSL", RELEASE]
    yield at_most("MD5, many, dev / OpenSSL, release", median["MD5, many", RUST_DEV] / openssl, 0.5)


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
            if number > 0 and way.is_slow:
                continue
            print(f"ladder: round {number}: {way.name}, {way.build}", file=sys.stderr, flush=True)
            way.run()
            if number == 0 and not way.is_slow:
                way.seconds.clear()
    text = page(
        "The ladder",
        "ladder",
        "A C program (`bench/ladder/ladder.c`) maps a file of"
        f" {CONTENT_LEN:,} bytes, hashes pieces of {PIECE_LEN:,} bytes with SHA-1 and compares the"
        " digests. libhashlane is compiled once, with optimisation, so debug builds of its callers"
        ' lose nothing. "Single" hashes one piece after another on the named backend, "many" all'
        " pieces in one call. A Rust program (`bench/ladder/src/main.rs`) does the same with SHA-1"
        ' with the detection of collision attacks ("checked") and with MD5, on the best backends.'
        " Cargo compiles the engine for each of its builds, optimised also for dev, and"
        " AddressSanitizer instruments the engine too. `hashlane verify` is timed as a whole"
        f" process. Figures are medians of {arguments.rounds} rounds in turns on one core, in CPU"
        f" time; a way that takes more than {SLOW_SECONDS} seconds runs once. {bystanders.text()}",
        ("![Seconds of each way](ladder.svg)", ""),
        goal_section(list(goals(ways))),
        all_ways(ways),
    )
    (arguments.out / "LADDER.md").write_text(text, encoding="utf-8")
    (arguments.out / "ladder.svg").write_text(chart(ways), encoding="utf-8")
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
