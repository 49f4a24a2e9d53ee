"""Compare hashlane with other tools, and write RESULTS.md and results.json.

README.md beside this file explains what is measured and how to read the results.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from harness import machine, payloads, process, suites, tools
from harness.bench import Bench
from harness.goals import Goal, all_goals
from harness.report import Report

HERE = Path(__file__).resolve().parent
DEFAULT_ROUNDS = 11


def main() -> int:
    """Run the benchmark, and return the exit status."""
    options = _options()
    try:
        report = _measure(options)
    except process.BenchmarkError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    report.write(options.out)
    if not options.quick:
        _print_goals(report.goals)
    return 0


def _print_goals(goals: Sequence[Goal]) -> None:
    for goal in goals:
        verdict = {True: "met", False: "NOT MET", None: "not measured"}[goal.met]
        print(f"{verdict:12} {goal.text}: {goal.measured}, {goal.limit}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hashlane", type=Path, required=True, help="the release build")
    parser.add_argument(
        "--debug-build",
        type=Path,
        help="debug build to include [default: ../debug/hashlane beside the release build]",
    )
    parser.add_argument(
        "--rounds", type=int, default=DEFAULT_ROUNDS, help="rounds per table [default: %(default)s]"
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="use little data and 1 round, to check that everything works",
    )
    parser.add_argument("--out", type=Path, help="folder for the results [default: bench]")
    options = parser.parse_args()
    if not options.hashlane.is_file():
        parser.error(f"{options.hashlane}: no such program")
    if options.debug_build is not None and not options.debug_build.is_file():
        parser.error(f"{options.debug_build}: no such program")
    if options.rounds < 1:
        parser.error("--rounds: at least 1")
    if options.quick and options.out is None:
        parser.error("--quick needs --out, so that the recorded results stay")
    options.out = options.out or HERE
    return options


def _measure(options: argparse.Namespace) -> Report:
    bench = _bench(options)
    bench.work.mkdir(exist_ok=True)
    facts = machine.describe(bench)
    measured = suites.all_suites(bench)
    memory = suites.memory_rows(bench)
    return Report(
        command=_shown_command(options),
        scale=bench.scale,
        quick=options.quick,
        machine=facts,
        goals=all_goals(measured, memory),
        suites=measured,
        memory=memory,
        memory_floor=suites.memory_floor(bench),
    )


def _bench(options: argparse.Namespace) -> Bench:
    program = options.hashlane.resolve()
    debug_program = options.debug_build or program.parents[1] / "debug" / program.name
    debug_build = None
    if debug_program.is_file():
        debug_build = tools.Hashlane(debug_program.resolve())
    return Bench(
        hashlane=tools.Hashlane.at(program),
        debug_build=debug_build,
        toolbox=tools.Toolbox.of_this_machine(),
        work=HERE / "work",
        scale=payloads.QUICK if options.quick else payloads.FULL,
        rounds=1 if options.quick else options.rounds,
    )


def _shown_command(options: argparse.Namespace) -> str:
    quick = " --quick --out DIR" if options.quick else ""
    rounds = "" if options.rounds == DEFAULT_ROUNDS else f" --rounds {options.rounds}"
    return f"python3 bench/compare.py --hashlane target/release/hashlane{rounds}{quick}"


if __name__ == "__main__":
    sys.exit(main())
