"""Checks, before any measurement, that every verifier detects damage.

The time of a verifier that detects nothing would mean nothing.
"""

from collections.abc import Iterable

from harness import payloads
from harness.bench import CLASSIC_PIECE, Bench
from harness.payloads import Payload
from harness.process import BenchmarkError, run
from harness.tools import BOTH, Contestant
from harness.torrents import Version


def refuse_wrong_data(bench: Bench) -> None:
    """Check that one flipped bit is detected, and that each version of a hybrid is checked."""
    payload = payloads.flipped(bench.work, CLASSIC_PIECE, bench.maker)
    for version in Version:
        others = bench.toolbox.verifiers(payload, CLASSIC_PIECE, version)
        _refuse([*_hashlane(bench, payload, version), *others], "did not notice a flipped bit")
    for version in (Version.V1, Version.V2):
        _refuse(_hashlane(bench, payload, Version.HYBRID, version), "did not notice a flipped bit")
    for right in (Version.V1, Version.V2):
        payloads.half_right(payload, CLASSIC_PIECE, bench.maker, right)
        _judge_both_versions(bench, payload, right)


def _judge_both_versions(bench: Bench, payload: Payload, right: Version) -> None:
    """Check that a hybrid is rejected if only one of its versions matches the file."""
    wrong = Version.V2 if right is Version.V1 else Version.V1
    checkers = [
        *_hashlane(bench, payload, Version.HYBRID),
        *_hashlane(bench, payload, Version.HYBRID, wrong),
        *(
            bench.toolbox.libtorrent_check(payload, CLASSIC_PIECE, threads, Version.HYBRID)
            for threads in BOTH
        ),
    ]
    _refuse(checkers, f"did not notice that version {wrong[1]} of a hybrid is wrong")
    for contestant in _hashlane(bench, payload, Version.HYBRID, right):
        if run(contestant.command).exit_status != 0:
            raise BenchmarkError(f"{contestant.command.shown}: refused the version that is right")


def _hashlane(
    bench: Bench, payload: Payload, version: Version, only: Version | None = None
) -> list[Contestant]:
    return [
        bench.hashlane.verify(payload, CLASSIC_PIECE, threads, version=version, only=only)
        for threads in BOTH
    ]


def _refuse(contestants: Iterable[Contestant], failure: str) -> None:
    for contestant in contestants:
        command = contestant.command
        if command is not None and command.complaint(run(command)) is None:
            raise BenchmarkError(f"{command.shown}: {failure}")
