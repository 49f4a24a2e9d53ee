"""Compare the rates of each kernel in two builds of hashlane, measured by `hashlane kernels`.

    python3 bench/kernels.py --old PROGRAM --new PROGRAM [--rounds 21]

The two builds take turns. Each ratio is the time of the new build divided by the old build's: above
1.00 the new build is slower. Prints a table. The exit status is 1 if a kernel is slower by more
than 2 % in the median, and also in the better quarter of the rounds.
"""

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path

from harness import machine
from harness.samples import quartiles
from harness.tables import table

LIMIT = 1.02


def rates(program: Path) -> dict[str, float]:
    """Return the GB/s of each kernel that the CPU can run."""
    command = [program, "kernels", "--json"]
    output = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    lines = map(json.loads, output.splitlines())
    return {line["name"]: line["gb_per_second"] for line in lines if line["type"] == "kernel"}


def main() -> int:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--old", type=Path, required=True, help="the build to compare with")
    parser.add_argument("--new", type=Path, required=True, help="the build to test")
    parser.add_argument("--rounds", type=int, default=21, help="[default: %(default)s]")
    options = parser.parse_args()
    found: dict[Path, list[dict[str, float]]] = {options.old: [], options.new: []}
    for number in range(options.rounds):
        # The build that runs first alternates.
        for program in sorted(found, reverse=bool(number % 2)):
            found[program].append(rates(program))
        print(f"kernels: round {number + 1} of {options.rounds}", file=sys.stderr, flush=True)
    old, new = found[options.old], found[options.new]
    rows, is_within = [], True
    for name in sorted(old[0].keys() & new[0].keys()):
        ratios = [a[name] / b[name] for a, b in zip(old, new, strict=True)]
        low, median, high = quartiles(ratios)
        is_within &= median <= LIMIT or low <= LIMIT
        medians = (f"{statistics.median(rate[name] for rate in build):.2f}" for build in (old, new))
        rows.append((name, *medians, f"{median:.3f}", f"{low:.3f} to {high:.3f}"))
    print(f"{machine.summary()}; {options.rounds} rounds, interleaved; GB/s are medians.\n")
    header = ("kernel", "old", "new", "time, new / old", "middle half")
    print(*table(header, rows), sep="\n")
    for name in sorted(old[0].keys() ^ new[0].keys()):
        print(f"only in {'the old' if name in old[0] else 'the new'} build: {name}")
    return 0 if is_within else 1


if __name__ == "__main__":
    sys.exit(main())
