"""Compare hashlane with other tools, and write RESULTS.md and results.json.

README.md beside this file explains what is measured and how to read the results.
"""

import argparse
import platform
import sys
from pathlib import Path

from harness import machine, payloads, process, suites, tools
from harness.bench import CLASSIC_PIECE, Bench
from harness.goal import print_goals
from harness.goals import all_goals
from harness.report import Report
from harness.torrents import Version, creator_of

HERE = Path(__file__).resolve().parent
DEFAULT_ROUNDS = 11


def main() -> int:
    """Run the benchmark, and return the exit status."""
    options = _options()
    if options.render:
        Report.read(options.out / "results.json").write(options.out)
        return 0
    try:
        report = _measure(options)
    except process.BenchmarkError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    report.write(options.out)
    if not options.quick:
        print_goals(report.goals)
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--hashlane", type=Path, help="the release build")
    what.add_argument("--render", action="store_true", help="measure nothing: read results.json")
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
    _check(parser, options)
    options.out = options.out or HERE
    return options


def _check(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    if options.render:
        return
    if not options.hashlane.is_file():
        parser.error(f"{options.hashlane}: no such program")
    if options.debug_build is not None and not options.debug_build.is_file():
        parser.error(f"{options.debug_build}: no such program")
    if options.rounds < 1:
        parser.error("--rounds: at least 1")
    if options.quick and options.out is None:
        parser.error("--quick needs --out, so that the recorded results stay")


def _measure(options: argparse.Namespace) -> Report:
    bench = _bench(options)
    bench.work.mkdir(exist_ok=True)
    facts = _facts(bench)
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


def _facts(bench: Bench) -> dict[str, str]:
    """Describe what was measured, when and where."""
    hashlane = bench.hashlane
    version = machine.first_line(hashlane.program, "--version")
    return {
        "date": machine.now(),
        "commit": machine.commit(),
        "CPU": machine.cpu_model(),
        "cores": str(machine.CORES),
        "memory": machine.memory(),
        "load average before": machine.load(),
        "kernel": f"{platform.system()} {platform.release()}",
        "file system": machine.file_system(bench.work),
        "hashlane": f"{version}, {', '.join(hashlane.kernels)}",
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
