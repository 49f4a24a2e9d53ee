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
import dataclasses
import datetime
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from distributed import Client, default_client

import hashlane
from hashlane import Torrent
from hashlane.dask._manifest import Known, Manifest, parts
from hashlane.dask._recover import Recovered, recover_sharded
from hashlane.dask._window import Task, Window, require_resources
from hashlane.dask._work import FileSum, Item, Listing, PieceRun, Row

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

FILES_IN_TASK = 1000
NAMES_IN_LIST = 10_000


@dataclasses.dataclass(frozen=True, kw_only=True)
class Options:
    """What :func:`verify_many`, :func:`sum_many` and :func:`check_many` have in common.

    Parameters
    ----------
    client : distributed.Client, optional
        The cluster, by default that of the current client.
    where : mapping, optional
        The resource of Dask that reads each path, for example ``{"/archive/a": "vol:A"}`` for workers that were started with
        ``--resources "vol:A=1"``. A volume that is absent or empty on a host counts as not mounted there.
    manifest : path
        Folder of the report. A call does only what the report lacks.
    max_age : timedelta or seconds, optional
        Age from which a result is not enough. By default, results stay valid.
    task_bytes : int
        Bytes of a task.
    threads : int
        Threads of a task. Dask runs as many tasks on a worker as it has threads.
    retries : int
        Further attempts after an error of the system.
    timeout : float
        Seconds after which a task without a result moves to another worker.
    parquet : bool
        Whether the report is in Parquet when a call ends, which needs pyarrow. Otherwise, it is in JSON lines.
    progress : callable, optional
        Called with the number of bytes done and of all bytes.
    """

    client: Client | None = None
    where: Mapping[str, str] | None = None
    manifest: str | os.PathLike[str] = "report"
    max_age: datetime.timedelta | float | None = None
    task_bytes: int = 1 << 30
    threads: int = 1
    retries: int = 3
    timeout: float = 3600.0
    parquet: bool = False
    progress: Callable[[int, int], object] | None = None


@dataclasses.dataclass(frozen=True)
class Summary:
    """The state of everything that a call was asked for, with results of earlier calls."""

    counts: dict[str, int]
    """Number of pieces, or of files, with each verdict: a :class:`hashlane.PieceState` in lower case, or ``read`` for a sum."""
    faults: list[Row]
    """The rows with another verdict than ``have`` or ``read``, among them those of unstable reads."""
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
        """Whether everything is present and correct."""
        return not self.faults

    @property
    def unstable(self) -> list[Row]:
        """The rows of content whose results differ although size, time and inode are the same."""
        return [row for row in self.faults if row["verdict"] == "unstable"]


def verify_many(
    torrents: Iterable[Torrent | str | os.PathLike[str]], root: str | os.PathLike[str], **options: Any
) -> Summary:
    """Verifies the content of torrents in a folder.

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
    chosen = Options(**options)
    items: list[Item] = []
    for torrent in torrents:
        if not isinstance(torrent, Torrent):
            torrent = Torrent.open(torrent)
        items += _runs(torrent, os.fspath(root), chosen)
    return _check(items, chosen)


def sum_many(files: Iterable[str | os.PathLike[str]], algorithm: str = "sha256", **options: Any) -> Summary:
    """Computes the digests of files.

    Parameters
    ----------
    files : iterable of paths, URLs or globs
        The files, as the workers see them. ``**`` matches folders at any depth.
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
    chosen = Options(**options)
    listed = _listed([os.fspath(file) for file in files], chosen)
    return _check([_file_sum(item, algorithm, None) for item in listed], chosen)


def check_many(
    sums: str | os.PathLike[str] | Mapping[str, str],
    root: str | os.PathLike[str] | None = None,
    algorithm: str | None = None,
    **options: Any,
) -> Summary:
    """Compares files with the digests that they should have.

    Parameters
    ----------
    sums : path or mapping
        A file in the format of ``sha256sum`` or of BSD, or hexadecimal digests by path.
    root : path or URL, optional
        The folder that relative paths start from, by default that of the file.
    algorithm : str, optional
        A name of ``hashlane.algorithms_available``. By default, the length of a digest selects MD5 or an algorithm of SHA.
    **options
        As for :class:`Options`.

    Raises
    ------
    ValueError
        A line is not a sum, or as for :func:`sum_many`.
    OSError
        As for :func:`sum_many`.
    """
    chosen = Options(**options)
    found: dict[str, tuple[str | None, str]]
    if isinstance(sums, Mapping):
        found = {path: (None, digest) for path, digest in sums.items()}
    else:
        found = _read_sums(Path(sums))
    if root is None:
        root = "." if isinstance(sums, Mapping) else Path(sums).parent
    base = os.fspath(root)
    base = base if "://" in base else os.path.abspath(base)
    wanted = {os.path.join(base, path): sum for path, sum in found.items()}
    items: list[Item] = []
    for item in _listed(list(wanted), chosen, base):
        named, digest = wanted[item.path]
        items.append(_file_sum(item, algorithm or named or _algorithm_of(digest, item.path), digest.lower()))
    return _check(items, chosen)


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


def _check(items: list[Item], options: Options) -> Summary:
    """Does what the report lacks, the least recently checked first."""
    started = time.monotonic()
    client = options.client or default_client()
    require_resources(client, {item.resource for item in items})
    age = options.max_age
    seconds = age.total_seconds() if isinstance(age, datetime.timedelta) else age
    with Manifest(options.manifest, parquet=options.parquet) as manifest:
        latest = manifest.latest
        due = [item for item in items if _is_due(latest.get(item.unit), seconds)]
        due.sort(key=lambda item: latest[item.unit].checked_at if item.unit in latest else 0.0)
        done, total = 0, sum(item.bytes for item in due)
        for answer in _window(client, options).run(_tasks(due, options)):
            manifest.add(answer)
            done += answer.item.bytes
            if options.progress is not None:
                options.progress(done, total)
        counts: collections.Counter[str] = collections.Counter()
        faults: list[Row] = []
        for item in items:
            counts.update(latest[item.unit].counts)
            faults += latest[item.unit].faults
    return Summary(dict(counts), faults, len(due), len(items) - len(due), manifest.folder, time.monotonic() - started)


def _is_due(known: Known | None, max_age: float | None) -> bool:
    if known is None or not known.is_result:
        return True
    return max_age is not None and time.time() - known.checked_at >= max_age


def _window(client: Client, options: Options) -> Window:
    return Window(client, threads=options.threads, retries=options.retries, timeout=options.timeout)


def _tasks(items: Iterable[Item], options: Options) -> Iterator[Task]:
    """Returns tasks: a run of pieces each, or files of one volume that are read side by side."""
    held: dict[str | None, list[Item]] = {}
    for item in items:
        if isinstance(item, PieceRun):
            yield Task((item,))
            continue
        files = held.setdefault(item.resource, [])
        files.append(item)
        if len(files) == FILES_IN_TASK or sum(file.bytes for file in files) >= options.task_bytes:
            yield Task(tuple(held.pop(item.resource)))
    for files in held.values():
        yield Task(tuple(files))


def _runs(torrent: Torrent, root: str, options: Options) -> Iterator[PieceRun]:
    root = root if "://" in root else os.path.abspath(root)
    path = f"{root.rstrip('/')}/{torrent.name}"
    volume, resource = _volume(path, options.where) or (root, None)
    length, metainfo = torrent.piece_length, bytes(torrent)
    in_run = max(options.task_bytes // length, 1)
    for first in range(0, torrent.piece_count, in_run):
        end = min(first + in_run, torrent.piece_count)
        unit = f"{torrent.info_hash} {first}-{end} {path}"
        n_bytes = min(end * length, max(torrent.length, first * length)) - first * length
        yield PieceRun(unit, path, volume, resource, n_bytes, torrent.info_hash, metainfo, first, end)


def _volume(path: str, where: Mapping[str, str] | None) -> tuple[str, str] | None:
    """Returns the folder and the resource of the volume that a path belongs to."""
    if where is None:
        return None
    parents = {str(parent) for parent in (PurePosixPath(path), *PurePosixPath(path).parents)}
    found = [(folder, name) for folder, name in where.items() if str(PurePosixPath(folder)) in parents]
    if not found:
        raise ValueError(f"{path}: no folder of where contains it: add its volume to where")
    return max(found, key=lambda one: len(one[0]))


def _listed(names: list[str], options: Options, base: str | None = None) -> list[Item]:
    """Returns the files of patterns, or with a folder ``base`` those with these names. Workers list them."""
    groups: dict[tuple[str, str | None], list[str]] = {}
    for name in names:
        name = name if "://" in name else os.path.abspath(name)
        folder = base or re.split(r"[*?\[]", name, maxsplit=1)[0].rpartition("/")[0] or "/"
        groups.setdefault(_volume(name, options.where) or (folder, None), []).append(name)
    client = options.client or default_client()
    require_resources(client, {resource for _, resource in groups})
    tasks = []
    for (volume, resource), group in groups.items():
        for start in range(0, len(group), NAMES_IN_LIST):
            some = tuple(group[start : start + NAMES_IN_LIST])
            tasks.append(Task((Listing(f"list {some[0]}", some[0], volume, resource, 0, some, base is None),)))
    found: dict[str, Item] = {}
    for answer in _window(client, options).run(tasks):
        if answer.problem is not None:
            raise OSError(answer.problem)
        item = answer.item
        for row in answer.rows:
            found[row["file"]] = Item("", row["file"], item.volume, item.resource, row["bytes"])
    return sorted(found.values(), key=lambda item: item.path)


def _file_sum(file: Item, algorithm: str, wanted: str | None) -> FileSum:
    unit = f"{algorithm} {wanted or '-'} {file.path}"
    return FileSum(unit, file.path, file.volume, file.resource, file.bytes, algorithm, wanted)


_GNU = re.compile(r"(\\?)([0-9a-fA-F]{32,128}) [ *](.+)")
_BSD = re.compile(r"(\\?)([A-Za-z0-9-]+) \((.+)\) = ([0-9a-fA-F]{32,128})")
_ESCAPED = {"\\\\": "\\", "\\n": "\n", "\\r": "\r"}
_BY_LENGTH = {32: "md5", 40: "sha1", 56: "sha224", 64: "sha256", 96: "sha384", 128: "sha512"}


def _read_sums(path: Path) -> dict[str, tuple[str | None, str]]:
    """Returns the digests of a file of sums by path, with the algorithm where a line names it."""
    found: dict[str, tuple[str | None, str]] = {}
    with open(path, encoding="utf-8", errors="surrogateescape", newline="\n") as file:
        for number, line in enumerate(file, 1):
            text = line.rstrip("\r\n")
            algorithm = None
            if not text or text.startswith("#"):
                continue
            if match := _GNU.fullmatch(text):
                escape, digest, name = match.groups()
            elif match := _BSD.fullmatch(text):
                escape, algorithm, name, digest = match.groups()
                algorithm = algorithm.lower()
                if algorithm not in hashlane.algorithms_available:
                    raise ValueError(f"{path}: line {number}: unsupported algorithm {algorithm}")
            else:
                raise ValueError(f"{path}: line {number}: not a sum: expected a digest and a file")
            if escape:
                name = re.sub(r"\\[\\nr]", lambda match: _ESCAPED[match[0]], name)
            found[name] = (algorithm, digest)
    return found


def _algorithm_of(digest: str, path: str) -> str:
    algorithm = _BY_LENGTH.get(len(digest))
    if algorithm is None:
        raise ValueError(f"{path}: no algorithm has digests of {len(digest)} digits: name it by algorithm")
    return algorithm
