"""The work of one task, on a worker: runs of pieces, sums of files, lists of files, and parts of searches."""

from __future__ import annotations

import dataclasses
import errno
import functools
import hashlib
import itertools
import os
import socket
import time
from collections.abc import Callable, Iterator
from typing import Any, cast

import distributed
import fsspec
from fsspec.implementations.local import LocalFileSystem

import hashlane
from hashlane import PieceState, Torrent

Row = dict[str, Any]
"""A line of a report, with the keys :data:`COLUMNS`."""

COLUMNS = (
    "unit",
    "kind",
    "torrent",
    "first_piece",
    "end_piece",
    "file",
    "algorithm",
    "wanted",
    "got",
    "verdict",
    "error",
    "host",
    "worker",
    "volume",
    "bytes",
    "seconds",
    "checked_at",
    "stamp",
)

BLOCK = 4 << 20
"""Bytes of a file on a remote file system that are read at a time."""


@dataclasses.dataclass(frozen=True)
class Item:
    """Work with a result of its own. ``unit`` names it in reports, and is the same in each call."""

    unit: str
    path: str
    """The content: a path or a URL."""
    volume: str
    """The folder that exists and is not empty where the volume of ``path`` is mounted."""
    resource: str | None
    """The resource of Dask that a worker needs."""
    bytes: int


@dataclasses.dataclass(frozen=True)
class PieceRun(Item):
    """Pieces of a torrent."""

    info_hash: str
    metainfo: bytes = dataclasses.field(repr=False)
    first: int
    end: int

    def row(self, **fields: Any) -> Row:
        """Returns a line of the report."""
        return _row(self, {"kind": "verify", "torrent": self.info_hash}, fields)

    def rows_of_all(self, **fields: Any) -> list[Row]:
        """Returns the lines for a state of all of the item."""
        return [self.row(first_piece=self.first, end_piece=self.end, **fields)]


@dataclasses.dataclass(frozen=True)
class FileSum(Item):
    """A file, and the digest that it should have, if one is known."""

    algorithm: str
    wanted: str | None

    def row(self, **fields: Any) -> Row:
        """Returns a line of the report."""
        kind = "sum" if self.wanted is None else "check"
        return _row(self, {"kind": kind, "file": self.path, "algorithm": self.algorithm, "wanted": self.wanted}, fields)

    def rows_of_all(self, **fields: Any) -> list[Row]:
        """Returns the line for a state of the file."""
        return [self.row(**fields)]


@dataclasses.dataclass(frozen=True)
class Listing(Item):
    """Files that patterns match, with their lengths."""

    patterns: tuple[str, ...]
    are_patterns: bool = True

    def rows_of_all(self, **fields: Any) -> list[Row]:
        """Returns a line for the failure of the list."""
        return [_row(self, {"kind": "list"}, fields)]


@dataclasses.dataclass(frozen=True)
class ShardSearch(Item):
    """A part of the search for the original of a damaged string. It is not in reports: the string can be a private key."""

    text: str = dataclasses.field(repr=False)
    options: dict[str, Any] = dataclasses.field(repr=False)
    """Arguments of :func:`hashlane.recover`."""
    shard: tuple[int, int]
    ends_at_hit: bool
    """Whether a hit ends the search."""
    stop: str
    """The name of the event that ends the search on all workers."""

    def rows_of_all(self, **fields: Any) -> list[Row]:
        """Returns a line for the failure of the part."""
        return [_row(self, {"kind": "recover"}, fields)]


@dataclasses.dataclass(frozen=True)
class Answer:
    """The result of an item on one worker. With a ``problem``, another attempt can have another result."""

    item: Item
    rows: list[Row]
    problem: str | None
    host: str
    worker: str


def _row(item: Item, *fields: dict[str, Any]) -> Row:
    row: Row = dict.fromkeys(COLUMNS)
    row.update(unit=item.unit, volume=item.resource or item.volume, bytes=item.bytes)
    for some in fields:
        row.update(some)
    return row


def work(items: tuple[Item, ...], threads: int) -> list[Answer]:
    """Does the work of a task on this worker. Errors of the system are part of the answers."""
    worker = distributed.get_worker().address
    host = socket.gethostname()
    answers = []
    for kind, function in _KINDS:
        some = [item for item in items if isinstance(item, kind)]
        started = time.time()
        for item, rows, problem in function(some, threads) if some else ():
            seconds = time.time() - started
            for row in rows:
                row.update(host=host, worker=worker, seconds=round(seconds / len(some), 6), checked_at=started)
            answers.append(Answer(item, rows, problem, host, worker))
    return answers


def failed(item: Item, problem: str, host: str | None, worker: str | None) -> Answer:
    """Returns the answer for an item without a result."""
    rows = item.rows_of_all(verdict="unreadable", error=problem, host=host, worker=worker, checked_at=time.time())  # type: ignore[attr-defined]
    return Answer(item, rows, problem, host or "", worker or "")


Result = tuple[Item, list[Row], str | None]


def _guarded(item: Any, function: Callable[[], tuple[list[Row], str | None]]) -> Result:
    """Returns the result of an item, or the error of the system."""
    try:
        rows, problem = function()
        return item, rows, problem
    except OSError as error:
        problem = _text(error)
        return item, item.rows_of_all(verdict="unreadable", error=problem), problem


def _text(error: OSError) -> str:
    reason = error.strerror or str(error) or type(error).__name__
    return f"{error.filename}: {reason}" if error.filename else reason


def _require_volume(folder: str) -> None:
    """Raises an error if a volume is not mounted on this host, so that no file on it counts as missing."""
    fs, path = fsspec.core.url_to_fs(folder)
    if not isinstance(fs, LocalFileSystem):
        return
    try:
        with os.scandir(path) as entries:
            if next(entries, None) is not None:
                return
        problem = "is empty"
    except FileNotFoundError:
        problem = "does not exist"
    raise OSError(errno.ENODEV, f"{problem} on {socket.gethostname()}: is the volume mounted?", folder)


# Runs of pieces.


@functools.lru_cache(maxsize=8)
def _parsed(metainfo: bytes) -> tuple[Torrent, list[tuple[hashlane.File, int, int]]]:
    """Returns a torrent, and for each file its offset in the pieces in bytes and the end of its last piece."""
    torrent = Torrent.parse(metainfo)
    files, offset, piece_length = [], 0, torrent.piece_length
    for file in torrent.files:
        files.append((file, offset, offset + file.length))
        offset += file.length
        if torrent.version == "v2":
            # Each file of version 2 starts with a piece of its own (BEP 52).
            offset = -(-offset // piece_length) * piece_length
    return torrent, files


def _parts(run: PieceRun, first: int, end: int) -> Iterator[tuple[hashlane.File, int, int]]:
    """Returns the files that some pieces lie in, each with the first and the end of its bytes in these pieces."""
    torrent, files = _parsed(run.metainfo)
    start, stop = first * torrent.piece_length, end * torrent.piece_length
    for file, begin, finish in files:
        if begin < stop and finish > start:
            yield file, max(start, begin) - begin, min(stop, finish) - begin


def _verify(runs: list[PieceRun], threads: int) -> Iterator[Result]:
    for run in runs:
        yield _guarded(run, functools.partial(_verify_run, run, threads))


def _verify_run(run: PieceRun, threads: int) -> tuple[list[Row], str | None]:
    _require_volume(run.volume)
    torrent, _ = _parsed(run.metainfo)
    place = _Place(run, torrent)
    files = [file for file, _, _ in _parts(run, run.first, run.end) if file.kind == "file"]
    stamp = _stamps(place.fs, [place.path_of(file) for file in files])
    report = torrent.verify(run.path, pieces=range(run.first, run.end), threads=threads)
    if stamp != _stamps(place.fs, [place.path_of(file) for file in files]):
        raise OSError(errno.EAGAIN, "changed while it was read", run.path)
    problem = next((_text(file.error) for file in report.files if file.error), None)
    rows = []
    first = run.first
    while first < run.end:
        state = PieceState(report.pieces[first])
        end = first + 1
        # A wrong piece has a line of its own.
        while end < run.end and report.pieces[end] == state and state != PieceState.BAD:
            end += 1
        row = run.row(first_piece=first, end_piece=end, verdict=state.name.lower(), stamp=stamp)
        names = [file.path for file, _, _ in _parts(run, first, end) if file.kind == "file"]
        row["file"] = names[0] if len(names) == 1 else None
        if state == PieceState.BAD:
            row["file"] = ", ".join(names)
            # Of a hybrid, the hash of version 2 can be the wrong one.
            if torrent.version == "v1" and torrent.piece_hashes is not None:
                row["wanted"] = torrent.piece_hashes[first].hex()
                row["got"] = place.sha1(first)
        if state == PieceState.UNREADABLE:
            row["error"] = problem
        rows.append(row)
        first = end
    is_unreadable = PieceState.UNREADABLE in report.pieces[run.first : run.end]
    return rows, (problem or "unreadable") if is_unreadable else None


class _Place:
    """The content of a torrent on a file system."""

    def __init__(self, run: PieceRun, torrent: Torrent) -> None:
        self.run, self.torrent = run, torrent
        self.fs, self.root = fsspec.core.url_to_fs(run.path)
        self.is_file = torrent.is_single_file and not self.fs.isdir(self.root)

    def path_of(self, file: hashlane.File) -> str:
        return self.root if self.is_file else f"{self.root.rstrip('/')}/{file.path}"

    def sha1(self, piece: int) -> str | None:
        """Returns the SHA-1 of a piece that is read again, or None if it cannot be read."""
        digest = hashlane.sha1()
        for file, start, end in _parts(self.run, piece, piece + 1):
            try:
                is_padding = file.kind != "file"
                digest.update(bytes(end - start) if is_padding else self.fs.cat_file(self.path_of(file), start, end))
            except OSError:
                return None
        return digest.hexdigest()


def _stamps(fs: Any, paths: list[str]) -> str:
    """Returns size, time and inode of a file, or a digest of those of several."""
    stamps = [_stamp(fs, path) for path in paths]
    return stamps[0] if len(stamps) == 1 else hashlib.sha256("\n".join(stamps).encode()).hexdigest()


def _stamp(fs: Any, path: str) -> str:
    try:
        info = fs.info(path)
    except OSError as error:
        return type(error).__name__
    times = (info.get(key) for key in ("mtime", "LastModified", "created"))
    changed = next((moment for moment in times if moment is not None), "-")
    return f"{info['size']} {changed} {info.get('ino', info.get('ETag', '-'))}"


# Sums of files.


def _sum(items: list[FileSum], threads: int) -> Iterator[Result]:
    """Returns the results of files. Those on the disk are hashed side by side."""
    ready, stamps = [], {}
    for item in items:
        try:
            _require_volume(item.volume)
            fs, path = fsspec.core.url_to_fs(item.path)
            stamps[item] = _stamp(fs, path)
            ready.append(item)
        except OSError as error:
            yield _guarded(item, functools.partial(_raise, error))
    groups: dict[tuple[str, bool], list[FileSum]] = {}
    for item in ready:
        groups.setdefault((item.algorithm, "://" in item.path), []).append(item)
    for (algorithm, is_remote), group in groups.items():
        paths = [item.path for item in group]
        if is_remote:
            digests: list[bytes | OSError] = [_remote_digest(path, algorithm) for path in paths]
        else:
            digests = hashlane.digest_files(paths, algorithm, threads=threads, return_errors=True)
        for item, digest in zip(group, digests, strict=True):
            yield _guarded(item, functools.partial(_judge, item, digest, stamps[item]))


def _raise(error: OSError) -> tuple[list[Row], str | None]:
    raise error


def _remote_digest(path: str, algorithm: str) -> bytes | OSError:
    digest = hashlane.new(algorithm)
    try:
        fs, name = fsspec.core.url_to_fs(path)
        with fs.open(name, "rb", block_size=BLOCK) as file:
            while block := file.read(BLOCK):
                digest.update(block)
    except OSError as error:
        return error
    return digest.digest()


def _judge(item: FileSum, digest: bytes | OSError, stamp: str) -> tuple[list[Row], str | None]:
    if isinstance(digest, FileNotFoundError):
        return [item.row(verdict="missing", stamp=stamp)], None
    if isinstance(digest, OSError):
        raise digest
    fs, path = fsspec.core.url_to_fs(item.path)
    if stamp != _stamp(fs, path):
        raise OSError(errno.EAGAIN, "changed while it was read", item.path)
    got = digest.hex()
    verdict = "read" if item.wanted is None else "have" if got == item.wanted else "bad"
    return [item.row(verdict=verdict, got=got, stamp=stamp)], None


# Lists of files.


def _list(items: list[Listing], threads: int) -> Iterator[Result]:
    for item in items:
        yield _guarded(item, functools.partial(_expand, item))


def _expand(item: Listing) -> tuple[list[Row], str | None]:
    """Returns a row for each file. A name without a pattern is kept even if no file has it."""
    _require_volume(item.volume)
    rows = []
    for pattern in item.patterns:
        fs, path = fsspec.core.url_to_fs(pattern)
        if not item.are_patterns or not any(letter in path for letter in "*?["):
            found = {path: fs.info(path)} if fs.exists(path) else {path: {"size": 0, "type": "file"}}
        else:
            found = fs.glob(path, detail=True)
        for name, info in sorted(found.items()):
            if info["type"] == "file" or name == path:
                file = fs.unstrip_protocol(name) if "://" in pattern else name
                rows.append(_row(item, {"kind": "list", "file": file, "bytes": info["size"] or 0}))
    return rows, None


# Searches.


STOP_INTERVAL = 1.0
"""Seconds between two questions whether a search has ended on other workers."""


class _Stop:
    """The end of a search on all workers."""

    def __init__(self, name: str) -> None:
        self.event = distributed.Event(name)
        self.look_at, self.is_over = 0.0, False

    def is_set(self) -> bool:
        now = time.monotonic()
        if not self.is_over and now >= self.look_at:
            self.look_at = now + STOP_INTERVAL
            self.is_over = cast(bool, self.event.is_set())
        return self.is_over


def _search(items: list[ShardSearch], threads: int) -> Iterator[Result]:
    for item in items:
        yield _guarded(item, functools.partial(_search_shard, item, threads))


def _search_shard(item: ShardSearch, threads: int) -> tuple[list[Row], str | None]:
    stop = _Stop(item.stop)
    with hashlane.recover(item.text, shard=item.shard, threads=threads, cancel=stop, **item.options) as hits:
        found = itertools.islice(hits, 1 if item.ends_at_hit else None)
        return [_row(item, {"kind": "recover", "hit": dataclasses.asdict(hit)}) for hit in found], None


_KINDS: tuple[tuple[type[Item], Callable[[Any, int], Iterator[Result]]], ...] = (
    (PieceRun, _verify),
    (FileSum, _sum),
    (Listing, _list),
    (ShardSearch, _search),
)
