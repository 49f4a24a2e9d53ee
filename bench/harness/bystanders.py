"""Measures how much CPU other processes used during a measurement."""

import os
import time
from pathlib import Path

# Fields of the first line of /proc/stat after its name: user, nice, system, idle, iowait, irq,
# softirq and steal. Steal is the time that other virtual machines took.
_IDLE_FIELDS = (3, 4)
_FIELDS = 8


class Bystanders:
    """A meter that counts from its creation."""

    def __init__(self) -> None:
        """Start to measure."""
        self._started = time.monotonic()
        self._before = _cpu_of_others()

    def cores(self) -> float:
        """Return the average number of cores that other processes kept busy since the start."""
        elapsed = time.monotonic() - self._started
        return max(0.0, (_cpu_of_others() - self._before) / elapsed)

    def text(self) -> str:
        """Return a sentence about the other processes."""
        return f"Other processes kept {self.cores():.1f} cores busy."


def _cpu_of_others() -> float:
    """Return CPU seconds of everything but this process and its finished children."""
    fields = Path("/proc/stat").read_text().splitlines()[0].split()[1 : 1 + _FIELDS]
    busy = sum(int(value) for place, value in enumerate(fields) if place not in _IDLE_FIELDS)
    own = os.times()
    seconds = busy / os.sysconf("SC_CLK_TCK")
    return seconds - own.user - own.system - own.children_user - own.children_system
