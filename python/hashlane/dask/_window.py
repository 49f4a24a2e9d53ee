"""A sliding window of tasks on a cluster. Dask schedules them; this module decides what to do about failures."""

from __future__ import annotations

import asyncio
import collections
import concurrent.futures
import dataclasses
import itertools
import time
import uuid
import weakref
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from distributed import Client, Future, KilledWorker, as_completed

from hashlane.dask._work import TOPIC, Answer, Done, Item, Load, answers_of, failed, work

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
    """Items of one type that one worker does together, and the attempts so far."""

    items: tuple[Item, ...]
    only: str | None = None
    """The address of the only worker that may do the task."""
    attempts: int = 0
    lost: int = 0
    avoid: set[str] = dataclasses.field(default_factory=set)
    """Addresses of workers where an attempt failed, or found less than there may be."""
    first: Answer | None = None
    """The answer of a worker that did not see a file, which another worker is asked to confirm."""
    workers: frozenset[str] = frozenset()
    """Addresses of the workers that may do the task, or none if all may."""
    submitted: float = 0.0
    started: tuple[float, str] | None = None
    """When which worker started the task."""

    @property
    def resource(self) -> str | None:
        return self.items[0].resource


def workers_of(client: Client) -> dict[str, dict[str, Any]]:
    """Returns what the scheduler knows about each worker, by address."""
    # Without a number, newer versions of Dask return five workers.
    return cast("dict[str, dict[str, Any]]", cast(Any, client.scheduler_info)(n_workers=-1)["workers"])


def slots_of(workers: Mapping[str, dict[str, Any]]) -> collections.Counter[str | None]:
    """Returns the number of tasks that can run at the same time: for each resource, and with None for tasks without one."""
    slots: collections.Counter[str | None] = collections.Counter()
    for worker in workers.values():
        slots[None] += worker["nthreads"]
        for name, amount in worker["resources"].items():
            slots[name] += min(int(amount), worker["nthreads"])
    return slots


def require_resources(client: Client, names: Iterable[str | None]) -> None:
    """Raises an error for a resource that no worker has. Dask would wait for such a worker, as tasks do for the first one.

    Raises
    ------
    ValueError
        No worker has the resource.
    """
    workers = workers_of(client)
    slots = slots_of(workers)
    for name in sorted({name for name in names if name is not None and workers and not slots[name]}):
        raise ValueError(f"{name}: no worker has this resource: start one with --resources '{name}=1'")


_WINDOWS: weakref.WeakValueDictionary[str, Window] = weakref.WeakValueDictionary()


def _note_start(event: tuple[float, dict[str, str]]) -> None:
    """Notes the start of a task, for the window that it belongs to."""
    _, start = event
    window = _WINDOWS.get(start["window"])
    if window is not None:
        window.starts.append((time.monotonic(), start["key"], start["worker"]))


class Window:
    """Runs tasks on the workers of a client, a limited number at a time.

    Parameters
    ----------
    threads : int
        Threads of each task.
    retries : int
        Further attempts after an error of the system, if possible on other hosts.
    timeout : float
        Seconds from the start of a task, after which its worker is taken to hang. It receives no further tasks. A worker that
        starts none of its tasks for this time receives no further ones until it does.
    """

    def __init__(self, client: Client, *, threads: int, retries: int, timeout: float) -> None:
        self.client, self.threads, self.retries, self.timeout = client, threads, retries, timeout
        self.waiting: dict[Future[Any], Task] = {}
        self.done = as_completed(loop=client.loop)
        self.hung: set[str] = set()
        self.silent: set[str] = set()
        self.starts: collections.deque[tuple[float, str, str]] = collections.deque()
        self._sentences: collections.Counter[str] = collections.Counter()
        self._tasks: dict[str, Task] = {}
        self._held: collections.Counter[str | None] = collections.Counter()
        self._signs: dict[str, float] = {}
        self._workers: dict[str, dict[str, Any]] = {}
        self._slots: collections.Counter[str | None] = collections.Counter()
        self._idle_since: dict[str | None, float] = {}
        self._look_at = 0.0
        self._id, self._numbers = uuid.uuid4().hex, itertools.count()
        _WINDOWS[self._id] = self
        client.subscribe_topic(TOPIC, _note_start)

    @property
    def notes(self) -> list[str]:
        """Sentences about workers that failed, or that see less than others."""
        return [text if count == 1 else f"{text} ({count} times)" for text, count in self._sentences.items()]

    def run(self, queues: Mapping[str | None, Iterable[Task]]) -> Iterator[Answer]:
        """Returns the answer of each item, as soon as it is known. ``queues`` has the tasks of each resource."""
        left = {resource: iter(tasks) for resource, tasks in queues.items()}
        try:
            while True:
                yield from self._look()
                for resource, tasks in list(left.items()):
                    wanted = self._size(resource) - self._held[resource]
                    new = list(itertools.islice(tasks, max(wanted, 0)))
                    if len(new) < wanted:
                        del left[resource]
                    for task in new:
                        yield from self._submit(task)
                if not self.waiting and not left:
                    return
                for future in self._ready():
                    yield from self._receive(future)
        finally:
            self.client.cancel(list(self.waiting))

    def _size(self, resource: str | None) -> int:
        """Returns the number of tasks for which each slot of a resource has one, and the next."""
        return max(2 * self._slots[resource], 2)

    def _look(self) -> Iterator[Answer]:
        """Looks at the workers and at the times of tasks. Workers come and go."""
        self._note_starts()
        now = time.monotonic()
        if now < self._look_at:
            return
        self._look_at = now + min(LOOK_INTERVAL, self.timeout / 4)
        before, self._workers = self._workers, workers_of(self.client)
        for address in sorted(before.keys() - self._workers.keys()):
            self._sentences[f"{address}: the worker left the cluster, and Dask ran its tasks elsewhere"] += 1
        self._slots = slots_of(self._workers)
        for future, task in list(self.waiting.items()):
            if future.done():
                # as_completed can lose a future whose worker ends at that moment.
                yield from self._receive(future)
            elif task.workers and task.workers.isdisjoint(self._workers):
                # All workers that may do the task are gone: it is for others.
                self._take(future)
                yield from self._submit(task)
        yield from self._expire()

    def _note_starts(self) -> None:
        while self.starts:
            moment, key, worker = self.starts.popleft()
            self._signs[worker] = moment
            self.silent.discard(worker)
            if key in self._tasks:
                self._tasks[key].started = moment, worker

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
        if task.only is not None or task.avoid or self.hung or self.silent:
            task.workers = frozenset(self._others(task) if task.only is None else {task.only} - task.avoid)
            if not task.workers:
                yield from self._give_up(task, "no other worker can read it", None)
                return
            place["workers"] = sorted(task.workers)
        task.submitted, task.started = time.monotonic(), None
        key = f"hashlane-{self._id}-{next(self._numbers)}"
        future = self.client.submit(work, Load.of(task.items), self.threads, self._id, key=key, **place)
        self.waiting[future] = self._tasks[key] = task
        self._held[task.resource] += 1
        self.done.add(future)

    def _take(self, future: Future[Any], *, cancel: bool = True) -> Task | None:
        """Removes a task from the window."""
        task = self.waiting.pop(future, None)
        if task is not None:
            del self._tasks[cast(str, future.key)]
            self._held[task.resource] -= 1
            if cancel:
                self.client.cancel([future])
        return task

    def _usable(self, task: Task) -> dict[str, str]:
        """Returns the hosts of the workers that can do a task, by address."""
        left_out = self.hung | self.silent
        return {
            address: worker["host"]
            for address, worker in self._workers.items()
            if address not in left_out and (task.resource is None or worker["resources"].get(task.resource, 0) >= 1)
        }

    def _others(self, task: Task) -> list[str]:
        """Returns the workers for the next attempt: on other hosts if possible, and on none that hangs."""
        workers = self._usable(task)
        hosts = {address.rpartition(":")[0].rpartition("/")[2] for address in task.avoid}
        elsewhere = [address for address, host in workers.items() if host not in hosts]
        return elsewhere or [address for address in workers if address not in task.avoid] or list(workers)

    def _receive(self, future: Future[Any]) -> Iterator[Answer]:
        task = self._take(future, cancel=False)
        if task is None:
            return
        error = cast("BaseException | None", future.exception() if future.status == "error" else None)
        answers: list[Answer] = []
        if error is None:
            try:
                done = self._result(future)
                self._signs[done.worker] = time.monotonic()
                self.silent.discard(done.worker)
                answers = answers_of(task.items, done)
            except LOSSES as lost:
                # The worker ended after the task, before its result was here.
                error = lost
                self.client.cancel([future])
        if error is None:
            for answer in answers:
                if answer.problem is None and task.first is None and not _is_missing(answer):
                    yield answer
                else:
                    yield from self._answer(task, answer)
            return
        if not isinstance(error, LOSSES):
            raise error
        task.lost += 1
        if task.lost < LOST:
            yield from self._submit(task)
        else:
            yield from self._give_up(task, f"{LOST} times, workers ended during the task", None)

    def _answer(self, task: Task, answer: Answer) -> Iterator[Answer]:
        """Returns an answer, or submits its item once more."""
        avoid = task.avoid | {answer.worker}
        if answer.problem is not None:
            if task.first is not None:
                yield task.first
            elif task.attempts < self.retries and task.only is None:
                self._sentences[f"{answer.host} ({answer.worker}): {answer.problem}: tried again elsewhere"] += 1
                again = Task((answer.item,), attempts=task.attempts + 1, lost=task.lost, avoid=avoid)
                yield from self._submit(again)
            else:
                yield answer
            return
        if task.first is None and _is_missing(answer) and not set(self._usable(task)) <= avoid:
            # Its host may lack a mount.
            yield from self._submit(Task((answer.item,), lost=task.lost, avoid=avoid, first=answer))
            return
        if task.first is not None and not _is_missing(answer):
            first = task.first
            note = f"{answer.item.path}: missing on {first.host} ({first.worker}), found on {answer.host} ({answer.worker})"
            self._sentences[note] += 1
            answer = dataclasses.replace(
                answer, findings=[{**finding, "error": finding.get("error") or note} for finding in answer.findings]
            )
        yield answer

    def _result(self, future: Future[Any]) -> Done:
        """Returns the result of a task. `Future.result` waits for ever, even with a timeout, if the transfer ignores its end."""
        loop = cast(Any, self.client.loop).asyncio_loop
        gathering = asyncio.run_coroutine_threadsafe(cast(Any, self.client.gather(future, asynchronous=True)), loop)
        try:
            return cast(Done, gathering.result(timeout=RESULT_TIMEOUT))
        finally:
            gathering.cancel()

    def _expire(self) -> Iterator[Answer]:
        """Takes the tasks of workers that hang to others. A task that waits for its turn is not late."""
        now = time.monotonic()
        for future, task in list(self.waiting.items()):
            if task.started is not None and now - task.started[0] > self.timeout:
                yield from self._move_started(future, task)
        late = [
            future for future, task in self.waiting.items() if not task.started and now - task.submitted > self.timeout
        ]
        if not late:
            self._idle_since.clear()
            return
        processing = cast("dict[str, tuple[Any, ...]]", self.client.processing())
        places: dict[Any, str] = {key: address for address, keys in processing.items() for key in keys}
        for future in late:
            task = self.waiting[future]
            usable = self._usable(task)
            address = places.get(future.key)
            if address is not None:
                is_silent = now - max(self._signs.get(address, 0.0), task.submitted) > self.timeout
                others = usable.keys() - {address}
                if task.only is None and others and (is_silent or address in self.hung):
                    # Stopped, paused, or busy with the tasks of others.
                    if address not in self.silent:
                        self._sentences[f"{address}: started no task for {self.timeout:g} s: others did its tasks"] += 1
                    self.silent.add(address)
                    self._take(future)
                    yield from self._submit(task)
                elif address in self.hung or (is_silent and task.only is not None):
                    yield from self._end(future, f"did not start within {self.timeout:g} s", address)
            elif usable:
                self._idle_since.pop(task.resource, None)
            elif now - self._idle_since.setdefault(task.resource, now) > self.timeout:
                yield from self._end(future, f"no worker took the task within {self.timeout:g} s", None)

    def _move_started(self, future: Future[Any], task: Task) -> Iterator[Answer]:
        assert task.started is not None
        address = task.started[1]
        if address not in self.hung:
            self._sentences[f"{address}: no result within {self.timeout:g} s: it received no further task"] += 1
        self.hung.add(address)
        task.attempts += 1
        task.avoid.add(address)
        if task.attempts > self.retries or task.only is not None:
            yield from self._end(future, f"no result within {self.timeout:g} s", address)
        else:
            self._take(future)
            yield from self._submit(task)

    def _end(self, future: Future[Any], problem: str, worker: str | None) -> Iterator[Answer]:
        task = self._take(future)
        if task is not None:
            yield from self._give_up(task, problem, worker)

    @staticmethod
    def _give_up(task: Task, problem: str, worker: str | None) -> Iterator[Answer]:
        if task.first is not None:
            yield task.first
            return
        for item in task.items:
            yield failed(item, problem, worker or ", ".join(sorted(task.avoid)) or None)


def _is_missing(answer: Answer) -> bool:
    return any(finding.get("verdict") == "missing" for finding in answer.findings)
