"""A sliding window of tasks on a cluster. Dask schedules them; this module decides what to do about failures."""

from __future__ import annotations

import asyncio
import concurrent.futures
import dataclasses
import itertools
import time
from collections.abc import Iterable, Iterator
from typing import Any, cast

from distributed import Client, Future, KilledWorker, as_completed

from hashlane.dask._work import Answer, Item, failed, work

LOST = 10
"""Workers that may end during a task before the task itself is taken for the reason."""

LOOK_INTERVAL = 5.0
"""Seconds between two looks at the workers of the cluster."""

LOSSES = (KilledWorker, OSError, TimeoutError, asyncio.CancelledError, concurrent.futures.CancelledError)
"""Errors of tasks and results whose worker has ended."""

RESULT_TIMEOUT = 30.0
"""Seconds for the transfer of a result, which has a few kilobytes."""


@dataclasses.dataclass
class Task:
    """Items that one worker does together, and the attempts so far."""

    items: tuple[Item, ...]
    attempts: int = 0
    lost: int = 0
    avoid: set[str] = dataclasses.field(default_factory=set)
    """Addresses of workers where an attempt failed."""
    workers: frozenset[str] = frozenset()
    """Addresses of the workers that may do the task, or none if all may."""
    since: float = 0.0

    @property
    def resource(self) -> str | None:
        return self.items[0].resource


def require_resources(client: Client, names: Iterable[str | None]) -> None:
    """Raises an error for a resource that no worker has. Dask would wait for such a worker.

    Raises
    ------
    ValueError
        No worker has the resource.
    """
    offered: set[str] = set()
    for worker in client.scheduler_info()["workers"].values():
        offered.update(name for name, amount in worker["resources"].items() if amount >= 1)
    for name in sorted({name for name in names if name is not None} - offered):
        raise ValueError(f"{name}: no worker has this resource: start one with --resources '{name}=1'")


def n_threads(client: Client) -> dict[str, int]:
    """Returns the number of threads of each worker."""
    # Dask's types say that it can be a coroutine, as for a client of asyncio.
    return cast("dict[str, int]", client.nthreads())


class Window:
    """Runs tasks on the workers of a client, a limited number at a time.

    Parameters
    ----------
    threads : int
        Threads of each task.
    retries : int
        Further attempts after an error of the system, if possible on other hosts.
    timeout : float
        Seconds from the submission of a task, after which its worker is taken to hang. It receives no further tasks.
    """

    def __init__(self, client: Client, *, threads: int, retries: int, timeout: float) -> None:
        self.client, self.threads, self.retries, self.timeout = client, threads, retries, timeout
        self.waiting: dict[Future[Any], Task] = {}
        self.done = as_completed(loop=client.loop)
        self.hung: set[str] = set()
        self._n_threads, self._look_at = 0, 0.0

    def run(self, tasks: Iterable[Task]) -> Iterator[Answer]:
        """Returns the answer of each item, as soon as it is known."""
        tasks = iter(tasks)
        try:
            while True:
                yield from self._look()
                for task in itertools.islice(tasks, max(self._size() - len(self.waiting), 0)):
                    yield from self._submit(task)
                if not self.waiting:
                    return
                for future in self._ready():
                    yield from self._receive(future)
                yield from self._expire()
        finally:
            self.client.cancel(list(self.waiting))

    def _size(self) -> int:
        """Returns the number of tasks for which each thread has one, and the next."""
        return max(2 * self._n_threads, 4)

    def _look(self) -> Iterator[Answer]:
        """Counts the threads. Workers come and go: a task whose workers are all gone is for others."""
        if time.monotonic() < self._look_at:
            return
        threads = n_threads(self.client)
        self._n_threads = sum(threads.values())
        self._look_at = time.monotonic() + LOOK_INTERVAL
        for future, task in list(self.waiting.items()):
            if future.done():
                # as_completed can lose a future whose worker ends at that moment.
                yield from self._receive(future)
            elif task.workers and task.workers.isdisjoint(threads):
                del self.waiting[future]
                self.client.cancel([future])
                yield from self._submit(task)

    def _ready(self) -> list[Future[Any]]:
        with self.done.thread_condition:
            # Results are queued before the condition is notified, so none can come unseen between the two.
            if not self.done.has_ready():
                self.done.thread_condition.wait(0.1)
        batch: list[Future[Any]] = self.done.next_batch(block=False)
        return batch

    def _submit(self, task: Task) -> Iterator[Answer]:
        place: dict[str, Any] = {}
        if task.resource is not None:
            place["resources"] = {task.resource: 1}
        if task.avoid or self.hung:
            task.workers = frozenset(self._others(task))
            if not task.workers:
                yield from self._give_up(task, "no other worker can read it", None)
                return
            place["workers"] = sorted(task.workers)
        task.since = time.monotonic()
        future = self.client.submit(work, task.items, self.threads, pure=False, **place)
        self.waiting[future] = task
        self.done.add(future)

    def _others(self, task: Task) -> list[str]:
        """Returns the workers for the next attempt: on other hosts if possible, and on none that hangs."""
        workers = {
            address: worker["host"]
            for address, worker in self.client.scheduler_info()["workers"].items()
            if address not in self.hung and (task.resource is None or worker["resources"].get(task.resource, 0) >= 1)
        }
        hosts = {address.rpartition(":")[0].rpartition("/")[2] for address in task.avoid}
        elsewhere = [address for address, host in workers.items() if host not in hosts]
        return elsewhere or [address for address in workers if address not in task.avoid] or list(workers)

    def _receive(self, future: Future[Any]) -> Iterator[Answer]:
        task = self.waiting.pop(future, None)
        if task is None:
            return
        error = cast("BaseException | None", future.exception() if future.status == "error" else None)
        answers: list[Answer] = []
        if error is None:
            try:
                answers = self._result(future)
            except LOSSES as lost:
                # The worker ended after the task, before its result was here.
                error = lost
                self.client.cancel([future])
        if error is None:
            for answer in answers:
                again = Task((answer.item,), task.attempts + 1, task.lost, task.avoid | {answer.worker})
                if answer.problem is not None and again.attempts <= self.retries:
                    yield from self._submit(again)
                else:
                    yield answer
            return
        if not isinstance(error, LOSSES):
            raise error
        task.lost += 1
        if task.lost < LOST:
            yield from self._submit(task)
        else:
            yield from self._give_up(task, f"{LOST} times, workers ended during the task", None)

    def _result(self, future: Future[Any]) -> list[Answer]:
        """Returns the result of a task. `Future.result` waits for ever, even with a timeout, if the transfer ignores its end."""
        loop = cast(Any, self.client.loop).asyncio_loop
        gathering = asyncio.run_coroutine_threadsafe(cast(Any, self.client.gather(future, asynchronous=True)), loop)
        try:
            return cast("list[Answer]", gathering.result(timeout=RESULT_TIMEOUT))
        finally:
            gathering.cancel()

    def _expire(self) -> Iterator[Answer]:
        """Takes the tasks of workers that hang to others."""
        limit = time.monotonic() - self.timeout
        late = [(future, task) for future, task in self.waiting.items() if task.since < limit]
        if not late:
            return
        processing = cast("dict[str, tuple[Any, ...]]", self.client.processing())
        places: dict[Any, str] = {key: address for address, keys in processing.items() for key in keys}
        for future, task in late:
            del self.waiting[future]
            self.client.cancel([future])
            address = places.get(future.key)
            task.attempts += 1
            reason = f"no result within {self.timeout:g} s"
            if address is None:
                yield from self._give_up(task, f"{reason}: no worker took the task", None)
                continue
            self.hung.add(address)
            task.avoid.add(address)
            if task.attempts > self.retries:
                yield from self._give_up(task, reason, address)
            else:
                yield from self._submit(task)

    @staticmethod
    def _give_up(task: Task, problem: str, worker: str | None) -> Iterator[Answer]:
        for item in task.items:
            yield failed(item, problem, None, worker or ", ".join(sorted(task.avoid)) or None)
