"""Verification of archives on a cluster of Dask: torrents, sums of files, and manifests of sums. Also recovery of strings.

>>> from distributed import Client  # doctest: +SKIP
>>> from hashlane.dask import verify_many
>>> client = Client("tcp://scheduler:8786")  # doctest: +SKIP
>>> verify_many(["a.torrent"], "/archive", where={"/archive": "vol:A"}).is_ok  # doctest: +SKIP
True

Dask is the engine: it schedules the tasks, and runs them again if a worker is lost. An error of the system is retried, on
another host if possible. A wrong hash is a result, and never retried.
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import datetime
import os
import re
import sys
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, TypedDict, Unpack

try:
    from distributed import Client, Variable, default_client
except ImportError:
    raise ImportError("hashlane.dask needs Dask: pip install 'hashlane[dask]'") from None

import hashlane
from hashlane import Torrent
from hashlane._arguments import listed
from hashlane._progress import Progress, callback
from hashlane._remote import is_url
from hashlane._sums import Sum, read_sums, sums_of
from hashlane.dask._manifest import Known, Manifest, parts
from hashlane.dask._recover import Recovered, recover_sharded
from hashlane.dask._window import Task, Window, require_resources, workers_of
from hashlane.dask._work import FileSum, Item, Lengths, Listing, PieceRun, Row, Stat

if TYPE_CHECKING:
    import dask.dataframe

__all__ = [
    "Options",
    "Recovered",
    "Row",
    "Summary",
    "check_many",
    "read_manifest",
    "recover_sharded",
    "sum_many",
    "verify_many",
]

ITEMS_IN_TASK = 1000
NAMES_IN_LIST = 10_000


class Options(TypedDict, total=False):
    """What :func:`verify_many`, :func:`sum_many` and :func:`check_many` have in common.

    Parameters
    ----------
    client : distributed.Client, optional
        The cluster, by default that of the current client.
    where : mapping, optional
        The resource of Dask that reads each path, for example ``{"/archive/a": "vol:A"}`` for workers that were started with
        ``--resources "vol:A=1"``. A volume that is absent or empty on a host counts as not mounted there.
    manifest : path
        Folder of the report, by default ``"report"``. Each call appends to it.
    resume : bool
        Whether results of earlier calls in the report are enough. A result counts if everything was present and correct, and
        the files still have the same sizes, times and inodes. By default, everything is read.
    max_age : timedelta or seconds, optional
        With ``resume``, age from which a result is not enough. By default, results stay valid.
    task_bytes : int
        Bytes of a task, by default 1 GiB.
    threads : int
        Threads of a task, by default 1. Dask runs as many tasks on a worker as it has threads.
    retries : int
        Further attempts after an error of the system, by default 3.
    timeout : float
        Seconds from the start of a task, after which it moves to another worker if it has no result. By default 3600.
    parquet : bool
        Whether the report is in Parquet when a call ends, which needs pyarrow. Otherwise, it is in JSON lines.
    progress : callable, tqdm bar or rich Progress, optional
        Called with the number of bytes done and of all bytes.
    """

    client: Client | None
    where: Mapping[str, str] | None
    manifest: str | os.PathLike[str]
    resume: bool
    max_age: datetime.timedelta | float | None
    task_bytes: int
    threads: int
    retries: int
    timeout: float
    parquet: bool
    progress: Progress | None


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Call:
    """The options of a call, with their defaults."""

    client: Client | None = None
    where: Mapping[str, str] | None = None
    manifest: str | os.PathLike[str] = "report"
    resume: bool = False
    max_age: datetime.timedelta | float | None = None
    task_bytes: int = 1 << 30
    threads: int = 1
    retries: int = 3
    timeout: float = 3600.0
    parquet: bool = False
    progress: Progress | None = None

    @classmethod
    def of(cls, options: Options) -> _Call:
        """Returns the options of a caller.

        Raises
        ------
        TypeError
            An option is unknown.
        ValueError
            ``max_age`` without ``resume``.
        """
        unknown = sorted(options.keys() - {field.name for field in dataclasses.fields(cls)})
        if unknown:
            raise TypeError(f"unknown option {unknown[0]!r}")
        call = cls(**options)
        if call.max_age is not None and not call.resume:
            raise ValueError("max_age: only with resume are results of earlier calls used")
        return call

    @property
    def cluster(self) -> Client:
        return self.client or default_client()

    def window(self) -> Window:
        """Returns a new window on the cluster."""
        return Window(self.cluster, threads=self.threads, retries=self.retries, timeout=self.timeout)


@dataclasses.dataclass(frozen=True)
class Summary:
    """The state of everything that a call was asked for."""

    wanted: int
    """Number of pieces, or of files, that the call was asked for. Files without pieces, such as empty ones, count as one each."""
    proven: int
    """Number of these that are present and correct, or whose sum was computed."""
    counts: dict[str, int]
    """Number of these with each verdict: a :class:`hashlane.PieceState` in lower case, or ``read`` for a sum."""
    faults: list[Row] = dataclasses.field(repr=False)
    """The rows with another verdict than ``have`` or ``read``, among them those of unstable reads."""
    notes: list[str]
    """Sentences about workers that failed, or that do not see the same files as others."""
    checked: int
    """Number of units that this call read."""
    skipped: int
    """Number of units whose result in the report was enough."""
    manifest: Path
    """Folder of the report."""
    seconds: float
    """Duration."""

    @property
    def is_ok(self) -> bool:
        """Whether everything is present and correct, and there was something to do."""
        return 0 < self.wanted == self.proven and not self.faults

    @property
    def unstable(self) -> list[Row]:
        """The rows of content whose results differ although size, time and inode are the same."""
        return [row for row in self.faults if row["verdict"] == "unstable"]


def verify_many(
    torrents: Iterable[Torrent | str | os.PathLike[str]], root: str | os.PathLike[str], **options: Unpack[Options]
) -> Summary:
    """Verifies the content of torrents in a folder. The verdicts are those of :meth:`hashlane.Torrent.verify`.

    Parameters
    ----------
    torrents : iterable of Torrent or paths
        The torrents. Paths are read here, not on the workers.
    root : path or URL
        The folder that holds the content of each torrent, under its name, on the workers.
    **options
        As for :class:`Options`.

    Raises
    ------
    ValueError
        No worker has a resource of ``where``, or a path has none.
    OSError
        The report cannot be written, or a torrent cannot be read.
    """
    call = _Call.of(options)
    if isinstance(torrents, Torrent):
        raise TypeError("torrents: expected a list, found one Torrent")
    with contextlib.ExitStack() as stack:
        items: list[PieceRun] = []
        for torrent in listed(torrents, "torrents"):
            if not isinstance(torrent, Torrent):
                torrent = Torrent.open(torrent)
            items += _runs(torrent, _absolute(root), call, stack)
        return _check(items, call)


def sum_many(
    files: Iterable[str | bytes | os.PathLike[str]], algorithm: str = "sha256", **options: Unpack[Options]
) -> Summary:
    """Computes the digests of files.

    Parameters
    ----------
    files : iterable of paths, URLs or globs
        The files, as the workers see them. In a str that is not the name of a file, ``*``, ``?`` and ``[`` are patterns, and
        ``**`` matches folders at any depth. All workers list patterns, and a file counts that one of them sees. A pattern that
        matches nothing counts as a missing file.
    algorithm : str
        A name of ``hashlane.algorithms_available``.
    **options
        As for :class:`Options`.

    Raises
    ------
    ValueError
        The algorithm is unknown, no worker has a resource of ``where``, or a path has none.
    OSError
        The report cannot be written, or the files cannot be listed.
    """
    hashlane.new(algorithm)
    call = _Call.of(options)
    notes: list[str] = []
    names: list[str] = []
    patterns: list[str] = []
    for file in listed(files, "files"):
        name = _absolute(file)
        is_pattern = isinstance(file, str) and any(letter in name for letter in "*?[")
        (patterns if is_pattern else names).append(name)
    found = _expanded(patterns, call, notes) + _placed(names, call)
    return _check([_file_sum(place, algorithm, None) for place in found], call, notes)


def check_many(
    sums: str | os.PathLike[str] | Mapping[str, str],
    root: str | os.PathLike[str] | None = None,
    algorithm: str | None = None,
    **options: Unpack[Options],
) -> Summary:
    """Compares files with the digests that they should have.

    Parameters
    ----------
    sums : path or mapping
        A list that ``hashlane sum --check`` reads, such as those of ``sha256sum`` and BSD, or hexadecimal digests by path.
    root : path or URL, optional
        The folder that relative paths start from, by default that of the file.
    algorithm : str, optional
        A name of ``hashlane.algorithms_available``. By default, the length of a digest selects MD5, SHA or CRC-32.
    **options
        As for :class:`Options`.

    Raises
    ------
    ValueError
        A line is not a sum, two lines contradict each other, or as for :func:`sum_many`.
    OSError
        As for :func:`sum_many`.
    """
    call = _Call.of(options)
    found: Sequence[Sum] = sums_of(sums, algorithm) if isinstance(sums, Mapping) else read_sums(sums, algorithm)
    if root is None:
        root = "." if isinstance(sums, Mapping) else Path(sums).parent
    base = _absolute(root)
    paths = [_below(base, sum.path) for sum in found]
    places = _placed(paths, call)
    items = [_file_sum(place, sum.algorithm, sum.digest) for place, sum in zip(places, found, strict=True)]
    return _check(items, call)


def read_manifest(folder: str | os.PathLike[str]) -> dask.dataframe.DataFrame:
    """Returns the rows of a report as a data frame of Dask, one partition for each part."""
    import dask.dataframe
    import pandas

    from hashlane.dask._manifest import rows_of
    from hashlane.dask._work import COLUMNS

    def frame(part: Path) -> pandas.DataFrame:
        return pandas.DataFrame(list(rows_of(part)), columns=list(COLUMNS))

    found: dask.dataframe.DataFrame = dask.dataframe.from_map(
        frame, parts(folder), meta=pandas.DataFrame(columns=list(COLUMNS))
    )
    return found


def _check(items: Sequence[Item], call: _Call, notes: Sequence[str] = ()) -> Summary:
    """Does what is wanted, the least recently checked first."""
    started = time.monotonic()
    show = callback(call.progress, "check")
    units = {item.unit: item for item in items}
    require_resources(call.cluster, {item.resource for item in items})
    window = call.window()
    with Manifest(call.manifest, units, parquet=call.parquet) as manifest:
        earlier = manifest.earlier
        known = _still_valid(units, earlier, call) if call.resume else {}
        due = [item for item in units.values() if item.unit not in known]
        if earlier:
            due.sort(key=lambda item: earlier[item.unit].checked_at if item.unit in earlier else 0.0)
        counts: collections.Counter[str] = collections.Counter()
        faults: dict[str, tuple[Row, ...]] = {}
        for old in known.values():
            counts.update(old.counts)
        n_due, done, total = len(due), 0, sum(item.bytes for item in due)
        for answer in window.run(_tasks(due, call)):
            found, rows = manifest.add(answer)
            for verdict, count in found.items():
                counts[verdict] += count
            if rows:
                faults[answer.item.unit] = rows
            done += answer.item.bytes
            if show is not None:
                show(done, total)
    return Summary(
        wanted=sum(item.n_wanted for item in units.values()),
        proven=counts["have"] + counts["read"],
        counts=dict(counts),
        faults=[row for unit in units if unit in faults for row in faults[unit]],
        notes=[*notes, *window.notes],
        checked=n_due,
        skipped=len(units) - n_due,
        manifest=manifest.folder,
        seconds=time.monotonic() - started,
    )


def _still_valid(units: Mapping[str, Item], earlier: Mapping[str, Known], call: _Call) -> dict[str, Known]:
    """Returns the results of earlier calls that are enough. Workers look at the stamps of the files."""
    age = call.max_age
    seconds = age.total_seconds() if isinstance(age, datetime.timedelta) else age
    limit = None if seconds is None else time.time() - seconds
    questions: list[Item] = [
        Stat(unit, item.path, item.volume, item.resource, 0, item, known.stamp)
        for unit, item in units.items()
        if (known := earlier.get(unit)) is not None
        and known.is_sound
        and known.stamp is not None
        and (limit is None or known.checked_at > limit)
    ]
    valid = {}
    for answer in call.window().run(_tasks(questions, call)):
        if answer.problem is None and answer.findings[0]["is_unchanged"]:
            valid[answer.item.unit] = earlier[answer.item.unit]
    return valid


def _tasks(items: Iterable[Item], call: _Call) -> dict[str | None, Iterator[Task]]:
    """Returns the tasks for each resource: items that one worker does together."""
    groups: dict[str | None, list[Item]] = {}
    for item in items:
        groups.setdefault(item.resource, []).append(item)
    return {resource: _batches(group, call.task_bytes) for resource, group in groups.items()}


def _batches(items: list[Item], task_bytes: int) -> Iterator[Task]:
    held: list[Item] = []
    n_bytes = 0
    for item in items:
        if held and (len(held) == ITEMS_IN_TASK or n_bytes + item.bytes > task_bytes):
            yield Task(tuple(held))
            held, n_bytes = [], 0
        held.append(item)
        n_bytes += item.bytes
    if held:
        yield Task(tuple(held))


def _runs(torrent: Torrent, root: str, call: _Call, stack: contextlib.ExitStack) -> Iterator[PieceRun]:
    path = f"{root.rstrip('/')}/{torrent.name}"
    volume, resource = _volume(path, call.where) or (root, None)
    length, count = torrent.piece_length, torrent.piece_count
    in_run = max(call.task_bytes // length, 1)
    source: bytes | str = bytes(torrent)
    if count > in_run:
        # The scheduler has the metainfo once, and gives it to each worker once.
        variable = Variable(f"hashlane-{torrent.info_hash}-{uuid.uuid4()}", client=call.cluster)
        variable.set(source)
        stack.callback(variable.delete)
        source = variable.name
    alone = tuple(file.path for file in torrent.files if file.kind != "padding" and file.length == 0)
    for first in range(0, count, in_run):
        end = min(first + in_run, count)
        unit = f"{torrent.info_hash} {first}-{end} {path}"
        n_bytes = min(end * length, max(torrent.total_length, first * length)) - first * length
        files = alone if first == 0 else ()
        yield PieceRun(unit, path, volume, resource, n_bytes, torrent.info_hash, source, first, end, files)


def _absolute(path: str | bytes | os.PathLike[str]) -> str:
    """Returns a URL as it is, and a path without ``.`` from the root, with the bytes that are not UTF-8 as surrogates."""
    if is_url(path):
        return str(path)
    name = os.fsdecode(path)
    # Most paths are plain, and a path object takes as long as the rest of the work for a small file.
    if _PLAIN.fullmatch(name):
        return name
    return _below(os.getcwd(), name)


_PLAIN = re.compile(r"(?:/(?!\.?(?:/|$))[^/]*)+", re.DOTALL)
"""A path from the root, whose components are neither empty nor a dot."""


def _below(base: str, name: str) -> str:
    """Returns the path or URL of a file with this name below a folder."""
    if is_url(base):
        if "::" in name:
            raise ValueError(f"{name}: fsspec takes :: in a URL for a chain of file systems")
        return f"{base.rstrip('/')}/{PurePosixPath(name)}"
    if base.startswith("/") and _PLAIN.fullmatch(f"/{name}") and _PLAIN.fullmatch(base):
        return f"{base}/{name}"
    path = str(PurePosixPath(base, name))
    # POSIX lets two slashes at the start have a meaning of their own. On Linux, they have none.
    return "/" + path.lstrip("/")


def _volume(path: str, where: Mapping[str, str] | None) -> tuple[str, str] | None:
    """Returns the folder and the resource of the volume that a path belongs to."""
    if where is None:
        return None
    parents = {str(parent) for parent in (PurePosixPath(path), *PurePosixPath(path).parents)}
    found = [(folder, name) for folder, name in where.items() if str(PurePosixPath(folder)) in parents]
    if not found:
        raise ValueError(f"{path}: no folder of where contains it: add its volume to where")
    return max(found, key=lambda one: len(one[0]))


Place = tuple[str, str, "str | None", int]
"""The path, the volume, the resource and the length of a file."""


def _placed(paths: list[str], call: _Call) -> list[Place]:
    """Returns the places of files. A worker of each volume looks at the lengths, from which tasks are cut."""
    groups: dict[str | None, list[int]] = {}
    # Names of one folder are one object, which travels once.
    places = [_volume(path, call.where) or (sys.intern(path.rpartition("/")[0] or "/"), None) for path in paths]
    for index, (_, resource) in enumerate(places):
        groups.setdefault(resource, []).append(index)
    require_resources(call.cluster, groups)
    tasks: dict[str | None, list[Task]] = {}
    starts: dict[str, list[int]] = {}
    for resource, group in groups.items():
        for start in range(0, len(group), NAMES_IN_LIST):
            some = group[start : start + NAMES_IN_LIST]
            unit = f"lengths {resource} {start}"
            names = tuple(paths[index] for index in some)
            tasks.setdefault(resource, []).append(Task((Lengths(unit, names[0], "", resource, 0, names),)))
            starts[unit] = some
    lengths = [0] * len(paths)
    for answer in call.window().run(tasks):
        if answer.problem is None:
            for index, length in zip(starts[answer.item.unit], answer.findings[0]["lengths"], strict=True):
                lengths[index] = length
    return [
        (path, volume, resource, length)
        for path, (volume, resource), length in zip(paths, places, lengths, strict=True)
    ]


def _expanded(patterns: list[str], call: _Call, notes: list[str]) -> list[Place]:
    """Returns the places of the files of patterns that any worker sees. Adds a sentence to ``notes`` about each worker that sees others."""
    groups: dict[tuple[str, str | None], list[str]] = {}
    for pattern in patterns:
        folder = pattern[: min(pattern.find(letter) for letter in "*?[" if letter in pattern)].rpartition("/")[0] or "/"
        groups.setdefault(_volume(pattern, call.where) or (folder, None), []).append(pattern)
    require_resources(call.cluster, {resource for _, resource in groups})
    found: dict[str, Place] = {}
    for (volume, resource), group in groups.items():
        lists = _lists(Listing(f"list {group[0]}", group[0], volume, resource, 0, tuple(group), False), call, notes)
        for number, pattern in enumerate(group):
            # Without a match, the pattern stands for a file that is missing.
            files = {path: length for seen in lists.values() for path, length in seen[number]} or {pattern: 0}
            for place, seen in lists.items():
                missing = sorted(files.keys() - {path for path, _ in seen[number]})
                if missing and files != {pattern: 0}:
                    notes.append(
                        f"{place} lists {len(seen[number])} of {len(files)} files of {pattern}: not {missing[0]}"
                    )
            for path, length in files.items():
                found[path] = path, volume, resource, length
    return sorted(found.values())


def _lists(listing: Listing, call: _Call, notes: list[str]) -> dict[str, list[list[tuple[str, int]]]]:
    """Returns the different lists of files that workers see, by host and worker: the files of each pattern."""
    resource = listing.resource
    places: list[str | None] = [None]
    if not is_url(listing.path):
        workers = workers_of(call.cluster).items()
        known: list[str | None] = [
            address for address, worker in workers if resource is None or worker["resources"].get(resource, 0) >= 1
        ]
        # Where no worker has come yet, the first one lists the files.
        places = known or places
    if len(places) > 1:
        # Most often, all workers see the same: digests show it.
        question = dataclasses.replace(listing, digest_only=True)
        different: dict[str, str | None] = {}
        problems = []
        for answer in call.window().run({resource: [Task((question,), only=place) for place in places]}):
            if answer.problem is None:
                different.setdefault(answer.findings[0]["digest"], answer.worker)
            else:
                problems.append(f"{answer.host or answer.worker}: {answer.problem}")
        if not different:
            raise OSError(f"no worker could list {listing.path}: {problems[0]}")
        notes += problems
        places = list(different.values())
    lists: dict[str, list[list[tuple[str, int]]]] = {}
    for answer in call.window().run({resource: [Task((listing,), only=place) for place in places]}):
        if answer.problem is not None:
            raise OSError(f"{answer.host or answer.worker}: {answer.problem}")
        lists[f"{answer.host} ({answer.worker})"] = answer.findings[0]["files"]
    return lists


def _file_sum(place: Place, algorithm: str, wanted: str | None) -> FileSum:
    return FileSum(f"{algorithm} {wanted or '-'} {place[0]}", *place, algorithm, wanted)
