#!/usr/bin/env python3
"""Measure the search of `recover` on each device, from the start to the end of the program.

    python3 bench/gpu_rates.py --hashlane PROGRAM [--device NAME]... [--rounds 5] [--full]

PROGRAM was built by `make build GPU=1`; `cargo xtask bench gpu` builds it. Every search looks for
a known address, and fails if the device does not find it. Rounds of the devices take turns. For a
GPU of NVIDIA, the clock and the power come from nvidia-smi, and the rate is compared with the
bound of the kernel: the instructions that the multiprocessors can start, divided by those of one
candidate.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from math import log
from pathlib import Path
from statistics import median

from harness import machine
from harness.tables import table

ADDRESS = "1Lbcfr7sAHTD9CgdQo3HTMTkV8LK4ZnX71"
ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
# The first unknown character. A search for consecutive ones spends its time on hashing. The last
# five characters follow from the checksum.
FIRST = 14
# About the seconds of a search by the rate that the program measures.
SECONDS = 10
# Unknown characters, and choices for the one before them, of a search of 2^40 candidates.
FULL = (6, 29)

# Instructions for integers and logic of one candidate on sm_90, and those that a multiprocessor
# starts per cycle; see GPU.md.
INSTRUCTIONS, PER_CYCLE = 2196, 64
# Multiprocessors, which nvidia-smi does not report (the whitepapers of the architectures).
MULTIPROCESSORS = {
    "NVIDIA H100 PCIe": 114,
    "NVIDIA H100 80GB HBM3": 132,
    "NVIDIA H200": 132,
    "NVIDIA GeForce RTX 4090": 128,
}


def damaged(n_unknown: int, n_choices: int = 1) -> str:
    """Return the address with unknown characters, and with some choices for the one before them."""
    before, known = ADDRESS[: FIRST - 1], ADDRESS[FIRST - 1]
    others = [character for character in ALPHABET if character != known]
    if n_choices > 1:
        known = f"[{''.join([known, *others[: n_choices - 1]])}]"
    return before + known + "?" * n_unknown + ADDRESS[FIRST + n_unknown :]


def lines(program: Path, *arguments: str) -> list[dict]:
    """Return the lines of JSON that a command of the program prints."""
    environment = os.environ | {"HASHLANE_CONFIG": "/dev/null"}
    command = [program, *arguments, "--json"]
    run = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    return [json.loads(line) for line in run.stdout.splitlines()]


class Sampler:
    """Samples clocks and power of a GPU of NVIDIA while a search runs."""

    def __init__(self, name: str) -> None:
        """Start nvidia-smi, if the device is one of NVIDIA."""
        query = "--query-gpu=name,clocks.sm,power.draw"
        command = ["nvidia-smi", query, "--format=csv,noheader,nounits", "-lms", "200"]
        self.name = name
        try:
            start = subprocess.Popen if name.startswith("NVIDIA") else None
            self.process = start and start(command, stdout=subprocess.PIPE, text=True)
        except OSError:
            self.process = None

    def end(self) -> list[list[str]]:
        """Return the samples of this device: the clock in MHz, and the power in watts."""
        if self.process is None:
            return []
        self.process.terminate()
        rows = [line.split(", ") for line in self.process.communicate()[0].splitlines()]
        return [row[1:] for row in rows if len(row) == 3 and row[0] == self.name]


def middle(samples: list[list[str]], column: int) -> float | None:
    """Return the median of a column of samples, or nothing if there are no numbers."""
    numbers = []
    for sample in samples:
        try:
            numbers.append(float(sample[column]))
        except ValueError:
            continue
    return median(numbers) if numbers else None


class Device:
    """A device with its measurements."""

    def __init__(self, described: dict, is_cpu: bool, is_full: bool) -> None:
        """Choose the search: of some seconds, or of 2^40 candidates."""
        self.name = described["name"]
        self.option = "cpu" if is_cpu else self.name
        self.driver = described.get("driver", "")
        hashes = described["hashes_per_second"] * SECONDS
        self.text = damaged(*FULL) if is_full else damaged(round(log(hashes, len(ALPHABET))))
        self.rates: list[float] = []
        self.seconds: list[float] = []
        self.samples: list[list[str]] = []

    def measure(self, program: Path) -> None:
        """Search once."""
        sampler = Sampler(self.name)
        options = ("--kind", "p2pkh", "--case", "kept", "--device", self.option)
        try:
            summary = lines(program, "recover", *options, self.text)[-1]
        finally:
            self.samples += sampler.end()
        if ADDRESS not in summary["hits"] or not summary["complete"]:
            sys.exit(f"{self.name}: the search did not find {ADDRESS}: {summary}")
        self.seconds.append(summary["elapsed_seconds"])
        self.rates.append(summary["hashes"] / summary["elapsed_seconds"])

    def row(self, multiprocessors: int | None) -> Iterator[str]:
        """Return the cells of the device."""
        rate = median(self.rates)
        yield f"{self.name} {self.driver}".strip()
        yield f"{rate / 1e6:.1f}"
        yield f"{min(self.rates) / 1e6:.1f} to {max(self.rates) / 1e6:.1f}"
        yield f"{median(self.seconds):.2f}"
        multiprocessors = multiprocessors or MULTIPROCESSORS.get(self.name)
        clock, power = middle(self.samples, 0), middle(self.samples, 1)
        if multiprocessors and clock:
            bound = PER_CYCLE * multiprocessors * clock * 1e6 / INSTRUCTIONS
            yield f"{rate / bound:.2f} of {bound / 1e9:.2f} G/s at {clock:.0f} MHz"
        else:
            yield "not known"
        yield f"{power:.0f} W" if power else "not known"


def devices(program: Path, names: list[str], is_full: bool) -> list[Device]:
    """Return the CPU and the devices with one of these names, or all."""
    found = [line for line in lines(program, "kernels") if line["type"] == "device"]
    for line in found:
        if "error" in line:
            print(f"{line['name']}: {line['error']}", file=sys.stderr)
    wanted = [
        (line, i == 0)
        for i, line in enumerate(found)
        if "error" not in line and (not names or any(name in line["name"] for name in names))
    ]
    return [Device(line, is_cpu, is_full) for line, is_cpu in wanted]


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hashlane", type=Path, required=True, help="program with GPUs")
    parser.add_argument("--device", action="append", default=[], help="part of a device's name")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--full", action="store_true", help="search 2^40 candidates")
    parser.add_argument("--multiprocessors", type=int, help="number of them, for the bound")
    options = parser.parse_args()
    program = options.hashlane.resolve()
    measured = devices(program, options.device, options.full)
    if not measured:
        sys.exit("bench/gpu_rates.py: there is no such device; `hashlane kernels` lists them")
    for _ in range(options.rounds):
        for device in measured:
            device.measure(program)
    print(f"{machine.summary()}. Medians of {options.rounds}.\n")
    header = ("device", "million hashes/s", "range", "seconds", "share of the bound", "power")
    for line in table(header, [list(device.row(options.multiprocessors)) for device in measured]):
        print(line)


if __name__ == "__main__":
    main()
