"""Compare the time to start, hash a file of one byte and end with that of GNU's sha256sum.

    python3 bench/start.py --hashlane PROGRAM [--old PROGRAM] [--rounds 400]

The commands take turns. The figures are medians, and the ratios are medians of the ratios in each
round. Prints a table.
"""

import argparse
import shutil
import statistics
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from harness import machine
from harness.process import spent
from harness.tables import table


def measure(programs: dict[str, Path], gnu: str, folder: str, rounds: int) -> dict[str, list]:
    """Return the seconds of each command."""
    (Path(folder) / "file").write_bytes(b"x")
    commands = {"sha256sum (GNU)": [gnu, "file"]}
    for name, program in programs.items():
        create = [program, "create", "-q", "-f", "-l", "16KiB", "file"]
        subprocess.run(create, cwd=folder, check=True)
        for args in (
            ["sha256sum", "file"],
            ["sum", "file"],
            ["verify", "file.torrent"],
            ["show", "file.torrent"],
        ):
            commands[f"{name} {' '.join(args)}"] = [str(program), *args]
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, argv in commands.items():
            times[name].append(spent(argv, Path(folder)).wall)
    return times


def rows(times: dict[str, list[float]]) -> Iterator[tuple[str, str, str]]:
    """Return the rows of the table."""
    first = next(iter(times.values()))
    for name, found in times.items():
        ratio = statistics.median(a / b for a, b in zip(found, first, strict=True))
        yield name, f"{1e3 * statistics.median(found):.2f} ms", f"{ratio:.2f}"


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hashlane", type=Path, required=True)
    parser.add_argument("--old", type=Path, help="a build to compare with")
    parser.add_argument("--rounds", type=int, default=400)
    options = parser.parse_args()
    gnu = shutil.which("sha256sum")
    if gnu is None:
        parser.error("sha256sum is not installed")
    programs = {"hashlane": options.hashlane.resolve()}
    if options.old:
        programs["old hashlane"] = options.old.resolve()
    with tempfile.TemporaryDirectory() as folder:
        times = measure(programs, gnu, folder, options.rounds)
    print(f"{machine.summary()}; {options.rounds} rounds\n")
    print("\n".join(table(("command", "median", "ratio to GNU's sha256sum"), rows(times))))


if __name__ == "__main__":
    main()
