"""The work of one task, on a worker: runs of pieces, sums of files, lists of files, and parts of searches."""

from __future__ import annotations

import bisect
import dataclasses
import errno
import functools
import hashlib
import itertools
import os
import pickle
import socket
import time
from collections.abc import Callable, Iterator
from typing import Any, cast

import distributed
import fsspec
from fsspec.implementations.local import LocalFileSystem

import hashlane
from hashlane import PieceState, Torrent, _hashlane
from hashlane._remote import is_url

Row = dict[str, Any]
"""A line of a report, with the keys :data:`COLUMNS` that have a value; the caller of this package gets all keys."""

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

EMPTY_ROW: Row = dict.fromkeys(COLUMNS)

Finding = dict[str, Any]
"""The part of a row that the worker determines."""

Result = tuple[list[Finding], "str | None"]
"""The findings of an item, and the error of the system if another attempt can have another result."""

FoundFile = tuple["str | None", "str | None", "str | None"]
"""What a worker has found of a file: the digest in hexadecimal, unless the file is missing, the stamp, and the error of the system."""

BLOCK = 4 << 20
"""Bytes of a file that are read at a time."""

TOPIC = "hashlane"
"""The topic of Dask's events that workers send when they start a task."""


@dataclasses.dataclass(slots=True)
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

    @property
    def n_wanted(self) -> int:
        """Number of pieces and files whose verdict is wanted."""
        return 0

    def is_covered(self, findings: list[Finding]) -> bool:
        """Whether there is a finding for all of the item, and for nothing twice."""
        return True

    def of_all(self, **fields: Any) -> list[Finding]:
        """Returns the findings for a state of all of the item."""
        return [fields]

    def row(self, finding: Finding) -> Row:
        """Returns the part of a line of the report that this item and a finding determine."""
        return {"unit": self.unit, "volume": self.resource or self.volume, "bytes": self.bytes, **finding}

    @classmethod
    def load(cls, items: tuple[Any, ...]) -> Any:
        """Returns what a worker has to know of items of this type."""
        return items

    def result(self, found: Any) -> Result:
        """Returns the result of this item from what the worker has found."""
        return cast(Result, found)


@dataclasses.dataclass(slots=True)
class PieceRun(Item):
    """Pieces of a torrent."""

    info_hash: str
    source: bytes | str = dataclasses.field(repr=False)
    """The .torrent file, or the name of the variable of Dask that holds it for all runs of the torrent."""
    first: int
    end: int
    files: tuple[str, ...]
    """Files without pieces, such as empty ones and links, which are looked at with the first piece."""

    @property
    def n_wanted(self) -> int:
        return self.end - self.first + len(self.files)

    def is_covered(self, findings: list[Finding]) -> bool:
        end, files = self.first, []
        for finding in findings:
            if finding.get("first_piece") is None:
                files.append(finding["file"])
            elif finding["first_piece"] == end < finding["end_piece"]:
                end = finding["end_piece"]
            else:
                return False
        return end == self.end and tuple(files) == self.files

    def of_all(self, **fields: Any) -> list[Finding]:
        pieces = {"first_piece": self.first, "end_piece": self.end, **fields}
        return [pieces, *({"file": file, **fields} for file in self.files)]

    def row(self, finding: Finding) -> Row:
        return Item.row(self, {"kind": "verify", "torrent": self.info_hash, **finding})


@dataclasses.dataclass(slots=True)
class FileSum(Item):
    """A file, and the digest that it should have, if one is known."""

    algorithm: str
    wanted: str | None

    @property
    def n_wanted(self) -> int:
        return 1

    def is_covered(self, findings: list[Finding]) -> bool:
        return len(findings) == 1

    def row(self, finding: Finding) -> Row:
        kind = "sum" if self.wanted is None else "check"
        file = {"kind": kind, "file": self.path, "algorithm": self.algorithm, "wanted": self.wanted}
        return Item.row(self, {**file, **finding})

    @classmethod
    def load(cls, items: tuple[FileSum, ...]) -> tuple[list[str], list[str], list[str]]:
        """Returns paths, volumes and algorithms. Columns travel faster than objects."""
        return [item.path for item in items], [item.volume for item in items], [item.algorithm for item in items]

    def result(self, found: FoundFile) -> Result:
        digest, stamp, problem = found
        if problem is not None:
            return self.of_all(verdict="unreadable", error=problem), problem
        if digest is None:
            return [{"verdict": "missing", "stamp": stamp}], None
        verdict = "read" if self.wanted is None else "have" if digest == self.wanted else "bad"
        return [{"verdict": verdict, "got": digest, "stamp": stamp}], None


@dataclasses.dataclass(slots=True)
class Stat(Item):
    """The question whether the files of an item still have a stamp: the same sizes, times and inodes."""

    item: Item
    stamp: str


@dataclasses.dataclass(slots=True)
class Listing(Item):
    """Files that patterns match, with their lengths, or a digest of them."""

    patterns: tuple[str, ...]
    digest_only: bool


@dataclasses.dataclass(slots=True)
class Lengths(Item):
    """Lengths of files with these names. A file that the worker does not see has none."""

    names: tuple[str, ...]


@dataclasses.dataclass(slots=True)
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


@dataclasses.dataclass(slots=True, repr=False)
class Load:
    """The work of a task as it travels: only the worker reads it, and neither logs nor Dask look into it."""

    data: bytes

    @classmethod
    def of(cls, items: tuple[Item, ...]) -> Load:
        """Returns the work of items of one type."""
        kind = type(items[0])
        return cls(pickle.dumps((kind, kind.load(items)), protocol=pickle.HIGHEST_PROTOCOL))


@dataclasses.dataclass(slots=True)
class Done:
    """What a worker has found of the items of a task, in their order. The items do not travel back."""

    host: str
    worker: str
    started: float
    """Seconds since 1970-01-01 UTC."""
    seconds: float
    found: list[Any]


@dataclasses.dataclass(slots=True)
class Answer:
    """The result of an item on one worker. With a ``problem``, another attempt can have another result."""

    item: Item
    findings: list[Finding]
    problem: str | None
    host: str
    worker: str
    started: float
    seconds: float

    def rows(self) -> list[Row]:
        """Returns the lines of the report."""
        place = {"host": self.host, "worker": self.worker, "seconds": self.seconds, "checked_at": self.started}
        return [self.item.row({**finding, **place}) for finding in self.findings]


def answers_of(items: tuple[Item, ...], done: Done) -> list[Answer]:
    """Returns the answers of a task."""
    seconds = round(done.seconds / len(items), 6)
    answers = []
    for item, found in zip(items, done.found, strict=True):
        findings, problem = item.result(found)
        answers.append(Answer(item, findings, problem, done.host, done.worker, done.started, seconds))
    return answers


def failed(item: Item, problem: str, worker: str | None) -> Answer:
    """Returns the answer for an item without a result."""
    findings = item.of_all(verdict="unreadable", error=problem)
    return Answer(item, findings, problem, "", worker or "", time.time(), 0.0)


def work(load: Load, threads: int, window: str) -> Done:
    """Does the work of a task on this worker. Errors of the system are part of the results."""
    worker = distributed.get_worker()
    worker.log_event(TOPIC, {"window": window, "key": worker.get_current_task(), "worker": worker.address})
    started = time.time()
    kind, items = pickle.loads(load.data)
    found = _FUNCTIONS[kind](items, threads)
    return Done(socket.gethostname(), worker.address, started, time.time() - started, found)


def _guarded(item: Item, function: Callable[[], Result]) -> Result:
    """Returns the result of an item, or the error of the system."""
    try:
        return function()
    except OSError as error:
        problem = _text(error)
        return item.of_all(verdict="unreadable", error=problem), problem


def _text(error: OSError) -> str:
    reason = error.strerror or str(error) or type(error).__name__
    return f"{_name(error.filename)}: {reason}" if error.filename else reason


def _name(name: object) -> str:
    return os.fsdecode(name) if isinstance(name, (str, bytes)) else str(name)


def _require_volume(folder: str) -> None:
    """Raises an error if a volume is not mounted on this host, so that no file on it counts as missing."""
    fs, path = _place_of(folder)
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


def _problem_of(volume: str) -> OSError | None:
    try:
        _require_volume(volume)
    except OSError as error:
        return error
    return None


_LOCAL = LocalFileSystem()


def _place_of(path: str) -> tuple[Any, str]:
    """Returns a file system of fsspec, and the path in it. A local path can have any characters."""
    return fsspec.core.url_to_fs(path) if is_url(path) else (_LOCAL, path)


# Runs of pieces.


@dataclasses.dataclass(frozen=True)
class _Parsed:
    torrent: Torrent
    files: list[hashlane.File]
    starts: list[int]
    """For each file, its first byte in the pieces."""
    paths: list[str]
    """Paths of the files that are on the disk."""
    hashes: list[bytes] | None

    def parts(self, first: int, end: int) -> Iterator[tuple[hashlane.File, int, int]]:
        """Returns the files that some pieces lie in, each with the first and the end of its bytes in these pieces."""
        start, stop = first * self.torrent.piece_length, end * self.torrent.piece_length
        # The file before the first one that starts after the first byte can have that byte, and empty files can follow it.
        index = max(bisect.bisect_right(self.starts, start) - 1, 0)
        while index > 0 and self.starts[index - 1] + self.files[index - 1].length > start:
            index -= 1
        while index < len(self.files) and self.starts[index] < stop:
            file, begin = self.files[index], self.starts[index]
            if begin + file.length > start and file.length > 0:
                yield file, max(start, begin) - begin, min(stop, begin + file.length) - begin
            index += 1


@functools.lru_cache(maxsize=8)
def _parsed(source: bytes | str) -> _Parsed:
    """Returns a torrent. Its metainfo is here, or in a variable of Dask, which is asked once per process."""
    if isinstance(source, str):
        source = cast(bytes, distributed.Variable(source).get(timeout="60 s"))
    torrent = Torrent.parse(source)
    files, starts, offset = torrent.files, [], 0
    for file in files:
        starts.append(offset)
        offset += file.length
        if torrent.version == "v2":
            # Each file of version 2 starts with a piece of its own (BEP 52).
            offset = -(-offset // torrent.piece_length) * torrent.piece_length
    paths = [file.path for file in files if file.kind != "padding"]
    return _Parsed(torrent, files, starts, paths, torrent.piece_hashes if torrent.version == "v1" else None)


def _verify(runs: tuple[PieceRun, ...], threads: int) -> list[Result]:
    return [_guarded(run, functools.partial(_verify_run, run, threads)) for run in runs]


_VERDICTS = {"whole": "have", "too long": "have", "link": "have", "wrong link": "bad", "incomplete": "bad"}
"""Verdicts of files without pieces. The other states are verdicts."""


def _verify_run(run: PieceRun, threads: int) -> Result:
    _require_volume(run.volume)
    parsed = _parsed(run.source)
    place = _Place(run, parsed)
    stamp = place.stamp()
    report = parsed.torrent.verify(run.path, pieces=range(run.first, run.end), threads=threads)
    if stamp != place.stamp():
        raise OSError(errno.EAGAIN, "changed while it was read", run.path)
    problem = next((_text(file.error) for file in report.files if file.error), None)
    findings: list[Finding] = []
    first = run.first
    for state, states in itertools.groupby(report.pieces[run.first : run.end]):
        end = first + len(list(states))
        verdict = PieceState(state).name.lower()
        if state == PieceState.BAD:
            findings += place.bad(first, end, stamp)
        else:
            names = [file.path for file, _, _ in itertools.islice(parsed.parts(first, end), 2) if file.kind == "file"]
            finding: Finding = {"first_piece": first, "end_piece": end, "verdict": verdict, "stamp": stamp}
            finding["file"] = names[0] if len(names) == 1 else None
            finding["error"] = problem if state == PieceState.UNREADABLE else None
            findings.append(finding)
        first = end
    states_of = {file.path: file for file in report.files} if run.files else {}
    for name in run.files:
        file = states_of[name]
        error = _text(file.error) if file.error else None
        findings.append(
            {"file": name, "verdict": _VERDICTS.get(file.state, file.state), "error": error, "stamp": stamp}
        )
    is_unreadable = any(finding["verdict"] == "unreadable" for finding in findings)
    return findings, (problem or "unreadable") if is_unreadable else None


class _Place:
    """The content of a run on a file system."""

    def __init__(self, run: PieceRun, parsed: _Parsed) -> None:
        self.run, self.parsed = run, parsed
        self.fs, self.root = _place_of(run.path)
        self.is_file = parsed.torrent.is_single_file and not self.fs.isdir(self.root)

    def path_of(self, file: str) -> str:
        return self.root if self.is_file else f"{self.root.rstrip('/')}/{file}"

    def stamp(self) -> str:
        """Returns size, time and inode of the file of the run, or a digest of those of several files."""
        parts = self.parsed.parts(self.run.first, self.run.end)
        names = [file.path for file, _, _ in parts if file.kind == "file"] + list(self.run.files)
        stamps = [_stamp(self.fs, self.path_of(name)) for name in names]
        return stamps[0] if len(stamps) == 1 else hashlib.sha256("\n".join(stamps).encode()).hexdigest()

    def bad(self, first: int, end: int, stamp: str) -> list[Finding]:
        """Returns a finding for each of some wrong pieces."""
        findings: list[Finding] = []
        got = self.digests(first, end) if self.parsed.hashes is not None else itertools.repeat(None)
        for piece, digest in zip(range(first, end), got, strict=False):
            names = [file.path for file, _, _ in self.parsed.parts(piece, piece + 1) if file.kind == "file"]
            finding: Finding = {"first_piece": piece, "end_piece": piece + 1, "verdict": "bad", "stamp": stamp}
            finding["file"] = ", ".join(names)
            # Of a hybrid, the hash of version 2 can be the wrong one.
            if self.parsed.hashes is not None:
                finding["wanted"] = self.parsed.hashes[piece].hex()
                finding["got"] = digest
            findings.append(finding)
        return findings

    def digests(self, first: int, end: int) -> Iterator[str | None]:
        """Returns the SHA-1 of pieces that are read again, or None for each that cannot be read."""
        length = self.parsed.torrent.piece_length
        at_once = max(BLOCK // length, 1)
        for start in range(first, end, at_once):
            stop = min(start + at_once, end)
            content = bytearray()
            try:
                for file, begin, finish in self.parsed.parts(start, stop):
                    is_file = file.kind == "file"
                    content += (
                        self.fs.cat_file(self.path_of(file.path), begin, finish) if is_file else bytes(finish - begin)
                    )
            except OSError:
                yield from itertools.repeat(None, stop - start)
                continue
            found = [digest.hex() for digest in hashlane.digest_chunks(content, length, "sha1", threads=1)]
            yield from found if len(found) == stop - start else itertools.repeat(None, stop - start)


def _stamp(fs: Any, path: str) -> str:
    try:
        if fs is _LOCAL:
            status = os.stat(path)
            return f"{status.st_size} {status.st_mtime_ns} {status.st_ino}"
        info = fs.info(path)
    except OSError as error:
        return type(error).__name__
    times = (info.get(key) for key in ("mtime", "LastModified", "created"))
    changed = next((moment for moment in times if moment is not None), "-")
    return f"{info['size']} {changed} {info.get('ino', info.get('ETag', '-'))}"


# Sums of files.


def _sum(files: tuple[list[str], list[str], list[str]], threads: int) -> list[FoundFile]:
    """Returns what is found of files. Those on the disk are hashed side by side."""
    paths, volumes, algorithms = files
    groups: dict[tuple[str, bool], list[int]] = {}
    for index, (path, algorithm) in enumerate(zip(paths, algorithms, strict=True)):
        groups.setdefault((algorithm, is_url(path)), []).append(index)
    found: dict[int, FoundFile] = {}
    unmounted: dict[str, str | None] = {}
    for (algorithm, is_remote), group in groups.items():
        places = [_place_of(paths[index]) if is_remote else (_LOCAL, paths[index]) for index in group]
        stamps = [_stamp(fs, path) for fs, path in places]
        if is_remote:
            digests = [_remote_digest(fs, path, algorithm) for fs, path in places]
        else:
            digests = _hashlane.digest_files([path for _, path in places], algorithm, threads, None, None)
        for index, (fs, path), digest, stamp in zip(group, places, digests, stamps, strict=True):
            if isinstance(digest, FileNotFoundError):
                # A file that is there shows that its volume is, too.
                volume = volumes[index]
                if volume not in unmounted:
                    problem = _problem_of(volume)
                    unmounted[volume] = None if problem is None else _text(problem)
                found[index] = None, stamp, unmounted[volume]
            elif isinstance(digest, OSError):
                found[index] = None, stamp, _text(digest)
            elif stamp != _stamp(fs, path):
                found[index] = None, stamp, f"{paths[index]}: changed while it was read"
            else:
                found[index] = digest.hex(), stamp, None
    return [found[index] for index in range(len(paths))]


def _remote_digest(fs: Any, path: str, algorithm: str) -> bytes | OSError:
    digest = hashlane.new(algorithm)
    try:
        with fs.open(path, "rb", block_size=BLOCK) as file:
            while block := file.read(BLOCK):
                digest.update(block)
    except OSError as error:
        return error
    return digest.digest()


# Stamps of files that were read before.


def _stat(items: tuple[Stat, ...], threads: int) -> list[Result]:
    return [_guarded(item, functools.partial(_is_unchanged, item)) for item in items]


def _is_unchanged(question: Stat) -> Result:
    item = question.item
    stamp = _Place(item, _parsed(item.source)).stamp() if isinstance(item, PieceRun) else _stamp(*_place_of(item.path))
    return [{"is_unchanged": stamp == question.stamp}], None


# Lists of files.


def _list(items: tuple[Listing, ...], threads: int) -> list[Result]:
    return [_guarded(item, functools.partial(_expand, item)) for item in items]


def _expand(item: Listing) -> Result:
    _require_volume(item.volume)
    lists = [_matches(pattern) for pattern in item.patterns]
    if item.digest_only:
        return [{"digest": hashlib.sha256(repr(lists).encode(errors="surrogateescape")).hexdigest()}], None
    return [{"files": lists}], None


def _matches(pattern: str) -> list[tuple[str, int]]:
    """Returns the files that a pattern matches, with their lengths, in the order of their names."""
    fs, path = _place_of(pattern)
    is_remote = fs is not _LOCAL
    if not is_remote and os.path.lexists(path):
        # A name that exists is a name, whatever characters it has.
        return [(path, _length(path))]
    found = fs.glob(path, detail=True).items()
    files = [(name, info["size"] or 0) for name, info in found if info["type"] == "file"]
    return sorted((fs.unstrip_protocol(name) if is_remote else name, length) for name, length in files)


def _measure(items: tuple[Lengths, ...], threads: int) -> list[Result]:
    return [([{"lengths": [_length(name) for name in item.names]}], None) for item in items]


def _length(path: str) -> int:
    try:
        fs, path = _place_of(path)
        return os.stat(path).st_size if fs is _LOCAL else fs.info(path)["size"] or 0
    except OSError:
        return 0


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


def _search(items: tuple[ShardSearch, ...], threads: int) -> list[Result]:
    return [_guarded(item, functools.partial(_search_shard, item, threads)) for item in items]


def _search_shard(item: ShardSearch, threads: int) -> Result:
    stop = _Stop(item.stop)
    with hashlane.recover(item.text, shard=item.shard, threads=threads, cancel=stop, **item.options) as hits:
        found = itertools.islice(hits, 1 if item.ends_at_hit else None)
        return [{"hit": dataclasses.asdict(hit)} for hit in found], None


_FUNCTIONS: dict[type[Item], Callable[[Any, int], list[Any]]] = {
    PieceRun: _verify,
    FileSum: _sum,
    Stat: _stat,
    Listing: _list,
    Lengths: _measure,
    ShardSearch: _search,
}
