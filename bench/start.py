"""Compare the time to start, hash a file of one byte and end with that of GNU's sha256sum.

    python3 bench/start.py --hashlane PROGRAM [--old PROGRAM] [--rounds 400]

The commands take turns. The figures are medians, and the ratios are medians of the ratios in each
round. Prints a table.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from harness.machine import cpu_model


def seconds(argv: list[str], folder: str) -> float:
    """Return the time from the start of a command to its end."""
    started = time.perf_counter()
    subprocess.run(argv, cwd=folder, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - started


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
        (Path(folder) / "file").write_bytes(b"x")
        commands = {"sha256sum (GNU)": [gnu, "file"]}
        for name, program in programs.items():
            subprocess.run(
                [program, "create", "-q", "-f", "-l", "16KiB", "file"], cwd=folder, check=True
            )
            for args in (["sha256sum", "file"], ["sum", "file"], ["verify", "file.torrent"]):
                commands[f"{name} {' '.join(args)}"] = [str(program), *args]
        times: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(options.rounds):
            for name, argv in commands.items():
                times[name].append(seconds(argv, folder))
    print(f"{cpu_model()}, {options.rounds} rounds, load {os.getloadavg()[0]:.1f}\n")
    print("| command | median | ratio to GNU's sha256sum |\n|---|---|---|")
    first = next(iter(times.values()))
    for name, all_times in times.items():
        ratio = statistics.median(a / b for a, b in zip(all_times, first, strict=True))
        print(f"| {name} | {1e3 * statistics.median(all_times):.2f} ms | {ratio:.2f} |")


if __name__ == "__main__":
    main()
