"""The samples, and the figures computed from them."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple


class Quartiles(NamedTuple):
    """The middle half of some samples lies between `low` and `high`."""

    low: float
    median: float
    high: float

    @property
    def spread(self) -> str:
        """The middle half, as text."""
        return f"{self.low:.2f} to {self.high:.2f}"


def quartiles(samples: Sequence[float]) -> Quartiles:
    """Return the quartiles, interpolated. Those of one sample are the sample."""
    if len(samples) == 1:
        return Quartiles(*samples * 3)
    return Quartiles(*statistics.quantiles(samples, n=4, method="inclusive"))


@dataclass(frozen=True)
class Sample:
    """Wall seconds of one run."""

    wall: float
    user: float
    system: float

    @property
    def cpu(self) -> float:
        """Seconds of CPU time, of all threads together."""
        return self.user + self.system


@dataclass
class Series:
    """All runs of one command in one suite, or the reason for their absence."""

    key: str
    label: str
    shown: str
    payload_bytes: int
    baseline: str | None = None
    absent: str | None = None
    samples: list[Sample] = field(default_factory=list)

    @property
    def walls(self) -> list[float]:
        """Wall seconds of each run."""
        return [sample.wall for sample in self.samples]

    @property
    def median(self) -> float:
        """Median of the wall seconds."""
        return statistics.median(self.walls)

    @property
    def minimum(self) -> float:
        """Wall seconds of the fastest run."""
        return min(self.walls)

    @property
    def median_cpu(self) -> float:
        """Median of the CPU seconds."""
        return statistics.median(sample.cpu for sample in self.samples)


@dataclass(frozen=True)
class Suite:
    """Commands that took turns and can therefore be compared."""

    key: str
    rounds: int
    series: list[Series]
    # Average number of cores that other processes kept busy during the suite.
    others_cores: float

    def get(self, key: str | None) -> Series | None:
        """Return the series of that key, if it was run."""
        return next((one for one in self.series if one.key == key and one.samples), None)

    def ratio(self, key: str, baseline: str | None, figure: str = "median") -> float | None:
        """Return the ratio of two wall times, if both commands were run."""
        above, below = self.get(key), self.get(baseline)
        if above is None or below is None:
            return None
        return getattr(above, figure) / getattr(below, figure)


@dataclass(frozen=True)
class Memory:
    """Peak resident set of one case, the highest of several runs."""

    case: str
    threads: int
    way: str
    peak_bytes: int
    bound_bytes: int
