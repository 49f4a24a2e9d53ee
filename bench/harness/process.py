"""Runs a command, measures it, and checks its result."""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.samples import Sample

TIME_LIMIT_SECONDS = 300
PEAK_MEMORY_SCRIPT = Path(__file__).with_name("peak_memory.py")
FORCED_BACKEND = "HASHLANE_BACKEND"


class BenchmarkError(Exception):
    """A run that did not do the measured work, so that its time means nothing."""


@dataclass(frozen=True)
class Outcome:
    """Result of a finished process."""

    exit_status: int
    stdout: str
    stderr: str
    sample: Sample


@dataclass(frozen=True)
class Command:
    """A command, and how to check from the outcome that it did its work.

    `complaint` returns what is wrong with an outcome, or None. `shown` is the command as a reader
    of the report would type it, without the paths of this machine. `output` is a file that the
    command writes; it is removed before each run.
    """

    argv: Sequence[str]
    folder: Path
    complaint: Callable[[Outcome], str | None]
    environment: Mapping[str, str]
    shown: str
    output: Path | None = None


def run(command: Command) -> Outcome:
    """Run a command, and return its measurements, whatever its exit status."""
    if command.output is not None:
        command.output.unlink(missing_ok=True)
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        started = time.perf_counter()
        process = subprocess.Popen(
            command.argv,
            cwd=command.folder,
            env=_environment(command.environment),
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
        )
        exit_status, usage = _wait(process)
        wall = time.perf_counter() - started
        return Outcome(
            exit_status,
            _text(stdout),
            _text(stderr),
            Sample(wall=wall, user=usage.ru_utime, system=usage.ru_stime),
        )


def run_checked(command: Command) -> Outcome:
    """Run a command that must do its work.

    Raises `BenchmarkError` if it did not.
    """
    outcome = run(command)
    complaint = command.complaint(outcome)
    if complaint is not None:
        raise BenchmarkError(f"{command.shown}: {complaint}\n{outcome.stderr[-500:]}")
    return outcome


def spent(command: Sequence[str | Path], folder: Path) -> Sample:
    """Run a command whose exit status must be 0, and measure it."""
    argv = list(map(str, command))
    return run_checked(Command(argv, folder, exit_status_complaint, {}, " ".join(argv))).sample


def peak_memory(command: Command) -> int:
    """Run a command that must do its work, and return the bytes of its peak resident set.

    A child inherits the peak of its parent, so a separate small process starts the command (see
    peak_memory.py). The peak of that process is the lowest value that can be measured.
    """
    outcome = run(
        Command(
            argv=[sys.executable, "-I", "-S", str(PEAK_MEMORY_SCRIPT), *command.argv],
            folder=command.folder,
            complaint=exit_status_complaint,
            environment=command.environment,
            shown=command.shown,
        )
    )
    if outcome.exit_status != 0:
        raise BenchmarkError(f"{command.shown}: exit status {outcome.exit_status}")
    return json.loads(outcome.stdout.splitlines()[-1])["peak_resident_bytes"]


def exit_status_complaint(outcome: Outcome) -> str | None:
    """Complain unless the exit status is 0."""
    return None if outcome.exit_status == 0 else f"exit status {outcome.exit_status}"


def _environment(extra: Mapping[str, str]) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if name != FORCED_BACKEND}
    return {**inherited, "LC_ALL": "C.UTF-8", **extra}


def _wait(process: subprocess.Popen):
    """Wait with wait4, which, unlike `Popen.wait`, returns the resource usage."""
    killer = threading.Timer(TIME_LIMIT_SECONDS, process.kill)
    killer.start()
    try:
        _, status, usage = os.wait4(process.pid, 0)
    finally:
        killer.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage


def _text(file) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")
