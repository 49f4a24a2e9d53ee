"""The search for the originals of a damaged string on a cluster."""

from __future__ import annotations

import dataclasses
import math
import time
import uuid
from collections.abc import Iterable, Iterator
from typing import Any, Literal

from distributed import Client, Event, default_client

from hashlane import CustomKind, Hit, estimate
from hashlane._arguments import listed
from hashlane._progress import Progress, callback
from hashlane.dask._window import Task, Window, slots_of, workers_of
from hashlane.dask._work import ShardSearch

MAX_SHARDS = 1_000_000


@dataclasses.dataclass(frozen=True)
class Recovered:
    """The result of :func:`recover_sharded`."""

    hits: list[Hit]
    """The strings that the text can have been."""
    is_complete: bool
    """Whether every candidate was tried."""
    is_unique: bool
    """Whether the search ended with a hit that is hardly an accident."""
    problems: list[str]
    """Errors of parts that could not be searched."""
    shards: int
    """Number of parts."""
    seconds: float
    """Duration."""


def recover_sharded(
    text: str,
    *,
    kinds: Iterable[str | CustomKind] | None = None,
    case: Literal["auto", "lost", "kept"] = "auto",
    glyphs: bool = False,
    errors: int = 0,
    known: Iterable[str] | None = None,
    pubkey_hash: bytes | None = None,
    prefix: str = "",
    client: Client | None = None,
    shard_seconds: float = 30.0,
    unique: float = 1e-3,
    threads: int = 1,
    retries: int = 3,
    timeout: float = 3600.0,
    progress: Progress | None = None,
) -> Recovered:
    """Searches on a cluster for every Base58Check string that a damaged text can have been.

    Makes one search, and does not widen: call :func:`hashlane.recover` first, and name the damage here. The text, which can be a
    private key, and the hits travel to the scheduler and the workers: use TLS on a network that others can read.

    Parameters
    ----------
    text, kinds, case, glyphs, errors, known, pubkey_hash, prefix
        As for :func:`hashlane.recover`.
    client : distributed.Client, optional
        The cluster, by default that of the current client.
    shard_seconds : float
        Expected duration of a task in seconds, on a core like that of this machine.
    unique : float
        Largest number of expected accidental hits with which the first hit ends the search on all workers. With ``known`` or
        ``pubkey_hash``, the first hit always does. 0 searches to the end otherwise.
    threads : int
        Threads of a task. Dask runs as many tasks on a worker as it has threads.
    retries : int
        Further attempts after an error of the system.
    timeout : float
        Seconds from the start of a task, after which it moves to another worker if it has no result. At least several times ``shard_seconds``.
    progress : callable, tqdm bar or rich Progress, optional
        Called with the number of parts done and of all parts.

    Raises
    ------
    ValueError
        As for :func:`hashlane.recover`.
    """
    started = time.monotonic()
    client = client or default_client()
    kinds = None if kinds is None else listed(kinds, "kinds")
    show = callback(progress, "recover")
    cost = estimate(text, kinds=kinds, case=case, glyphs=glyphs, errors=errors, threads=threads)
    # A part of less than a second costs more than it saves.
    least = min(slots_of(workers_of(client))[None], math.ceil(cost.seconds))
    shards = max(min(math.ceil(cost.seconds / shard_seconds), MAX_SHARDS), least, 1)
    stop = f"hashlane-recover-{uuid.uuid4()}"
    options: dict[str, Any] = {
        "kinds": kinds,
        "case": case,
        "glyphs": glyphs,
        "errors": errors,
        "known": None if known is None else listed(known, "known"),
        "pubkey_hash": pubkey_hash,
        "prefix": prefix,
    }

    is_certain = options["known"] is not None or pubkey_hash is not None or cost.accidental_hits <= unique

    def tasks() -> Iterator[Task]:
        for number in range(1, shards + 1):
            unit = f"recover {number}/{shards}"
            yield Task((ShardSearch(unit, "", "", None, 0, text, options, (number, shards), is_certain, stop),))

    hits: dict[str, Hit] = {}
    problems: list[str] = []
    done, is_unique = 0, False
    try:
        for answer in Window(client, threads=threads, retries=retries, timeout=timeout).run({None: tasks()}):
            if answer.problem is not None:
                problems.append(answer.problem)
                continue
            done += 1
            for finding in answer.findings:
                hit = Hit(**finding["hit"])
                hits[hit.text] = hit
            if show is not None:
                show(done, shards)
            if hits and is_certain:
                is_unique = True
                break
    finally:
        # Tasks that run look at the event. The scheduler keeps it, because the last of them can look later than this call ends.
        Event(stop, client=client).set()
    found = sorted(hits.values(), key=lambda hit: hit.edits)
    return Recovered(found, done == shards and not is_unique, is_unique, problems, shards, time.monotonic() - started)
