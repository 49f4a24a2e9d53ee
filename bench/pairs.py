"""Compare two libraries that hash the same messages one by one, and write the report.

A program measures them in turns and prints a line of JSON for each function and length: the
nanoseconds per message of both libraries in each round.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.goal import Goal, at_most, goal_section
from harness.samples import Quartiles, quartiles
from harness.tables import page, table

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Comparison:
    """A report. Libraries are compared by speed, or by the time of a call."""

    report: str
    title: str
    first: str
    second: str
    what: str
    by_time: bool = False
    goal: float | None = None


COMPARISONS = {
    "capi": Comparison(
        "CAPI.md", "The cost of the C border", "Rust", "C", "algorithm", by_time=True, goal=1.15
    ),
    "libmd": Comparison("LIBMD.md", "libmd.so.0 and libmd", "libmd", "hashlane", "function"),
    "pkcs11": Comparison(
        "PKCS11.md", "libhashlane_pkcs11.so and SoftHSM2", "SoftHSM2", "hashlane", "mechanism"
    ),
}
# The goal is for messages of this length.
GOAL_LEN = 64
ANCHORS = {"capi": "the-c-library"}


@dataclass(frozen=True)
class Pair:
    """Nanoseconds per message of two libraries, in the same rounds."""

    name: str
    len: int
    first: list[float]
    second: list[float]

    def ratio(self, *, by_time: bool) -> Quartiles:
        """Return the quartiles of the times, or of the speeds, of the second to the first."""
        rounds = zip(self.first, self.second, strict=True)
        return quartiles([b / a if by_time else a / b for a, b in rounds])


def rows(comparison: Comparison, pairs: list[Pair]) -> Iterator[list[str]]:
    """Return the rows of the table."""
    for pair in pairs:
        times = (quartiles(values).median for values in (pair.first, pair.second))
        if comparison.by_time:
            figures = [f"{time:.1f}" for time in times]
        else:
            figures = [f"{1e3 * pair.len / time:.0f}" for time in times]
        ratio = pair.ratio(by_time=comparison.by_time)
        yield [pair.name, str(pair.len), *figures, f"{ratio.median:.2f}", ratio.spread]


def goals(comparison: Comparison, pairs: list[Pair]) -> Iterator[Goal]:
    """Return the goals for the time of a call."""
    for pair in pairs if comparison.goal else ():
        if pair.len == GOAL_LEN:
            ratio = pair.ratio(by_time=True)
            what = f"{comparison.second} / {comparison.first}"
            text = f"{pair.name}, messages of {pair.len} bytes, {what}"
            yield at_most(text, ratio.median, comparison.goal, detail=ratio.spread)


def report(key: str, pairs: list[Pair]) -> str:
    """Return the report."""
    comparison = COMPARISONS[key]
    unit, last = ("ns", "ratio") if comparison.by_time else ("MB/s", "factor")
    header = [comparison.what, "bytes per message"]
    header += [f"{name}, {unit}" for name in (comparison.first, comparison.second)]
    found = list(goals(comparison, pairs))
    return page(
        comparison.title,
        f"bench-{key}",
        f"[README.md](README.md#{ANCHORS.get(key, key)}) has the method.",
        table([*header, last, "middle half"], rows(comparison, pairs)),
        goal_section(found, detail="middle half") if found else (),
    )


def main() -> None:
    """Measure, and write the report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("comparison", choices=COMPARISONS)
    parser.add_argument("command", nargs="+", help="the program that measures, and its arguments")
    parser.add_argument("--out", type=Path, default=HERE)
    options = parser.parse_args()
    comparison = COMPARISONS[options.comparison]
    done = subprocess.run(options.command, stdout=subprocess.PIPE, check=True)
    pairs = [Pair(**json.loads(line)) for line in done.stdout.splitlines()]
    text = report(options.comparison, pairs)
    (options.out / comparison.report).write_text(text)
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
