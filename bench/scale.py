"""Simulate the verification of an archive on a cluster: a small discrete-event model.

    python3 bench/scale.py [--hosts 40] [--volumes 12] [--petabytes 1.0]

Prints a table. The assumptions are the constants below, and `docs/scale.md` explains them. Each
volume reads one task at a time, and all volumes of a host share its cores. A volume fails now and
then, and its tasks wait for the repair. The scheduler starts one task after another.
"""

import argparse
import heapq
import random
from dataclasses import dataclass

from harness.tables import table

TASK_BYTES = 1 << 30
DISK_BYTES_PER_S = 200e6
# Rates of disks differ by position and age: between 0.7 and 1.1 of the usual rate.
DISK_SPREAD = (0.7, 1.1)
CORES = 16
# SHA-1 of one core. SHA-256 has about two thirds.
CORE_BYTES_PER_S = 2.5e9
# Measured by dask_tasks.py on a machine with a load of 20: CPU time of client and scheduler.
SCHEDULER_S = 3.1e-3
# Time between failures of a volume, and time of a repair (another host, or a remount).
FAILURE_S = 1.0e6
REPAIR_S = 3600.0
# Share of tasks whose worker is lost, and which run again.
LOST = 1e-4


@dataclass(frozen=True)
class Result:
    """The simulated run."""

    tasks: int
    seconds: float
    scheduler_busy: float
    disks_busy: float
    repeated: int

    def cells(self, name: str) -> list[str]:
        """Return a row of the table."""
        days = self.seconds / 86400
        shares = [f"{100 * share:.1f} %" for share in (self.disks_busy, self.scheduler_busy)]
        return [name, f"{self.tasks:,}", f"{days:.2f}", *shares, str(self.repeated)]


def simulate(hosts: int, volumes: int, n_bytes: float, seed: int = 1) -> Result:
    """Return the run over all volumes, each with an equal share of the bytes."""
    rng = random.Random(seed)  # noqa: S311 - a simulation
    n_volumes = hosts * volumes
    tasks = int(n_bytes / TASK_BYTES)
    left = [tasks // n_volumes + (index < tasks % n_volumes) for index in range(n_volumes)]
    # The cores of a host limit its volumes only if they are slower together.
    rate = min(DISK_BYTES_PER_S, CORES * CORE_BYTES_PER_S / volumes)
    rates = [rate * rng.uniform(*DISK_SPREAD) for _ in range(n_volumes)]
    fails_at = [rng.expovariate(1 / FAILURE_S) for _ in range(n_volumes)]
    events = [(0.0, volume) for volume in range(n_volumes)]
    free_at, scheduled, busy, repeated, end = 0.0, 0, 0.0, 0, 0.0
    while events:
        now, volume = heapq.heappop(events)
        end = max(end, now)
        if not left[volume]:
            continue
        free_at = max(free_at, now) + SCHEDULER_S
        scheduled += 1
        finish = free_at + TASK_BYTES / rates[volume]
        if finish > fails_at[volume]:
            finish = fails_at[volume] + REPAIR_S
            fails_at[volume] = finish + rng.expovariate(1 / FAILURE_S)
            repeated += 1
        elif rng.random() < LOST:
            busy += TASK_BYTES / rates[volume]
            repeated += 1
        else:
            busy += TASK_BYTES / rates[volume]
            left[volume] -= 1
        heapq.heappush(events, (finish, volume))
    shares = scheduled * SCHEDULER_S / end, busy / (end * n_volumes)
    return Result(tasks, end, *shares, repeated)


def main() -> None:
    """Simulate, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hosts", type=int, default=40)
    parser.add_argument("--volumes", type=int, default=12, help="volumes of each host")
    parser.add_argument("--petabytes", type=float, default=1.0)
    options = parser.parse_args()
    rows = []
    for hosts in (options.hosts // 2, options.hosts, 2 * options.hosts):
        result = simulate(hosts, options.volumes, options.petabytes * 1e15)
        rows.append(result.cells(f"{hosts} hosts with {options.volumes} volumes"))
    header = ("cluster", "tasks", "days", "disks busy", "scheduler busy", "repeated tasks")
    print("\n".join(table(header, rows)))


if __name__ == "__main__":
    main()
