"""What was measured, and the figures that are told of it."""

import statistics
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Sample:
    """Seconds that one run took."""

    wall: float
    user: float
    system: float

    @property
    def cpu(self) -> float:
        """Seconds of CPU time, of all threads together."""
        return self.user + self.system


@dataclass
class Series:
    """All runs of one command in one suite, or the reason why there are none."""

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
    def quartiles(self) -> tuple[float, float]:
        """Wall seconds between which the middle half of the runs lies."""
        if len(self.walls) < 2:
            return self.walls[0], self.walls[0]
        lower, _, upper = statistics.quantiles(self.walls, n=4, method="inclusive")
        return lower, upper

    @property
    def median_cpu(self) -> float:
        """Median of the CPU seconds."""
        return statistics.median(sample.cpu for sample in self.samples)


@dataclass(frozen=True)
class Suite:
    """Commands that took turns, so that they can be compared."""

    key: str
    rounds: int
    series: list[Series]
    # How many cores other processes kept busy meanwhile, on average.
    others_cores: float

    def get(self, key: str | None) -> Series | None:
        """Return the series of that key, if it was there and was run."""
        return next((one for one in self.series if one.key == key and one.samples), None)

    def ratio(self, key: str, baseline: str | None, figure: str = "median") -> float | None:
        """Wall time of one over that of another, if both were run."""
        above, below = self.get(key), self.get(baseline)
        if above is None or below is None:
            return None
        return getattr(above, figure) / getattr(below, figure)


@dataclass(frozen=True)
class Memory:
    """Peak resident set of one case, the worst of some runs."""

    case: str
    threads: int
    way: str
    peak_bytes: int
    bound_bytes: int
