"""The rounds in which commands take turns."""

import sys
from collections.abc import Sequence

from harness.bystanders import Bystanders
from harness.payloads import read_through, warm
from harness.process import Outcome, run_checked
from harness.samples import Series, Suite
from harness.tools import Contestant


def run_rounds(key: str, contestants: Sequence[Contestant], rounds: int) -> Suite:
    """Run all commands in turns, so that disturbances of the machine affect all of them.

    A first round, which loads the programs into memory, is not counted. Before each run its data is
    read again, because libtorrent drops small files from the page cache after it has checked them,
    and the next command would wait for the disk.
    """
    say(f"{key}: {rounds} rounds of {len(contestants)} commands")
    for payload in dict.fromkeys(one.payload for one in contestants if one.payload):
        warm(payload)
    turns = [(one, _series_of(one)) for one in contestants]
    bystanders = Bystanders()
    for counted in [False] + [True] * rounds:
        for contestant, series in turns:
            outcome = _run(contestant)
            if counted and outcome:
                _record(contestant, series, outcome)
    measured = [one for _, series in turns for one in series]
    return Suite(key, rounds, measured, bystanders.cores())


def say(text: str) -> None:
    """Print the progress."""
    print(f"bench: {text}", file=sys.stderr, flush=True)


def inner_key(key: str, name: str) -> str:
    """Return the key of the series that a tool measured itself."""
    return f"{key}-{name}"


def _series_of(contestant: Contestant) -> list[Series]:
    """Return a series for the process, and before it one for the tool's own figure, if any."""
    whole = Series(
        key=contestant.key,
        label=contestant.label,
        shown=contestant.command.shown if contestant.command else "",
        payload_bytes=_payload_bytes(contestant),
        baseline=contestant.baseline,
        absent=contestant.absent,
    )
    if contestant.inner_sample is None or contestant.absent:
        return [whole]
    inner = Series(
        key=inner_key(whole.key, contestant.inner_name),
        label=f"{whole.label}, {contestant.inner_name} alone",
        shown=whole.shown,
        payload_bytes=whole.payload_bytes,
    )
    whole.label = f"{whole.label}, whole process"
    return [inner, whole]


def _run(contestant: Contestant) -> Outcome | None:
    if contestant.command is None:
        return None
    if contestant.payload:
        read_through(contestant.payload)
    return run_checked(contestant.command)


def _payload_bytes(contestant: Contestant) -> int:
    is_read = contestant.payload and contestant.reads_payload
    return contestant.payload.total_bytes if is_read else 0


def _record(contestant: Contestant, series: list[Series], outcome: Outcome) -> None:
    series[-1].samples.append(outcome.sample)
    if contestant.inner_sample is not None:
        series[0].samples.append(contestant.inner_sample(outcome))
