"""Measure the hash engine, and write SHA.md, sha.json and the charts.

With --render, write SHA.md and the charts again from the sha.json of a folder. Exit status: 0, or 1
if a kernel is below its floor, or 2 if something could not be measured.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from harness import machine
from harness.engine_charts import bar_chart, line_chart
from harness.engine_goals import engine_goals, floors
from harness.engine_report import ALL, LEVELS, VARIABLE, backend_of, engine_report
from harness.engine_samples import Results
from harness.goal import print_goals
from harness.samples import quartiles

HERE = Path(__file__).parent
LEVEL_ROUNDS = 8


def main() -> int:
    """Measure or read the samples, and write the reports."""
    options = _options()
    if options.render:
        results = Results.read(options.out / "sha.json")
    else:
        try:
            results = _measure(options.program.resolve(), quick=options.quick)
        except subprocess.CalledProcessError as error:
            print(f"engine: {error}", file=sys.stderr)
            return 2
        options.out.mkdir(parents=True, exist_ok=True)
        results.write(options.out / "sha.json")
    for name, text in (
        ("SHA.md", engine_report(results)),
        ("sha.svg", bar_chart(results)),
        ("sha-lengths.svg", line_chart(results)),
    ):
        (options.out / name).write_text(text)
    found = list(floors(results))
    print_goals([*engine_goals(results), *found])
    return 1 if any(floor.met is False for floor in found) else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--program", type=Path, help="the built hashlane-bench-sha")
    what.add_argument("--render", action="store_true", help="measure nothing: read sha.json")
    parser.add_argument("--quick", action="store_true", help="measure for seconds")
    parser.add_argument("--out", type=Path, default=HERE, help="folder [default: bench]")
    return parser.parse_args()


def _measure(program: Path, *, quick: bool) -> Results:
    facts = {
        "cpu": machine.cpu_model(),
        "cpu_version": machine.cpu_version(),
        "n_cores": machine.CORES,
        "date": machine.now(),
        "commit": machine.commit(),
        "rustc": machine.first_line("rustc", "--version"),
        "load": machine.load(),
    }
    started = time.monotonic()
    found = _run([program, "engine", *(["--quick"] if quick else [])])
    for absent in found["absent"]:
        print(f"\n*** NOT COMPARED: {absent} ***\n", file=sys.stderr)
    names = ("engine", "libraries", "absent")
    facts |= {name: found.pop(name) for name in names}
    ghz = quartiles(found.pop("clock_ghz"))
    levels = _levels(program, found["sizes"], 1 if quick else LEVEL_ROUNDS)
    seconds = time.monotonic() - started
    head = {"machine": facts, "quick": quick, "seconds": seconds, "clock_ghz": ghz}
    return Results({**head, **found, "levels": levels})


def _levels(program: Path, sizes: list[dict], rounds: int) -> list[dict]:
    """Measure one message by CPU features.

    OpenSSL reads the features that it may use only when its process starts. Each level is therefore
    measured in several short processes, in turns.
    """
    print("one message, by CPU features", file=sys.stderr, flush=True)
    rows = {row["name"] for group in sizes for row in group["rows"] if row["kind"] == "kernel"}
    single = [name.split("_x1_")[1].replace("_", "-") for name in rows if "_x1_" in name]
    available = [level for level in LEVELS if backend_of(level) in single]
    backends = {
        level: list(map(backend_of, available[: number + 1]))
        for number, level in enumerate(available)
    }
    if "sse2" not in available:
        backends = {ALL: sorted(set(single))}
    found: dict[str, list[dict]] = {}
    for _ in range(rounds):
        for level, names in backends.items():
            groups = _run([program, "one-message", *names], LEVELS.get(level))
            if level not in found:
                found[level] = groups
                continue
            for merged, more in zip(found[level], groups, strict=True):
                _extend(merged, more)
    return [{"level": level, "suite": one} for level, groups in found.items() for one in groups]


def _extend(group: dict, more: dict) -> None:
    for row, other in zip(group["rows"], more["rows"], strict=True):
        row["gb_per_s"] += other["gb_per_s"]


def _run(argv: list[str | Path], features: str | None = None) -> Any:
    environment = {name: value for name, value in os.environ.items() if name != VARIABLE}
    if features:
        environment[VARIABLE] = features
    done = subprocess.run(argv, env=environment, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


if __name__ == "__main__":
    sys.exit(main())
