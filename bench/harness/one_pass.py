"""Whether verifying a hybrid in one pass costs more than its two hashes and one read."""

from collections.abc import Sequence
from dataclasses import dataclass

from harness.rounds import inner_key
from harness.samples import Suite
from harness.suites_v2 import BOTH_VERSIONS
from harness.tools import ONE_THREAD

MAPPED = "start, and every byte through maps"
EXPLANATION = """\
One pass over a hybrid should take the time of both hashes and of one read. Verifying the two
versions separately starts two processes and reads everything twice, so one start and one read are
subtracted from their sum. The cost of reading cannot be measured from outside, because the CPU
fetches the next bytes while it hashes. Three estimates of this cost, with one thread:

- the start of a process alone, which is the lower limit;
- `read_mapped.py`, which maps the file window by window as hashlane does, and loads every byte into
  the CPU. A hash would hide much of this cost, so the estimate is too large. The goal uses it;
- `dd`, which copies everything from the page cache. hashlane copies nothing, so this estimate is
  only shown for comparison.

Seconds are medians of the table above."""


@dataclass(frozen=True)
class Estimate:
    """The ratio of one pass to its allowed time, for one estimate of the reading time."""

    reading: str
    seconds: float
    parts: float
    ratio: float

    @property
    def is_goal(self) -> bool:
        """Whether the goal uses this estimate."""
        return self.reading == MAPPED


def estimates(suite: Suite, figure: str = "median") -> list[Estimate]:
    """Return the measured estimates, the most lenient first."""
    readings: Sequence[tuple[str, tuple[str, ...]]] = (
        ("start alone", ("start",)),
        (MAPPED, (inner_key("mapped", "reading"), "start")),
        ("`dd`", ("dd",)),
    )
    found = [(text, _sum(suite, keys, figure)) for text, keys in readings]
    both = _sum(suite, (_key(BOTH_VERSIONS),), figure)
    parts = _sum(suite, (_key("only-v1"), _key("only-v2")), figure)
    if both is None or parts is None:
        return []
    # With little data, reading may appear to take longer than the whole run: no estimate then.
    return [
        Estimate(text, seconds, parts - seconds, both / (parts - seconds))
        for text, seconds in found
        if seconds is not None and seconds < parts
    ]


def ratio(suite: Suite, figure: str = "median") -> float | None:
    """Return the ratio for the goal, which uses the time of reading through maps."""
    return next((one.ratio for one in estimates(suite, figure) if one.is_goal), None)


def _key(way: str) -> str:
    return f"{way}-{ONE_THREAD.key}"


def _sum(suite: Suite, keys: Sequence[str], figure: str) -> float | None:
    series = [suite.get(key) for key in keys]
    return None if None in series else sum(getattr(one, figure) for one in series)
